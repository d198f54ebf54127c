# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hurray's descriptor of NF4, against struct and NumPy."""

import struct

import numpy as np
import pytest

import grit_mlir as grit
from bits import assert_same_bits
from grit_mlir import hurray
from grit_mlir.hurray import Nf4Descriptor

RNG = np.random.default_rng(4)


def packed(axis, block, scales, tag=4, version=1, flags=0):
    return struct.pack("<BBHIII", tag, version, flags, axis, block, scales)


@pytest.mark.parametrize("axis", [0, 1, 2, 2 ** 32 - 1])
@pytest.mark.parametrize("block", [1 << i for i in range(3, 32)])
def test_the_sixteen_bytes(axis, block):
    descriptor = Nf4Descriptor(axis, block, 5)
    assert bytes(descriptor) == packed(axis, block, 5)
    assert Nf4Descriptor.from_bytes(bytes(descriptor)) == descriptor


@pytest.mark.parametrize("section, name", [
    (packed(0, 64, 1)[:15], "QuantizationDescriptorTooShort"),
    (packed(0, 64, 1, tag=0), "InvalidQuantizationSchemeTag"),
    (packed(0, 64, 1, tag=0x60), "ReservedQuantizationSchemeTag"),
    (packed(0, 64, 1, tag=0xF0), "PrivateQuantizationSchemeTag"),
    (packed(0, 64, 1, tag=0x06), "UnknownQuantizationSchemeTag"),
    (packed(0, 64, 1, tag=0x05), "OtherQuantizationScheme"),
    (packed(0, 64, 1, version=2), "UnsupportedSchemeVersion"),
    (packed(0, 64, 1, flags=2), "ReservedQuantizationFlagsBits"),
    (packed(0, 3, 1), "InvalidBlockSize"), (packed(0, 4, 1), "InvalidBlockSize"),
    (packed(0, 64, 2 ** 32 - 1), "InvalidQuantization")])
def test_refused_sections(section, name):
    with pytest.raises(grit.CheckError, match="^" + name):
        Nf4Descriptor.from_bytes(section)


def test_against_the_tensor():
    descriptor = Nf4Descriptor(1, 64, 1)
    assert descriptor.num_blocks([1, 65]) == 2
    for shape, name in (([64], "QuantizationAxisOutOfBounds"),
                        ([64, 32], "QuantizationShapeMismatch"),
                        ([64, 2 ** 64 - 1], "QuantizationShapeMismatch")):
        with pytest.raises(grit.GritSizeError, match=name):
            descriptor.check_shape(shape)
    descriptor.check_buffers([0, 0])
    for devices, data, name in (([0], 0, "QuantizationBufferIndexOutOfRange"),
                                ([0, 0], 1, "QuantizationBufferAliasesData"),
                                ([0, 1], 0, "DeviceTagMismatch")):
        with pytest.raises(grit.GritGradeError, match=name):
            descriptor.check_buffers(devices, data)
    descriptor.check_storage(0x49)
    with pytest.raises(grit.GritGradeError, match="InvalidStorageTypeForScheme"):
        descriptor.check_storage(0x48)


@pytest.mark.parametrize("shape, axis, block", [((3, 24), 1, 8), ((16, 3), 0, 8), ((2, 16, 3), 1, 8),
                                                ((128, 4), 0, 128)])
def test_arrays(shape, axis, block):
    descriptor = Nf4Descriptor(axis, block, 1)
    codes = RNG.integers(0, 16, np.prod(shape), np.uint8)
    scales = RNG.random(descriptor.num_blocks(shape)).astype(np.float32)
    array = hurray.array_of(descriptor, shape, codes[::2] | codes[1::2] << 4, scales.view(np.uint8))
    index = np.indices(shape)
    outer = np.ravel_multi_index([index[i] for i in range(len(shape)) if i != axis],
                                 [shape[i] for i in range(len(shape)) if i != axis])
    per_line = -(-shape[axis] // block)
    under = scales[outer * per_line + index[axis] // block]
    one = np.zeros(64, np.uint8)
    one[:8] = np.arange(0, 16, 2) | np.arange(1, 16, 2) << 4
    levels = grit.Array("hurray.nf4", (64,), [one[:32], np.float32([1]).view(np.uint8)])
    expected = under * levels.dequantize()[:16][codes].reshape(shape)
    assert_same_bits(array.dequantize(), expected, str(shape))
    assert hurray.descriptor_of(array) == descriptor
    array.check(2)
    for bad in (-1, np.nan, np.inf):
        damaged = scales.copy()
        damaged[-1] = bad
        with pytest.raises(grit.GritGradeError, match="InvalidScale"):
            hurray.array_of(descriptor, shape, array.planes[0], damaged.view(np.uint8))
    with pytest.raises(grit.GritSizeError, match="ScaleBufferSizeMismatch"):
        hurray.array_of(descriptor, shape, array.planes[0], scales[1:].view(np.uint8))


def test_a_short_last_block_is_refused():
    descriptor = Nf4Descriptor(0, 8, 1)
    with pytest.raises(grit.GritSizeError):
        hurray.array_of(descriptor, (20, 1), np.zeros(10, np.uint8), np.zeros(12, np.uint8))
