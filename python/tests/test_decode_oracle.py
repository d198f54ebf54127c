# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decoding, code by code and scale by scale, against implementations that are not
part of this project: gguf (NumPy), libgguf (ggml's C code), grit-datatype,
ml_dtypes, and the published formula of NF4 in NumPy. Bits must be equal."""

import ml_dtypes
import numpy as np
import pytest

import grit_mlir as grit
from bits import assert_same_bits, from_hex
from grit_mlir import _core

HALVES = np.arange(1 << 16, dtype=np.uint16).astype("<u2")
BYTES = np.arange(256, dtype=np.uint8)


def decoded(contract, shape, *planes):
    return grit.Array(contract, shape, planes).dequantize()


def struct_blocks(*fields):
    """Blocks of bytes, each field an array with one row per block."""
    return np.concatenate([np.ascontiguousarray(field).view(np.uint8).reshape(
        field.shape[0], -1) for field in fields], axis=1)


# --- Format words -------------------------------------------------------------


@pytest.mark.parametrize("word, dtype", [
    ("e2m1", ml_dtypes.float4_e2m1fn), ("e4m3", ml_dtypes.float8_e4m3fn),
    ("e8m0", ml_dtypes.float8_e8m0fnu), ("binary16", np.float16),
    (0x350F, ml_dtypes.bfloat16), ("u4", ml_dtypes.uint4), ("s4", ml_dtypes.int4),
    ("u2", ml_dtypes.uint2), ("u8", np.uint8), ("s8", np.int8)])
def test_every_code_of_a_word(word, dtype):
    number = word if isinstance(word, int) else _core.format_word(word)
    width = (number & 31) + 1
    codes = np.arange(1 << width)
    storage = codes.astype(np.uint8 if width <= 8 else np.uint16)
    expected = storage.view(dtype).astype(np.float32)
    found = np.array([_core.decode_code(number, int(c)) for c in codes], np.float32)
    # A float that Python hands over keeps no payload of a NaN worth comparing.
    found[np.isnan(found)] = np.float32(np.nan)
    assert_same_bits(found, expected, str(word))


# --- GGUF ----------------------------------------------------------------------


def blocks_of_nibbles(bytes_per_block=16):
    """Sixteen bytes with every code in both halves."""
    low = np.arange(16, dtype=np.uint8)
    return (low | (15 - low) << 4).astype(np.uint8)[:bytes_per_block]


def all_q4_0():
    return struct_blocks(HALVES[:, None], np.tile(blocks_of_nibbles(), (1 << 16, 1)))


def all_q8_0():
    return struct_blocks(HALVES.repeat(8)[:, None],
                         np.tile(BYTES.reshape(8, 32), (1 << 16, 1)))


def all_mxfp4():
    return struct_blocks(BYTES[:, None], np.tile(blocks_of_nibbles(), (256, 1)))


def all_q4_k():
    """Every d, every dmin, every 6-bit scale with every 6-bit minimum in each of
    the eight sub-blocks, and every code in each."""
    rng = np.random.default_rng(4)
    count = 1 << 16
    scales = rng.integers(0, 256, (count, 12), dtype=np.uint8)
    # The first blocks walk through (scale, minimum) in all sub-blocks.
    sc, mn = np.divmod(np.arange(4096), 64)
    for sub in range(4):
        scales[:4096, sub] = sc | (sc >> 4) << 6
        scales[:4096, sub + 4] = mn | (mn >> 4) << 6
    scales[:4096, 8:] = ((sc & 15) | (mn & 15) << 4)[:, None]
    codes = np.tile(np.concatenate([blocks_of_nibbles()] * 8), (count, 1))
    return struct_blocks(HALVES[:, None], rng.permutation(HALVES)[:, None], scales, codes)


BLOCKS = {"gguf.q4_0": ("Q4_0", 32, all_q4_0), "gguf.iq4_nl": ("IQ4_NL", 32, all_q4_0),
          "gguf.q8_0": ("Q8_0", 32, all_q8_0), "gguf.mxfp4": ("MXFP4", 32, all_mxfp4),
          "gguf.q4_k": ("Q4_K", 256, all_q4_k)}


@pytest.mark.parametrize("contract", BLOCKS)
def test_every_code_and_scale_equals_gguf(contract):
    gguf = pytest.importorskip("gguf")
    name, elements, make = BLOCKS[contract]
    blocks = make()
    with np.errstate(all="ignore"):
        expected = gguf.dequantize(blocks, gguf.GGMLQuantizationType[name])
    found = decoded(contract, (len(blocks), elements), blocks)
    assert_same_bits(found, expected, contract)


@pytest.mark.parametrize("contract", BLOCKS)
def test_every_code_and_scale_equals_libgguf(contract):
    libgguf = pytest.importorskip("libgguf")
    name, elements, make = BLOCKS[contract]
    blocks = make()
    kind = libgguf.GGMLQuantizationType[name]
    expected = libgguf.dequantize_rows(blocks.reshape(64, -1), kind)
    found = decoded(contract, (len(blocks), elements), blocks)
    assert_same_bits(found, expected, contract)


# --- Grades --------------------------------------------------------------------


def packed(count):
    """Every nibble, in both places, `count` nibbles in all."""
    return np.resize(np.concatenate([blocks_of_nibbles(), BYTES]), count // 2)


def bits_of_package(name, planes, count):
    gd = pytest.importorskip("grit")
    rows = gd.decode_bits("GRADE_" + name.upper(),
                          [np.asarray(plane).tobytes() for plane in planes], count)
    return from_hex("".join(rows))


@pytest.mark.parametrize("name", ["mxfp4", "mxfp4_rne"])
def test_mxfp4_every_code_and_scale(name):
    data = np.tile(blocks_of_nibbles(), 256)
    planes = (data, BYTES, b"", b"")
    assert_same_bits(decoded(name, (256, 32), *planes),
                     bits_of_package(name, planes, 256 * 32))


@pytest.mark.parametrize("name", ["nvf4", "nvf4_rtz"])
@pytest.mark.parametrize("scale", [1.0, -0.0, 2.0**-140, 3e38, 1 / 3, -7.5,
                                   float("inf"), float("nan")])
def test_nvf4_every_code_and_scale(name, scale):
    low = np.arange(8, dtype=np.uint8)
    even, odd = low | (low + 8) << 4, low + 8 | low << 4
    data = np.tile(np.concatenate([even, odd]), 256).astype(np.uint8)
    top = np.array([scale], "<f4").view(np.uint8)
    planes = (data, BYTES.repeat(2), top, b"")
    assert_same_bits(decoded(name, (512, 16), *planes),
                     bits_of_package(name, planes, 512 * 16))


def test_q4ks_every_code_scale_and_minimum():
    """6-bit scales and minimums lie in a byte each (four of a 64-code walk per
    super-block here), so every pair meets every code."""
    blocks = 1024
    spec = _core.Spec(grit.Contract("q4ks"), [blocks, 256], -1, None)
    sizes = spec.plane_sizes()
    rng = np.random.default_rng(5)
    planes = [np.tile(blocks_of_nibbles(), sizes[0] // 16)]
    planes += [rng.integers(0, 256, size, dtype=np.uint8) for size in sizes[1:]]
    assert_same_bits(decoded("q4ks", (blocks, 256), *planes),
                     bits_of_package("q4ks", planes, blocks * 256))


def test_q4ks_scale_codes_in_order():
    """Every 6-bit scale beside every 6-bit minimum, with fixed super-scales."""
    pairs = np.arange(4096)
    spec = _core.Spec(grit.Contract("q4ks"), [512, 256], -1, None)
    sizes = spec.plane_sizes()
    six = lambda values: np.packbits(
        (values[:, None] >> np.arange(6) & 1).astype(np.uint8).reshape(-1),
        bitorder="little")
    per_group, halves = sizes[1], sizes[2]
    scale0 = six(pairs // 64) if per_group == 3072 else (pairs // 64).astype(np.uint8)
    scale1 = np.resize(np.array([0.0123, -3.5, 6e-8], "<f2"), halves // 2).view(np.uint8)
    minimums = six(pairs % 64) if per_group == 3072 else (pairs % 64).astype(np.uint8)
    aux = np.concatenate([minimums, scale1])
    aux = np.resize(aux, sizes[3])
    planes = [np.tile(blocks_of_nibbles(), sizes[0] // 16), scale0, scale1, aux]
    assert_same_bits(decoded("q4ks", (512, 256), *planes),
                     bits_of_package("q4ks", planes, 512 * 256))


def test_i8s24_codes_scales_and_indices():
    """Every code under many scales, with the six valid index pairs of a run."""
    rng = np.random.default_rng(6)
    groups = 4096
    data = np.resize(BYTES, groups * 16)
    scales = np.sort(rng.choice(HALVES, groups, replace=False))
    scales[:8] = [0x0000, 0x8000, 0x0001, 0x7BFF, 0x7C00, 0xFC00, 0x7E01, 0x3C00]
    pairs = np.array([4, 8, 12, 9, 13, 14], np.uint8)  # first index in the low bits
    chosen = rng.choice(pairs, groups * 8)
    aux = chosen[0::2] | chosen[1::2] << 4
    planes = (data, scales.view(np.uint8), b"", aux.astype(np.uint8))
    array = grit.Array("i8s24", (groups, 32), planes)
    array.check(2)
    assert_same_bits(array.dequantize(), bits_of_package("i8s24", planes, groups * 32))


@pytest.mark.parametrize("name", ["mxfp4", "nvf4", "q4ks", "i8s24"])
def test_random_planes_equal_grit_datatype(name):
    rng = np.random.default_rng(7)
    spec = _core.Spec(grit.Contract(name), [64, 512], -1, None)
    planes = [np.empty(0, np.uint8)] * 4
    for slot, size in zip(spec.plane_slots, spec.plane_sizes()):
        planes[slot] = rng.integers(0, 256, size, dtype=np.uint8)
    assert_same_bits(decoded(name, (64, 512), *planes),
                     bits_of_package(name, planes, 64 * 512))


# --- NF4 -----------------------------------------------------------------------

# The table that QLoRA published, as bitsandbytes prints it.
NF4 = np.array([
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
    -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
    0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0], np.float32)


@pytest.mark.parametrize("block", [64, 128])
def test_nf4_every_code(block):
    rng = np.random.default_rng(8)
    scales = rng.integers(0, 1 << 32, 1 << 14, dtype=np.uint64).astype(np.uint32)
    scales[:8] = [0, 1 << 31, 1, 0x7F800000, 0xFF800000, 0x7FC00001, 0x3F800000, 0x7F7FFFFF]
    scales = scales.view(np.float32)
    nibbles = np.arange(block) % 16
    data = np.tile((nibbles[0::2] | nibbles[1::2] << 4).astype(np.uint8), scales.size)
    with np.errstate(all="ignore"):
        expected = scales[:, None] * NF4[nibbles]
    found = decoded(f"hurray.nf4(block={block})", (scales.size, block), data,
                    scales.view(np.uint8))
    assert_same_bits(found, expected)
