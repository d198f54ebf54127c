# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hurray's 16-byte descriptor of NF4, and the arrays that it describes.

    descriptor = Nf4Descriptor.from_bytes(section)
    weights = array_of(descriptor, shape, data, scales)
"""

from __future__ import annotations

from typing import Any, Sequence

from ._array import Array, as_plane
from ._core import Nf4Descriptor

__all__ = ["Nf4Descriptor", "array_of", "descriptor_of"]


def array_of(descriptor: Nf4Descriptor, shape: Sequence[int], data: Any, scales: Any) -> Array:
    """The array of a tensor. The scales are checked: one for each block, finite, not
    negative. A GritSizeError where the last block is short."""
    scales = as_plane(scales, 1)
    descriptor.check_scales(list(shape), scales)
    return Array._make(descriptor.spec(list(shape)), [as_plane(data, 0), scales])


def descriptor_of(array: Array, scale_buffer: int = 1) -> Nf4Descriptor:
    """The descriptor of an array of the contract hurray.nf4."""
    return Nf4Descriptor.of(array._spec, scale_buffer)
