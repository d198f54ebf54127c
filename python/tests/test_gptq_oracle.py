# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPTQ and AWQ: planes packed as the tensors of checkpoints are, read in place through
placements, against the plain formula."""

import numpy as np
import pytest

import grit_mlir as grit
from bits import assert_same_bits

RNG = np.random.default_rng(93)
# Element 2j of AWQ's eight is code j of the low half of a word, 2j + 1 of the high half.
AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)
AWQ = "layout(Compose(Perm([0,2,4,6,1,3,5,7]),ColMajor))"


def raw(array):
    return np.ascontiguousarray(array).view(np.uint8).reshape(-1)


def packed_rows(matrix, bits):
    """[R, C] as words [R * bits / 32, C]: rows one after the other from the lowest bits."""
    per = 32 // bits
    words = np.zeros((matrix.shape[0] // per, matrix.shape[1]), np.uint32)
    for j in range(per):
        words |= matrix[j::per].astype(np.uint32) << np.uint32(bits * j)
    return words.astype("<u4")


def packed_columns(matrix, bits, order=None):
    """[R, C] as words [R, C * bits / 32]: columns, in `order` within a word."""
    per = 32 // bits
    words = np.zeros((matrix.shape[0], matrix.shape[1] // per), np.uint32)
    for j, column in enumerate(order or range(per)):
        words |= matrix[:, column::per].astype(np.uint32) << np.uint32(bits * j)
    return words.astype("<u4")


def layer(bits, group, rows, columns, finite=True):
    """Codes [K, N], zero points and scales [K / group, N]."""
    codes = RNG.integers(0, 1 << bits, (columns, rows), dtype=np.uint8)
    zeros = RNG.integers(0, 1 << bits, (columns // group, rows), dtype=np.uint8)
    scales = RNG.integers(0, 1 << 16, zeros.shape, dtype=np.uint16)
    if finite:
        scales &= 0xBFFF
    return codes, zeros, scales


def plain(codes, zeros, scales, group):
    """[N, K] of scale * (code - zero)."""
    s = scales.view(np.float16).astype(np.float32).repeat(group, axis=0)
    z = zeros.astype(np.float32).repeat(group, axis=0)
    with np.errstate(all="ignore"):
        return (s * (codes.astype(np.float32) - z)).T


@pytest.mark.parametrize("finite", [True, False])
@pytest.mark.parametrize("group", [32, 128])
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("bits", [2, 4, 8])
def test_gptq(bits, version, group, finite):
    rows, columns = 96, 512
    codes, zeros, scales = layer(bits, group, rows, columns, finite)
    name = f"gptq.q{bits}" + ("_v2" if version == 2 else "") + f"(group={group})"
    array = grit.Array(
        name, (rows, columns),
        [raw(packed_rows(codes, bits)), raw(scales), raw(packed_columns(zeros, bits))],
        placements=[f"layout(Tile(ColMajor,[1,{32 // bits}]))", "col_major", "col_major"])
    # Version 1 stores one less; the largest becomes 2^bits.
    expected = plain(codes, zeros.astype(np.int32) + (version == 1), scales, group)
    assert_same_bits(array.dequantize(), expected, name)


@pytest.mark.parametrize("group", [64, 128])
def test_awq(group):
    rows, columns = 64, 256
    codes, zeros, scales = layer(4, group, rows, columns)
    array = grit.Array(
        f"gptq.q4_v2(group={group})", (rows, columns),
        [raw(packed_columns(codes, 4, AWQ_ORDER)), raw(scales),
         raw(packed_columns(zeros, 4, AWQ_ORDER))],
        placements=[AWQ, "col_major", AWQ])
    assert_same_bits(array.dequantize(), plain(codes, zeros, scales, group), "awq")


def test_row_major_planes_hold_the_same_layer():
    codes, zeros, scales = layer(4, 128, 32, 256)
    def pairs(matrix):
        flat = matrix.T.reshape(-1, 2)
        return flat[:, 0] | flat[:, 1] << 4
    found = grit.Array("gptq.q4_v2", (32, 256),
                       [pairs(codes), raw(scales.T), pairs(zeros)]).dequantize()
    assert_same_bits(found, plain(codes, zeros, scales, 128), "row major")


def test_every_code_with_every_zero_point():
    codes = np.tile(np.arange(16, dtype=np.uint8).repeat(8), 16).reshape(16, 128)
    zeros = np.arange(16, dtype=np.uint8)
    scales = np.full(16, 0x3C00, np.uint16)
    data = codes.reshape(-1, 2)
    planes = [data[:, 0] | data[:, 1] << 4, raw(scales), zeros[::2] | zeros[1::2] << 4]
    for name, more in (("gptq.q4", 1), ("gptq.q4_v2", 0)):
        found = grit.Array(name, codes.shape, planes).dequantize()
        expected = codes.astype(np.float32) - (zeros[:, None].astype(np.float32) + more)
        assert_same_bits(found, expected, name)


@pytest.mark.parametrize("group", [32, 128])
def test_words_of_checkpoints_become_rows(group):
    rows, columns = 96, 512
    codes, zeros, scales = layer(4, group, rows, columns)
    def pairs(matrix):
        flat = matrix.T.reshape(-1, 2)
        return bytes(flat[:, 0] | flat[:, 1] << 4)
    scales = scales & 0x3FFF | 0x0400  # no zero, no infinity: every code is told apart
    expected = plain(codes, zeros, scales, group)
    gptq = grit.Array(
        f"gptq.q4_v2(group={group})", (rows, columns),
        [raw(packed_rows(codes, 4)), raw(scales), raw(packed_columns(zeros, 4))],
        placements=["layout(Tile(ColMajor,[1,8]))", "col_major", "col_major"])
    awq = grit.Array(
        f"gptq.q4_v2(group={group})", (rows, columns),
        [raw(packed_columns(codes, 4, AWQ_ORDER)), raw(scales),
         raw(packed_columns(zeros, 4, AWQ_ORDER))],
        placements=[AWQ, "col_major", AWQ])
    for array in (gptq, awq):
        for name in ("gptq.q4_v2", "hqq.q4"):
            found = array.convert(f"{name}(group={group})")
            assert found.placements[0] == "row_major"
            assert bytes(found.planes[1]) == bytes(raw(scales.T))
            assert_same_bits(found.dequantize(), expected, name)
            if name == "gptq.q4_v2":
                assert bytes(found.planes[0]) == pairs(codes)
                assert bytes(found.planes[2]) == pairs(zeros)
