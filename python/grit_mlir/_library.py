# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libGritCompiler.so through ctypes: where it is, its turns, what it owns."""

from __future__ import annotations

import collections
import contextlib
import ctypes
import os
import pathlib
import threading
from collections.abc import Iterator

from . import _core, _errors
from ._capi import Detail, FailureHandler
from ._core import Contract


class Options(ctypes.Structure):
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


#: What the last failed call of a compiled function said, in this thread.
failure = threading.local()


@FailureHandler
def _on_failure(status, detail, location, user):
    """Keeps what a compiled function refused, for the call to raise."""
    failure.detail = Detail.from_buffer_copy(detail.contents) if detail else None
    failure.location = location.decode(errors="replace") if location else ""


class Compiler:
    """The library with one compiler, used by one thread at a time."""

    def __init__(self) -> None:
        library = ctypes.CDLL(library_path())
        pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
        for name, result, arguments in [
                ("grit_compiler_create", pointer, []),
                ("grit_compiler_last_error", text, [pointer]),
                ("grit_compiler_compile", pointer,
                 [pointer, text, size, text, ctypes.POINTER(Options)]),
                ("grit_module_destroy", None, [pointer]),
                ("grit_module_emit", ctypes.c_int,
                 [pointer, ctypes.c_int, ctypes.POINTER(pointer), ctypes.POINTER(size)]),
                ("grit_module_lookup_packed", pointer, [pointer, text]),
                ("grit_register_grade", ctypes.c_int,
                 [text, text, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(Detail)]),
                ("grit_register_format", ctypes.c_int,
                 [text, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(Detail)]),
                ("grit_set_failure_handler", None, [FailureHandler, pointer])]:
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        self._library = library
        self._lock = threading.Lock()
        self._unwanted: collections.deque[int] = collections.deque()
        self.handle = library.grit_compiler_create()
        if not self.handle:
            raise MemoryError("grit_compiler_create")
        library.grit_set_failure_handler(_on_failure, None)

    @contextlib.contextmanager
    def turn(self) -> Iterator[ctypes.CDLL]:
        """The library, for this thread alone. Turns do not nest."""
        try:
            with self._lock:
                yield self._library
        finally:
            self._sweep()

    def discard(self, module: int) -> None:
        """Destroys a module now, or at the end of the turn that is being taken.

        The garbage collector calls this at any moment in any thread, also in one
        whose turn it is, so it must not wait for the lock.
        """
        self._unwanted.append(module)
        self._sweep()

    def _sweep(self) -> None:
        # A module that is added while the lock is held is found by its holder,
        # who looks once more after the release.
        while self._unwanted and self._lock.acquire(blocking=False):
            try:
                while self._unwanted:
                    self._library.grit_module_destroy(self._unwanted.popleft())
            finally:
                self._lock.release()

    def register(self, kind: str, *arguments: str) -> None:
        """Makes a contract known to what compiled functions call: grit_register_KIND."""
        detail = Detail()
        status = getattr(self._library, f"grit_register_{kind}")(
            *(argument.encode() for argument in arguments), None, ctypes.byref(detail))
        if status:
            raise _errors.make(status, detail.message.decode(errors="replace"), {})

    def error(self) -> CompileError:
        """Why the last call failed; within its turn."""
        text = self._library.grit_compiler_last_error(self.handle)
        return CompileError((text or b"").decode(errors="replace").strip())


class Code:
    """A grit_module_t. Modules and functions share it, so that the code lives as
    long as the last of them, and it knows neither."""

    def __init__(self, compiler: Compiler, handle: int):
        self.compiler = compiler
        self.handle = handle

    def __del__(self) -> None:
        self.compiler.discard(self.handle)


_compilers: list[Compiler] = []
# What users registered, for a compiler to come: the arguments of register().
_registered: list[tuple[str, ...]] = []
_creation = threading.Lock()


def shared_compiler() -> Compiler:
    """The one compiler of this process, loaded on the first call."""
    with _creation:
        if not _compilers:
            compiler = Compiler()
            for arguments in _registered:
                compiler.register(*arguments)
            _compilers.append(compiler)
        return _compilers[0]


def _forward(*arguments: str) -> None:
    """Tells the compiler what was registered, now or when it is loaded."""
    with _creation:
        for compiler in _compilers:
            compiler.register(*arguments)
        if arguments not in _registered:
            _registered.append(arguments)


def register_grade(name: str, text: str) -> Contract:
    """Makes a grade known in this process: its id to check() and to compiled
    functions, and its name to Contract() and in MLIR text.

    The same pair may be registered again; a name or a grade that is taken raises
    CheckError (GRIT v1, section 4).
    """
    contract = _core.register_grade(name, text)
    _forward("grade", name, contract.canonical)
    return contract


def _read(path: pathlib.Path) -> str:
    data = path.read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        detail = {"message": "the text of the format is not UTF-8", "field": "text",
                  "declared": "UTF-8", "found": f"{data[error.start]:#04x} at byte {error.start}",
                  "cause": "the file was saved in another encoding",
                  "fix": "save it as UTF-8", "plane": None}
        text = f"{path}: {detail['message']}\n  " + "\n  ".join(
            f"{key}: {detail[key]}" for key in ("field", "declared", "found", "cause", "fix"))
        raise _errors.GritGradeError(text, detail) from None


def register_format(text_or_path: str | os.PathLike[str]) -> Contract:
    """Makes a format known in this process, like a grade: a text
    'gritfmt1(name = mine, ...)' (spec/gritfmt1.md), or the path of a file that holds
    one. A string with a parenthesis, or a blank one, is a text.

    A text with one parameter adds its whole family: 'mine(block=128)'. The same text
    may be registered again; a name or a format that is taken raises CheckError.
    """
    is_text = isinstance(text_or_path, str) and (
        "(" in text_or_path or not text_or_path.strip())
    path = None if is_text else pathlib.Path(text_or_path)
    text = text_or_path if path is None else _read(path)
    try:
        contract = _core.register_format(text)
    except _errors.CheckError as error:
        if path is None:
            raise
        raise type(error)(f"{path}: {error}", error.detail) from None
    _forward("format", text)
    return contract
