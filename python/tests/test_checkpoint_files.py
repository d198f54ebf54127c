# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints of quantized layers: several files, what `grit scan` and `grit inspect` say,
what Python says, and damage."""

import json

import ml_dtypes
import numpy as np
import pytest

import grit_mlir as grit
from bits import assert_same_bits
from conftest import ROOT
from layer_support import (F16, F32, PROGRAM, TOKENS, checkpoint, full_config, grouped, named,
                           read, run, scales)
from layers_of_words import awq, gptq, mlx
from test_checkpoint_layers import CASES, REFUSALS

pytestmark = pytest.mark.skipif(not PROGRAM or not PROGRAM.exists(),
                                reason="GRIT_BUILD names no build with the program grit")


#===----------------------------------------------------------------------===#
# Files of a checkpoint
#===----------------------------------------------------------------------===#

def test_a_layer_may_lie_in_several_shards(tmp_path):
    parts, config, expected, _ = gptq(4, 2, 32)
    tensors = named(parts)
    names = sorted(tensors)
    shards = [f"model-0000{i}-of-00002.safetensors" for i in (1, 2)]
    directory = checkpoint(tmp_path / "model", {n: tensors[n] for n in names[:2]},
                           full_config(config), shards[0])
    checkpoint(directory, {n: tensors[n] for n in names[2:]} | {"x": scales(F32, 3)},
               name=shards[1])
    # Files that the index does not name are not read.
    checkpoint(directory, tensors, name="consolidated.safetensors")
    ambiguous = run("dequantize", directory, "-o", tmp_path / "out.safetensors")
    assert ambiguous.returncode == 1 and "several files hold" in ambiguous.stderr
    index = {n: shards[i >= 2] for i, n in enumerate(names)} | {"x": shards[1]}
    (directory / "model.safetensors.index.json").write_text(
        json.dumps({"weight_map": index}))
    for path in (directory, directory / "model.safetensors.index.json"):
        done = run("dequantize", path, "-o", tmp_path / "out.safetensors")
        assert done.returncode == 0, done.stderr
        out = read(tmp_path / "out.safetensors")
        assert out.keys() == {"model.layers.0.mlp.up_proj.weight", "x"}
        assert_same_bits(out["model.layers.0.mlp.up_proj.weight"], expected)
    alone = run("dequantize", directory / shards[0], "-o", tmp_path / "alone.safetensors")
    assert alone.returncode == 1 and "missing" in alone.stderr
    assert not (tmp_path / "alone.safetensors").exists()


FIRST, SECOND = (f"model-0000{i}-of-00002.safetensors" for i in (1, 2))


@pytest.mark.parametrize("text, field, found", [
    (f'"x": "{SECOND}", "y": "{FIRST}"', "weight_map['x']", FIRST),
    (f'"x": "{FIRST}", "y": "{SECOND}", "z": "{SECOND}"', "weight_map['z']", "none"),
    (f'"x": "{FIRST}", "y": "{SECOND}", "x": "{SECOND}"', "weight_map['x']", SECOND),
    (f'"x": "{FIRST}", "y": "../{SECOND}"', "weight_map['y']", "../" + SECOND),
    ('"x": ""', "weight_map['x']", "''"),
])
def test_an_index_of_other_files_is_refused(tmp_path, text, field, found):
    checkpoint(tmp_path, {"x": scales(F32, 3)}, name=FIRST)
    checkpoint(tmp_path, {"y": scales(F32, 3)}, name=SECOND)
    (tmp_path / "model.safetensors.index.json").write_text(f'{{"weight_map": {{{text}}}}}')
    done = run("dequantize", tmp_path, "-o", tmp_path / "out" / "out.safetensors")
    assert done.returncode == 1
    assert "model.safetensors.index.json: " + field in done.stderr
    assert found in done.stderr.split("found: ")[1]


def test_the_output_of_a_directory_lies_beside_it(tmp_path):
    parts, config, expected, _ = awq()
    directory = checkpoint(tmp_path / "model-1.5b", named(parts), full_config(config))
    done = run("dequantize", f"{directory}/")
    assert done.returncode == 0, done.stderr
    out = read(tmp_path / "model-1.5b.f32.safetensors")
    assert_same_bits(out["model.layers.0.mlp.up_proj.weight"], expected)


def test_layers_may_differ(tmp_path):
    """MLX states widths by module."""
    tensors, expected = {}, {}
    config = {"quantization": {"bits": 4, "group_size": 64}}
    for bits, group in ((4, 64), (8, 32), (6, 128)):
        parts, _, weight, _ = mlx(bits, F16, group)
        module = f"model.layers.{bits}.mlp.up_proj"
        tensors |= named(parts, module)
        expected[module + ".weight"] = weight
        config["quantization"][module] = {"bits": bits, "group_size": group}
    directory = checkpoint(tmp_path / "model", tensors, config)
    done = run("dequantize", directory, "-o", tmp_path / "out.safetensors")
    assert done.returncode == 0, done.stderr
    out = read(tmp_path / "out.safetensors")
    for name, weight in expected.items():
        assert_same_bits(out[name], weight, name)


@pytest.mark.parametrize("version", (1, 2))
def test_the_user_may_state_the_format(tmp_path, version):
    """What GPTQ's zero points are, where no configuration does."""
    parts, config, expected, contract = gptq(4, version, 32, text=False)
    directory = checkpoint(tmp_path / "model", named(parts), full_config(config))
    name = "gptq_v2" if version == 2 else "gptq"
    out = tmp_path / "out.safetensors"
    assert run("dequantize", directory, "-o", out).returncode == 1
    assert grit.open_checkpoint(directory).refusals
    done = run("dequantize", directory, "-o", out, "--checkpoint-format", name)
    assert done.returncode == 0, done.stderr
    weight, = read(out).values()
    assert_same_bits(weight, expected)
    array, = grit.open_checkpoint(directory, checkpoint_format=name).values()
    assert array.contract == grit.Contract(contract)
    assert_same_bits(array.dequantize(), expected)
    assert run("inspect", directory, "--checkpoint-format", name).returncode == 0
    assert run("inspect", directory, "--checkpoint-format", "other").returncode == 64
    # It does not overrule what is declared.
    config["checkpoint_format"] = "gptq" if version == 2 else "gptq_v2"
    (directory / "config.json").write_text(json.dumps(full_config(config)))
    contradicted = run("dequantize", directory, "-o", out, "--checkpoint-format", name)
    assert contradicted.returncode == 1 and "declares another" in contradicted.stderr
    with pytest.raises(grit.CheckError, match="declares another"):
        grit.open_checkpoint(directory, checkpoint_format=name)


COPIED = {"gptq 3 bits v1 groups of 32": ["data"], "awq gemv, padded, groups of 64": [
    "scale", "zero"], "hqq 3 bits 64": ["data"], "hqq 3 bits 64 axis 0": ["data"],
    "bitsandbytes nf4 64 True": ["offset"], "LLM.int8()": ["inverse"]}


@pytest.mark.parametrize("case", CASES)
def test_planes_are_bytes_of_the_file(tmp_path, case):
    """But for those that the table says are copied."""
    parts, config, _, _ = CASES[case]()
    directory = checkpoint(tmp_path / "model", named(parts), full_config(config))
    layer, = json.loads(run("inspect", directory, "--json").stdout)["layers"]
    copied = layer.get("copied_planes", [])
    if case in COPIED:
        assert copied == COPIED[case]
    elif "3 bits" not in case and "padded" not in case and "True" not in case:
        assert copied == [] or "int8()" in case
    stored = b"".join(np.asarray(array).tobytes() for array in parts.values())
    array, = grit.open_checkpoint(directory).values()
    inside = [plane.size and plane.tobytes() in stored for plane in array.planes
              if plane is not None and plane.size]
    assert len(inside) - sum(inside) <= len(copied)
    assert all(inside) or copied


def test_an_order_is_checked_at_level_2(tmp_path):
    parts, config, expected, _ = gptq(4, 2, 32, order=grouped(256, 32))
    directory = checkpoint(tmp_path / "model", named(parts), full_config(config))
    array, = grit.open_checkpoint(directory).values()
    array.check(2)
    planes = [plane.copy() for plane in array.planes]
    planes[3].view(np.int32)[7] = 8  # of 8 groups
    damaged = grit.Array(array.contract, array.shape, planes, placements=array.placements)
    damaged.check(1)
    for use in (lambda: damaged.check(2), damaged.dequantize):
        with pytest.raises(grit.CheckError, match="position 7 .* does not exist") as error:
            use()
        assert error.value.detail["field"] == "order" and error.value.detail["found"] == "8"


#===----------------------------------------------------------------------===#
# What scan and inspect say
#===----------------------------------------------------------------------===#

def mixed(tmp_path):
    """Three layers of GPTQ, one of which is refused, and one of another group size."""
    tensors = {}
    for i, group in enumerate((32, 32, 32, 64)):
        parts, config, _, _ = gptq(4, 2, group)
        if i == 1:
            del parts["qzeros"]
        tensors |= named(parts, f"model.layers.{i}.mlp.up_proj")
    config["group_size"] = None
    return checkpoint(tmp_path / "model", tensors, full_config(config))


def test_scan_names_the_contract_of_each_kind_of_layer(tmp_path):
    directory = mixed(tmp_path)
    text = run("scan", directory, "--html", tmp_path / "page.html").stdout
    assert "\ncontract gptq.q4_v2(group=32), 2 layers of gptq\n" in text
    assert "\ncontract gptq.q4_v2(group=64), 1 layer of gptq\n" in text
    assert "\nno contract, 1 layer of gptq\n    what: a tensor of the layer is missing" in text
    page = (tmp_path / "page.html").read_text()
    assert "2 of gptq: contract <code>gptq.q4_v2(group=32)</code>" in page
    report = json.loads(run("scan", directory, "--json").stdout)
    assert report["version"] == 1
    kinds = {kind.get("contract"): kind for kind in report["layers"]}
    assert kinds["gptq.q4_v2(group=32)"]["layers"] == [
        "model.layers.0.mlp.up_proj", "model.layers.2.mlp.up_proj"]
    assert kinds["gptq.q4_v2(group=32)"]["placements"] == {
        "data": "layout(Tile(ColMajor,[1,8]))", "scale": "col_major", "meta": "col_major"}
    assert "qzeros" in kinds[None]["refused"]["field"]
    codes = {t["name"]: t for t in report["tensors"] if t["name"].endswith("qweight")}
    first = codes["model.layers.0.mlp.up_proj.qweight"]
    assert first["array_contract"] == "gptq.q4_v2(group=32)"
    assert first["logical_shape"] == [64, 256]
    assert grit.Contract(first["canonical"]) == grit.Contract("gptq.q4_v2(group=32)")
    assert "array_contract" not in codes["model.layers.1.mlp.up_proj.qweight"]


def test_inspect_lists_layers_and_reports_the_refused(tmp_path):
    directory = mixed(tmp_path)
    file = directory / "model.safetensors"
    for arguments in ([directory], [file, "--layers"]):
        done = run("inspect", *arguments)
        assert done.returncode == 1 and "missing" in done.stderr
        assert len([line for line in done.stdout.splitlines() if "gptq.q4_v2" in line]) == 3
    some = run("inspect", directory, "--tensor", "*.3.*", "--json")
    assert some.returncode == 0
    layer, = json.loads(some.stdout)["layers"]
    assert layer["name"] == "model.layers.3.mlp.up_proj.weight"
    # Without the flag a file is listed as it is.
    assert len(json.loads(run("inspect", file, "--json").stdout)["tensors"]) == 15


def test_the_table_of_the_documentation_is_the_programs():
    page = (ROOT / "docs/Checkpoints.md").read_text()
    assert run("scan", "--list-layers").stdout in page, \
        "write it with: grit scan --list-layers"


#===----------------------------------------------------------------------===#
# Python
#===----------------------------------------------------------------------===#

def test_python_says_why_a_layer_is_none(tmp_path):
    directory = mixed(tmp_path)
    opened = grit.open_checkpoint(directory)
    assert len(opened.layers) == 3
    (module, error), = opened.refusals.items()
    assert module == "model.layers.1.mlp.up_proj"
    assert isinstance(error, grit.CheckError) and "missing" in str(error)
    # Its tensors are there as they are.
    assert opened[module + ".g_idx"].dtype == np.int32
    assert module + ".weight" not in opened
    assert "model.layers.0.mlp.up_proj.qweight" not in opened
    with pytest.raises(KeyError):
        opened["model.layers.0.mlp.up_proj.qweight"]
    with pytest.raises(FileNotFoundError):
        grit.open_checkpoint(tmp_path / "nothing")


def test_python_reads_contents_when_it_has_to(tmp_path):
    parts, config = REFUSALS["a scale that is NaN here"][0]()
    directory = checkpoint(tmp_path / "model", named(parts), full_config(config))
    opened = grit.open_checkpoint(directory)
    name, = opened.layers
    with pytest.raises(grit.CheckError, match="another way"):
        opened[name]


#===----------------------------------------------------------------------===#
# Damaged checkpoints
#===----------------------------------------------------------------------===#

VALUES = (-1, 0, 1, 3, 5, 16, 48, 1 << 20, 1 << 62, None, True, "four", [128, 128], [1], {})


def mutate_tensor(rng, tensors):
    """Another extent or type for one tensor, or none of it at all."""
    name = rng.choice(sorted(tensors))
    array = np.asarray(tensors[name])
    kind = rng.integers(4)
    if kind == 0:
        del tensors[name]
    elif kind == 1:
        types = [np.dtype(getattr(ml_dtypes, token, token)) for token in TOKENS]
        same = [dtype for dtype in types if dtype.itemsize == array.dtype.itemsize]
        tensors[name] = array.view(same[rng.integers(len(same))])
    elif kind == 2 and array.ndim:
        axis = rng.integers(array.ndim)
        extent = int(rng.integers(0, array.shape[axis] + 2))
        tensors[name] = np.resize(array, array.shape[:axis] + (extent,)
                                  + array.shape[axis + 1:])
    else:
        content = bytearray(array.tobytes())
        for at in rng.integers(len(content), size=3) if content else ():
            content[at] = rng.integers(256)
        tensors[name] = np.frombuffer(bytes(content), array.dtype).reshape(array.shape)


def mutate_config(rng, config):
    """Another value for one field, at any depth."""
    fields_of = config
    while True:
        key = rng.choice(sorted(fields_of))
        if not isinstance(fields_of[key], dict) or not fields_of[key] or rng.integers(8) == 0:
            fields_of[key] = VALUES[rng.integers(len(VALUES))]
            return
        fields_of = fields_of[key]


@pytest.mark.parametrize("seed", range(120))
def test_damage_is_refused_or_harmless(tmp_path, seed):
    """Nothing but a refusal or an array whose values the program can compute."""
    rng = np.random.default_rng(seed)
    case = sorted(CASES)[seed % len(CASES)]
    parts, config, _, _ = CASES[case]()
    tensors, config = named(parts), json.loads(json.dumps(full_config(config)))
    for _ in range(rng.integers(1, 3)):
        if rng.integers(4) == 0:
            mutate_config(rng, config)
        elif tensors:
            mutate_tensor(rng, tensors)
    directory = checkpoint(tmp_path / "model", tensors, config)
    scan = run("scan", directory, "--json")
    assert scan.returncode in range(5), scan.stderr
    out = tmp_path / "out.safetensors"
    done = run("dequantize", directory, "-o", out)
    refused = any("refused" in kind for kind in json.loads(scan.stdout)["layers"])
    assert done.returncode == (1 if refused else 0) or "another way" in done.stderr, done.stderr
    assert out.exists() == (done.returncode == 0)
    if refused:
        assert "field: layer" in done.stderr
    kept = run("dequantize", directory, "-o", out, "--keep-refused")
    assert kept.returncode == 0, kept.stderr
