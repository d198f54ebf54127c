# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The structures of grit-c/grit.h for ctypes, and views of arrays and tensors."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np

from ._array import Array, as_integer

MAXRANK, MAXPLANES = 8, 4


class GradeView(ctypes.Structure):
    """grit_view_t"""
    _fields_ = [("descriptor", ctypes.c_uint64 * 8), ("rank", ctypes.c_int32),
                ("shape", ctypes.c_int64 * MAXRANK),
                ("plane", ctypes.c_void_p * MAXPLANES),
                ("plane_bytes", ctypes.c_int64 * MAXPLANES),
                ("gid", ctypes.c_uint8 * 16)]


class ForeignView(ctypes.Structure):
    """grit_foreign_view_t"""
    _fields_ = [("id", ctypes.c_uint64), ("rank", ctypes.c_int32),
                ("axis", ctypes.c_int32), ("shape", ctypes.c_int64 * MAXRANK),
                ("placement", ctypes.c_uint64 * 3),
                ("plane", ctypes.c_void_p * MAXPLANES),
                ("plane_bytes", ctypes.c_int64 * MAXPLANES),
                ("gid", ctypes.c_uint8 * 16)]


class EitherView(ctypes.Union):
    _fields_ = [("grade", GradeView), ("foreign", ForeignView)]


class ArrayView(ctypes.Structure):
    """grit_array_view_t"""
    _fields_ = [("tag", ctypes.c_int32), ("u", EitherView)]


class TensorView(ctypes.Structure):
    """grit_tensor_view_t"""
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int32),
                ("rank", ctypes.c_int32), ("shape", ctypes.c_int64 * MAXRANK)]


class Detail(ctypes.Structure):
    """grit_detail_t"""
    _fields_ = [("message", ctypes.c_char * 1024), ("field", ctypes.c_char * 48),
                ("expected", ctypes.c_int64), ("actual", ctypes.c_int64),
                ("plane", ctypes.c_int32), ("status", ctypes.c_int)]


FailureHandler = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.POINTER(Detail),
                                   ctypes.c_char_p, ctypes.c_void_p)
PackedFunction = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p))

# MLIR element type, number of grit_dtype_t, NumPy dtype name.
_TYPES = [("f32", 1, "float32"), ("f64", 2, "float64"), ("f16", 3, "float16"),
          ("bf16", 4, "bfloat16"), ("i8", 5, "int8"), ("i16", 6, "int16"),
          ("i32", 7, "int32"), ("i64", 8, "int64")]
NUMBER_OF = {name: number for _, number, name in _TYPES}
MLIR_OF = {name: mlir for mlir, _, name in _TYPES}
NAME_OF = {mlir: name for mlir, _, name in _TYPES}


def array_view(array: Array) -> ArrayView:
    view = ArrayView()
    contract = array.contract
    view.tag = 0 if contract.is_grade else 1
    inner = view.u.grade if contract.is_grade else view.u.foreign
    if contract.is_grade:
        inner.descriptor[:] = np.frombuffer(array.descriptor, "<u8").tolist()
    else:
        inner.id, inner.axis = contract.id, array.axis
        inner.placement[:] = array._spec.placement_words
    inner.rank = array.ndim
    inner.shape[:array.ndim] = array.shape
    for slot, plane in enumerate(array.planes):
        inner.plane[slot] = plane.ctypes.data if plane.size else None
        inner.plane_bytes[slot] = plane.size
    return view


def tensor_view(tensor: np.ndarray) -> TensorView:
    """Of numbers in the processor's byte order, one after the other."""
    view = TensorView(tensor.ctypes.data, NUMBER_OF[tensor.dtype.name], tensor.ndim)
    view.shape[:tensor.ndim] = tensor.shape
    return view


_INTEGERS = {"i32": (ctypes.c_int32, 32), "i64": (ctypes.c_int64, 64),
             "index": (ctypes.c_int64, 64)}
_FLOATS = {"f32": (ctypes.c_float, "<f"), "f64": (ctypes.c_double, "<d")}


def scalar(kind: str, value: Any, what: str) -> Any:
    """A number of the MLIR type `kind` that holds `value`: TypeError when it is no
    number of this kind, ValueError when it lies outside."""
    if kind in _INTEGERS:
        number, bits = _INTEGERS[kind]
        return number(as_integer(value, f"{what}, of type {kind},", bits))
    number, form = _FLOATS[kind]
    if (isinstance(value, (complex, np.complexfloating))
            or not hasattr(type(value), "__float__") or np.ndim(value)):
        raise TypeError(f"{what}, of type {kind}, is a float or an int, not "
                        f"{type(value).__name__}")
    found = "more than a float holds"
    try:
        found = float(value)
        struct.pack(form, found)  # refuses what rounds beyond the largest number
    except OverflowError:
        raise ValueError(f"{what} does not fit {kind}: {found}") from None
    return number(found)
