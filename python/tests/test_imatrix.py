# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`grit quantize --imatrix`: files that the package gguf and struct write, the weights that
libgguf reads from them, and its bytes."""

import os
import pathlib
import struct
import subprocess

import numpy as np
import pytest

import grit_mlir

BUILD = os.environ.get("GRIT_BUILD")
pytestmark = pytest.mark.skipif(not BUILD, reason="GRIT_BUILD names no build with the program grit")
PROGRAM = pathlib.Path(BUILD or ".") / "bin" / "grit"
NAMES = ("blk.0.ffn_down.weight", "blk.0.ffn_up.weight")
COLUMNS = 512


def grit(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)


@pytest.fixture
def model(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    rng = np.random.default_rng(3)
    tensors = {name: rng.normal(size=(6, COLUMNS)).astype(np.float32) for name in NAMES}
    safetensors.save_file(tensors, tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors", tensors


def sums_and_counts(names=NAMES):
    rng = np.random.default_rng(8)
    return {name: ((rng.random(COLUMNS) ** 3 * 40).astype(np.float32), 1 + i * 3)
            for i, name in enumerate(names)}


def write_plain(path, sums):
    data = struct.pack("<i", len(sums))
    for name, (values, count) in sums.items():
        data += struct.pack("<i", len(name)) + name.encode()
        data += struct.pack("<ii", count, len(values)) + values.tobytes()
    path.write_bytes(data + struct.pack("<ii", 2, 8) + b"data.txt")


def write_gguf(path, sums):
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(path, None)
    writer.add_type("imatrix")
    writer.add_array("imatrix.datasets", ["data.txt"])
    writer.add_uint32("imatrix.chunk_count", 2)
    for name, (values, count) in sums.items():
        writer.add_tensor(name + ".in_sum2", values.reshape(1, -1))
        writer.add_tensor(name + ".counts", np.array([[count]], np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


WRITERS = {"plain": write_plain, "gguf": write_gguf}


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("contract, qtype", [("gguf.iq2_xs", "IQ2_XS"), ("gguf.q4_k", "Q4_K")])
def test_bytes_are_those_of_libgguf(model, tmp_path, form, contract, qtype):
    libgguf = pytest.importorskip("libgguf")
    gguf = pytest.importorskip("gguf")
    file, tensors = model
    WRITERS[form](tmp_path / "imatrix", sums_and_counts())
    done = grit("quantize", file, "--to", contract, "--imatrix", tmp_path / "imatrix",
                "-o", tmp_path / "out.gguf")
    assert done.returncode == 0, done.stderr
    weights = libgguf.load_imatrix(tmp_path / "imatrix")
    found = {t.name: t.data for t in gguf.GGUFReader(tmp_path / "out.gguf").tensors}
    for name, values in tensors.items():
        expected = libgguf.quantize_rows(
            values, getattr(libgguf.GGMLQuantizationType, qtype), imatrix=weights[name])
        np.testing.assert_array_equal(found[name].reshape(-1), expected.reshape(-1))
        # Importance matters here.
        even = grit_mlir.quantize(values, contract, importance=np.ones(COLUMNS))
        assert even.planes[0].tobytes() != expected.tobytes()


@pytest.mark.parametrize("form", WRITERS)
def test_a_missing_tensor_is_named_where_importance_is_needed(model, tmp_path, form):
    file, _ = model
    WRITERS[form](tmp_path / "imatrix", sums_and_counts(NAMES[:1]))

    def run(contract, *rest):
        return grit("quantize", file, "--to", contract, "--imatrix", tmp_path / "imatrix",
                    "-o", tmp_path / "out.gguf", *rest)

    refused = run("gguf.iq2_xxs")
    assert refused.returncode == 1
    assert f"tensor '{NAMES[1]}': importance" in refused.stderr
    assert not (tmp_path / "out.gguf").exists()
    assert run("gguf.iq2_xxs", "--exclude", NAMES[1]).returncode == 0
    assert run("gguf.iq3_s").returncode == 0


def test_without_a_file_the_tensor_is_named(model, tmp_path):
    refused = grit("quantize", model[0], "--to", "gguf.iq1_s", "-o", tmp_path / "out.gguf")
    assert refused.returncode == 1
    assert "needs importance" in refused.stderr and NAMES[0] in refused.stderr


def test_other_lengths_and_damaged_files_are_refused(model, tmp_path):
    sums = {name: (values[:100], count) for name, (values, count) in sums_and_counts().items()}
    write_plain(tmp_path / "short", sums)
    (tmp_path / "damaged").write_bytes((tmp_path / "short").read_bytes()[:-20])
    for name, text in [("short", "512 weights"), ("damaged", "--imatrix"), ("none", "none")]:
        refused = grit("quantize", model[0], "--to", "gguf.q4_k", "--imatrix", tmp_path / name,
                       "-o", tmp_path / "out.gguf")
        assert refused.returncode == 1
        assert text in refused.stderr


def test_search_on_the_command_line(model, tmp_path):
    file, tensors = model
    write_plain(tmp_path / "imatrix", sums_and_counts())
    done = grit("quantize", file, "--to", "mxfp4", "--search", "mse", "--imatrix",
                tmp_path / "imatrix", "-o", tmp_path / "out.safetensors")
    assert done.returncode == 0, done.stderr
    written = grit_mlir.open(tmp_path / "out.safetensors")
    for name, (values, count) in sums_and_counts().items():
        expected = grit_mlir.quantize(tensors[name], "mxfp4", importance=values / np.float32(count),
                                      search="mse")
        np.testing.assert_array_equal(written[name].dequantize(), expected.dequantize())
    assert grit("quantize", file, "--to", "mxfp4", "--search", "best").returncode == 64
