# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`pip install ./python`: against an installed grit, and on its own."""

import os
import pathlib
import subprocess
import sys

import pytest

from conftest import ROOT

BUILD = os.environ.get("GRIT_BUILD")
pytestmark = pytest.mark.skipif(not BUILD, reason="GRIT_BUILD does not name a complete build")

DECODE = """
import numpy as np, grit_mlir as grit
array = grit.quantize(np.ones((2, 64), np.float32), "hurray.nf4")
print(grit.__file__, grit.__version__, array.dequantize().sum())
"""
MULTIPLY = """
import numpy as np, grit_mlir as grit
array = grit.quantize(np.ones((2, 64), np.float32), "hurray.nf4")
print(grit.matmul(np.ones((1, 64), np.float32), array).sum())
"""


def run(*command, **keywords):
    done = subprocess.run(command, capture_output=True, text=True, **keywords)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def pip_install(tmp_path, *settings):
    """The directory that `pip install --target` filled, and that nothing else sees."""
    site = tmp_path / "site"
    settings = [f"build-dir={tmp_path / 'build'}", *settings]
    # The environment of the tests has what the build needs.
    run(sys.executable, "-m", "pip", "install", "--no-deps", "--no-build-isolation",
        "--no-index", "--disable-pip-version-check", "--target", site,
        *[word for setting in settings for word in ("--config-settings", setting)],
        ROOT / "python")
    names = {path.name for path in (site / "grit_mlir").iterdir()}
    assert {"__init__.py", "_core.pyi", "py.typed", "compiler.py"} <= names
    assert not (site / "include").exists() and not (site / "bin").exists()
    return site


def run_python(site, tmp_path, code):
    environment = {**os.environ, "PYTHONPATH": str(site)}
    return run(sys.executable, "-c", code, env=environment, cwd=tmp_path).split()


def check_decode(site, tmp_path):
    where, version, total = run_python(site, tmp_path, DECODE)
    assert pathlib.Path(where) == site / "grit_mlir" / "__init__.py"
    assert version == "0.1.0" and float(total) == 128.0


def test_with_an_installed_grit(tmp_path):
    pytest.importorskip("scikit_build_core")
    prefix = tmp_path / "prefix"
    run("cmake", "--install", BUILD, "--prefix", prefix)
    site = pip_install(tmp_path, f"cmake.define.CMAKE_PREFIX_PATH={prefix}")
    check_decode(site, tmp_path)
    if (prefix / "lib" / "libGritCompiler.so").exists():
        assert run_python(site, tmp_path, MULTIPLY) == ["128.0"]


def test_alone(tmp_path):
    """Then it brings the libraries along, without the compiler, and says so."""
    pytest.importorskip("scikit_build_core")
    site = pip_install(tmp_path)
    check_decode(site, tmp_path)
    with pytest.raises(AssertionError, match="libGritCompiler.so, is at none of these"):
        run_python(site, tmp_path, MULTIPLY)
