# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/AddAFormat.md: the format of examples/formats/crumb3.grit, which the library does
not have, against a decoder and an encoder that are written here in NumPy."""

import pathlib
import re

import numpy as np
import pytest

import grit_mlir as grit
from bits import assert_same_bits

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "examples/formats/crumb3.grit"
LEVELS = np.array([-1, -0.625, -0.3125, -0.125, 0, 0.1875, 0.5, 1], np.float32)
SHAPES = [(1, 32), (3, 32), (2, 64), (5, 96), (2, 3, 160)]

try:
    grit.compiler.library_path()
    missing = ""
except FileNotFoundError as error:
    missing = str(error)
compiled = pytest.mark.skipif(bool(missing), reason=f"built without MLIR: {missing}")


@pytest.fixture(scope="module", autouse=True)
def crumb3():
    return grit.register_format(FILE)


def unpack(plane, count):
    """Codes and scale codes of `count` units, read as people read the description."""
    bits = np.unpackbits(plane, bitorder="little")
    codes, scales = [], []
    for unit in bits[:100 * count].reshape(count, 100):
        low, high, scale = unit[:64].reshape(32, 2), unit[64:96][::-1], unit[96:]
        codes.append(low[:, 0] + 2 * low[:, 1] + 4 * high)
        scales.append(scale @ [1, 2, 4, 8])
    return np.array(codes), np.array(scales)


def decode(plane, shape):
    codes, scales = unpack(plane, int(np.prod(shape)) // 32)
    return (np.ldexp(np.float32(1), scales - 10)[:, None].astype(np.float32)
            * LEVELS[codes]).reshape(shape)


def plane_bytes(shape):
    return -(-int(np.prod(shape)) // 32 * 100 // 8)


def random_array(shape, seed):
    rng = np.random.default_rng(seed)
    return grit.Array("crumb3", shape,
                      [rng.integers(0, 256, plane_bytes(shape), dtype=np.uint8)])


@pytest.mark.parametrize("shape", SHAPES)
def test_any_bytes_decode_as_the_text_says(shape):
    for seed in range(5):
        array = random_array(shape, seed)
        assert_same_bits(array.dequantize(), decode(array.planes[0], shape), str(shape))


@pytest.mark.parametrize("shape", SHAPES)
def test_sizes_follow_from_the_text(shape):
    right = plane_bytes(shape)
    assert grit.Array("crumb3", shape, [np.zeros(right, np.uint8)]).check() is None
    for wrong in (right - 1, right + 1, 0):
        with pytest.raises(grit.GritSizeError) as caught:
            grit.Array("crumb3", shape, [np.zeros(wrong, np.uint8)])
        assert str(right) in str(caught.value) and str(wrong) in str(caught.value)
    with pytest.raises(grit.GritSizeError, match="multiple of 32"):
        grit.Array("crumb3", (*shape[:-1], 48), [np.zeros(right, np.uint8)])


@pytest.mark.parametrize("shape", SHAPES)
def test_the_encoder_takes_the_next_power_of_two_and_the_nearest_level(shape):
    rng = np.random.default_rng(7)
    values = (rng.normal(size=shape) * rng.uniform(0.01, 4)).astype(np.float32)
    array = grit.quantize(values, "crumb3")
    codes, scales = unpack(array.planes[0], values.size // 32)
    units = values.reshape(-1, 32).astype(np.float64)
    expected = np.ceil(np.log2(np.abs(units).max(1))).astype(int)
    np.testing.assert_array_equal(scales - 10, expected)
    distance = np.abs(units / 2.0 ** expected[:, None] - LEVELS[codes])
    nearest = np.abs((units / 2.0 ** expected[:, None])[..., None] - LEVELS).min(-1)
    np.testing.assert_allclose(distance, nearest, atol=1e-6)


def test_a_file_carries_the_text(tmp_path, crumb3):
    array = random_array((4, 64), 3)
    grit.save(tmp_path / "x.safetensors", {"w": array})
    stored = grit.open(tmp_path / "x.safetensors")["w"]
    assert stored.contract == crumb3
    assert_same_bits(stored.dequantize(), array.dequantize())


def test_the_page_shows_the_file():
    page = (ROOT / "docs/AddAFormat.md").read_text()
    shown = re.search(r"```text file=crumb3.grit\n(.*?)```", page, re.DOTALL)[1]
    assert shown == FILE.read_text()


#===----------------------------------------------------------------------===#
# Compiled
#===----------------------------------------------------------------------===#


@pytest.fixture(scope="module")
def module(crumb3):
    array = f'!grit.array<?x96x#grit.format<"{crumb3.canonical}">>'
    return grit.compiler.compile(f"""
func.func @decode(%a: {array}, %y: tensor<?x96xf32>) -> tensor<?x96xf32> {{
  %r = grit.decode ins(%a : {array}) outs(%y : tensor<?x96xf32>) -> tensor<?x96xf32>
  return %r : tensor<?x96xf32>
}}
func.func @matmul(%x: tensor<?x96xf32>, %a: {array}, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {{
  %r = grit.matmul ins(%x, %a : tensor<?x96xf32>, {array}) outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}}
""")


@compiled
@pytest.mark.parametrize("rows", [1, 2, 3, 7, 70])
def test_compiled_decode(module, rows):
    array = random_array((rows, 96), rows)
    out = np.full((rows, 96), 7, np.float32)
    module["decode"](array, out)
    assert_same_bits(out, decode(array.planes[0], (rows, 96)))


@compiled
def test_compiled_matmul(module):
    """Ones pick columns, so that the products are the values."""
    array = random_array((5, 96), 1)
    out = np.zeros((96, 5), np.float32)
    module["matmul"](np.eye(96, dtype=np.float32), array, out)
    np.testing.assert_array_equal(out, decode(array.planes[0], (5, 96)).T)
    x = np.random.default_rng(2).normal(size=(4, 96)).astype(np.float32)
    out = np.zeros((4, 5), np.float32)
    module["matmul"](x, array, out)
    wanted = x.astype(np.float64) @ decode(array.planes[0], (5, 96)).astype(np.float64).T
    np.testing.assert_allclose(out, wanted, rtol=1e-5, atol=1e-4)
