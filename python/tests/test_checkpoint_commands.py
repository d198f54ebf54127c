# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Commands on a checkpoint of one layer: `grit convert` writes it row by row as NumPy
does, and what no pattern or no layer matches is said."""

import json
import os
import pathlib
import struct
import subprocess

import numpy as np
import pytest

import grit_mlir as grit

GRIT = pathlib.Path(os.environ.get("GRIT_BUILD", "build")) / "bin" / "grit"
IN, OUT, GROUP = 128, 16, 32
CONFIG = {"quant_method": "gptq", "bits": 4, "group_size": GROUP, "checkpoint_format": "gptq"}


def run(*arguments):
    return subprocess.run([GRIT, *map(str, arguments)], capture_output=True, text=True)


def save(path, tensors):
    header, data = {}, b""
    for name, array in tensors.items():
        token = {"int32": "I32", "float16": "F16", "float32": "F32"}[array.dtype.name]
        header[name] = {"dtype": token, "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def packed(codes, axis):
    """Eight codes of four bits a word, along an axis, the first in the low bits."""
    codes = np.moveaxis(codes, axis, -1).reshape(*np.moveaxis(codes, axis, -1).shape[:-1], -1, 8)
    words = (codes.astype(np.uint32) << np.arange(8, dtype=np.uint32) * 4).sum(-1, dtype=np.uint32)
    return np.ascontiguousarray(np.moveaxis(words, -1, axis)).view(np.int32)


@pytest.fixture
def layer(tmp_path):
    """The directory, and the codes, scales and zero points of its layer, [out, in]."""
    rng = np.random.default_rng(23)
    codes = rng.integers(0, 16, (OUT, IN), np.uint8)
    zeros = rng.integers(0, 16, (OUT, IN // GROUP), np.uint8)
    scales = rng.random((OUT, IN // GROUP)).astype(np.float16)
    directory = tmp_path / "model"
    directory.mkdir()
    save(directory / "model.safetensors", {
        "up.qweight": packed(codes.T, 0), "up.qzeros": packed(zeros.T, 1),
        "up.scales": np.ascontiguousarray(scales.T), "up.bias": np.ones(OUT, np.float32)})
    (directory / "config.json").write_text(json.dumps({"quantization_config": CONFIG}))
    return directory, codes, scales, zeros


def pairs(codes):
    codes = codes.reshape(-1, 2)
    return (codes[:, 0] | codes[:, 1] << 4).astype(np.uint8)


def test_convert_writes_a_layer_row_by_row(layer, tmp_path):
    directory, codes, scales, zeros = layer
    done = run("convert", directory, "--to", f"gptq.q4(group={GROUP})")
    assert done.returncode == 0, done.stderr
    with grit.open(tmp_path / f"model.gptq.q4-group-{GROUP}.safetensors", level=2) as file:
        assert set(file) == {"up.weight", "up.bias"}
        assert np.array_equal(file["up.bias"], np.ones(OUT, np.float32))
        array = file["up.weight"]
        assert array.shape == (OUT, IN)
        assert bytes(array.planes[0]) == bytes(pairs(codes))
        assert bytes(array.planes[1]) == scales.tobytes()
        assert bytes(array.planes[2]) == bytes(pairs(zeros))
        z = np.repeat(zeros.astype(np.float32) + 1, GROUP, axis=1)
        s = np.repeat(scales.astype(np.float32), GROUP, axis=1)
        assert np.array_equal(array.dequantize(), s * (codes.astype(np.float32) - z))


def test_convert_reports_a_layer_as_json(layer, tmp_path):
    done = run("convert", layer[0], "--to", "mxfp4", "--requantize", "--json", "-o",
               tmp_path / "x.safetensors")
    assert done.returncode == 0, done.stderr
    by_name = {one["name"]: one for one in json.loads(done.stdout)["tensors"]}
    assert by_name["up.weight"]["action"] == "requantized"
    assert by_name["up.weight"]["from"] == f"gptq.q4(group={GROUP})"
    assert by_name["up.bias"]["action"] == "copied"


def test_convert_without_a_contract_copies_the_tensors(layer, tmp_path):
    out = tmp_path / "copy.safetensors"
    assert run("convert", layer[0], "-o", out).returncode == 0
    with grit.open(out) as copy, grit.open(layer[0] / "model.safetensors") as source:
        assert set(copy) == set(source)
        assert all(copy.raw(name).tobytes() == source.raw(name).tobytes() for name in source)


def test_a_refused_layer(layer, tmp_path):
    directory, out = layer[0], tmp_path / "x.safetensors"
    (directory / "config.json").write_text(json.dumps(
        {"quantization_config": {**CONFIG, "checkpoint_format": ""}}))
    done = run("convert", directory, "--to", "gptq.q4", "-o", out)
    assert done.returncode == 1 and "checkpoint_format" in done.stderr and not out.exists()
    # Where another tensor is asked for, it does not matter.
    done = run("convert", directory, "--to", "gptq.q4", "--tensor", "up.bias", "-o", out)
    assert done.returncode == 1 and "no array to convert" in done.stderr


@pytest.mark.parametrize("command", ["convert", "import"])
def test_every_pattern_must_match(layer, tmp_path, command):
    arguments = ["--to", "gptq.q4"] if command == "convert" else []
    out = tmp_path / "out.x"
    done = run(command, layer[0], *arguments, "--tensor", "up.weight", "--tensor", "down.*",
               "-o", out)
    assert done.returncode == 1 and "found: 'down.*'" in done.stderr and not out.exists()


def test_a_part_of_a_layer_is_no_tensor_of_its_own(layer, tmp_path):
    done = run("import", layer[0], "--tensor", "*qweight", "-o", tmp_path / "x.mlir")
    assert done.returncode == 1
    assert "only a part of a layer matches" in done.stderr and "'up.weight'" in done.stderr


def test_inspect_says_when_no_layer_matches(layer):
    done = run("inspect", layer[0], "--tensor", "up.weigh")
    assert done.returncode == 1
    assert "no layer matches" in done.stderr and "did you mean 'up.weight'?" in done.stderr


def test_inspect_of_a_file_without_layers(tmp_path):
    save(tmp_path / "x.safetensors", {"w": np.ones(4, np.float32)})
    done = run("inspect", tmp_path / "x.safetensors", "--layers")
    assert done.returncode == 0 and "no layer consists of several tensors" in done.stdout


def test_quantize_of_arrays_names_convert(tmp_path):
    array = grit.quantize(np.ones((4, 64), np.float32), "mxfp4")
    grit.save(tmp_path / "x.safetensors", {"up.weight": array})
    done = run("quantize", tmp_path / "x.safetensors", "--to", "nvf4")
    assert done.returncode == 1
    assert "quantized already" in done.stderr and "grit convert" in done.stderr
