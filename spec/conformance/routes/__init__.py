# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ways to put the vectors of vectors.json to an implementation; run.py drives them.

A route has `answers`, kind to a function of a vector's inputs and what is expected,
which raises `Difference` or `NotApplicable`, and `not_offered`, kind to the reason
why this implementation has no answer to the whole kind.
"""

import struct
import sys
from pathlib import Path

SPEC = Path(__file__).resolve().parents[2]
if str(SPEC) not in sys.path:
    sys.path.insert(0, str(SPEC))
import reference  # noqa: E402

OK, DIFFERENT, KNOWN, SKIPPED = "ok", "different", "known", "not applicable"


class Difference(Exception):
    """The implementation answers otherwise."""


class NotApplicable(Exception):
    """The implementation cannot be asked this; the text is the class of the reason."""


class Unavailable(Exception):
    """What the route needs is not built."""


def same(what, found, expected):
    if found != expected:
        raise Difference(f"{what}: found {found!r}, expected {expected!r}")


def refuses(status, expected):
    """A refusal for an expected one: its status is compared where it is one of the
    five, else it is GradeUnknown."""
    reason = expected["refused"]
    same("status", status, reason if reason in reference.STATUSES else "GradeUnknown")


class Route:
    answers = {}
    not_offered = {}
    known = {}  # vectors that are answered otherwise, and why; each must still be

    def run(self, vectors):
        """(vector, outcome, text) of each."""
        for vector in vectors:
            outcome, text = self.outcome(vector)
            if reason := self.known.get(vector["id"]):
                if outcome == DIFFERENT:
                    outcome, text = KNOWN, reason
                else:
                    outcome, text = DIFFERENT, f"this differs no longer: {reason}"
            yield vector, outcome, text

    def outcome(self, vector):
        if vector["kind"] in self.not_offered:
            return SKIPPED, self.not_offered[vector["kind"]]
        try:
            self.answers[vector["kind"]](vector["inputs"], vector["expected"])
        except NotApplicable as reason:
            return SKIPPED, str(reason)
        except Difference as difference:
            return DIFFERENT, str(difference)
        return OK, ""


def unusable(text):
    """Whether `text` is a grade that no array can have (G31)."""
    try:
        reference.verify_grade(reference.Grade.parse(text))
    except reference.Refused:
        return True
    return False


UNUSABLE = "a contract is also usable (G31); nothing here parses a grade alone"


def canonical(name):
    return reference.grade_named(name).canonical()


def planes_of(texts):
    return [None if text is None else bytes.fromhex(text) for text in texts]


def floats_of(text):
    """Values as the bytes of little-endian binary32 numbers."""
    patterns = bytes.fromhex(text)
    return b"".join(patterns[i:i + 4][::-1] for i in range(0, len(patterns), 4))


def hex_of_floats(raw):
    return "".join(f"{bits:08x}" for bits, in struct.iter_unpack("<I", raw))


def axis_of(inputs):
    return inputs.get("group_axis", len(inputs["shape"]) - 1)


def descriptor_of(inputs, placements=None):
    """The 64 bytes that a vector's grade, axis and placements make."""
    words = reference.words_of(placements or inputs.get("placements"))
    grade = reference.grade_named(inputs["grade"])
    return reference.pack_descriptor(
        reference.descriptor_of(grade, axis_of(inputs), words, inputs.get("note", 0)))
