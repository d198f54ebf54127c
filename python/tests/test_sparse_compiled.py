# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""D13 and D14, compiled: arrays whose sparse indices are any bytes decode as the library
says, bit for bit; a repeated index counts once, one beyond the run not at all."""

import numpy as np
import pytest

import grit_mlir as grit
from bits import assert_same_bits, require_compiler
from grit_mlir import _core

require_compiler()

CONTRACTS = (
    "i8s24",
    "grit1(e=s8,k0=16,s0=binary16,sp=2:4:u2:asclsb,ct=pad8,esr=ratiomaxabs)",
    "grit1(e=u4,k0=6,s0=e8m0,sp=2:3:u2:asclsb,esr=ratiomaxabs)",
    "grit1(e=s4,k0=8,s0=e8m0,sp=2:4:u2:unord,esr=exp2floormaxabs)",
    "grit1(e=e2m1,k0=16,s0=e4m3,k1=0,s1=binary32,sp=3:8:u4:asclsb,esr=ratiomaxabs)")
ROWS = (1, 2, 3, 70)


def random_array(name, rows, columns, seed):
    rng = np.random.default_rng(seed)
    spec = _core.Spec(grit.Contract(name), [rows, columns], 1, None)
    return grit.Array._make(spec, [rng.integers(0, 256, size, dtype=np.uint8)
                                   for size in spec.plane_sizes()])


def array_type(name, columns):
    return f'!grit.array<?x{columns}x#grit.grade<"{grit.Contract(name).canonical}">>'


@pytest.fixture(scope="module", params=CONTRACTS)
def functions(request):
    """A decode and a matmul of one contract."""
    name = request.param
    columns = 4 * grit.Contract(name).axis_multiple
    if name != "i8s24":
        grit.register_grade(f"sparse-{CONTRACTS.index(name)}", name)
    array = array_type(name, columns)
    module = grit.compiler.compile(f"""
func.func @decode(%a: {array}, %y: tensor<?x{columns}xf32>) -> tensor<?x{columns}xf32> {{
  %r = grit.decode ins(%a : {array}) outs(%y : tensor<?x{columns}xf32>) -> tensor<?x{columns}xf32>
  return %r : tensor<?x{columns}xf32>
}}
func.func @matmul(%x: tensor<?x{columns}xf32>, %a: {array}, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {{
  %r = grit.matmul ins(%x, %a : tensor<?x{columns}xf32>, {array}) outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}}
""")
    return name, columns, module


@pytest.mark.parametrize("rows", ROWS)
def test_D13_D14_any_indices(functions, rows):
    name, columns, module = functions
    for seed in range(10):
        array = random_array(name, rows, columns, seed)
        out = np.full((rows, columns), 7, np.float32)
        module["decode"](array, out)
        assert_same_bits(out, array.dequantize(), f"{name}, {rows} rows, seed {seed}")


def test_D14_products_with_any_indices(functions):
    """Ones pick columns: the products are the values."""
    name, columns, module = functions
    array = random_array(name, 5, columns, 1)
    for plane in array.planes[1:3]:
        if plane.size:
            plane[:] = 0x38  # small numbers in every scale format
    values = array.dequantize()
    assert np.isfinite(values).all()
    out = np.zeros((columns, 5), np.float32)
    module["matmul"](np.eye(columns, dtype=np.float32), array, out)
    np.testing.assert_array_equal(out, values.T)


def test_D14_level_2_refuses_what_does_not_rise(functions):
    name, columns, _ = functions
    if "unord" in name:
        pytest.skip("any order is one")
    array = random_array(name, 3, columns, 0)
    with pytest.raises(grit.GritDigestError, match="indices"):
        array.check(level=2)
