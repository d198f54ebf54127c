# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What compiled functions take: tensors in either byte order, scalars in range."""

import ml_dtypes
import numpy as np
import pytest

import grit_mlir as grit
from bits import require_compiler

require_compiler()

ELEMENTS = {"f32": np.float32, "f64": np.float64, "f16": np.float16,
            "bf16": ml_dtypes.bfloat16, "i8": np.int8, "i16": np.int16, "i32": np.int32,
            "i64": np.int64}


@pytest.mark.parametrize("element", ELEMENTS)
def test_operands_of_the_other_byte_order(element):
    tensor = f"tensor<2x3x{element}>"
    copy = grit.compiler.compile(
        f"func.func @copy(%x: {tensor}) -> {tensor} {{ return %x : {tensor} }}")["copy"]
    x = np.array([[1, 2, 3], [-4, 5, 100]], ELEMENTS[element])
    swapped = x.astype(x.dtype.newbyteorder())
    out = np.zeros_like(x)
    call = copy.bind(swapped, out)
    call()
    assert np.array_equal(out, x)
    x[1, 0] = 7
    swapped[:] = x  # a bound call reads the memory each time
    call()
    assert out[1, 0] == 7 and np.array_equal(swapped, x)
    if x.dtype.itemsize > 1:
        assert not swapped.dtype.isnative
        before = out.byteswap().view(swapped.dtype)
        with pytest.raises(TypeError, match="'result0' is written, .* byte order.*dtype "
                                            + x.dtype.name):
            copy(x, before)
        assert np.array_equal(before, out)


@pytest.fixture(scope="module")
def scalars():
    """A function that stores an i32, an i64, an index, an f32 and an f64."""
    return grit.compiler.compile("""
func.func @f(%a: i32, %b: i64, %c: index, %d: f32, %e: f64)
    -> (tensor<3xi64>, tensor<2xf64>) {
  %a64 = arith.extsi %a : i32 to i64
  %c64 = arith.index_cast %c : index to i64
  %d64 = arith.extf %d : f32 to f64
  %i = tensor.from_elements %a64, %b, %c64 : tensor<3xi64>
  %f = tensor.from_elements %d64, %e : tensor<2xf64>
  return %i, %f : tensor<3xi64>, tensor<2xf64>
}
""")["f"]


GOOD = [5, -6, 7, 1.5, -2.5]


@pytest.mark.parametrize("values", [
    GOOD, [-2**31, -2**63, -2**63, float("-inf"), 1e308],
    [2**31 - 1, 2**63 - 1, 2**63 - 1, 3.4028235e38, 2**70], [True, False, 0, 3, -0.0],
    [np.int8(5), np.uint16(6), np.int64(7), np.float16(1.5), np.float32(0.1)],
    [np.array(5), 1, 1, np.array(1.5), ml_dtypes.bfloat16(2.5)]])
def test_scalars(scalars, values):
    integers, floats = np.zeros(3, np.int64), np.zeros(2)
    scalars(*values, integers, floats)
    assert integers.tolist() == [int(v) for v in values[:3]]
    assert floats.tolist() == [float(np.float32(values[3])), float(values[4])]


@pytest.mark.parametrize("at, value, text", [
    (0, 2**31, "type i32, does not fit 32 bits: 2147483648"),
    (0, -2**31 - 1, "does not fit 32 bits"), (0, 2**40, "does not fit 32 bits"),
    (1, 2**63, "type i64, does not fit 64 bits"), (1, 10**9999, "does not fit 64 bits: it has"),
    (2, 2**70, "type index, does not fit 64 bits"), (2, -2**63 - 1, "does not fit"),
    (3, 3.4028236e38, "does not fit f32"), (3, 10**400, "does not fit f32"),
    (3, 1e300, "does not fit f32: 1e"), (4, 10**400, "does not fit f64")],
    ids=lambda value: "int" if isinstance(value, int) else None)  # some are long
def test_scalars_that_do_not_fit(scalars, at, value, text):
    values = [*GOOD[:at], value, *GOOD[at + 1:]]
    with pytest.raises(ValueError, match=f"operand '.*{text}"):
        scalars(*values, np.zeros(3, np.int64), np.zeros(2))


@pytest.mark.parametrize("at", range(5))
def test_scalars_of_the_wrong_kind(scalars, at):
    wrong = ["1", b"1", None, 1j, np.complex64(1), [1], np.ones(1)]
    if at < 3:
        wrong += [1.0, np.float32(1), np.array(1.0)]
    for value in wrong:
        values = [*GOOD[:at], value, *GOOD[at + 1:]]
        with pytest.raises(TypeError, match="operand '.*an int"):
            scalars(*values, np.zeros(3, np.int64), np.zeros(2))
