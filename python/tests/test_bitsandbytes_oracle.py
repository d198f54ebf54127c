# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bitsandbytes' NF4 and FP4 against its own CPU library, which is called directly: the
Python package needs torch, the library does not."""

import ctypes
import hashlib
import importlib.util
import pathlib

import numpy as np
import pytest

import grit_mlir as grit
from bits import assert_same_bits

RNG = np.random.default_rng(4)
KINDS = ("nf4", "fp4")
# The decoder with 512-bit vectors wants rows of whole blocks (spec/formats/bnb.nf4.md).
ROW = 4096


@pytest.fixture(scope="module")
def library():
    spec = importlib.util.find_spec("bitsandbytes")
    path = spec and pathlib.Path(spec.origin).with_name("libbitsandbytes_cpu.so")
    if not path or not path.exists():
        pytest.skip("no CPU library of bitsandbytes")
    return ctypes.CDLL(str(path))


def theirs(library, kind, codes, absmax, block):
    decode = getattr(library, f"cdequantize_blockwise_cpu_{kind}_fp32")
    decode.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_longlong] * 3
    decode.restype = None
    out = np.empty(codes.size * 2, np.float32)
    decode(codes.ctypes.data, absmax.ctypes.data, out.ctypes.data, block,
           out.size // ROW, ROW)
    return out


def dynamic_map():
    """The 256 numbers of the nested scales, in the arithmetic of a linspace with fused
    products. bitsandbytes writes them into each file."""
    positive = []
    for exponent in range(7):
        count = 1 << exponent
        low = np.float64(np.float32(0.1))
        step = np.float64(np.float32((np.float32(1) - np.float32(0.1)) / count))
        # Products of binary32 numbers and small integers are exact in binary64.
        bounds = np.array([step * k + low if k < (count + 1) // 2 else 1 - step * (count - k)
                           for k in range(count + 1)]).astype(np.float32)
        means = (bounds[:-1] + bounds[1:]) / np.float32(2)
        positive += list(means * np.float32(10.0 ** (exponent - 6)))
    positive = np.array(positive, np.float32)
    return np.concatenate([-positive[::-1], [np.float32(0)], positive, [np.float32(1)]])


def double_scales(library, indices, nested, offset):
    decode = library.cdequantize_blockwise_cpu_fp32
    decode.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_longlong] * 2
    decode.restype = None
    table = dynamic_map()
    out = np.empty(indices.size, np.float32)
    decode(table.ctypes.data, indices.ctypes.data, nested.ctypes.data, out.ctypes.data,
           256, out.size)
    return out + np.float32(offset)


def raw(array):
    return np.ascontiguousarray(array).view(np.uint8).reshape(-1)


@pytest.mark.parametrize("block", [32, 64, 128, 4096])
@pytest.mark.parametrize("kind", KINDS)
def test_every_pair_of_codes_under_many_scales(library, kind, block):
    codes = np.tile(np.arange(256, dtype=np.uint8), 32 * ROW // 512)
    absmax = RNG.normal(size=codes.size * 2 // block).astype(np.float32)
    special = np.array([0, 0x80000000, 1, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000],
                       np.uint32).view(np.float32)
    absmax[:len(special)] = special[:len(absmax)]
    found = grit.Array(f"bnb.{kind}(block={block})", (32, ROW),
                       [codes, raw(absmax)]).dequantize()
    assert_same_bits(found, theirs(library, kind, codes, absmax, block), kind)


def test_the_dynamic_map_is_the_published_one():
    digest = hashlib.sha256(dynamic_map().astype("<f4").tobytes()).hexdigest()
    assert digest == "e732639a65f497b4ad684bb166a4467708255edd5207757de8b8f0c7e1fda89c"


@pytest.mark.parametrize("kind", KINDS)
def test_every_index_of_double_quantization(library, kind):
    count = 64 * ROW
    codes = RNG.integers(0, 256, count // 2, dtype=np.uint8)
    indices = np.resize(np.arange(256, dtype=np.uint8), count // 64)
    RNG.shuffle(indices[1024:])
    nested = np.abs(RNG.normal(size=count // 16384)).astype(np.float32)
    offset = np.float32(0.8125)
    absmax = double_scales(library, indices, nested, offset)
    found = grit.Array(f"bnb.{kind}_double", (64, ROW),
                       [codes, indices, raw(nested), raw(offset)]).dequantize()
    assert_same_bits(found, theirs(library, kind, codes, absmax, 64), kind)


def test_blocks_run_over_the_ends_of_rows():
    """A block is 64 elements of the flattened tensor, whatever its rows are."""
    codes = np.full(96, 0xFF, np.uint8)
    absmax = np.arange(3, dtype=np.float32)
    found = grit.Array("bnb.nf4", (2, 96), [codes, raw(absmax)]).dequantize()
    assert_same_bits(found, absmax.repeat(64), "blocks")
