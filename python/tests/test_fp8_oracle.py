# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights of 8 bits under scales per tensor, per channel and per block, and packed
integers of 4 bits, against ml_dtypes and NumPy: the number of the code times the scale,
in binary32."""

import ml_dtypes
import numpy as np
import pytest

import grit_mlir as grit
from bits import assert_same_bits

RNG = np.random.default_rng(28)
# Zeros, subnormal numbers, the largest, infinities, NaN.
WORDS = {
    np.float32: [0, 1 << 31, 1, 0x007FFFFF, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00001,
                 0x3F800001, 0xBF7FFFFF, 0x7F800001],
    ml_dtypes.bfloat16: [0, 0x8000, 1, 0x7F7F, 0x7F80, 0xFF80, 0x7FC1, 0x3F81, 0xBF7F],
    ml_dtypes.float8_e8m0fnu: [0, 1, 126, 127, 128, 254, 255]}
SUFFIX = {np.float32: "", ml_dtypes.bfloat16: "_bf16", ml_dtypes.float8_e8m0fnu: "_ue8m0"}
LEVELS = {"fp8": ml_dtypes.float8_e4m3fn, "int8": np.int8}
CODES = np.arange(256, dtype=np.uint8)


def words(dtype, count):
    """`count` words of any bits, the special ones first."""
    unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
    result = RNG.integers(0, 1 << 8 * unsigned.itemsize, count, dtype=unsigned)
    special = np.array(WORDS[dtype], unsigned)[:count]
    result[:len(special)] = special
    return result


def values(stored, dtype):
    return stored.view(dtype).astype(np.float32)


def product(scales, levels):
    with np.errstate(all="ignore"):
        return scales * levels


def raw(stored):
    return np.ascontiguousarray(stored).view(np.uint8).reshape(-1)


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_a_scale_per_tensor(dtype):
    for word in words(dtype, 64):
        scale = word.reshape(1)
        found = grit.Array("ct.fp8_tensor" + SUFFIX[dtype], (4, 64),
                           [CODES, raw(scale)]).dequantize()
        expected = product(values(scale, dtype), values(CODES, LEVELS["fp8"]))
        assert_same_bits(found, expected, str(word))


@pytest.mark.parametrize("kind", LEVELS)
def test_every_code_under_every_bfloat16_of_a_channel(kind):
    for first in range(0, 1 << 16, 1 << 13):
        scales = np.arange(first, first + (1 << 13), dtype=np.uint16)
        codes = np.tile(CODES, len(scales))
        found = grit.Array(f"ct.{kind}_channel_bf16", (len(scales), 256),
                           [codes, raw(scales)]).dequantize()
        expected = product(values(scales, ml_dtypes.bfloat16)[:, None],
                           values(CODES, LEVELS[kind]))
        assert_same_bits(found, expected, f"{kind} from {first}")


@pytest.mark.parametrize("kind", LEVELS)
def test_every_code_under_singles_of_a_channel(kind):
    scales = words(np.float32, 4096)
    found = grit.Array(f"ct.{kind}_channel", (4096, 256),
                       [np.tile(CODES, 4096), raw(scales)]).dequantize()
    expected = product(values(scales, np.float32)[:, None], values(CODES, LEVELS[kind]))
    assert_same_bits(found, expected, kind)


@pytest.mark.parametrize("shape", [(5, 3), (2, 7, 33), (1, 300)])
@pytest.mark.parametrize("kind", LEVELS)
def test_channels_are_lines_of_the_last_axis(kind, shape):
    codes = RNG.integers(0, 256, shape, dtype=np.uint8)
    scales = RNG.normal(size=shape[:-1] + (1,)).astype(np.float32)
    found = grit.Array(f"ct.{kind}_channel", shape, [codes, raw(scales)]).dequantize()
    assert_same_bits(found, product(scales, values(codes, LEVELS[kind])), str(shape))


def blockwise(codes, scales, dtype):
    rows, columns = codes.shape[-2:]
    spread = values(scales, dtype).repeat(128, -2).repeat(128, -1)
    return product(spread[..., :rows, :columns], values(codes, LEVELS["fp8"]))


@pytest.mark.parametrize("dtype", SUFFIX)
@pytest.mark.parametrize("shape", [(128, 256), (300, 200), (1, 1), (3, 129, 130), (576, 7168)])
def test_blocks(dtype, shape):
    blocks = shape[:-2] + tuple(-(-extent // 128) for extent in shape[-2:])
    codes = RNG.integers(0, 256, shape, dtype=np.uint8)
    scales = words(dtype, int(np.prod(blocks))).reshape(blocks)
    found = grit.Array("deepseek.fp8" + SUFFIX[dtype], shape,
                       [codes, raw(scales)]).dequantize()
    assert_same_bits(found, blockwise(codes, scales, dtype), str(shape))


def test_every_code_in_blocks_under_every_power_of_two():
    scales = np.arange(256, dtype=np.uint8).reshape(16, 16)
    codes = np.tile(CODES, 16 * 16 * 64).reshape(16 * 128, 16 * 128)
    found = grit.Array("deepseek.fp8_ue8m0", codes.shape, [codes, scales]).dequantize()
    assert_same_bits(found, blockwise(codes, scales, ml_dtypes.float8_e8m0fnu))


def pack_to_int32(integers, bits):
    """compressed-tensors: plus 2^(bits - 1), the first in the lowest bits of a word."""
    per_word = 32 // bits
    unsigned = (integers.astype(np.int64) + (1 << bits - 1)).astype(np.uint32)
    groups = unsigned.reshape(integers.shape[0], -1, per_word)
    shifts = np.arange(per_word, dtype=np.uint32) * np.uint32(bits)
    return np.bitwise_or.reduce(groups << shifts, axis=-1).astype("<u4")


@pytest.mark.parametrize("group", [32, 128])
@pytest.mark.parametrize("name, dtype", [
    ("ct.int4", ml_dtypes.bfloat16), ("ct.int4_f16", np.float16)])
def test_packed_integers(name, dtype, group):
    integers = RNG.integers(-8, 8, (256, 256)).astype(np.int8)
    stored = RNG.integers(0, 1 << 16, (256, 256 // group), dtype=np.uint16)
    found = grit.Array(f"{name}(group={group})", integers.shape,
                       [raw(pack_to_int32(integers, 4)), raw(stored)]).dequantize()
    expected = product(values(stored, dtype).repeat(group, axis=1),
                       integers.astype(np.float32))
    assert_same_bits(found, expected, name)


@pytest.mark.parametrize("group", [32, 128])
@pytest.mark.parametrize("name, dtype", [
    ("ct.int4_zp", ml_dtypes.bfloat16), ("gptq.q4_v2", np.float16)])
def test_packed_integers_with_zero_points(name, dtype, group):
    integers = RNG.integers(-8, 8, (64, 256)).astype(np.int8)
    zeros = RNG.integers(-8, 8, (64, 256 // group)).astype(np.int8)
    stored = RNG.integers(0, 1 << 16, zeros.shape, dtype=np.uint16)
    packed_zeros = pack_to_int32(np.ascontiguousarray(zeros.T), 4).T  # along the rows
    found = grit.Array(f"{name}(group={group})", integers.shape,
                       [raw(pack_to_int32(integers, 4)), raw(stored), raw(packed_zeros)],
                       placements=["row_major", "row_major",
                                   "layout(Tile(RowMajor,[8,1]))"]).dequantize()
    difference = integers.astype(np.float32) - zeros.repeat(group, axis=1)
    expected = product(values(stored, dtype).repeat(group, axis=1),
                       difference.astype(np.float32))
    assert_same_bits(found, expected, name)
