# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The exceptions of the package, one per status of grit_check."""

from __future__ import annotations

import enum
from typing import Any


class Status(enum.IntEnum):
    """The outcomes of a check (GRIT v1, section 7); the set is closed."""

    Ok = 0
    SizeMismatch = 1
    GradeUnknown = 2
    PlacementUnknown = 3
    DigestMismatch = 4

    def __str__(self) -> str:
        return self.name


class CheckError(ValueError):
    """A refusal. Its text says what was declared, what was found, and the fix.

    `status` is the outcome of grit_check, or the nearest one to it; `detail` has
    the parts of the text: message, field, declared, found, cause, fix (empty
    where a part does not apply) and plane (a number or None).
    """

    status: Status = Status.GradeUnknown
    detail: dict[str, Any]

    def __init__(self, text: str, detail: dict[str, Any] | None = None):
        super().__init__(text, detail)
        self.detail = dict(detail or {})

    def __str__(self) -> str:
        return str(self.args[0])


class GritSizeError(CheckError):
    """The shape, the group axis and the sizes of the planes do not fit."""

    status = Status.SizeMismatch


class GritGradeError(CheckError):
    """The contract is not known, or the bytes contradict it."""

    status = Status.GradeUnknown


class GritLayoutError(CheckError):
    """A placement is not acceptable."""

    status = Status.PlacementUnknown


class GritDigestError(CheckError):
    """The planes contradict their digest or their declared order."""

    status = Status.DigestMismatch


_BY_STATUS = {
    kind.status: kind
    for kind in (GritSizeError, GritGradeError, GritLayoutError, GritDigestError)
}


def make(status: int, text: str, detail: dict[str, Any]) -> CheckError:
    """The exception of a status; called by _core."""
    return _BY_STATUS.get(Status(status), CheckError)(text, detail)
