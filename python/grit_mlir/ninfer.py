# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tensors of NInfer's files.

A record says what a tensor is: its numeric format, its storage layout and its shape. The
payload is the tensor's run of bytes.

    record = Record("q4_g64_fp16", (4096, 4304))
    payload = record.encode(weights)
    record.check(payload)
    values = record.decode(payload)
"""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

import numpy as np

from . import _core
from ._array import Array, as_plane, as_shape

__all__ = ["Format", "Record", "Section", "formats", "stack"]


class Format(NamedTuple):
    """A numeric format: the contract that it is, and the layout that stores it."""

    name: str
    contract: str
    layout: str


class Section(NamedTuple):
    """A part of a payload."""

    name: str
    offset: int
    nbytes: int


def formats() -> list[Format]:
    """The formats of NInfer's registry."""
    return [Format(*each) for each in _core.ninfer_formats()]


class Record:
    """What a file says of a tensor. A record that NInfer refuses is a CheckError.

    `layout` is that of the format unless it is given; `divisors` counts the matrices of
    an nvfp4 tensor that were stacked with a divisor of their own.
    """

    __slots__ = ("_record",)

    def __init__(self, format: str, shape: Sequence[int], layout: str | None = None,
                 divisors: int = 1):
        self._record = _core.NinferRecord(format, as_shape(shape), layout, divisors)

    @classmethod
    def _wrap(cls, record: _core.NinferRecord) -> Record:
        self = cls.__new__(cls)
        self._record = record
        return self

    @property
    def format(self) -> str:
        return self._record.format

    @property
    def layout(self) -> str:
        return self._record.layout

    @property
    def shape(self) -> tuple[int, ...]:
        return self._record.shape

    @property
    def divisors(self) -> int:
        return self._record.divisors

    @property
    def nbytes(self) -> int:
        """The size of the payload."""
        return self._record.nbytes

    @property
    def sections(self) -> list[Section]:
        """Where the parts of the payload lie; bytes between them are 0."""
        return [Section(*each) for each in self._record.sections]

    def read(self, payload: Any) -> Array:
        """The payload as an array. Its rows are as long as they are stored: up to a
        multiple of 128 where the layout is row_split_k128_v1."""
        planes = self._record.read(as_plane(payload, 0))
        return Array._make(self._record.spec(), planes)

    def write(self, array: Array) -> np.ndarray:
        """The payload of an array like that of `read`, as bytes."""
        spec = self._record.spec()
        if array.shape != tuple(spec.shape):
            raise ValueError(f"the payload holds the shape {spec.shape}, not {array.shape}")
        moved = array.convert(spec.contract, placements=spec.placements)
        spec.check_sizes([plane.size for plane in moved._planes])
        return self._record.write(moved._planes)

    def check(self, payload: Any) -> None:
        """Raises where a code, a scale or the padding is not legal."""
        self._record.check(as_plane(payload, 0))

    def decode(self, payload: Any) -> np.ndarray:
        """The values, float32, in the shape of the record."""
        return self._record.decode(as_plane(payload, 0)).reshape(self.shape)

    def encode(self, values: Any, *, importance: Any = None, rule: str | None = None,
               negative_scales: bool = False) -> np.ndarray:
        """The payload of values in the shape of the record.

        `rule` is "grouped_search" for the scales of least squared error, which
        `importance` weighs by column and for which `negative_scales` may be asked.
        """
        values = np.asarray(values)
        if values.shape != self.shape:
            raise ValueError(f"the record has shape {self.shape}, the values {values.shape}")
        if importance is not None:
            importance = np.ascontiguousarray(importance, np.float32).reshape(-1)
        with np.errstate(over="ignore", invalid="ignore"):
            flat = np.ascontiguousarray(values, np.float32).reshape(-1)
        return self._record.encode(flat, importance, rule, negative_scales)

    def import_encoded(self, array: Array) -> np.ndarray:
        """The payload with the words of an array that another tool encoded, where
        NInfer takes them as they are; a GritDigestError where one is not legal."""
        return self._record.import_encoded(array._spec, array._planes)

    def __repr__(self) -> str:
        return (f"Record({self.format!r}, {self.shape}, {self.layout!r}"
                + (f", divisors={self.divisors})" if self.divisors != 1 else ")"))


def stack(records: Sequence[Record], payloads: Sequence[Any]) -> tuple[Record, np.ndarray]:
    """nvfp4 matrices one below the other: the record and the payload."""
    if len(records) != len(payloads):
        raise ValueError(f"{len(records)} records and {len(payloads)} payloads")
    record, payload = _core.ninfer_stack(
        [each._record for each in records],
        [as_plane(each, index) for index, each in enumerate(payloads)])
    return Record._wrap(record), payload
