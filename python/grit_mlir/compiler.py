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
import os
import pathlib
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _errors
from ._array import Array
from ._capi import (MAXRANK, MLIR_OF, NAME_OF, NUMBER_OF, Detail, FailureHandler,
                    PackedFunction, array_view, tensor_view)

__all__ = ["CompileError", "Function", "Module", "compile", "decode", "decode_source",
           "kernel", "library_path", "matmul", "matmul_source"]

#===----------------------------------------------------------------------===#
# The library
#===----------------------------------------------------------------------===#


class _Options(ctypes.Structure):
    """grit_compiler_options_t"""
    _fields_ = [("cpu", ctypes.c_char_p), ("features", ctypes.c_char_p),
                ("threads", ctypes.c_int32), ("check_level", ctypes.c_int32)]


class CompileError(RuntimeError):
    """The compiler refused a module; the text has its diagnostics."""


def library_path() -> str:
    """The path of libGritCompiler.so; FileNotFoundError says where it was not."""
    tried = []
    given = os.environ.get("GRIT_COMPILER_LIBRARY")
    if given:
        tried.append(pathlib.Path(given))
    package = pathlib.Path(__file__).parent
    tried.append(package / "libGritCompiler.so")
    # In a build tree the Python files are links; the directory is not.
    tried.append(package.parents[1] / "lib" / "libGritCompiler.so")
    try:
        from ._config import COMPILER_LIBRARY  # written when the package is built
        tried.append(pathlib.Path(COMPILER_LIBRARY))
    except ImportError:
        pass
    for path in tried:
        if path.exists():
            return str(path)
    raise FileNotFoundError(
        "grit's compiler, libGritCompiler.so, is at none of these: "
        + ", ".join(map(str, tried))
        + ". Build or install grit with MLIR, or set GRIT_COMPILER_LIBRARY.")


_failure = threading.local()


@FailureHandler
def _on_failure(status, detail, location, user):
    """Keeps what a compiled function refused, for the call to raise."""
    _failure.detail = Detail.from_buffer_copy(detail.contents) if detail else None
    _failure.location = location.decode(errors="replace") if location else ""


class _Compiler:
    """The library with one compiler, used by one thread at a time."""

    def __init__(self) -> None:
        library = ctypes.CDLL(library_path())
        pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
        for name, result, arguments in [
                ("grit_compiler_create", pointer, []),
                ("grit_compiler_last_error", text, [pointer]),
                ("grit_compiler_compile", pointer,
                 [pointer, text, size, text, ctypes.POINTER(_Options)]),
                ("grit_module_destroy", None, [pointer]),
                ("grit_module_emit", ctypes.c_int,
                 [pointer, ctypes.c_int, ctypes.POINTER(pointer), ctypes.POINTER(size)]),
                ("grit_module_lookup_packed", pointer, [pointer, text]),
                ("grit_set_failure_handler", None, [FailureHandler, pointer])]:
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        self.library = library
        self.lock = threading.Lock()
        self.handle = library.grit_compiler_create()
        if not self.handle:
            raise MemoryError("grit_compiler_create")
        library.grit_set_failure_handler(_on_failure, None)

    def error(self) -> CompileError:
        text = self.library.grit_compiler_last_error(self.handle)
        return CompileError((text or b"").decode(errors="replace").strip())


@functools.lru_cache(maxsize=None)
def _compiler() -> _Compiler:
    return _Compiler()


#===----------------------------------------------------------------------===#
# Modules and functions
#===----------------------------------------------------------------------===#

_ARTIFACTS = {"mlir": 0, "llvm": 1, "assembly": 2, "object": 3, "header": 4,
              "signatures": 5}


class Module:
    """A compiled module; `module[name]` is a function to call."""

    def __init__(self, handle: int):
        self._compiler = _compiler()
        self._handle = handle
        self._functions: dict[str, Function] = {}
        self.signatures: dict[str, dict[str, Any]] = {
            function["name"]: function
            for function in json.loads(self.emit("signatures"))["functions"]}

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        if handle:
            with self._compiler.lock:
                self._compiler.library.grit_module_destroy(handle)

    def emit(self, artifact: str) -> bytes:
        """The module as 'mlir', 'llvm', 'assembly', 'object', 'header' (C) or
        'signatures' (JSON)."""
        if artifact not in _ARTIFACTS:
            raise ValueError(f"artifact {artifact!r}: one of {', '.join(_ARTIFACTS)}")
        data, size = ctypes.c_void_p(), ctypes.c_size_t()
        with self._compiler.lock:
            if self._compiler.library.grit_module_emit(
                    self._handle, _ARTIFACTS[artifact], ctypes.byref(data),
                    ctypes.byref(size)):
                raise self._compiler.error()
            return ctypes.string_at(data, size.value)

    def __getitem__(self, name: str) -> Function:
        if name not in self.signatures:
            raise KeyError(name)
        if name not in self._functions:
            with self._compiler.lock:
                address = self._compiler.library.grit_module_lookup_packed(
                    self._handle, name.encode())
                if not address:
                    raise self._compiler.error()
            self._functions[name] = Function(self, self.signatures[name], PackedFunction(address))
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


class Function:
    """A function of a compiled module.

    It takes its operands in the order of its signature: Arrays, ndarrays of the
    right type, ints. Operands that it writes are changed in place, so they must be
    contiguous and writable. It checks all of them before it reads one.
    """

    def __init__(self, module: Module, signature: dict[str, Any], function: Any):
        self._module = module  # keeps the code
        self._function = function
        self.signature = signature

    def _convert(self, operand: dict[str, Any], value: Any) -> Any:
        name = operand["name"]
        if operand["kind"] == "array":
            if not isinstance(value, Array):
                raise TypeError(f"operand '{name}' is an Array, not {type(value).__name__}")
            return array_view(value)
        if operand["kind"] == "scalar":
            kinds = {"f32": ctypes.c_float, "f64": ctypes.c_double, "i32": ctypes.c_int32}
            return kinds.get(operand["type"], ctypes.c_int64)(value)
        if not isinstance(value, np.ndarray) or value.dtype.name not in NUMBER_OF:
            raise TypeError(f"operand '{name}' is an ndarray of {NAME_OF[operand['type']]}")
        if not value.flags.c_contiguous or value.ndim > MAXRANK:
            raise ValueError(f"operand '{name}' is not contiguous")
        if operand["access"] != "in" and not value.flags.writeable:
            raise ValueError(f"operand '{name}' is written, and is read-only")
        return tensor_view(value)

    def bind(self, *operands: Any) -> Callable[[], None]:
        """The call with these operands, ready: it reads and writes their memory
        each time."""
        wanted = self.signature["operands"]
        if len(operands) != len(wanted):
            raise TypeError(f"{self.signature['name']} takes {len(wanted)} operands: "
                            + ", ".join(o["name"] for o in wanted))
        views = [self._convert(*pair) for pair in zip(wanted, operands)]
        _refuse_overlap(wanted, operands)
        addresses = (ctypes.c_void_p * max(1, len(views)))(*map(ctypes.addressof, views))

        def call() -> None:
            _failure.detail = None
            status = self._function(addresses)
            if status:
                raise self._error(status)

        call.operands = operands, views  # keep what `addresses` points to
        return call

    def __call__(self, *operands: Any) -> None:
        self.bind(*operands)()

    def _error(self, status: int) -> _errors.CheckError:
        found = _failure.detail
        if found is None:
            return _errors.make(status, _errors.Status(status).name, {})
        text = found.message.decode(errors="replace")
        return _errors.make(status, text, {
            "message": text.splitlines()[0] if text else "",
            "field": found.field.decode(errors="replace"),
            "declared": str(found.expected), "found": str(found.actual),
            "cause": "", "fix": "",
            "plane": found.plane if found.plane >= 0 else None})


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
    """
    data = source.encode() if isinstance(source, str) else bytes(source)
    options = _Options(cpu.encode() if cpu else None,
                       features.encode() if features else None, threads, check_level)
    compiler = _compiler()
    with compiler.lock:
        handle = compiler.library.grit_compiler_compile(
            compiler.handle, data, len(data), name.encode(), ctypes.byref(options))
        if not handle:
            raise compiler.error()
    return Module(handle)


#===----------------------------------------------------------------------===#
# Decode and matmul
#===----------------------------------------------------------------------===#


def _array_type(array: Array) -> str:
    """The type of an array in MLIR."""
    contract = array.contract
    kind = "grade" if contract.is_grade else "format"
    parts = ["x".join(map(str, array.shape)) + f'x#grit.{kind}<"{contract.name}">']
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


def decode(array: Array, *, out: np.ndarray | None = None, threads: int = 1) -> np.ndarray:
    """array.dequantize() by a compiled kernel: the same bits, sooner."""
    if out is None:
        out = np.empty(array.shape, np.float32)
    elif out.shape != array.shape or out.dtype != np.float32 or not out.flags.c_contiguous:
        raise ValueError(f"out must be a contiguous float32 array of shape {array.shape}")
    kernel(decode_source(array), "decode", threads)(array, out)
    return out


def matmul(
    x: Any, array: Array, *, out: np.ndarray | None = None, threads: int = 1
) -> np.ndarray:
    """x @ decode(array).T in float32, decoding inside the kernel.

    `x` is [..., K] in float32, float16 or bfloat16; `array` is [N, K] with groups
    along K; the result is [..., N]. A kernel is compiled once for each contract,
    N, K, placements, dtype and number of threads, and kept.
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
    elif out.shape != shape or out.dtype != np.float32 or not out.flags.c_contiguous:
        raise ValueError(f"out must be a contiguous float32 array of shape {shape}")
    elif np.may_share_memory(x, out):
        raise ValueError("out shares memory with x")
    else:
        out[...] = 0  # the operation accumulates
    function = kernel(matmul_source(array, x.dtype.name), "matmul", threads)
    function(np.ascontiguousarray(x).reshape(-1, k), array, out.reshape(-1, n))
    return out
