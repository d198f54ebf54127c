# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints whose layers are several tensors each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import numpy as np

from . import _core
from ._array import Array
from ._errors import CheckError
from ._file import PathLike, tensor_at


class Checkpoint(Mapping):
    """The tensors of a checkpoint, of all its files. A layer that is stored as several
    tensors is one Array, under the name of what it decodes to ('...weight'); its
    tensors have no names of their own.

    Arrays and ndarrays are views of the mapped files, as those of `File`.
    """

    def __init__(self, path: PathLike, checkpoint_format: str | None = None):
        os.stat(path)  # FileNotFoundError and its kin, as from the built-in open
        self.path = os.fsdecode(path)
        self._files = _core.open_checkpoint(os.fsencode(path), checkpoint_format or "")
        self._layers = {}
        self._refused = {}
        parts = set()
        for index, (name, module, _, tensors, spec) in enumerate(self._files.layers()):
            if spec is None:
                self._refused[module] = index
            else:
                self._layers[name] = index, spec
                parts.update(tensors)
        self._tensors = {
            name: (file, index) for file in self._files.files()
            for index, name in enumerate(file.names()) if name not in parts}

    @property
    def layers(self) -> list[str]:
        """The names that stand for layers of several tensors."""
        return list(self._layers)

    @property
    def refusals(self) -> dict[str, CheckError]:
        """Why a module is no array, by its name; its tensors are there as they are."""
        return {module: self._refusal(index) for module, index in self._refused.items()}

    def _refusal(self, index: int) -> CheckError:
        try:
            self._files.require(index)
        except CheckError as error:
            return error
        raise AssertionError("a layer without an array has a reason")

    def __getitem__(self, name: str) -> Array | np.ndarray:
        if name in self._layers:
            index, spec = self._layers[name]
            self._files.require(index)
            return Array._make(spec, self._files.planes(index))
        file, index = self._tensors[name]
        return tensor_at(file, index, name)

    def __iter__(self) -> Iterator[str]:
        yield from self._layers
        yield from self._tensors

    def __len__(self) -> int:
        return len(self._layers) + len(self._tensors)

    def __contains__(self, name: object) -> bool:
        return name in self._layers or name in self._tensors

    def __repr__(self) -> str:
        return (f"<grit_mlir.Checkpoint {self.path!r}, {len(self._layers)} layers, "
                f"{len(self._tensors)} other tensors>")


def open_checkpoint(path: PathLike, *,
                    checkpoint_format: str | None = None) -> Checkpoint:
    """Opens a file, an index ('*.index.json') or the directory of a checkpoint, with
    the configuration beside it. docs/Checkpoints.md says what is recognized.

    `checkpoint_format`, "gptq" or "gptq_v2", says what GPTQ's zero points are where
    the configuration does not; such layers are refused without it.

    OSError when a file cannot be read, CheckError when one of them is damaged. A layer
    that no contract describes is in `refusals`.
    """
    return Checkpoint(path, checkpoint_format)
