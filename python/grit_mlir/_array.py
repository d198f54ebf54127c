# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays under a contract, and the functions that make and check them."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, Union

import numpy as np

from . import _core
from ._core import Contract

ContractLike = Union[Contract, str]
#: (data, scale, meta), or a mapping with some of these keys. Each is a name, a word
#: or None, for the contract's own.
PlacementsLike = Union[Sequence[Union[str, int, None]], Mapping[str, Union[str, int]], None]

_FLOATS = ("float16", "bfloat16", "float32", "float64")
_NO_BYTES = np.empty(0, np.uint8)
_NO_BYTES.flags.writeable = False


def as_contract(contract: ContractLike) -> Contract:
    if isinstance(contract, Contract):
        return contract
    if isinstance(contract, str):
        return Contract(contract)
    raise TypeError(f"a contract is a Contract or a str, not {type(contract).__name__}")


def as_int64(value: Any, what: str) -> int:
    number = operator.index(value)
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{what} does not fit 64 bits: {number}")
    return number


def as_shape(shape: Any) -> list[int]:
    if isinstance(shape, (int, np.integer)):
        shape = (shape,)
    return [as_int64(extent, "an extent") for extent in shape]


def as_plane(plane: Any, index: int) -> np.ndarray:
    """The bytes of a plane as a one-dimensional array; copied only when they do
    not lie one after the other."""
    if not isinstance(plane, np.ndarray):
        return np.frombuffer(plane, np.uint8)
    if plane.dtype != np.uint8:
        raise TypeError(
            f"plane {index} has dtype {plane.dtype}; a plane is bytes: "
            "use plane.view(numpy.uint8)")
    return np.ascontiguousarray(plane).reshape(-1)


def as_placements(placements: PlacementsLike, contract: Contract) -> list[str] | None:
    """Three names or words; what is omitted lies where the contract puts it."""
    if placements is None:
        return None
    keys = ("data", "scale", "meta")
    if isinstance(placements, Mapping):
        unknown = set(placements) - set(keys)
        if unknown:
            raise ValueError(f"no such placement: {sorted(unknown)}; data, scale or meta")
        placements = [placements.get(key) for key in keys]
    if isinstance(placements, str) or len(placements) != 3:
        raise ValueError("placements are three: data, scale and meta")
    return [default if word is None
            else f"0x{word:016x}" if isinstance(word, int) else word
            for word, default in zip(placements, contract.placements)]


def _as_digest(digest: bytes | str | None) -> bytes | None:
    """16 bytes, from bytes, 32 hex digits or 26 Crockford symbols."""
    if digest is None or isinstance(digest, bytes):
        return digest
    if isinstance(digest, str) and len(digest) == 32:
        return bytes.fromhex(digest)
    if isinstance(digest, str):
        return _core.from_base32(digest)
    return bytes(digest)


class Array:
    """Bytes under a contract, with everything that is needed to read them.

    `planes` are buffers in the order data, scale0, scale1, aux (None, or an empty
    one, where the contract has none; trailing ones may be left out), or the one
    plane of an array-of-structs format. They are not copied when they are
    contiguous. `axis` is the group axis; `placements` say where things lie and
    default to the contract's canonical ones.
    """

    __slots__ = ("_spec", "_planes", "_slots")

    def __init__(
        self,
        contract: ContractLike,
        shape: Sequence[int],
        planes: Sequence[Any],
        axis: int = -1,
        placements: PlacementsLike = None,
    ):
        contract = as_contract(contract)
        spec = _core.Spec(contract, as_shape(shape), axis,
                          as_placements(placements, contract))
        self._assign(spec, _described(spec, planes))

    @classmethod
    def from_descriptor(
        cls, descriptor: bytes, shape: Sequence[int], planes: Sequence[Any]
    ) -> Array:
        """The array that 64 bytes and a shape declare."""
        spec = _core.spec_from_descriptor(bytes(descriptor), as_shape(shape))
        return cls._make(spec, _described(spec, planes))

    def _assign(self, spec: _core.Spec, planes: list[np.ndarray]) -> None:
        spec.check_sizes([plane.size for plane in planes])
        self._spec = spec
        self._planes = planes
        self._slots = _in_slots(spec, planes)

    @classmethod
    def _make(cls, spec: _core.Spec, planes: Sequence[np.ndarray]) -> Array:
        self = cls.__new__(cls)
        self._assign(spec, list(planes))
        return self

    @property
    def contract(self) -> Contract:
        return self._spec.contract

    @property
    def shape(self) -> tuple[int, ...]:
        return self._spec.shape

    @property
    def ndim(self) -> int:
        return len(self._spec.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._spec.num_elements

    @property
    def axis(self) -> int:
        """The group axis, counted from the front."""
        return self._spec.axis

    @property
    def placements(self) -> tuple[str, str, str]:
        """Where data, scales and the aux plane lie."""
        return self._spec.placements

    @property
    def planes(self) -> tuple[np.ndarray, ...]:
        """The buffers: data, scale0, scale1 and aux of a grade (empty where the
        grade has none), or those of the format's description."""
        return self._slots

    @property
    def nbytes(self) -> int:
        return sum(plane.size for plane in self._planes)

    @property
    def descriptor(self) -> bytes | None:
        """The 64 bytes of a grade's array; None for a foreign format."""
        return self._spec.descriptor()

    @property
    def gid(self) -> bytes:
        """16 bytes: the identity of contract, placements and shape."""
        return self._spec.gid()

    @property
    def digest(self) -> bytes:
        """16 bytes: the fingerprint of the planes."""
        return _core.digest(list(self._slots))

    def dequantize(self) -> np.ndarray:
        """The values, exactly as the contract defines them, as float32."""
        out = np.empty(self.size, np.float32)
        self._spec.decode(self._planes, out)
        return out.reshape(self.shape)

    def check(self, level: int = 1, digest: bytes | str | None = None) -> None:
        """Checks this array as a boundary does; level 2 reads the planes."""
        self._spec.check(self._planes, level, _as_digest(digest))

    def __repr__(self) -> str:
        return f"Array({self.contract.name!r}, shape={self.shape}, nbytes={self.nbytes})"


def _described(spec: _core.Spec, planes: Sequence[Any]) -> list[np.ndarray]:
    """The planes that the contract describes, out of the four of a grade."""
    if isinstance(planes, (np.ndarray, bytes, bytearray, memoryview)):
        raise TypeError("planes is a sequence of buffers, not one buffer")
    buffers = [_NO_BYTES if plane is None else as_plane(plane, index)
               for index, plane in enumerate(planes)]
    slots = spec.plane_slots
    if not spec.contract.is_grade or len(buffers) > 4:
        return buffers  # check_sizes compares their number
    padded = buffers + [_NO_BYTES] * (4 - len(buffers))
    if any(padded[slot].size for slot in range(4) if slot not in slots):
        # A plane that the grade does not have: grit_check has the words for it.
        _core.check(spec.descriptor(), spec.shape, [plane.size for plane in padded],
                    1, [], None)
    return [padded[slot] for slot in slots]


def _in_slots(spec: _core.Spec, planes: list[np.ndarray]) -> tuple[np.ndarray, ...]:
    if not spec.contract.is_grade:
        return tuple(planes)
    slots = [_NO_BYTES] * 4
    for slot, plane in zip(spec.plane_slots, planes):
        slots[slot] = plane
    return tuple(slots)


def quantize(
    values: Any,
    contract: ContractLike,
    axis: int = -1,
    *,
    placements: PlacementsLike = None,
    importance: Any = None,
) -> Array:
    """Encodes float16, bfloat16, float32 or float64 values under a contract.

    `importance`, for the contracts whose encoder can weigh errors, is one weight
    per element of the last axis.
    """
    contract = as_contract(contract)
    values = np.asarray(values)
    if values.dtype.name not in _FLOATS:
        raise TypeError(f"quantize takes {', '.join(_FLOATS)}; found {values.dtype.name}")
    spec = _core.Spec(contract, list(values.shape), axis,
                      as_placements(placements, contract))
    weights = None
    if importance is not None:
        weights = np.ascontiguousarray(importance, np.float32).reshape(-1)
    with np.errstate(over="ignore"):  # a float64 beyond float32 is an infinity
        flat = np.ascontiguousarray(values, np.float32).reshape(-1)
    return Array._make(spec, spec.encode(flat, weights))


def check(
    descriptor: bytes,
    shape: Sequence[int],
    plane_bytes: Sequence[int],
    level: int = 1,
    planes: Sequence[Any] | None = None,
    digest: bytes | str | None = None,
) -> None:
    """grit_check: returns None, or raises the CheckError of the first failure.

    `plane_bytes` are the sizes of data, scale0, scale1 and aux, 0 for an absent
    one. Level 1 reads the descriptor, the shape and these sizes. Level 2 also
    reads `planes` (sparse indices, and `digest` when it is given).
    """
    sizes = [as_int64(size, "a plane size") for size in plane_bytes]
    buffers = [None if plane is None else as_plane(plane, index)
               for index, plane in enumerate(planes or ())]
    _core.check(bytes(descriptor), as_shape(shape), sizes, level, buffers,
                _as_digest(digest))
