# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spec/reference.py, which wrote the vectors: all of them, derived again."""

from . import Route, reference, same


class ReferenceRoute(Route):
    name = "reference"

    def __init__(self, build):
        self.answers = {kind: self._answer(kind) for kind in reference.DERIVE}

    @staticmethod
    def _answer(kind):
        return lambda inputs, expected: same(kind, reference.derive(kind, inputs), expected)
