# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor files: safetensors and GGUF."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Mapping
from typing import Any, Union

import numpy as np

from . import _core
from ._array import Array, as_level, reshaped

PathLike = Union[str, bytes, os.PathLike]

# Names of NumPy dtypes by the tokens of safetensors; those of the last group come
# from the package ml_dtypes. Types whose numbers do not fill bytes have no dtype.
_DTYPES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "C64": "complex64",
    "I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8",
    "U64": "uint64", "U32": "uint32", "U16": "uint16", "U8": "uint8",
    "BOOL": "bool",

    "BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2",
    "F8_E8M0": "float8_e8m0fnu", "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
}
_TOKENS = {name: token for token, name in _DTYPES.items()}


def _dtype(token: str, tensor: str) -> np.dtype:
    name = _DTYPES.get(token)
    if name is None:
        raise TypeError(
            f"tensor {tensor!r} is stored as {token}, which has no NumPy dtype; "
            "file.raw(name) gives its bytes")
    if hasattr(np, name):
        return np.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError(
            f"tensor {tensor!r} is stored as {token}, whose NumPy dtype {name} comes "
            "from the package ml_dtypes, which is not installed") from None
    return np.dtype(getattr(ml_dtypes, name))


def tensor_at(file: _core.TensorFile, index: int, name: str) -> Array | np.ndarray:
    """Tensor number `index` of an open file: an Array, or plain numbers."""
    info = file.info(index)
    if info.spec is not None:
        return Array._make(info.spec, file.planes(index))
    if info.element is None:
        raise TypeError(
            f"tensor {name!r} is stored as {info.dtype}, for which grit has no "
            "contract; file.raw(name) gives its bytes")
    dtype = _dtype(info.element, name)
    return reshaped(file.bytes(index).view(dtype), info.shape)


class File(Mapping):
    """An open file. `file[name]` is an Array, or an ndarray for plain numbers.

    Both are read-only views of the mapped file and stay valid after `close`: the
    mapping goes away with the last of them.
    """

    def __init__(self, path: PathLike, level: int = 1):
        os.stat(path)  # FileNotFoundError and its kin, as from the built-in open
        self.path = os.fsdecode(path)
        self._file = _core.open_file(os.fsencode(path), as_level(level))
        self._index = {name: i for i, name in enumerate(self._file.names())}

    def _open(self) -> _core.TensorFile:
        if self._file is None:
            raise ValueError(f"{self.path}: the file is closed")
        return self._file

    @property
    def format(self) -> str:
        """'safetensors' or 'gguf'."""
        return self._open().format

    @property
    def nbytes(self) -> int:
        return self._open().nbytes

    @property
    def metadata(self) -> dict[str, str]:
        """What the file says about itself, as text; long values are shortened."""
        return {key: value for key, _, value in self._open().metadata()}

    def info(self, name: str) -> _core.TensorInfo:
        """Type, shape, contract and digest of a tensor, without its bytes."""
        return self._open().info(self._index[name])

    def raw(self, name: str) -> np.ndarray:
        """The bytes of a tensor, whatever it holds."""
        file = self._open()
        return file.bytes(self._index[name])

    def __getitem__(self, name: str) -> Array | np.ndarray:
        file = self._open()
        return tensor_at(file, self._index[name], name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def close(self) -> None:
        self._file = None

    def __enter__(self) -> File:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._file is None else f"{len(self)} tensors"
        return f"<grit_mlir.File {self.path!r}, {state}>"


def open(path: PathLike, level: int = 1) -> File:  # noqa: A001 (the API's name)
    """Opens a safetensors or GGUF file; its first bytes decide which it is.

    Level 1 checks headers and sizes. Level 2 also reads the planes of every array
    and compares digests where the file has them. OSError when the file cannot be
    read, else the CheckError of what is wrong with it.

    The file is mapped, not read: what it gives are views of its pages. As long as
    one of them is in use, replace the file by renaming another onto its name, as
    `save` does. Changing it in place changes the values, and after it has been made
    shorter the behaviour is undefined: reading beyond its new end stops the process
    (SIGBUS).
    """
    return File(path, level)


def _check_text(text: Any, what: str) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{what} is a str, not {type(text).__name__}: {text!r}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} is not text that UTF-8 can hold: {text!r}") from None


def _entry(name: str, tensor: Any) -> tuple:
    _check_text(name, "the name of a tensor")
    if isinstance(tensor, Array):
        return name, None, list(tensor.shape), tensor._spec, tensor._planes
    array = np.asarray(tensor)
    token = _TOKENS.get(array.dtype.name)
    if token is None:
        raise TypeError(f"tensor {name!r}: dtype {array.dtype} cannot be stored")
    little = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
    flat = np.ascontiguousarray(little).reshape(-1)
    return name, token, list(array.shape), None, [flat.view(np.uint8)]


# The numbers that GGUF gives to the types of values.
_UINT32, _BOOL, _STRING, _UINT64, _INT64, _FLOAT64 = 4, 7, 8, 10, 11, 12


def _gguf_pair(key: str, value: Any) -> tuple[str, int, bytes]:
    """A key with the type number and the stored bytes of its value."""
    if isinstance(value, bool):
        return key, _BOOL, struct.pack("<?", value)
    if isinstance(value, str):
        _check_text(value, f"metadata {key!r}")
        text = value.encode()
        return key, _STRING, struct.pack("<Q", len(text)) + text
    if isinstance(value, float):
        return key, _FLOAT64, struct.pack("<d", value)
    if isinstance(value, int):
        for kind, form, low, high in ((_UINT32, "<I", 0, 2**32),
                                      (_UINT64, "<Q", 0, 2**64),
                                      (_INT64, "<q", -(2**63), 0)):
            if low <= value < high:
                return key, kind, struct.pack(form, value)
        raise ValueError(f"metadata {key!r}: {value} does not fit 64 bits")
    raise TypeError(f"metadata {key!r}: a value is a str, bool, int or float, "
                    f"not {type(value).__name__}")


def save(
    path: PathLike,
    tensors: Mapping[str, Any],
    metadata: Mapping[str, Any] | None = None,
    *,
    format: str | None = None,  # noqa: A002 (the API's name)
) -> None:
    """Writes arrays and plain ndarrays; the file appears when it is complete.

    `format` is 'safetensors' or 'gguf'; by default, 'gguf' for a name that ends
    in '.gguf'. The metadata of safetensors are strings; those of GGUF are strings,
    bools, ints and floats. TypeError and ValueError for what cannot be stored.
    """
    if format is None:
        format = "gguf" if os.fsdecode(path).lower().endswith(".gguf") else "safetensors"
    entries = [_entry(name, tensor) for name, tensor in tensors.items()]
    metadata = dict(metadata or {})
    for key in metadata:
        _check_text(key, "a key of the metadata")
    if format == "safetensors":
        for key, value in metadata.items():
            if not isinstance(value, str):
                raise TypeError(f"metadata {key!r}: safetensors stores strings, not "
                                f"{type(value).__name__}")
            _check_text(value, f"metadata {key!r}")
        _core.save_safetensors(os.fsencode(path), entries, metadata)
    elif format == "gguf":
        pairs = [_gguf_pair(key, value) for key, value in metadata.items()]
        _core.save_gguf(os.fsencode(path), entries, pairs)
    else:
        raise ValueError(f"format {format!r}: 'safetensors' or 'gguf'")
