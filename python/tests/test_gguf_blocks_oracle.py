# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random blocks of every GGUF type against gguf (NumPy), libgguf (ggml's C code) and, for
types that neither reads, ggml's own library.

GRIT_ORACLE_BLOCKS is the number of blocks of each kind and type, 500 when not set;
`./dev cross-check` takes ten million. Factors are finite in one kind, and every byte is random
in the other."""

import os

import numpy as np
import pytest

import ggml
import grit_mlir as grit
from bits import assert_same_bits

COUNT = int(os.environ.get("GRIT_ORACLE_BLOCKS", "500"))
BATCH = 4096

# Offsets of factors of binary16 in a block.
HALVES = {
    "q4_0": [0], "q4_1": [0, 2], "q5_0": [0], "q5_1": [0, 2], "q8_0": [0], "q8_1": [0, 2],
    "q2_k": [80, 82], "q3_k": [108], "q4_k": [0, 2], "q5_k": [0, 2], "q6_k": [208],
    "q8_k": [], "iq1_s": [0], "iq1_m": [], "iq2_xxs": [0], "iq2_xs": [0], "iq2_s": [0],
    "iq3_xxs": [0], "iq3_s": [0], "iq4_nl": [0], "iq4_xs": [0], "tq1_0": [52],
    "tq2_0": [64], "mxfp4": [], "nvfp4": [], "q1_0": [0], "q2_0": [0]}
NUMBERS = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i16": np.int16,
           "i32": np.int32}
# Types that neither package reads.
UNREAD = {"q8_1", "q8_k", "q2_0"}


def finite_halves(rng, count):
    words = rng.integers(0, 1 << 16, count, dtype=np.uint16)
    words[words & 0x7C00 == 0x7C00] ^= 0x4000
    return words


def blocks_of(name, kind):
    """Yields COUNT blocks as rows of bytes, some at a time."""
    contract = grit.Contract(f"gguf.{name}")
    size = round(contract.bits_per_element * contract.axis_multiple / 8)
    rng = np.random.default_rng([len(name), *name.encode(), kind == "finite"])
    for start in range(0, COUNT, BATCH):
        yield random_blocks(rng, name, kind, (min(BATCH, COUNT - start), size))


def random_blocks(rng, name, kind, shape):
    count = shape[0]
    blocks = rng.integers(0, 256, shape, dtype=np.uint8)
    if kind == "finite":
        for offset in HALVES[name]:
            words = finite_halves(rng, count)
            blocks[:, offset:offset + 2] = words.view(np.uint8).reshape(count, 2)
        if name == "iq1_m":
            # The factor is in the top nibbles of four words.
            words = finite_halves(rng, count)
            for i in range(4):
                top = (words >> (4 * i) & 15).astype(np.uint8)
                blocks[:, 49 + 2 * i] = blocks[:, 49 + 2 * i] & 15 | top << 4
        if name == "mxfp4":
            blocks[:, 0] %= 252
    return blocks


def decoded(name, blocks):
    elements = grit.Contract(f"gguf.{name}").axis_multiple
    return grit.Array(f"gguf.{name}", (len(blocks), elements), [blocks]).dequantize()


READ = sorted(set(HALVES) - UNREAD)


@pytest.mark.parametrize("kind", ["finite", "any"])
@pytest.mark.parametrize("name", READ)
def test_random_blocks_equal_gguf(name, kind):
    gguf = pytest.importorskip("gguf")
    qtype = getattr(gguf.GGMLQuantizationType, name.upper(), None)
    for blocks in blocks_of(name, kind):
        try:
            with np.errstate(all="ignore"):
                expected = gguf.dequantize(blocks, qtype)
        except (NotImplementedError, KeyError, AttributeError):
            pytest.skip(f"this gguf does not read {name}")
        assert_same_bits(decoded(name, blocks), expected, name)


@pytest.mark.parametrize("kind", ["finite", "any"])
@pytest.mark.parametrize("name", READ)
def test_random_blocks_equal_libgguf(name, kind):
    libgguf = pytest.importorskip("libgguf")
    qtype = getattr(libgguf.GGMLQuantizationType, name.upper(), None)
    if qtype is None:
        pytest.skip(f"this libgguf does not read {name}")
    for blocks in blocks_of(name, kind):
        expected = libgguf.dequantize_rows(blocks, qtype)
        assert_same_bits(decoded(name, blocks), expected, name)


@pytest.mark.parametrize("kind", ["finite", "any"])
@pytest.mark.parametrize("name,function", [("q8_k", "dequantize_row_q8_K"),
                                           ("q2_0", "dequantize_row_q2_0")])
def test_random_blocks_equal_ggml(name, function, kind):
    for blocks in blocks_of(name, kind):
        values = decoded(name, blocks)
        assert_same_bits(values, ggml.dequantize(function, blocks, values.shape[1]), name)


def test_q8_1_equals_products_of_ggml():
    """Every finite scale under every code, with a block of ones: COUNT blocks in an order
    that spreads them."""
    every = 1 << 19  # a scale and an eighth of the codes
    for start in range(0, min(COUNT, every), BATCH):
        number = np.arange(start, min(start + BATCH, COUNT, every)) * 0x2545F % every
        blocks = np.zeros((len(number), 36), np.uint8)
        blocks[:, :2] = (number // 8).astype("<u2").view(np.uint8).reshape(-1, 2)
        blocks[:, 4:] = (number % 8 * 32)[:, np.newaxis] + np.arange(32)
        blocks = blocks[number // 8 & 0x7C00 != 0x7C00]  # 0 times infinity is NaN
        # A sum of products starts at 0.0, so -0.0 is not seen.
        values = decoded("q8_1", blocks) + np.float32(0)
        assert_same_bits(values, ggml.decoded_by_dots(blocks), "q8_1")


@pytest.mark.parametrize("name", NUMBERS)
def test_plain_numbers_equal_numpy(name):
    rng = np.random.default_rng(6)
    width = np.dtype(NUMBERS[name]).itemsize
    data = rng.integers(0, 256, 4096 * width, dtype=np.uint8)
    with np.errstate(all="ignore"):
        expected = data.view(NUMBERS[name]).astype(np.float32)
    found = grit.Array(f"gguf.{name}", (4096,), [data]).dequantize()
    assert_same_bits(found, expected, name)


def test_bf16_equals_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    words = np.arange(1 << 16, dtype=np.uint16)
    expected = words.view(ml_dtypes.bfloat16).astype(np.float32)
    found = grit.Array("gguf.bf16", (1 << 16,), [words.view(np.uint8)]).dequantize()
    assert_same_bits(found, expected, "bf16")
