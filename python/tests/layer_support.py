# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints of quantized layers: files, random tensors and unpacked codes, for the tests
of each family."""

import json
import os
import pathlib
import struct
import subprocess

import ml_dtypes
import numpy as np

BUILD = os.environ.get("GRIT_BUILD")
PROGRAM = pathlib.Path(BUILD, "bin", "grit") if BUILD else None
MODULE = "model.layers.0.mlp.up_proj"

RNG = np.random.default_rng(71)
F16, BF16, F32 = np.float16, ml_dtypes.bfloat16, np.float32
E4M3, E5M2, E8M0 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e8m0fnu
FNUZ = ml_dtypes.float8_e4m3fnuz
TOKENS = {"int32": "I32", "int64": "I64", "uint32": "U32", "uint8": "U8", "int8": "I8",
          "int16": "I16", "float32": "F32", "float16": "F16", "bfloat16": "BF16",
          "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
          "float8_e8m0fnu": "F8_E8M0", "float8_e4m3fnuz": "F8_E4M3FNUZ"}
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


def named(parts, module=MODULE):
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


#===----------------------------------------------------------------------===#
# Cases
#===----------------------------------------------------------------------===#

def full_config(config):
    return config if "quantization" in config else {"quantization_config": config}


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


def grouped(count, group):
    """The group of each column in some order (act-order), `group` columns in each."""
    return RNG.permutation(np.arange(count, dtype=np.int32) // group).astype(np.int32)
