# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays under a contract, and the functions that make and check them."""

from __future__ import annotations

import operator
import string
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Union

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


def as_integer(value: Any, what: str, bits: int = 64) -> int:
    """An int, or what counts as one, that fits a signed number of `bits` bits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is an int, not {type(value).__name__}") from None
    if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        size = number.bit_length()
        raise ValueError(f"{what} does not fit {bits} bits: "
                         + (str(number) if size <= 128 else f"it has {size}"))
    return number


def as_axis(axis: Any) -> int:
    return as_integer(axis, "axis", 32)


def as_level(level: Any) -> int:
    """The level of a check: below 1 it is 1, above 3 it is 3 (GRIT v1, C2)."""
    try:
        return min(max(operator.index(level), 1), 3)
    except TypeError:
        raise TypeError(f"level is an int, not {type(level).__name__}") from None


def reshaped(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """`values` in a shape of which NumPy may have no arrays: it limits the product
    of the extents that are not 0, also where one is."""
    try:
        return values.reshape(shape)
    except ValueError:
        raise ValueError(f"NumPy has no arrays of shape {shape}: the extents other than "
                         "0 multiply to more than it can count") from None


def as_shape(shape: Any) -> list[int]:
    if isinstance(shape, (int, np.integer)):
        shape = (shape,)
    return [as_integer(extent, "an extent") for extent in shape]


def as_descriptor(descriptor: Any) -> bytes:
    if not isinstance(descriptor, (bytes, bytearray, memoryview)):
        raise TypeError(f"a descriptor is bytes, not {type(descriptor).__name__}")
    return bytes(descriptor)


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
    """16 bytes, from bytes, 32 hex digits or 26 Crockford symbols. Bytes of another
    number are left to the check, which calls them a DigestMismatch."""
    if digest is None or isinstance(digest, bytes):
        return digest
    if isinstance(digest, (bytearray, memoryview)):
        return bytes(digest)
    if not isinstance(digest, str):
        raise TypeError(f"a digest is bytes or a str, not {type(digest).__name__}")
    try:
        if len(digest) != 32:
            return _core.from_base32(digest)
        if not set(digest) & set(string.whitespace):  # which fromhex skips
            return bytes.fromhex(digest)
    except ValueError:
        pass
    raise ValueError("a digest is 16 bytes, 32 hex digits or 26 Crockford symbols; found "
                     f"{digest[:40]!r}" + (" ..." if len(digest) > 40 else ""))


class Array:
    """Bytes under a contract, with everything that is needed to read them.

    `planes` are buffers in the order data, scale0, scale1, aux (None, or an empty
    one, where the contract has none; trailing ones may be left out), or the one
    plane of an array-of-structs format. They are not copied when they are
    contiguous. `axis` is the group axis; `placements` say where things lie and
    default to the contract's canonical ones. A copy by copy.copy shares the planes;
    copy.deepcopy and pickle copy them, also out of a mapped file.
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
        spec = _core.Spec(contract, as_shape(shape), as_axis(axis),
                          as_placements(placements, contract))
        self._assign(spec, _described(spec, planes))

    @classmethod
    def from_descriptor(
        cls, descriptor: bytes, shape: Sequence[int], planes: Sequence[Any]
    ) -> Array:
        """The array that 64 bytes and a shape declare."""
        spec = _core.spec_from_descriptor(as_descriptor(descriptor), as_shape(shape))
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
        return reshaped(out, self.shape)

    def convert(self, contract: ContractLike, *, placements: PlacementsLike = None) -> Array:
        """This array under another contract; see `grit_mlir.convert`."""
        return convert(self, contract, placements=placements)

    def check(self, level: int = 1, digest: bytes | str | None = None) -> None:
        """Checks this array as a boundary does: returns None, or raises the
        CheckError of the first failure. Levels are those of `grit_mlir.check`."""
        self._spec.check(self._planes, as_level(level), _as_digest(digest))

    def __reduce__(self) -> tuple:
        return type(self), (self.contract, self.shape, self._slots, self.axis,
                            self.placements)

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
    search: Literal["mse"] | None = None,
    rule: str | None = None,
    negative_scales: bool = False,
) -> Array:
    """Encodes float16, bfloat16, float32 or float64 values under a contract.

    `placements` as for `Array`: the planes are encoded in the contract's canonical
    placements, then moved. row_major, col_major, linear_meta, swizzle_128x4b (rows in
    multiples of 128, columns of 4) and tile_16x16 (multiples of 16) can be asked for,
    where the plane's values form rows; GritLayoutError or GritSizeError otherwise.
    `importance`, for the contracts whose encoder can weigh errors, is one weight
    per element of the last axis, or as many for each matrix of the last two axes; a
    few contracts need it. `search="mse"`, for every contract with an encoder, then
    tries other scales and offsets for each group of elements, and keeps those with a
    smaller squared error, weighed by `importance` where it is given. `rule` names another encode rule than the contract's
    ("grouped_search" for groups of signed integers); that one can choose scales below
    zero (`negative_scales`).
    """
    if search not in (None, "mse"):
        raise ValueError(f"search is None or 'mse', not {search!r}")
    contract = as_contract(contract)
    values = np.asarray(values)
    if values.dtype.name not in _FLOATS:
        raise TypeError(f"quantize takes {', '.join(_FLOATS)}; found {values.dtype.name}")
    spec = _core.Spec(contract, list(values.shape), as_axis(axis),
                      as_placements(placements, contract))
    weights = None
    if importance is not None:
        weights = np.ascontiguousarray(importance, np.float32).reshape(-1)
    # A float64 beyond float32 is an infinity, and a signaling NaN is a NaN.
    with np.errstate(over="ignore", invalid="ignore"):
        flat = np.ascontiguousarray(values, np.float32).reshape(-1)
    return Array._make(
        spec, spec.encode(flat, weights, search is not None, rule, negative_scales)
    )


def convert(
    array: Array, contract: ContractLike, *, placements: PlacementsLike = None
) -> Array:
    """The array under another contract: it decodes to the same bits, signs of zeros
    included. Codes and scales may be others.

    The group axis stays; `placements` as for `Array`, so that an array under its own
    contract is moved. A GritGradeError names the first element without a code where
    the other contract does not hold all values (`quantize(array.dequantize(), ...)`
    then gives values near them), or says what of the contract cannot be written.
    """
    contract = as_contract(contract)
    if not isinstance(array, Array):
        raise TypeError(f"convert takes an Array, not {type(array).__name__}")
    spec = _core.Spec(contract, list(array.shape), array.axis,
                      as_placements(placements, contract))
    return Array._make(spec, array._spec.recode(array._planes, spec))


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
    reads `planes` (sparse indices, and `digest` when it is given): 16 bytes, 32 hex
    digits or 26 Crockford symbols. What level 3 adds are warnings, which are not
    reported here. A level below 1 is taken as 1 and one above 3 as 3, as GRIT v1
    demands. TypeError and ValueError for arguments that say nothing.
    """
    sizes = [as_integer(size, "a plane size") for size in plane_bytes]
    buffers = [None if plane is None else as_plane(plane, index)
               for index, plane in enumerate(planes or ())]
    _core.check(as_descriptor(descriptor), as_shape(shape), sizes, as_level(level), buffers,
                _as_digest(digest))
