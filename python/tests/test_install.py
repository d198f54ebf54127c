# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`pip install ./python` against an installed grit."""

import os
import pathlib
import subprocess
import sys

import pytest

from conftest import ROOT

# Opt in: it builds the extension once more, and has not yet passed on a quiet machine.
BUILD = os.environ.get("GRIT_BUILD") if os.environ.get("GRIT_TEST_INSTALL") else None


def run(*command, **keywords):
    done = subprocess.run(command, capture_output=True, text=True, **keywords)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.skipif(not BUILD, reason="set GRIT_TEST_INSTALL=1, and GRIT_BUILD to a complete build")
def test_pip_install(tmp_path):
    pytest.importorskip("scikit_build_core")
    prefix, site = tmp_path / "prefix", tmp_path / "site"
    run("cmake", "--install", BUILD, "--prefix", prefix)
    # The environment of the tests has what the build needs.
    run(sys.executable, "-m", "pip", "install", "--no-deps", "--no-build-isolation",
        "--no-index", "--disable-pip-version-check", "--target", site,
        "-C", f"build-dir={tmp_path / 'build'}",
        "-C", f"cmake.define.CMAKE_PREFIX_PATH={prefix}", ROOT / "python")
    package = site / "grit_mlir"
    names = {path.name for path in package.iterdir()}
    assert {"__init__.py", "_core.pyi", "py.typed", "compiler.py"} <= names
    assert not (site / "include").exists() and not (site / "bin").exists()
    environment = {**os.environ, "PYTHONPATH": str(site)}
    out = run(sys.executable, "-c", """
import numpy as np, grit_mlir as grit
array = grit.quantize(np.ones((2, 64), np.float32), "hurray.nf4")
print(grit.__file__, grit.__version__, array.dequantize().sum())
""", env=environment, cwd=tmp_path)
    where, version, total = out.split()
    assert pathlib.Path(where) == package / "__init__.py"
    assert version == "0.1.0" and float(total) == 128.0
