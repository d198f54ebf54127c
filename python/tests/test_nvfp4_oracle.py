# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FP4 weights of checkpoints against ml_dtypes and NumPy, each with the operations of its
home in their order: where a scale of the tensor divides, and what it divides."""

import ml_dtypes
import numpy as np
import pytest

import grit_mlir as grit
from bits import assert_same_bits

RNG = np.random.default_rng(77)
DIVISORS = np.array([1, 2.5, 3, 7, 0.1, 2688 / 0.9, 1e-38, 3e38, 448], np.float32)


def raw(array):
    return np.ascontiguousarray(array).view(np.uint8).reshape(-1)


def all_codes_under_all_scales():
    """256 groups of 16: codes, their bytes, scales."""
    codes = np.tile(np.arange(16, dtype=np.uint8), 256)
    scales = np.arange(256, dtype=np.uint8)
    return codes.view(ml_dtypes.float4_e2m1fn).astype(np.float32).reshape(256, 16), \
        codes[::2] | codes[1::2] << 4, scales


def singles(scales):
    return scales.view(ml_dtypes.float8_e4m3fn).astype(np.float32)[:, None]


@pytest.mark.parametrize("divisor", DIVISORS)
def test_compressed_tensors_divides_the_scale(divisor):
    levels, data, scales = all_codes_under_all_scales()
    with np.errstate(all="ignore"):
        expected = (singles(scales) / divisor) * levels
    found = grit.Array("ct.nvfp4", (64, 64), [data, scales, raw(divisor)]).dequantize()
    assert_same_bits(found, expected, str(divisor))


@pytest.mark.parametrize("divisor", DIVISORS)
def test_ninfer_divides_the_product(divisor):
    levels, data, scales = all_codes_under_all_scales()
    with np.errstate(all="ignore"):
        expected = (levels * singles(scales)) / divisor
    found = grit.Array("ninfer.nvfp4", (64, 64), [data, scales, raw(divisor)]).dequantize()
    assert_same_bits(found, expected, str(divisor))


@pytest.mark.parametrize("multiplier", 1 / DIVISORS)
def test_modelopt_multiplies_and_is_the_grade(multiplier):
    levels, data, scales = all_codes_under_all_scales()
    with np.errstate(all="ignore"):
        expected = levels * (singles(scales) * multiplier)
    found = grit.Array("nvf4", (64, 64), [data, scales, raw(multiplier)]).dequantize()
    assert_same_bits(found, expected, str(multiplier))


def test_the_three_are_three():
    data = np.full(32, 0x33, np.uint8)
    scales = np.full(4, 0x03, np.uint8)
    divisor = np.float32(2.5)
    word = {}
    for name, last in (("ct.nvfp4", divisor), ("ninfer.nvfp4", divisor),
                       ("nvf4", np.float32(1) / divisor)):
        values = grit.Array(name, (64,), [data, scales, raw(last)]).dequantize()
        word[name] = values.view(np.uint32)[0]
    assert word["ninfer.nvfp4"] == 0x3B666666
    assert word["ct.nvfp4"] == 0x3B666667
    assert grit.Contract("ct.nvfp4") != grit.Contract("ninfer.nvfp4")


def test_gpt_oss_is_the_grade_mxfp4_but_for_one_scale():
    """Blocks of 16 bytes, the first element in the low half; 2^(scale - 127)."""
    blocks = RNG.integers(0, 256, (2, 64, 3, 16), dtype=np.uint8)
    scales = RNG.integers(0, 255, (2, 64, 3), dtype=np.uint8)
    codes = np.stack([blocks & 15, blocks >> 4], axis=-1).reshape(2, 64, 96)
    levels = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float32)
    with np.errstate(all="ignore"):
        expected = np.ldexp(levels, scales.astype(np.int32).repeat(32, axis=-1) - 127)
    found = grit.Array("mxfp4", (2, 64, 96), [raw(blocks), raw(scales)]).dequantize()
    assert_same_bits(found, expected, "gpt-oss")


def test_swizzled_scales():
    """Scales in the 128 x 4 order of block-scaled matrix instructions."""
    rows, columns = 256, 128
    data = RNG.integers(0, 256, rows * columns // 2, dtype=np.uint8)
    scales = RNG.integers(0, 127, (rows, columns // 16), dtype=np.uint8)
    n, g = np.indices(scales.shape)
    slots = (n // 128 * (columns // 64) + g // 4) * 512 + n % 32 * 16 + n % 128 // 32 * 4 + g % 4
    swizzled = np.empty(scales.size, np.uint8)
    swizzled[slots] = scales
    divisor = raw(np.float32(3))
    found = grit.Array("ninfer.nvfp4", (rows, columns), [data, swizzled, divisor],
                       placements=["row_major", "swizzle_128x4b", None]).dequantize()
    straight = grit.Array("ninfer.nvfp4", (rows, columns), [data, raw(scales), divisor])
    assert_same_bits(found, straight.dequantize(), "swizzle")


@pytest.mark.parametrize("name, data, codes", [
    ("q2", "72" + "55" * 31, [1, -1, 2] + [0] * 125),
    ("q4", "e103" + "00" * 62, [1, -2, 3] + [0] * 125),
    ("q8", "01fe03" + "00" * 125, [1, -2, 3] + [0] * 125),
    ("t2", "0d" + "00" * 31, [1, -1, 0] + [0] * 125)])
def test_published_rows_of_ninfer(name, data, codes):
    full, group = {"q2": ("q2_g64_fp16", 64), "q4": ("q4_g64_fp16", 64),
                   "q8": ("q8_g32_fp16", 32), "t2": ("t2_g128_fp16", 128)}[name]
    scales = np.zeros(128 // group, np.float16)
    scales[0] = 1
    found = grit.Array("ninfer." + full, (1, 128),
                       [np.frombuffer(bytes.fromhex(data), np.uint8), raw(scales)])
    expected = scales.astype(np.float32).repeat(group) * np.array(codes, np.float32)
    assert_same_bits(found.dequantize(), expected, name)


@pytest.mark.parametrize("name, width, group, level", [
    ("q2_g64_fp16", 2, 64, lambda u: u - 1.0),
    ("q4_g64_fp16", 4, 64, lambda u: np.where(u < 8, u, u - 16.0)),
    ("q8_g32_fp16", 8, 32, lambda u: np.where(u < 128, u, u - 256.0)),
    ("t2_g128_fp16", 2, 128, lambda u: np.where(u < 2, u, u - 4.0))])
def test_every_code_of_ninfer_under_every_half(name, width, group, level):
    # Where a group is shorter than that, neighbouring scales share the codes.
    codes = np.resize(np.arange(1 << width, dtype=np.uint8), (1 << 16) * group)
    bits = codes.reshape(-1, 1) >> np.arange(width, dtype=np.uint8) & 1
    data = np.packbits(bits, bitorder="little")
    scales = np.arange(1 << 16, dtype=np.uint16)
    with np.errstate(all="ignore"):
        expected = scales.view(np.float16).astype(np.float32).repeat(group) * \
            level(codes).astype(np.float32)
    found = grit.Array("ninfer." + name, (1 << 9, 128 * group), [data, raw(scales)])
    assert_same_bits(found.dequantize(), expected, name)
