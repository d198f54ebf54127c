# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package as a package: what it loads, and with whom it shares a process."""

import ctypes
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import grit_mlir
from conftest import ROOT
from grit_mlir import _capi


def run(code):
    path = str(pathlib.Path(grit_mlir.__file__).parents[1])
    return subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {path!r})\n{code}"],
                          check=True, capture_output=True, text=True).stdout


def test_one_process_with_grit_datatype():
    gd = pytest.importorskip("grit")
    assert not hasattr(gd, "quantize") and hasattr(gd, "grit_check")
    x = np.linspace(-2, 2, 64, dtype=np.float32)
    array = grit_mlir.quantize(x, "nvf4")
    planes = gd.encode("GRADE_NVF4", x.tolist())
    assert [plane.tobytes() for plane in array.planes] == list(planes)
    with pytest.raises(gd.GritSizeError):
        gd.grit_check(array.descriptor, (64,), [1, 2, 3, 4])
    with pytest.raises(grit_mlir.GritSizeError):
        grit_mlir.check(array.descriptor, (64,), [1, 2, 3, 4])


@pytest.mark.parametrize("order", ["import grit, grit_mlir", "import grit_mlir, grit"])
def test_either_order_of_import(order):
    pytest.importorskip("grit")
    assert run(f"{order}\nprint(grit.__version__, grit_mlir.__version__)").split()


def test_nothing_loads_llvm():
    out = run("""
import numpy as np, grit_mlir as grit
grit.quantize(np.zeros(32, np.float32), "mxfp4").dequantize()
maps = open("/proc/self/maps").read()
print("libLLVM" in maps, "libMLIR" in maps, "libGritCompiler" in maps,
      "grit_mlir.compiler" in sys.modules)
""")
    assert out.split() == ["False"] * 4


def test_the_names_that_scripts_rely_on():
    for name in grit_mlir.__all__:
        if name not in ("compiler",):
            assert hasattr(grit_mlir, name), name
    assert (pathlib.Path(grit_mlir.__file__).parent / "py.typed").exists()


def test_the_stubs_name_everything():
    stub = pathlib.Path(grit_mlir.__file__).parent / "_core.pyi"
    text = stub.read_text()
    for name in dir(grit_mlir._core):
        if not name.startswith("_"):
            assert f"class {name}" in text or f"def {name}(" in text, name


def test_unknown_attributes():
    with pytest.raises(AttributeError, match="no attribute 'quantise'"):
        grit_mlir.quantise


def test_the_structures_are_those_of_the_c_header():
    """grit.h asserts the layout of what compiled functions take; ctypes must agree."""
    text = (ROOT / "include/grit-c/grit.h").read_text()
    structures = {"grit_view_t": _capi.GradeView, "grit_foreign_view_t": _capi.ForeignView,
                  "grit_array_view_t": _capi.ArrayView,
                  "grit_tensor_view_t": _capi.TensorView, "grit_detail_t": _capi.Detail}
    sizes = dict(re.findall(r"\(sizeof\((\w+)\) == (\d+)\)", text))
    for name, structure in structures.items():
        assert ctypes.sizeof(structure) == int(sizes[name]), name
    offsets = re.findall(r"offsetof\((\w+), (\w+)\) == (\d+)\)", text)
    compared = 0
    for name, field, offset in offsets:
        if name in structures and field in dict(structures[name]._fields_):
            assert getattr(structures[name], field).offset == int(offset), (name, field)
            compared += 1
    assert compared >= 15
