# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Affine formats of MLX and HQQ, whose packing rules are written out in NumPy here:
words of 32 bits and triples of bytes for MLX, parts of the flattened array side by side
in a byte for HQQ."""

import ml_dtypes
import numpy as np
import pytest

import grit_mlir as grit
from bits import assert_same_bits

RNG = np.random.default_rng(44)
DTYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16}


def raw(array):
    return np.ascontiguousarray(array).view(np.uint8).reshape(-1)


def mlx_pack(codes, bits):
    """Widths that divide 32: words, the first code in the lowest bits. Others: the
    fewest whole bytes that hold whole codes, as one little-endian integer."""
    if 32 % bits == 0:
        per = 32 // bits
        shifts = np.arange(per, dtype=np.uint32) * np.uint32(bits)
        words = codes.reshape(-1, per).astype(np.uint32) << shifts
        return raw(np.bitwise_or.reduce(words, axis=-1).astype("<u4"))
    per, size = {3: (8, 3), 5: (8, 5), 6: (4, 3)}[bits]
    shifts = np.arange(per, dtype=np.uint64) * np.uint64(bits)
    packs = np.bitwise_or.reduce(codes.reshape(-1, per).astype(np.uint64) << shifts, axis=-1)
    return raw(raw(packs.astype("<u8")).reshape(-1, 8)[:, :size])


def halves(count, dtype, finite):
    words = RNG.integers(0, 1 << 16, count, dtype=np.uint16)
    if finite:
        words &= 0xBFFF  # the top bit of the exponent
    return words, words.view(dtype).astype(np.float32)


@pytest.mark.parametrize("finite", [True, False])
@pytest.mark.parametrize("group", [32, 64, 128])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bits", [2, 3, 4, 5, 6, 8])
def test_mlx(bits, dtype, group, finite):
    shape = (64, 1024)
    codes = RNG.integers(0, 1 << bits, shape, dtype=np.uint8)
    groups = codes.size // group
    scales, s = halves(groups, DTYPES[dtype], finite)
    biases, b = halves(groups, DTYPES[dtype], finite)
    levels = codes.reshape(groups, group).astype(np.float32)
    with np.errstate(all="ignore"):
        expected = s[:, None] * levels + b[:, None]
    found = grit.Array(f"mlx.q{bits}_{dtype}(group={group})", shape,
                       [mlx_pack(codes, bits), raw(scales), raw(biases)]).dequantize()
    assert_same_bits(found, expected, f"{bits} bits")
    if not finite:
        return
    # A fused multiply-add gives the same: the product is exact.
    exact = s[:, None].astype(np.float64) * levels
    assert np.array_equal(exact, (s[:, None] * levels).astype(np.float64))


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_every_mlx_code_under_many_scales(bits):
    codes = np.tile(np.arange(1 << bits, dtype=np.uint8), (1 << 16) // (1 << bits))
    for dtype in DTYPES:
        scales, s = halves(len(codes) // 64, DTYPES[dtype], True)
        biases, b = halves(len(codes) // 64, DTYPES[dtype], True)
        found = grit.Array(f"mlx.q{bits}_{dtype}", (len(codes),),
                           [mlx_pack(codes, bits), raw(scales), raw(biases)]).dequantize()
        expected = s.repeat(64) * codes.astype(np.float32) + b.repeat(64)
        assert_same_bits(found, expected, dtype)


def hqq_pack(codes, bits):
    """The first part of the flattened array in the highest bits of all bytes, ..."""
    parts = codes.reshape(8 // bits, -1)
    packed = np.zeros(parts.shape[1], np.uint8)
    for i, part in enumerate(parts):
        packed |= part << np.uint8(8 - bits * (i + 1))
    return packed


@pytest.mark.parametrize("finite", [True, False])
@pytest.mark.parametrize("group", [64, 128])
@pytest.mark.parametrize("bits", [2, 4, 8])
def test_hqq(bits, group, finite):
    shape = (128, 512)
    codes = RNG.integers(0, 1 << bits, shape, dtype=np.uint8)
    groups = codes.size // group
    scales, s = halves(groups, np.float16, finite)
    zeros, z = halves(groups, np.float16, finite)
    levels = codes.reshape(groups, group).astype(np.float32)
    with np.errstate(all="ignore"):
        expected = s[:, None] * (levels - z[:, None])
    name = f"hqq.q{bits}(group={group})"
    place = "row_major" if bits == 8 else f"layout(Interleave(RowMajor,{8 // bits}))"
    found = grit.Array(name, shape, [hqq_pack(codes, bits), raw(scales), raw(zeros)],
                       placements=[place, "row_major", "row_major"]).dequantize()
    assert_same_bits(found, expected, name)


def test_hqq_relayout_gives_the_same_numbers():
    codes = RNG.integers(0, 16, (8, 128), dtype=np.uint8)
    scales, _ = halves(16, np.float16, True)
    zeros, _ = halves(16, np.float16, True)
    array = grit.Array("hqq.q4", codes.shape, [hqq_pack(codes, 4), raw(scales), raw(zeros)],
                       placements=["layout(Interleave(RowMajor,2))", None, None])
    pairs = codes.reshape(-1, 2)
    straight = grit.Array("hqq.q4", codes.shape,
                          [pairs[:, 0] << 4 | pairs[:, 1], raw(scales), raw(zeros)])
    assert_same_bits(array.dequantize(), straight.dequantize(), "relayout")
