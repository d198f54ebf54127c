# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints of quantized layers as other tools store them: random tensors, decoded
here by the equations of each tool and by `grit dequantize` and in Python."""

import json

import numpy as np
import pytest

import grit_mlir as grit
import layers_of_bytes
import layers_of_others
import layers_of_words
from bits import assert_same_bits
from layer_support import (BF16, F16, F32, MODULE, PROGRAM, checkpoint, full_config, named, read,
                           run, scales)
from layers_of_words import gptq

pytestmark = pytest.mark.skipif(not PROGRAM or not PROGRAM.exists(),
                                reason="GRIT_BUILD names no build with the program grit")

CASES = layers_of_words.CASES | layers_of_bytes.CASES | layers_of_others.CASES
REFUSALS = layers_of_words.REFUSALS | layers_of_bytes.REFUSALS | layers_of_others.REFUSALS


@pytest.mark.parametrize("case", CASES)
def test_every_family(tmp_path, case):
    parts, config, expected, contract = CASES[case]()
    tensors = named(parts) | {"norm.weight": scales(BF16, 7),
                              "model.layers.0.mlp.up_proj.bias": scales(F16, 5)}
    directory = checkpoint(tmp_path / "model", tensors, full_config(config))
    done = run("dequantize", directory, "-o", tmp_path / "out.safetensors", "--json")
    assert done.returncode == 0, done.stderr
    out = read(tmp_path / "out.safetensors")
    name = "model.layers.0.mlp.up_proj" + ("" if case == "gpt-oss" else ".weight")
    assert out.keys() == {name, "norm.weight", "model.layers.0.mlp.up_proj.bias"}
    assert out[name].shape == expected.shape
    assert_same_bits(out[name], expected, case)
    assert np.array_equal(out["norm.weight"], tensors["norm.weight"])
    entry, = (t for t in json.loads(done.stdout)["tensors"] if t["name"] == name)
    assert entry["action"] == "decoded" and entry["parts"]
    assert grit.Contract(entry["contract"]) == grit.Contract(contract)


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(tmp_path, case):
    make, field, text = REFUSALS[case]
    parts, config = make()
    tensors = named(parts) | {"norm.weight": scales(BF16, 7)}
    directory = checkpoint(tmp_path / "model", tensors, full_config(config))
    out = tmp_path / "out.safetensors"
    done = run("dequantize", directory, "-o", out)
    assert done.returncode == 1 and not out.exists()
    lines = dict(line.strip().split(": ", 1) for line in done.stderr.splitlines())
    assert {"grit", "field", "declared", "found", "cause", "fix"} <= lines.keys(), done.stderr
    assert lines["field"].startswith("layer 'model.layers.0.mlp.up_proj'")
    assert field in lines["field"], done.stderr
    assert text in done.stderr
    # With the flag all is copied as it is.
    kept = run("dequantize", directory, "-o", out, "--keep-refused")
    assert kept.returncode == 0, kept.stderr
    copies = read(out)
    assert copies.keys() == tensors.keys()
    for name, array in tensors.items():
        assert copies[name].tobytes() == np.asarray(array).tobytes()


def test_a_layer_that_is_stored_twice(tmp_path):
    parts, config, _, _ = gptq(4, 1, 32)
    directory = checkpoint(tmp_path / "model", named(parts | {"weight": scales(F16, 64, 256)}),
                           full_config(config))
    done = run("dequantize", directory, "-o", tmp_path / "out.safetensors")
    assert done.returncode == 1 and "stored twice" in done.stderr


@pytest.mark.parametrize("case", CASES)
def test_scan_and_inspect_agree_with_dequantize(tmp_path, case):
    parts, config, expected, contract = CASES[case]()
    directory = checkpoint(tmp_path / "model", named(parts), full_config(config))
    kind, = json.loads(run("scan", directory, "--json").stdout)["layers"]
    assert grit.Contract(kind["contract"]) == grit.Contract(contract)
    done = run("inspect", directory, "--json", "--verify")
    assert done.returncode == 0, done.stderr
    layer, = json.loads(done.stdout)["layers"]
    assert grit.Contract(layer["contract"]) == grit.Contract(contract)
    assert layer["shape"] == list(expected.shape)
    assert set(layer["parts"]) <= set(named(parts))


@pytest.mark.parametrize("case", CASES)
def test_python_opens_every_family(tmp_path, case):
    parts, config, expected, contract = CASES[case]()
    plain = scales(F32, 7)
    directory = checkpoint(tmp_path / "model", named(parts) | {"norm.weight": plain},
                           full_config(config))
    opened = grit.open_checkpoint(directory)
    name, = opened.layers
    assert set(opened) == {name, "norm.weight"} and len(opened) == 2 and not opened.refusals
    array = opened[name]
    del opened  # the array keeps the files
    assert array.contract == grit.Contract(contract)
    assert_same_bits(array.dequantize().reshape(expected.shape), expected, case)
