# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiling and running kernels: the part of the package that needs LLVM.

It calls libGritCompiler.so through its C interface (grit-c/compiler.h). The library
is looked for in the environment variable GRIT_COMPILER_LIBRARY, beside a package
that lies in a build tree, and where grit was installed when the package was built.
"""

from __future__ import annotations

import ctypes
import functools
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _errors
from ._array import Array, as_integer, reshaped
from ._capi import (MAXRANK, MLIR_OF, NAME_OF, NUMBER_OF, PackedFunction, array_view,
                    scalar, tensor_view)
from ._library import (Code, CompileError, Options, failure, library_path,
                       shared_compiler)

__all__ = ["CompileError", "Function", "Module", "compile", "decode", "decode_source",
           "kernel", "library_path", "matmul", "matmul_source"]

#===----------------------------------------------------------------------===#
# Modules and functions
#===----------------------------------------------------------------------===#

_ARTIFACTS = {"mlir": 0, "llvm": 1, "assembly": 2, "object": 3, "header": 4,
              "signatures": 5}


class Module:
    """A compiled module; `module[name]` is a function to call."""

    def __init__(self, code: Code):
        self._code = code
        self._functions: dict[str, Function] = {}
        self.signatures: dict[str, dict[str, Any]] = {
            function["name"]: function
            for function in json.loads(self.emit("signatures"))["functions"]}

    def emit(self, artifact: str) -> bytes:
        """The module as 'mlir', 'llvm', 'assembly', 'object', 'header' (C) or
        'signatures' (JSON)."""
        if artifact not in _ARTIFACTS:
            raise ValueError(f"artifact {artifact!r}: one of {', '.join(_ARTIFACTS)}")
        data, size = ctypes.c_void_p(), ctypes.c_size_t()
        with self._code.compiler.turn() as library:
            if library.grit_module_emit(self._code.handle, _ARTIFACTS[artifact],
                                        ctypes.byref(data), ctypes.byref(size)):
                raise self._code.compiler.error()
            return ctypes.string_at(data, size.value)

    def __getitem__(self, name: str) -> Function:
        """KeyError when the module has no such public function; CompileError when
        its code cannot be loaded: it is for another processor, or calls functions
        that this process does not have."""
        if name not in self.signatures:
            raise KeyError(name)
        if name not in self._functions:
            with self._code.compiler.turn() as library:
                address = library.grit_module_lookup_packed(self._code.handle,
                                                            name.encode())
                if not address:
                    raise self._code.compiler.error()
            self._functions[name] = Function(self._code, self.signatures[name],
                                             PackedFunction(address))
        return self._functions[name]


def _refuse_overlap(wanted: list[dict[str, Any]], operands: tuple[Any, ...]) -> None:
    """What a function writes lies apart from everything else."""
    memory = [value.planes if isinstance(value, Array) else
              (value,) if isinstance(value, np.ndarray) else () for value in operands]
    for i, operand in enumerate(wanted):
        if operand["access"] == "in":
            continue
        for j, others in enumerate(memory):
            if i != j and any(np.may_share_memory(a, b) for a in memory[i] for b in others):
                raise ValueError(f"operand '{operand['name']}' is written, and shares "
                                 f"memory with operand '{wanted[j]['name']}'")


def _tensor(operand: dict[str, Any], value: Any) -> np.ndarray:
    """What a function is given for a tensor: `value`, or memory for a copy of it in
    the byte order of the processor."""
    name = operand["name"]
    if not isinstance(value, np.ndarray) or value.dtype.name not in NUMBER_OF:
        raise TypeError(f"operand '{name}' is an ndarray of {NAME_OF[operand['type']]}")
    if not value.flags.c_contiguous or value.ndim > MAXRANK:
        raise ValueError(f"operand '{name}' is not contiguous")
    if operand["access"] != "in" and not value.flags.writeable:
        raise ValueError(f"operand '{name}' is written, and is read-only")
    if value.dtype.isnative:
        return value
    if operand["access"] != "in":
        raise TypeError(f"operand '{name}' is written, and its numbers are in the byte "
                        "order of other processors: give an array of dtype "
                        f"{value.dtype.newbyteorder('=')}")
    return np.empty(value.shape, value.dtype.newbyteorder("="))


class Function:
    """A function of a compiled module.

    It takes its operands in the order of its signature: Arrays, ndarrays of the
    right type, ints and floats. Operands that it writes are changed in place, so
    they must be contiguous, writable and in the processor's byte order; others may
    be in the other byte order, at the price of a copy. It checks all of them before
    it reads one: TypeError and ValueError for what cannot be passed on (also a
    number outside its scalar type), else the CheckError of the check.
    """

    def __init__(self, code: Code, signature: dict[str, Any], function: Any):
        self._code = code  # what `function` points to
        self._function = function
        self.signature = signature

    def bind(self, *operands: Any) -> Callable[[], None]:
        """The call with these operands, ready: it reads and writes their memory
        each time."""
        wanted = self.signature["operands"]
        if len(operands) != len(wanted):
            raise TypeError(f"{self.signature['name']} takes {len(wanted)} operands: "
                            + ", ".join(o["name"] for o in wanted))
        views, copies = [], []
        for operand, value in zip(wanted, operands):
            name = operand["name"]
            if operand["kind"] == "scalar":
                views.append(scalar(operand["type"], value, f"operand '{name}'"))
            elif operand["kind"] == "tensor":
                native = _tensor(operand, value)
                if native is not value:
                    copies.append((native, value))
                views.append(tensor_view(native))
            elif isinstance(value, Array):
                views.append(array_view(value))
            else:
                raise TypeError(f"operand '{name}' is an Array, not {type(value).__name__}")
        _refuse_overlap(wanted, operands)
        addresses = (ctypes.c_void_p * max(1, len(views)))(*map(ctypes.addressof, views))

        def call() -> None:
            for native, value in copies:
                native[...] = value
            failure.detail = None
            status = self._function(addresses)
            if status:
                raise self._error(status)

        call.operands = operands, views  # keep what `addresses` points to
        return call

    def __call__(self, *operands: Any) -> None:
        self.bind(*operands)()

    def _error(self, status: int) -> _errors.CheckError:
        found = failure.detail
        if found is None:
            return _errors.make(status, _errors.Status(status).name, {})
        text = found.message.decode(errors="replace")
        return _errors.make(status, text, {
            "message": text.splitlines()[0] if text else "",
            "field": found.field.decode(errors="replace"),
            "declared": str(found.expected), "found": str(found.actual),
            "cause": "", "fix": "",
            "plane": found.plane if found.plane >= 0 else None})


def _text(value: str, what: str) -> bytes:
    """A string for C, which a zero ends."""
    if not isinstance(value, str):
        raise TypeError(f"{what} is a str, not {type(value).__name__}")
    if "\0" in value:
        raise ValueError(f"{what} has a zero character: {value!r}")
    return value.encode()


def _source(source: str | bytes) -> bytes:
    if isinstance(source, str):
        return source.encode()
    if not isinstance(source, (bytes, bytearray, memoryview)):
        raise TypeError("source is MLIR, as str for text or bytes for text or bytecode, "
                        f"not {type(source).__name__}")
    return bytes(source)


def compile(
    source: str | bytes,
    *,
    cpu: str | None = None,
    features: str | None = None,
    threads: int = 1,
    check_level: int = 1,
    name: str = "<python>",
) -> Module:
    """Compiles MLIR text or bytecode for `cpu`, or this processor.

    `threads`: 1 for plain loops, 0 to let OpenMP decide, or a number. The check
    level says what a function checks before it runs: nothing (0), descriptors and
    sizes (1), planes too (2). `name` is the file that messages speak of.
    CompileError when the compiler refuses the module or these options.
    """
    data = _source(source)
    options = Options(None if cpu is None else _text(cpu, "cpu"),
                      None if features is None else _text(features, "features"),
                      as_integer(threads, "threads", 32),
                      as_integer(check_level, "check_level", 32))
    file = _text(name, "name")
    tool = shared_compiler()
    with tool.turn() as library:
        handle = library.grit_compiler_compile(tool.handle, data, len(data), file,
                                               ctypes.byref(options))
        if not handle:
            raise tool.error()
        code = Code(tool, handle)
    return Module(code)


#===----------------------------------------------------------------------===#
# Decode and matmul
#===----------------------------------------------------------------------===#


def _array_type(array: Array) -> str:
    """The type of an array in MLIR."""
    contract = array.contract
    # The compiler does not know the names that users give to grades.
    kind, name = (("grade", contract.canonical) if contract.is_grade
                  else ("format", contract.name))
    parts = ["x".join(map(str, array.shape)) + f'x#grit.{kind}<"{name}">']
    if array.axis != array.ndim - 1:
        parts.append(f"axis = {array.axis}")
    for what, word, default in zip(("data", "scale", "meta"), array.placements,
                                   contract.placements):
        if word != default:
            parts.append(f"{what} = {word}")
    return f"!grit.array<{', '.join(parts)}>"


def decode_source(array: Array) -> str:
    """MLIR text of a function that decodes an array into a tensor."""
    weight = _array_type(array)
    result = f"tensor<{'x'.join(map(str, array.shape))}xf32>"
    return f"""\
func.func @decode(%w: {weight} {{grit.name = "w"}},
                  %y: {result} {{grit.name = "y"}}) -> {result} {{
  %r = grit.decode ins(%w : {weight}) outs(%y : {result}) -> {result}
  return %r : {result}
}}
"""


def matmul_source(array: Array, dtype: str = "float32") -> str:
    """MLIR text of `y += x @ array.T`, x of any number of rows."""
    n, k = array.shape
    weight = _array_type(array)
    element = MLIR_OF[dtype]
    x, y = f"tensor<?x{k}x{element}>", f"tensor<?x{n}xf32>"
    return f"""\
func.func @matmul(%x: {x} {{grit.name = "x"}}, %w: {weight} {{grit.name = "w"}},
                  %y: {y} {{grit.name = "y"}}) -> {y} {{
  %r = grit.matmul ins(%x, %w : {x}, {weight}) outs(%y : {y}) -> {y}
  return %r : {y}
}}
"""


@functools.lru_cache(maxsize=256)
def kernel(source: str, function: str, threads: int) -> Function:
    """A function of a module, compiled on the first call and kept."""
    return compile(source, threads=threads, name=f"{function}.mlir")[function]


def _check_out(out: Any, shape: tuple[int, ...]) -> None:
    """Refuses what a kernel cannot write."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be an ndarray, not {type(out).__name__}")
    if out.shape != shape or out.dtype != np.float32 or not out.flags.c_contiguous:
        raise ValueError(f"out must be a contiguous float32 array of shape {shape}, in the "
                         f"processor's byte order; found {out.dtype}, shape {out.shape}")
    if not out.flags.writeable:
        raise ValueError("out is read-only")


def decode(array: Array, *, out: np.ndarray | None = None, threads: int = 1) -> np.ndarray:
    """array.dequantize() by a compiled kernel: the same bits, sooner.

    `out`, contiguous float32 of the shape of `array`, receives the values and is
    returned; without it the result is a new array.
    """
    if not isinstance(array, Array):
        raise TypeError(f"decode takes an Array, not {type(array).__name__}")
    if out is not None:
        _check_out(out, array.shape)
    else:
        out = reshaped(np.empty(array.size, np.float32), array.shape)
    if out.size:
        kernel(decode_source(array), "decode", threads)(array, out)
    return out


def matmul(
    x: Any, array: Array, *, out: np.ndarray | None = None, threads: int = 1
) -> np.ndarray:
    """x @ decode(array).T in float32, decoding inside the kernel.

    `x` is [..., K] in float32, float16 or bfloat16, in any byte order; `array` is
    [N, K] with groups along K; the result is [..., N], zeros where K is 0. `out`,
    contiguous float32 of the shape of the result, receives it and is returned. A
    kernel is compiled once for each contract, N, K, placements, dtype and number of
    threads, and kept. TypeError and ValueError for operands that do not fit.
    """
    x = np.asarray(x)
    if x.dtype.name not in ("float32", "float16", "bfloat16"):
        raise TypeError(f"matmul takes float32, float16 or bfloat16; found {x.dtype.name}")
    if not isinstance(array, Array):
        raise TypeError(f"matmul multiplies by an Array, not {type(array).__name__}")
    if array.ndim != 2 or array.axis != 1:
        raise ValueError(f"matmul takes an [N, K] array with groups along K; found shape "
                         f"{array.shape}, axis {array.axis}")
    n, k = array.shape
    if x.ndim < 1 or x.shape[-1] != k:
        raise ValueError(f"x has shape {x.shape}; its last extent must be K = {k}")
    shape = (*x.shape[:-1], n)
    if out is None:
        out = np.zeros(shape, np.float32)
    else:
        _check_out(out, shape)
        if np.may_share_memory(x, out):
            raise ValueError("out shares memory with x")
        out[...] = 0  # the operation accumulates
    if out.size and k:
        rows = math.prod(shape[:-1])
        native = np.require(x, x.dtype.newbyteorder("="), "CA").reshape(rows, k)
        kernel(matmul_source(array, x.dtype.name), "matmul", threads)(
            native, array, out.reshape(rows, n))
    return out
