# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized arrays that carry their meaning.

Use it as `import grit_mlir as grit`; the import name `grit` belongs to the package
grit-datatype, and both can live in one process. Nothing here needs MLIR except
`matmul` and `compiler`, which are loaded on first use.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._array import Array, check, convert, quantize
from ._checkpoint import Checkpoint, open_checkpoint
from ._core import Contract, TensorInfo, contracts
from ._errors import (CheckError, GritDigestError, GritGradeError, GritLayoutError,
                      GritSizeError, Status)
from ._file import File, open, save
from ._library import register_format, register_grade

__version__ = _core.__version__

__all__ = [
    "Array", "CheckError", "Checkpoint", "Contract", "File", "GritDigestError",
    "GritGradeError", "GritLayoutError", "GritSizeError", "Status", "TensorInfo", "check", "compiler",
    "contracts", "convert", "matmul", "open", "open_checkpoint", "quantize", "register_format",
    "register_grade", "save",
]


def matmul(
    x: Any, array: Array, *, out: np.ndarray | None = None, threads: int = 1
) -> np.ndarray:
    """x @ array.T by a compiled kernel; see `grit_mlir.compiler.matmul`."""
    from . import compiler
    return compiler.matmul(x, array, out=out, threads=threads)


def __getattr__(name: str) -> Any:
    if name == "compiler":
        import importlib
        return importlib.import_module(".compiler", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
