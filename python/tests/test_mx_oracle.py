# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The OCP Microscaling formats: every code under every scale byte against ml_dtypes."""

import ml_dtypes
import numpy as np
import pytest

import grit_mlir as grit
from bits import assert_same_bits

ELEMENTS = {
    "mxfp4": (4, ml_dtypes.float4_e2m1fn),
    "mxfp6_e2m3": (6, ml_dtypes.float6_e2m3fn),
    "mxfp6_e3m2": (6, ml_dtypes.float6_e3m2fn),
    "mxfp8_e4m3": (8, ml_dtypes.float8_e4m3fn),
    "mxfp8_e5m2": (8, ml_dtypes.float8_e5m2),
    "mxint8": (8, np.int8)}


def packed(codes, width):
    """Codes one after the other, least significant bits first."""
    bits = codes.reshape(-1, 1) >> np.arange(width, dtype=np.uint8) & 1
    return np.packbits(bits.astype(np.uint8), bitorder="little")


def levels(name, codes):
    dtype = ELEMENTS[name][1]
    values = codes.view(dtype).astype(np.float32)
    return values / np.float32(64) if name == "mxint8" else values


@pytest.mark.parametrize("name", ELEMENTS)
def test_every_code_under_every_scale(name):
    width = ELEMENTS[name][0]
    count = max(1 << width, 32)
    codes = (np.arange(256 * count) % (1 << width)).astype(np.uint8)
    scales = np.arange(256, dtype=np.uint8).repeat(count // 32)
    powers = scales.view(ml_dtypes.float8_e8m0fnu).astype(np.float32)
    with np.errstate(all="ignore"):
        expected = powers.repeat(32) * levels(name, codes)
    found = grit.Array(name, (256, count), [packed(codes, width), scales]).dequantize()
    assert_same_bits(found, expected, name)


@pytest.mark.parametrize("name", ["mxfp6_e2m3", "mxfp6_e3m2"])
def test_codes_of_six_bits_follow_one_another(name):
    codes = np.zeros(32, np.uint8)
    codes[:4] = 1, 2, 4, 8
    data = packed(codes, 6)
    assert bytes(data[:3]) == bytes.fromhex("814020")
    one = np.full(1, 127, np.uint8)
    found = grit.Array(name, (32,), [data, one]).dequantize()
    assert_same_bits(found, levels(name, codes), name)


def test_a_scale_of_a_group_reaches_its_elements_only():
    rng = np.random.default_rng(8)
    for name, (width, _) in ELEMENTS.items():
        codes = rng.integers(0, 1 << width, 3 * 5 * 64).astype(np.uint8)
        scales = rng.integers(64, 192, 3 * 5 * 2).astype(np.uint8)
        expected = np.ldexp(np.float32(1), scales.astype(np.int32) - 127).repeat(32)
        expected = expected.astype(np.float32) * levels(name, codes)
        found = grit.Array(name, (3, 5, 64), [packed(codes, width), scales]).dequantize()
        assert_same_bits(found, expected, name)
