# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays under other contracts: bytes that NumPy computes from the other format, and
values of the packages gguf and ml_dtypes."""

import ml_dtypes
import numpy as np
import pytest
from gguf import GGMLQuantizationType
from gguf.quants import dequantize, quantize

import grit_mlir as grit
from bits import assert_same_bits

ROWS, COLUMNS = 64, 256


def nibbles_of_halves(blocks):
    """Codes of ggml's blocks of 32: the first 16 are the low nibbles."""
    return np.concatenate([blocks & 15, blocks >> 4], axis=-1)


def as_halves(codes):
    return codes[..., :16] | codes[..., 16:] << 4


def as_pairs(codes):
    """Two codes a byte, the first in the low nibble."""
    codes = codes.reshape(-1, 2)
    return (codes[:, 0] | codes[:, 1] << 4).astype(np.uint8)


def mxfp4_blocks(seed, scales=(0, 253)):
    rng = np.random.default_rng(seed)
    count = ROWS * COLUMNS // 32
    blocks = rng.integers(0, 256, (count, 17), np.uint8)
    blocks[:, 0] = np.resize(np.arange(*scales, dtype=np.uint8), count)
    return blocks


def e2m1_values(codes, scales):
    levels = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float32)
    powers = scales.view(ml_dtypes.float8_e8m0fnu).astype(np.float32)
    return levels * powers[:, None]


def test_gguf_mxfp4_to_the_grade_is_the_bytes_that_numpy_moves():
    blocks = mxfp4_blocks(1)
    array = grit.Array("gguf.mxfp4", (ROWS, COLUMNS), [blocks.reshape(-1)])
    converted = array.convert("mxfp4")
    codes = nibbles_of_halves(blocks[:, 1:])
    codes[codes == 8] = 0  # ggml's code 8 is +0
    assert converted.contract.name == "mxfp4"
    assert bytes(converted.planes[0]) == bytes(as_pairs(codes))
    assert bytes(converted.planes[1]) == bytes(blocks[:, 0])
    # ggml's reading of the one is ml_dtypes' reading of the other.
    theirs = dequantize(blocks.reshape(ROWS, -1), GGMLQuantizationType.MXFP4)
    ours = e2m1_values(nibbles_of_halves(as_halves(codes)), blocks[:, 0])
    assert_same_bits(theirs, ours.reshape(ROWS, COLUMNS), "gguf and ml_dtypes")
    assert_same_bits(converted.dequantize(), theirs, "gguf")


def test_the_grade_to_gguf_mxfp4_is_read_by_gguf():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 15, (ROWS * COLUMNS // 32, 32), np.uint8)
    codes[codes >= 8] += 1  # all but -0
    scales = np.resize(np.arange(253, dtype=np.uint8), len(codes))
    array = grit.Array("mxfp4", (ROWS, COLUMNS), [as_pairs(codes), scales])
    blocks = grit.convert(array, "gguf.mxfp4").planes[0].reshape(-1, 17)
    assert (blocks[:, 0] == scales).all()
    assert (blocks[:, 1:] == as_halves(codes)).all()
    theirs = dequantize(blocks.reshape(ROWS, -1), GGMLQuantizationType.MXFP4)
    expected = e2m1_values(codes, scales).reshape(ROWS, COLUMNS)
    assert_same_bits(theirs, expected, "mxfp4")


def test_minus_zero_is_refused_with_its_place():
    codes = np.ones((8, 32), np.uint8)
    codes[3, 7] = 8
    array = grit.Array("mxfp4", (8, 32), [as_pairs(codes), np.full(8, 127, np.uint8)])
    with pytest.raises(grit.GritGradeError, match="-0") as caught:
        array.convert("gguf.mxfp4")
    assert f"element {3 * 32 + 7}" in str(caught.value)


def test_a_nan_is_refused():
    scales = np.full(8, 127, np.uint8)
    scales[5] = 255
    array = grit.Array("mxfp4", (8, 32), [np.zeros(128, np.uint8), scales])
    with pytest.raises(grit.GritGradeError, match=f"element {5 * 32}"):
        array.convert("gguf.mxfp4")


def test_q4_0_of_gguf_in_rows():
    values = np.random.default_rng(3).standard_normal((ROWS, COLUMNS), np.float32)
    kind = GGMLQuantizationType.Q4_0
    stored = quantize(values, kind)
    blocks = stored.reshape(-1, 18)
    array = grit.Array("gguf.q4_0", (ROWS, COLUMNS), [stored.reshape(-1)])
    rows = array.convert("ct.int4_f16(group=32)")
    assert bytes(rows.planes[0]) == bytes(as_pairs(nibbles_of_halves(blocks[:, 2:])))
    assert bytes(rows.planes[1]) == blocks[:, :2].tobytes()
    assert_same_bits(rows.dequantize(), dequantize(stored, kind), "q4_0")
    assert bytes(rows.convert("gguf.q4_0").planes[0]) == stored.tobytes()


def test_gptq_as_hqq():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 16, (ROWS, COLUMNS), np.uint8)
    zeros = rng.integers(0, 16, (ROWS, COLUMNS // 64), np.uint8)
    scales = rng.uniform(1e-3, 1e-1, zeros.shape).astype(np.float16)
    array = grit.Array("gptq.q4(group=64)", (ROWS, COLUMNS), [
        as_pairs(codes), scales.view(np.uint8).reshape(-1), as_pairs(zeros)])
    hqq = array.convert("hqq.q4(group=64)")
    # High nibble first, and zero points as numbers; GPTQ stores them less one.
    assert bytes(hqq.planes[0]) == bytes(as_pairs(codes.reshape(-1, 2)[:, ::-1]))
    assert bytes(hqq.planes[1]) == scales.tobytes()
    assert bytes(hqq.planes[2]) == (zeros + 1).astype(np.float16).tobytes()
    expected = (codes.reshape(ROWS, -1, 64) - (zeros[..., None] + np.float32(1)))
    expected = expected * scales.astype(np.float32)[..., None]
    assert_same_bits(hqq.dequantize(), expected.reshape(ROWS, COLUMNS), "hqq")


def test_placements():
    values = np.random.default_rng(5).standard_normal((ROWS, COLUMNS), np.float32)
    array = grit.quantize(values, "mxfp4")
    tiles = array.convert("mxfp4", placements={"data": "tile_16x16"})
    assert tiles.placements[0] == "tile_16x16"
    codes = nibble_matrix(array.planes[0])
    expected = codes.reshape(ROWS // 16, 16, COLUMNS // 16, 16).swapaxes(1, 2)
    assert (nibble_matrix(tiles.planes[0]).reshape(expected.shape) == expected).all()
    assert bytes(tiles.convert("mxfp4").planes[0]) == bytes(array.planes[0])
    blocks = grit.quantize(values, "gguf.mxfp4")
    moved = blocks.convert("mxfp4", placements={"data": "tile_16x16"})
    assert_same_bits(moved.dequantize(), blocks.dequantize(), "moved")


def nibble_matrix(plane):
    return np.stack([plane & 15, plane >> 4], axis=-1).reshape(ROWS, COLUMNS)


def test_refusals():
    array = grit.quantize(np.ones((4, 256), np.float32), "mxfp4")
    with pytest.raises(grit.GritGradeError, match="several elements"):
        array.convert("gguf.iq2_xs")
    with pytest.raises(grit.GritSizeError):
        grit.quantize(np.ones((4, 96), np.float32), "mxfp4").convert("gguf.q4_k")
    with pytest.raises(TypeError, match="Array"):
        grit.convert(np.ones(32), "mxfp4")
