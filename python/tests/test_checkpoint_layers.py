# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints of quantized layers as other tools store them: random tensors, decoded
here by the equations of each tool and by `grit dequantize`."""

import json
import os
import pathlib
import struct
import subprocess

import ml_dtypes
import numpy as np
import pytest

import grit_mlir as grit
from bits import assert_same_bits
from conftest import ROOT
from test_bitsandbytes_oracle import dynamic_map

BUILD = os.environ.get("GRIT_BUILD")
PROGRAM = pathlib.Path(BUILD, "bin", "grit") if BUILD else None
pytestmark = pytest.mark.skipif(not PROGRAM or not PROGRAM.exists(),
                                reason="GRIT_BUILD names no build with the program grit")

RNG = np.random.default_rng(71)
F16, BF16, F32 = np.float16, ml_dtypes.bfloat16, np.float32
E4M3, E5M2, E8M0 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e8m0fnu
TOKENS = {"int32": "I32", "int64": "I64", "uint32": "U32", "uint8": "U8", "int8": "I8",
          "float32": "F32", "float16": "F16", "bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3",
          "float8_e5m2": "F8_E5M2", "float8_e8m0fnu": "F8_E8M0"}
E2M1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6], F32)
E2M1 = np.concatenate([E2M1, -E2M1])


#===----------------------------------------------------------------------===#
# Files
#===----------------------------------------------------------------------===#

def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)


def write(path, tensors):
    header, data = {}, b""
    for name, array in tensors.items():
        array = np.asarray(array)
        content = array.tobytes()
        header[name] = {"dtype": TOKENS[array.dtype.name], "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read(path):
    content = path.read_bytes()
    size = struct.unpack_from("<Q", content)[0]
    header, data = json.loads(content[8:8 + size]), content[8 + size:]
    names = {token: name for name, token in TOKENS.items()}
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        name_of_type = names[entry["dtype"]]
        dtype = np.dtype(getattr(ml_dtypes, name_of_type, name_of_type))
        begin, end = entry["data_offsets"]
        tensors[name] = np.frombuffer(data[begin:end], dtype).reshape(entry["shape"])
    return tensors


def checkpoint(directory, tensors, config=None, name="model.safetensors"):
    directory.mkdir(exist_ok=True)
    write(directory / name, tensors)
    if config is not None:
        (directory / "config.json").write_text(json.dumps(config))
    return directory


def named(parts, module="model.layers.0.mlp.up_proj"):
    """Tensors of a module by the last parts of their names."""
    return {module + ("" if part.startswith("_") else ".") + part: array
            for part, array in parts.items()}


#===----------------------------------------------------------------------===#
# Random tensors, and the tools' own equations
#===----------------------------------------------------------------------===#

def words(*shape, dtype=np.int32):
    return RNG.integers(0, 1 << 32, shape, dtype=np.uint32).view(dtype)


def octets(*shape):
    return RNG.integers(0, 256, shape, dtype=np.uint8)


def scales(dtype, *shape):
    return RNG.normal(size=shape).astype(dtype)


def powers(*shape, dtype=np.uint8):
    return RNG.integers(90, 160, shape, dtype=np.uint8).view(dtype)


def f32(array):
    return np.asarray(array).astype(F32)


def fields(tensor, bits):
    """The codes of each word, the lowest bits first, on a last axis of their own."""
    shifts = np.arange(0, 32, bits, dtype=np.uint32)
    return tensor.view(np.uint32)[..., None] >> shifts & np.uint32((1 << bits) - 1)


def down(tensor, bits):
    """Words whose codes follow one another along the first axis."""
    return fields(tensor, bits).swapaxes(1, 2).reshape(-1, tensor.shape[1])


def along(tensor, bits):
    return fields(tensor, bits).reshape(*tensor.shape[:-1], -1)


def nibbles(tensor):
    """Two codes of each byte, the low half first."""
    return np.stack([tensor & 15, tensor >> 4], -1).reshape(*tensor.shape[:-1], -1)


def gptq(bits, version, group, rows=64, columns=256, order=True, text=True):
    groups = columns // group
    parts = {"qweight": words(columns * bits // 32, rows),
             "qzeros": words(groups, rows * bits // 32),
             "scales": scales(F16, groups, rows)}
    g_idx = np.arange(columns, dtype=np.int32) // group
    if order:
        parts["g_idx"] = g_idx
    config = {"quant_method": "gptq", "bits": bits, "group_size": group, "desc_act": False}
    if text:
        config["checkpoint_format"] = "gptq_v2" if version == 2 else "gptq"
    codes = down(parts["qweight"], bits).astype(np.int32)
    zeros = along(parts["qzeros"], bits).astype(np.int32) + (version == 1)
    weight = f32(parts["scales"])[g_idx] * f32(codes - zeros[g_idx])
    name = f"gptq.q{bits}{'_v2' if version == 2 else ''}(group={group})"
    return parts, config, weight.T, name


def awq(group=128, rows=64, columns=256):
    groups = columns // group
    parts = {"qweight": words(columns, rows // 8), "qzeros": words(groups, rows // 8),
             "scales": scales(F16, groups, rows)}
    reverse = [0, 4, 1, 5, 2, 6, 3, 7]

    def unpack(tensor):
        return fields(tensor, 4)[..., reverse].reshape(len(tensor), -1).astype(np.int32)

    weight = (f32(unpack(parts["qweight"]) - unpack(parts["qzeros"]).repeat(group, 0))
              * f32(parts["scales"]).repeat(group, 0))
    config = {"quant_method": "awq", "bits": 4, "group_size": group, "zero_point": True,
              "version": "gemm"}
    return parts, config, weight.T, f"gptq.q4_v2(group={group})"


def packed(dtype, group, zero, rows=64, columns=256, order=None):
    groups = columns // group
    parts = {"weight_packed": words(rows, columns // 8),
             "weight_scale": scales(dtype, rows, groups),
             "weight_shape": np.array([rows, columns], np.int64)}
    if order is not None:
        parts["weight_g_idx"] = order
    codes = along(parts["weight_packed"], 4).astype(np.int32) - 8
    if zero:
        parts["weight_zero_point"] = words(rows // 8, groups)
        zeros = down(parts["weight_zero_point"], 4).astype(np.int32) - 8
        codes -= zeros.repeat(group, 1)
    weight = f32(codes) * f32(parts["weight_scale"]).repeat(group, 1)
    config = {"quant_method": "compressed-tensors", "format": "pack-quantized",
              "config_groups": {"group_0": {"weights": {
                  "num_bits": 4, "group_size": group, "symmetric": not zero,
                  "strategy": "group", "type": "int"}}}}
    half = dtype is F16
    name = ("gptq.q4_v2" if half else "ct.int4_zp") if zero else \
        ("ct.int4_f16" if half else "ct.int4")
    return parts, config, weight, f"{name}(group={group})"


def mlx(bits, dtype, group, lead=()):
    rows, columns = 24, 256
    parts = {"weight": words(*lead, rows, columns * bits // 32, dtype=np.uint32),
             "scales": scales(dtype, *lead, rows, columns // group),
             "biases": scales(dtype, *lead, rows, columns // group)}
    stream = np.unpackbits(parts["weight"].view(np.uint8), axis=-1, bitorder="little")
    codes = stream.reshape(*lead, rows, columns, bits) @ (1 << np.arange(bits))
    weight = (f32(codes) * f32(parts["scales"]).repeat(group, -1)
              + f32(parts["biases"]).repeat(group, -1))
    name = f"mlx.q{bits}_{'f16' if dtype is F16 else 'bf16'}(group={group})"
    return parts, {"quantization": {"bits": bits, "group_size": group}}, weight, name


def nvfp4(tool, rows=32, columns=128):
    first, scale = octets(rows, columns // 2), octets(rows, columns // 16) & 0x7E
    scale, second = scale.view(E4M3), scales(F32, 1)
    spread = f32(scale).repeat(16, 1)
    if tool == "modelopt":
        second = second.reshape(())
        weight = second * spread * E2M1[nibbles(first)]
        return ({"weight": first, "weight_scale": scale, "weight_scale_2": second},
                {"quantization": {"quant_algo": "NVFP4", "group_size": 16}}, weight, "nvf4")
    weight = spread / second * E2M1[nibbles(first)]
    config = {"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized"}
    return ({"weight_packed": first, "weight_scale": scale, "weight_global_scale": second},
            config, weight, "ct.nvfp4")


def mxfp4(dtype, rows=32, columns=128):
    parts = {"weight_packed": octets(rows, columns // 2),
             "weight_scale": powers(rows, columns // 32, dtype=dtype)}
    exponents = parts["weight_scale"].view(np.uint8).astype(np.int32).repeat(32, 1)
    weight = np.ldexp(E2M1[nibbles(parts["weight_packed"])], exponents - 127)
    return parts, {"quant_method": "compressed-tensors"}, weight, "mxfp4"


def experts(count=3, rows=32, columns=128):
    parts = {"_blocks": octets(count, rows, columns // 32, 16),
             "_scales": powers(count, rows, columns // 32)}
    exponents = parts["_scales"].astype(np.int32)[..., None] - 127
    values = np.empty((*parts["_blocks"].shape[:-1], 32), F32)
    values[..., 0::2] = np.ldexp(E2M1[parts["_blocks"] & 15], exponents)
    values[..., 1::2] = np.ldexp(E2M1[parts["_blocks"] >> 4], exponents)
    return parts, {"quant_method": "mxfp4"}, values.reshape(count, rows, columns), "mxfp4"


def mxfp8(dtype, rows=32, columns=128):
    parts = {"weight": octets(rows, columns).view(dtype),
             "weight_scale": powers(rows, columns // 32)}
    powers_of = parts["weight_scale"].view(E8M0)
    weight = f32(parts["weight"]) * f32(powers_of).repeat(32, 1)
    return (parts, {"quant_method": "modelopt"}, weight,
            "mxfp8_e4m3" if dtype is E4M3 else "mxfp8_e5m2")


def fp8(kind, dtype, shape, integer=False):
    rows, columns = 300, 200
    weight = octets(rows, columns).view(np.int8 if integer else E4M3)
    scale = scales(dtype, *shape)
    config = {"quant_method": "compressed-tensors", "config_groups": {
        "group_0": {"weights": {"num_bits": 8, "strategy": kind, "symmetric": True}}}}
    name = f"ct.{'int8' if integer else 'fp8'}_{kind}{'_bf16' if dtype is BF16 else ''}"
    spread = f32(scale).reshape(-1, 1)
    return {"weight": weight, "weight_scale": scale}, config, f32(weight) * spread, name


def blocks(dtype, suffix="weight_scale_inv", lead=()):
    rows, columns = 300, 200
    weight = octets(*lead, rows, columns).view(E4M3)
    scale = powers(*lead, 3, 2, dtype=E8M0) if dtype is E8M0 else scales(dtype, *lead, 3, 2)
    spread = f32(scale).repeat(128, -2).repeat(128, -1)[..., :rows, :columns]
    config = {"quant_method": "fp8", "weight_block_size": [128, 128]}
    if suffix == "weight_scale":
        config = {"quant_method": "compressed-tensors", "config_groups": {"group_0": {
            "weights": {"num_bits": 8, "strategy": "block", "block_structure": [128, 128]}}}}
    name = "deepseek.fp8" + {F32: "", BF16: "_bf16", E8M0: "_ue8m0"}[dtype]
    return {"weight": weight, suffix: scale}, config, f32(weight) * spread, name


NF4 = np.array([
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
    -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
    0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0], F32)
# bitsandbytes writes the integer -0: both zeros are +0.
FP4 = np.array([0, 0.0625, 8, 12, 4, 6, 2, 3, 0, -0.0625, -8, -12, -4, -6, -2, -3],
               F32) / F32(12)


def bitsandbytes(kind, block, nested, shape=(64, 512)):
    count = int(np.prod(shape))
    levels = NF4 if kind == "nf4" else FP4
    parts = {"weight": octets(count // 2, 1), "weight.quant_map": levels}
    state = {"quant_type": kind, "blocksize": block, "dtype": "bfloat16",
             "shape": list(shape)}
    if nested:
        indices, offset = octets(count // block), F32(0.40625)
        outer = np.abs(scales(F32, -(-count // block // 256)))
        parts |= {"weight.absmax": indices, "weight.nested_absmax": outer,
                  "weight.nested_quant_map": dynamic_map()}
        state |= {"nested_blocksize": 256, "nested_dtype": "float32",
                  "nested_offset": float(offset)}
        absmax = dynamic_map()[indices] * outer.repeat(256)[:count // block] + offset
    else:
        absmax = parts["weight.absmax"] = np.abs(scales(F32, count // block))
    parts[f"weight.quant_state.bitsandbytes__{kind}"] = np.frombuffer(
        json.dumps(state).encode(), np.uint8)
    codes = np.stack([parts["weight"] >> 4, parts["weight"] & 15], -1).reshape(-1)
    weight = (levels[codes] * absmax.repeat(block)).reshape(shape)
    name = f"bnb.{kind}_double" if nested else f"bnb.{kind}" + \
        (f"(block={block})" if block != 64 else "")
    return parts, {"quant_method": "bitsandbytes", "load_in_4bit": True}, weight, name


def hqq(bits, group, shape=(64, 256)):
    groups = int(np.prod(shape)) // group
    per = 8 // bits
    parts = {"W_q": octets(groups // per, group), "scale": scales(F16, groups, 1),
             "zero": scales(F16, groups, 1), "shape": np.array(shape, np.int64),
             "nbits": np.array(bits, np.int32), "axis": np.array(1, np.int32),
             "group_size": np.array(group, np.int32),
             "packing": np.frombuffer(f"{bits}bit_u8".encode(), np.uint8)}
    if bits == 4:
        parts |= {"view_as_float": np.array(0, np.uint8), "compute_dtype": octets(13),
                  "axis": np.array(1, np.uint8), "nbits": np.array(4, np.uint8)}
    codes = np.concatenate([parts["W_q"] >> np.uint8(8 - bits * (i + 1))
                            & np.uint8((1 << bits) - 1) for i in range(per)])
    weight = (f32(codes) - f32(parts["zero"])) * f32(parts["scale"])
    return (parts, {"quant_method": "hqq"}, weight.reshape(shape),
            f"hqq.q{bits}(group={group})")


CASES = {
    **{f"gptq {b} bits v{v} groups of {g}": lambda b=b, v=v, g=g: gptq(b, v, g)
       for b in (2, 4, 8) for v in (1, 2) for g in (32, 64)},
    "gptq without g_idx": lambda: gptq(4, 1, 32, order=False),
    "gptq in one group": lambda: gptq(4, 2, 256),
    "awq": awq, "awq groups of 32": lambda: awq(32),
    **{f"packed {d.__name__} {g} {z}": lambda d=d, g=g, z=z: packed(d, g, z)
       for d in (F16, BF16) for g in (32, 64) for z in (False, True)},
    "packed in order": lambda: packed(BF16, 32, True, order=np.arange(256) // 32),
    "packed, the order unset": lambda: packed(F16, 32, False,
                                              order=np.full(256, -1, np.int32)),
    **{f"mlx {b} bits {d.__name__} {g}": lambda b=b, d=d, g=g: mlx(b, d, g)
       for b in (2, 3, 4, 5, 6, 8) for d in (F16, BF16) for g in (32, 128)},
    "mlx experts": lambda: mlx(4, BF16, 32, (3,)),
    "nvfp4 that divides": lambda: nvfp4("compressed-tensors"),
    "nvfp4 that multiplies": lambda: nvfp4("modelopt"),
    "mxfp4 bytes": lambda: mxfp4(np.uint8), "mxfp4 powers": lambda: mxfp4(E8M0),
    "gpt-oss": experts,
    "mxfp8 e4m3": lambda: mxfp8(E4M3), "mxfp8 e5m2": lambda: mxfp8(E5M2),
    **{f"fp8 {k} {d.__name__} {s}": lambda k=k, d=d, s=s: fp8(k, d, s) for d in (F32, BF16)
       for k, s in (("tensor", ()), ("tensor", (1,)), ("channel", (300,)),
                    ("channel", (300, 1)))},
    "int8": lambda: fp8("channel", F32, (300, 1), True),
    "int8 bf16": lambda: fp8("channel", BF16, (300, 1), True),
    **{f"fp8 blocks {d.__name__} {s}": lambda d=d, s=s: blocks(d, s)
       for d, s in ((F32, "weight_scale_inv"), (BF16, "weight_scale_inv"),
                    (E8M0, "weight_scale_inv"), (F32, "weight_scale"),
                    (BF16, "weight_scale"), (E8M0, "scale"))},
    "fp8 blocks of experts": lambda: blocks(F32, lead=(2,)),
    **{f"bitsandbytes {k} {b} {n}": lambda k=k, b=b, n=n: bitsandbytes(k, b, n)
       for k in ("nf4", "fp4") for b, n in ((64, False), (128, False), (64, True))},
    "bitsandbytes of rank 4": lambda: bitsandbytes("nf4", 64, False, (8, 4, 16, 16)),
    **{f"hqq {b} bits {g}": lambda b=b, g=g: hqq(b, g) for b in (2, 4, 8) for g in (32, 64)},
}


def full_config(config):
    return config if "quantization" in config else {"quantization_config": config}


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


#===----------------------------------------------------------------------===#
# Refusals
#===----------------------------------------------------------------------===#

def changed(case, config=(), **parts):
    """A case with other tensors (None: without) and other fields of the configuration."""
    tensors, fields_of, _, _ = case
    for part, array in parts.items():
        part = dotted(part)
        tensors[part] = array(tensors[part]) if callable(array) else array
    tensors = {part: array for part, array in tensors.items() if array is not None}
    return tensors, {k: v for k, v in (fields_of | dict(config)).items() if v is not None}


def dotted(part):
    """Names of arguments have no dots."""
    if part.startswith("weight__quant_state"):
        return "weight.quant_state.bitsandbytes__nf4"
    return part.replace("__", ".")


def state(change):
    return lambda old: np.frombuffer(
        json.dumps(json.loads(old.tobytes()) | change).encode(), np.uint8)


def swap_rows(order):
    return order[::-1].copy()


NF4_STATE = "weight__quant_state__bitsandbytes__nf4"
REFUSALS = {
    "act-order": (lambda: changed(gptq(4, 1, 32), g_idx=swap_rows),
                  "g_idx", "act-order"),
    "act-order without an order": (
        lambda: changed(gptq(4, 1, 32), {"desc_act": True}, g_idx=None), "g_idx", "act-order"),
    "neither version": (lambda: changed(gptq(4, 1, 32, text=False)),
                        "checkpoint_format", "'gptq' or 'gptq_v2'"),
    "another version": (lambda: changed(gptq(4, 1, 32), {"checkpoint_format": "marlin"}),
                        "checkpoint_format", "'marlin'"),
    "GPTQ or AWQ": (lambda: changed(gptq(4, 1, 32), {"quant_method": None}),
                    "quant_method", "gptq or awq"),
    "AWQ with an order": (lambda: changed(gptq(4, 1, 32), {"quant_method": "awq"}),
                          "g_idx", "no place"),
    "AWQ that is GPTQ": (lambda: changed(gptq(4, 1, 32, order=False),
                                         {"quant_method": "awq", "checkpoint_format": None}),
                         "scales': shape", "N = 512"),
    "AWQ for another kernel": (lambda: changed(awq(), {"version": "gemv"}), "version", "gemm"),
    "three bits": (lambda: changed(gptq(4, 1, 32), {"bits": 3},
                                   qweight=words(24, 64), qzeros=words(8, 6)),
                   "bits", "2 4 8"),
    "no zeros": (lambda: changed(gptq(4, 1, 32), qzeros=None), "qzeros", "missing"),
    "scales of another type": (
        lambda: changed(gptq(4, 1, 32), scales=lambda old: old.astype(BF16)),
        "scales", "BF16"),
    "scales cut short": (lambda: changed(gptq(4, 1, 32), scales=lambda old: old[:4]),
                         "qzeros", "fit"),
    "another group size": (lambda: changed(gptq(4, 1, 32), {"group_size": 64}),
                           "group_size", "64"),
    "a group that is no power of two": (
        lambda: changed(gptq(4, 1, 48, columns=384), {"group_size": 48}), "group", "48"),
    "codes cut short": (lambda: changed(gptq(4, 1, 32), qweight=lambda old: old[:16]),
                        "g_idx", "[K = 128]"),
    "another width": (lambda: changed(gptq(4, 1, 32), {"bits": 8}), "shape", "8 bits"),
    "act-order of compressed-tensors": (
        lambda: changed(packed(BF16, 32, False),
                        weight_g_idx=np.arange(256, dtype=np.int32)[::-1] // 32),
        "weight_g_idx", "act-order"),
    "act-order declared": (
        lambda: changed(packed(BF16, 32, False), {"config_groups": {"group_0": {
            "weights": {"num_bits": 4, "group_size": 32, "actorder": "group"}}}}),
        "weight_g_idx", "act-order"),
    "no scales": (lambda: changed(packed(BF16, 32, False), weight_scale=None),
                  "weight_scale", "missing"),
    "zero points undeclared": (
        lambda: changed((packed(BF16, 32, True)[0], packed(BF16, 32, False)[1], 0, 0)),
        "symmetric", "zero points"),
    "zero points missing": (lambda: changed(packed(BF16, 32, True), weight_zero_point=None),
                            "symmetric", "zero points"),
    "eight bits packed": (
        lambda: changed(packed(BF16, 32, False), {"config_groups": {"group_0": {
            "weights": {"num_bits": 8}}}}, weight_shape=np.array([64, 128])), "bits", "8"),
    "packed, and no width that fits": (
        lambda: changed(packed(BF16, 32, False), {"config_groups": None},
                        weight_shape=np.array([64, 128])), "weight_packed", "4 bits"),
    "MLX without a configuration": (
        lambda: ((mlx(4, BF16, 64)[0]), {}), "bits", "nothing"),
    "MLX without biases": (lambda: changed(mlx(4, BF16, 64), biases=None),
                           "biases", "missing"),
    "padded NVFP4": (lambda: changed(nvfp4("modelopt"),
                                     weight_scale=lambda old: np.tile(old, (4, 1))),
                     "weight_scale", "[N = 32, K / G = 8]"),
    "a global scale per row": (
        lambda: changed(nvfp4("compressed-tensors"), weight_global_scale=scales(F32, 32)),
        "weight_global_scale", "[1]"),
    "a scale that is NaN here": (
        lambda: changed(experts(), _scales=lambda old: np.where(old == old.max(), 255, old)
                        .astype(np.uint8)), "_scales", "0xff"),
    "MXFP8 of nobody": (lambda: changed(mxfp8(E4M3), {"quant_method": None}),
                        "quant_method", "modelopt"),
    "blocks undeclared": (lambda: changed(blocks(F32), {"weight_block_size": None}),
                          "weight_block_size", "[128, 128]"),
    "other blocks": (lambda: changed(blocks(F32), {"weight_block_size": [64, 64]}),
                     "weight_block_size", "[64, 64]"),
    "scales of fused rows": (
        lambda: changed(fp8("tensor", F32, ()), weight_scale=scales(F32, 3)),
        "weight_scale", "[1] or [N = 300, 1]"),
    "zero points of bytes": (
        lambda: changed(fp8("channel", F32, (300, 1), True),
                        weight_zero_point=np.zeros((300, 1), np.int8)),
        "weight_zero_point", "I8"),
    "LLM.int8()": (lambda: ({"weight": octets(8, 8).view(np.int8), "SCB": scales(F32, 8)},
                            {"quant_method": "bitsandbytes"}), "family", "8 bits"),
    "another table": (lambda: changed(bitsandbytes("nf4", 64, False),
                                      weight__quant_map=lambda old: old * F32(0.5)),
                      "quant_map", "code 0"),
    "another nested table": (
        lambda: changed(bitsandbytes("nf4", 64, True),
                        weight__nested_quant_map=lambda old: np.nextafter(old, F32(2))),
        "nested_quant_map", "code 0"),
    "a short last block": (
        lambda: changed(bitsandbytes("nf4", 64, True, (64, 320))),
        "nested_absmax': shape", "[N K / 256 G]"),
    "another block size": (
        lambda: changed(bitsandbytes("nf4", 64, True),
                        **{NF4_STATE: state({"blocksize": 128})}),
        "quant_state", "128"),
    "no offset": (
        lambda: changed(bitsandbytes("nf4", 64, True),
                        **{NF4_STATE: state({"nested_offset": None})}),
        "quant_state", "nested_offset"),
    "a state that is no JSON": (
        lambda: changed(bitsandbytes("nf4", 64, False), **{NF4_STATE: octets(40)}),
        "quant_state", "JSON"),
    "a shape beyond all bounds": (
        lambda: changed(bitsandbytes("nf4", 64, False),
                        **{NF4_STATE: state({"shape": [1 << 62, 1 << 62]})}),
        "quant_state", "extents"),
    "the other axis": (lambda: changed(hqq(4, 64), axis=np.array(0, np.int32)), "axis", "1"),
    "another packing": (
        lambda: changed(hqq(4, 64), packing=np.frombuffer(b"4bit_32", np.uint8)),
        "packing", "4bit_32"),
    "three bits of HQQ": (lambda: changed(hqq(4, 64), nbits=np.array(3, np.int32)),
                          "", "3"),
}


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


#===----------------------------------------------------------------------===#
# What scan and inspect say
#===----------------------------------------------------------------------===#

def mixed(tmp_path):
    """Three layers of GPTQ, one of which is refused, and one of another group size."""
    tensors = {}
    for i, group in enumerate((32, 32, 32, 64)):
        parts, config, _, _ = gptq(4, 2, group)
        if i == 1:
            parts["g_idx"] = parts["g_idx"][::-1].copy()
        tensors |= named(parts, f"model.layers.{i}.mlp.up_proj")
    config["group_size"] = None
    return checkpoint(tmp_path / "model", tensors, full_config(config))


def test_scan_names_the_contract_of_each_kind_of_layer(tmp_path):
    directory = mixed(tmp_path)
    text = run("scan", directory, "--html", tmp_path / "page.html").stdout
    assert "\ncontract gptq.q4_v2(group=32), 2 layers of gptq\n" in text
    assert "\ncontract gptq.q4_v2(group=64), 1 layer of gptq\n" in text
    assert "\nno contract, 1 layer of gptq\n    what: the columns of a group" in text
    page = (tmp_path / "page.html").read_text()
    assert "2 of gptq: contract <code>gptq.q4_v2(group=32)</code>" in page
    report = json.loads(run("scan", directory, "--json").stdout)
    assert report["version"] == 1
    kinds = {kind.get("contract"): kind for kind in report["layers"]}
    assert kinds["gptq.q4_v2(group=32)"]["layers"] == [
        "model.layers.0.mlp.up_proj", "model.layers.2.mlp.up_proj"]
    assert kinds["gptq.q4_v2(group=32)"]["placements"] == {
        "data": "layout(Tile(ColMajor,[1,8]))", "scale": "col_major", "meta": "col_major"}
    assert "g_idx" in kinds[None]["refused"]["field"]
    codes = {t["name"]: t for t in report["tensors"] if t["name"].endswith("qweight")}
    first = codes["model.layers.0.mlp.up_proj.qweight"]
    assert first["array_contract"] == "gptq.q4_v2(group=32)"
    assert first["logical_shape"] == [64, 256]
    assert grit.Contract(first["canonical"]) == grit.Contract("gptq.q4_v2(group=32)")
    assert "array_contract" not in codes["model.layers.1.mlp.up_proj.qweight"]


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


def test_inspect_lists_layers_and_reports_the_refused(tmp_path):
    directory = mixed(tmp_path)
    file = directory / "model.safetensors"
    for arguments in ([directory], [file, "--layers"]):
        done = run("inspect", *arguments)
        assert done.returncode == 1 and "act-order" in done.stderr
        assert len([line for line in done.stdout.splitlines() if "gptq.q4_v2" in line]) == 3
    some = run("inspect", directory, "--tensor", "*.3.*", "--json")
    assert some.returncode == 0
    layer, = json.loads(some.stdout)["layers"]
    assert layer["name"] == "model.layers.3.mlp.up_proj.weight"
    # Without the flag a file is listed as it is.
    assert len(json.loads(run("inspect", file, "--json").stdout)["tensors"]) == 16


def test_the_table_of_the_documentation_is_the_programs():
    page = (ROOT / "docs/Checkpoints.md").read_text()
    assert run("scan", "--list-layers").stdout in page, \
        "write it with: grit scan --list-layers"


#===----------------------------------------------------------------------===#
# Python
#===----------------------------------------------------------------------===#

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
    assert_same_bits(array.dequantize(), expected, case)


def test_python_says_why_a_layer_is_none(tmp_path):
    directory = mixed(tmp_path)
    opened = grit.open_checkpoint(directory)
    assert len(opened.layers) == 3
    (module, error), = opened.refusals.items()
    assert module == "model.layers.1.mlp.up_proj"
    assert isinstance(error, grit.CheckError) and "act-order" in str(error)
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
