# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Encoders of the formats of checkpoints against their homes, byte for byte.

MX: ml_dtypes rounds. compressed-tensors, DeepGEMM, HQQ and AutoGPTQ need torch: their
steps are written out here, in the same order and in the number formats of the tensors,
with NumPy and ml_dtypes. bitsandbytes: its portable encoder in NumPy, and its CPU library
for the scales of scales. MLX: the same in NumPy, and MLX itself where it is installed.
"""

import ctypes
import importlib.util
import math
import pathlib

import ml_dtypes
import numpy as np
import pytest

import grit_mlir as grit
from test_bitsandbytes_oracle import dynamic_map
from test_encode_oracle import KINDS, SEEDS, assert_same_bytes, encoded, make
from test_encode_oracle import minilm  # noqa: F401 (a fixture)

BF16, F16, F32 = ml_dtypes.bfloat16, np.float16, np.float32
E4M3 = ml_dtypes.float8_e4m3fn
# Kinds whose numbers fit in binary16, and those that do not.
NARROW = ("normal", "outlier", "sparse", "constant", "positive", "uniform", "ties", "zero",
          "half", "subnormal", "tiny")


def arrays(kind, count, seed):
    """One of a kind, or more when GRIT_ORACLE_SEEDS asks for it."""
    for i in range(max(1, SEEDS // 2)):
        yield make(kind, count, seed + 100 * i)


def kinds_of(dtype):
    return NARROW if dtype == F16 else KINDS


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def low_first(codes, width):
    """Codes one after the other, least significant bits first."""
    bits = codes.reshape(-1, 1).astype(np.uint8) >> np.arange(width, dtype=np.uint8) & 1
    return np.packbits(bits.astype(np.uint8), bitorder="little").tobytes()


def high_first(codes, width):
    bits = codes.reshape(-1, 1).astype(np.uint8) >> np.arange(
        width - 1, -1, -1, dtype=np.uint8) & 1
    return np.packbits(bits.astype(np.uint8)).tobytes()


# --- OCP MX -------------------------------------------------------------------

MX = {
    "mxfp8_e4m3": (8, 8, 448, ml_dtypes.float8_e4m3fn),
    "mxfp8_e5m2": (8, 15, 57344, ml_dtypes.float8_e5m2),
    "mxfp6_e2m3": (6, 2, 7.5, ml_dtypes.float6_e2m3fn),
    "mxfp6_e3m2": (6, 4, 28, ml_dtypes.float6_e3m2fn),
    "mxint8": (8, 0, 127 / 64, None)}


def mx(name, x):
    """The exponent of the largest magnitude less that of the largest element; quotients
    to the nearest element, ties to even, saturated. Zeros take the scale 1."""
    width, largest_exponent, largest, dtype = MX[name]
    x = x.reshape(-1, 32)
    amax = np.abs(x).max(axis=1)
    exponents = np.where(amax > 0, np.frexp(amax)[1] - 1 - largest_exponent, 0)
    exponents = np.clip(exponents, -127, 127)
    quotients = np.clip(np.ldexp(x.astype(np.float64), -exponents[:, None]), -largest, largest)
    if dtype is None:
        codes = np.rint(quotients * 64).astype(np.int8).view(np.uint8)
    else:
        codes = quotients.astype(F32).astype(dtype).view(np.uint8)
    return low_first(codes, width) + (exponents + 127).astype(np.uint8).tobytes()


@pytest.mark.parametrize("kind", (*KINDS, "extreme"))
@pytest.mark.parametrize("name", MX)
def test_mx(name, kind):
    for x in arrays(kind, 1 << 14, 11):
        assert_same_bytes(encoded(x, name), mx(name, x), f"{name} {kind}")


@pytest.mark.parametrize("name", MX)
def test_mx_at_every_tie(name):
    """Halfway between any two neighbours, and a bit to either side, in both signs."""
    width, _, largest, dtype = MX[name]
    codes = np.arange(1 << width, dtype=np.uint8)
    levels = codes.view(np.int8) / 64 if dtype is None else codes.view(dtype).astype(F32)
    levels = np.unique(levels[np.isfinite(levels) & (np.abs(levels) <= largest)])
    middles = ((levels[1:] + levels[:-1]) / 2).astype(F32)
    x = np.concatenate([middles, np.nextafter(middles, F32(np.inf)),
                        np.nextafter(middles, F32(-np.inf))])
    x = np.concatenate([x, np.zeros(-len(x) % 31, F32)]).reshape(-1, 31)
    x = np.concatenate([x, np.full((len(x), 1), largest, F32)], axis=1)
    assert_same_bytes(encoded(x, name), mx(name, x), name)


@pytest.mark.parametrize("name", MX)
def test_mx_takes_what_is_not_finite_into_the_scale(name):
    x = np.ones((4, 32), F32)
    x[1, 5], x[2, 31] = np.nan, -np.inf
    found = grit.quantize(x, name).dequantize()
    assert np.isnan(found[1:3]).all() and (found[[0, 3]] == 1).all()


# --- compressed-tensors -------------------------------------------------------


def epsilon(dtype):
    return ml_dtypes.finfo(dtype).eps


def symmetric_scale(amax, over, dtype):
    scales = amax / dtype(over)
    return np.where(scales == 0, dtype(epsilon(dtype)), scales).astype(dtype)


def to_fp8(x):
    return np.clip(x.astype(F32), -448, 448).astype(E4M3).view(np.uint8)


def ct_reduced(x, axis, over, round_codes, dtype=F32):
    x = x.astype(dtype)
    scales = symmetric_scale(np.abs(x).max(axis=axis, keepdims=True), over, dtype)
    scaled = x / scales
    scaled = scaled + dtype(0)
    return round_codes(scaled).tobytes() + scales.tobytes()


def to_int8(x):
    return np.rint(np.clip(x.astype(F32), -128, 127)).astype(np.int8)


@pytest.mark.parametrize("dtype, suffix", [(F32, ""), (BF16, "_bf16")])
@pytest.mark.parametrize("kind", (*KINDS, "extreme"))
@pytest.mark.parametrize("name, axis, over, codes", [
    ("ct.fp8_tensor", None, 448, to_fp8), ("ct.fp8_channel", 1, 448, to_fp8),
    ("ct.int8_channel", 1, 127.5, to_int8)])
def test_compressed_tensors_per_tensor_and_channel(name, axis, over, codes, kind, dtype, suffix):
    for x in arrays(kind, 1 << 14, 5):
        if kind == "extreme":
            x = np.clip(x, -3e38, 3e38)  # what bfloat16 rounds to infinity is refused
        assert_same_bytes(encoded(x, name + suffix), ct_reduced(x, axis, over, codes, dtype),
                          f"{name} {kind}")


@pytest.mark.parametrize("shape", [(3, 5, 7), (1,), (2, 1), (1, 300), (17, 129)])
def test_compressed_tensors_of_any_shape(shape):
    x = np.random.default_rng(3).normal(size=shape).astype(F32)
    for name, codes, over in (("fp8", to_fp8, 448), ("int8", to_int8, 127.5)):
        assert_same_bytes(encoded(x, f"ct.{name}_channel"), ct_reduced(x, -1, over, codes),
                          f"{name} {shape}")
    assert_same_bytes(encoded(x, "ct.fp8_tensor"), ct_reduced(x, None, 448, to_fp8), str(shape))


def test_negative_zero_becomes_positive():
    x = np.array([[-0.0, 1, -1e-30, 0.0]], F32)
    data, _ = grit.quantize(x, "ct.fp8_channel").planes
    assert list(data) == [0, 0x7E, 0x80, 0]


def ct_int4(x, group, dtype):
    x = x.reshape(-1, group).astype(dtype)
    scales = symmetric_scale(np.abs(x).max(axis=1, keepdims=True), 7.5, dtype)
    codes = np.rint(np.clip((x / scales).astype(F32), -8, 7)) + 8
    return low_first(codes, 4) + scales.tobytes()


def ct_int4_zp(x, group, dtype=BF16):
    x = x.reshape(-1, group).astype(dtype)
    zero = dtype(0)
    low = np.minimum(x.min(axis=1, keepdims=True), zero)
    high = np.maximum(x.max(axis=1, keepdims=True), zero)
    scales = (high - low) / dtype(15)
    points = dtype(-8) - low / scales
    points = np.rint(np.clip(points.astype(F32), -8, 7))
    points = np.where(np.isnan(points), 0, points)  # no rule of theirs: 0 on x86
    scales = np.where(scales == 0, dtype(epsilon(dtype)), scales).astype(dtype)
    scaled = x / scales + points.astype(dtype)
    codes = np.rint(np.clip(scaled.astype(F32), -8, 7)) + 8
    return low_first(codes, 4) + scales.tobytes() + low_first(points + 8, 4)


@pytest.mark.parametrize("group", [16, 128])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name, dtype", [("ct.int4", BF16), ("ct.int4_f16", F16)])
def test_compressed_tensors_packed(name, dtype, kind, group):
    if kind not in kinds_of(dtype):
        pytest.skip("beyond binary16")
    for x in arrays(kind, 1 << 14, 6):
        assert_same_bytes(encoded(x, f"{name}(group={group})"), ct_int4(x, group, dtype), kind)


@pytest.mark.parametrize("group", [16, 128])
@pytest.mark.parametrize("kind", KINDS)
def test_compressed_tensors_with_zero_points(kind, group):
    for x in arrays(kind, 1 << 14, 6):
        assert_same_bytes(encoded(x, f"ct.int4_zp(group={group})"), ct_int4_zp(x, group), kind)
        shifted = x + np.abs(x).max() / 2
        assert_same_bytes(encoded(shifted, f"ct.int4_zp(group={group})"),
                          ct_int4_zp(shifted, group), "shifted " + kind)


FP4_BOUNDS = np.array([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5], F32)


def to_fp4(x):
    """Ties to the even code; the sign of what is not zero."""
    magnitude = np.abs(np.clip(x, -6, 6))
    codes = sum((magnitude > b if i % 2 == 0 else magnitude >= b).astype(np.uint8)
                for i, b in enumerate(FP4_BOUNDS))
    return codes | (x < 0).astype(np.uint8) << 3


def ct_nvfp4(x):
    x = x.reshape(-1, 16)
    tiny = np.finfo(F32).tiny
    largest = F32(1) / np.maximum(np.abs(x).max(), tiny) * F32(448 * 6)
    largest = largest if np.isfinite(largest) else F32(1)
    scales = largest * (np.abs(x).max(axis=1, keepdims=True) / F32(6))
    scales = np.clip(scales, -448, 448).astype(E4M3).astype(F32)
    scales[scales == 0] = 0.125
    codes = to_fp4(x / (scales / largest))
    return (low_first(codes, 4) + scales.astype(E4M3).tobytes()
            + np.array(largest, F32).tobytes())


@pytest.mark.parametrize("kind", (*KINDS, "extreme"))
def test_compressed_tensors_nvfp4(kind):
    for x in arrays(kind, 1 << 14, 7):
        assert_same_bytes(encoded(x, "ct.nvfp4"), ct_nvfp4(x), kind)


def test_compressed_tensors_nvfp4_at_ties():
    bounds = np.concatenate([FP4_BOUNDS, -FP4_BOUNDS])
    x = np.tile(np.concatenate([bounds, [6, 0]]).astype(F32), 4)
    assert_same_bytes(encoded(x.reshape(1, -1), "ct.nvfp4"), ct_nvfp4(x), "ties")


# --- DeepSeek -----------------------------------------------------------------


def deepseek(x, suffix):
    """per_block_cast_to_fp8 of DeepGEMM; its scales in bfloat16 are read back."""
    blocks = [-(-n // 128) for n in x.shape[-2:]]
    padded = np.zeros(x.shape[:-2] + tuple(128 * n for n in blocks), F32)
    padded[..., :x.shape[-2], :x.shape[-1]] = x
    view = padded.reshape(x.shape[:-2] + (blocks[0], 128, blocks[1], 128))
    amax = np.maximum(np.abs(view).max(axis=(-3, -1), keepdims=True), F32(1e-4))
    scales = amax / F32(448)
    stored = scales
    if suffix == "_bf16":
        stored = scales.astype(BF16)
    elif suffix == "_ue8m0":
        words = scales.view(np.uint32)
        stored = ((words >> 23) + (words & 0x7FFFFF != 0)).astype(np.uint8)
        scales = np.ldexp(F32(1), stored.astype(np.int32) - 127).astype(F32)
    if suffix == "_bf16":
        scales = stored.astype(F32)
    codes = to_fp8(view * (F32(1) / scales))
    codes = codes.reshape(padded.shape)[..., :x.shape[-2], :x.shape[-1]]
    return np.ascontiguousarray(codes).tobytes() + stored.tobytes()


@pytest.mark.parametrize("suffix", ["", "_bf16", "_ue8m0"])
@pytest.mark.parametrize("kind", (*KINDS, "extreme"))
def test_deepseek(kind, suffix):
    for x in arrays(kind, 1 << 16, 8):
        x = x.reshape(256, 256)
        assert_same_bytes(encoded(x, "deepseek.fp8" + suffix), deepseek(x, suffix), kind)


@pytest.mark.parametrize("suffix", ["", "_bf16", "_ue8m0"])
@pytest.mark.parametrize("shape", [(300, 200), (1, 1), (3, 129, 130), (128, 257), (2, 0, 5)])
def test_deepseek_blocks_at_the_edges(shape, suffix):
    x = np.random.default_rng(9).laplace(size=shape).astype(F32)
    if x.size == 0:
        assert grit.quantize(x, "deepseek.fp8" + suffix).shape == shape
        return
    assert_same_bytes(encoded(x, "deepseek.fp8" + suffix), deepseek(x, suffix), str(shape))


# --- bitsandbytes -------------------------------------------------------------

FP4 = np.array([0, 0.0625, 8, 12, 4, 6, 2, 3, -0, -0.0625, -8, -12, -4, -6, -2, -3], F32) / 12
NF4 = np.array([
    0xBF800000, 0xBF3239B1, 0xBF066B30, 0xBECA32A0, 0xBE91A24D, 0xBE3D353F, 0xBDBA7871, 0,
    0x3DA2FAFF, 0x3E24CAE3, 0x3E7C04DD, 0x3EAD033A, 0x3EE1A4B8, 0x3F1007AB, 0x3F3913B3,
    0x3F800000], np.uint32).view(F32)


def bnb(levels, x, block):
    """The encoder of its backend "default", which its CPU backend uses too."""
    x = x.reshape(-1, block)
    absmax = np.abs(x).max(axis=1)
    scaled = np.clip(x * (F32(1) / np.maximum(absmax, F32(1e-38)))[:, None], F32(-1), F32(1))
    order = np.argsort(levels, kind="stable")
    bounds = (levels[order[:-1]] + levels[order[1:]]) / F32(2)
    codes = order[np.searchsorted(bounds, scaled.reshape(-1), side="left")]
    return high_first(codes, 4), absmax


@pytest.mark.parametrize("block", [64, 4096])
@pytest.mark.parametrize("kind", (*KINDS, "extreme"))
@pytest.mark.parametrize("name, levels", [("nf4", NF4), ("fp4", FP4)])
def test_bitsandbytes(name, levels, kind, block):
    for x in arrays(kind, 1 << 15, 12):
        data, absmax = bnb(levels, x, block)
        assert_same_bytes(encoded(x, f"bnb.{name}(block={block})"), data + absmax.tobytes(), kind)


@pytest.fixture(scope="module")
def library():
    spec = importlib.util.find_spec("bitsandbytes")
    path = spec and pathlib.Path(spec.origin).with_name("libbitsandbytes_cpu.so")
    if not path or not path.exists():
        pytest.skip("no CPU library of bitsandbytes")
    return ctypes.CDLL(str(path))


def quantize_blockwise(library, x, block=256):
    table, x = dynamic_map(), np.ascontiguousarray(x, F32)
    absmax, out = np.empty(-(-x.size // block), F32), np.empty(x.size, np.uint8)
    function = library.cquantize_blockwise_cpu_fp32
    function.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_longlong] * 2
    function.restype = None
    function(table.ctypes.data, x.ctypes.data, absmax.ctypes.data, out.ctypes.data, block,
             x.size)
    return out, absmax


def bnb_double(library, levels, x):
    data, absmax = bnb(levels, x, 64)
    # Their sum has no fixed order; this mean is exact until it is rounded.
    offset = F32(math.fsum(absmax.tolist()) / absmax.size)
    indices, nested = quantize_blockwise(library, absmax - offset)
    return data + indices.tobytes() + nested.tobytes() + offset.tobytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name, levels", [("nf4", NF4), ("fp4", FP4)])
def test_bitsandbytes_double(library, name, levels, kind):
    for x in arrays(kind, 1 << 18, 13):
        assert_same_bytes(encoded(x, f"bnb.{name}_double"), bnb_double(library, levels, x), kind)


def test_indices_at_every_boundary_of_a_bin(library):
    """Every float around the 2^16 bins of their lookup: the last place decides."""
    middles = (np.arange(65535, dtype=np.float64) + 0.5) / 65535 * 2 - 1
    x = np.concatenate([np.nextafter(middles.astype(F32), F32(way)) for way in (-2, 2)]
                       + [middles.astype(F32)])
    x = np.concatenate([x, np.zeros(-len(x) % 255, F32)]).reshape(-1, 255)
    # The largest magnitude of each 256 is 1, so that nothing is scaled.
    x = np.concatenate([x, np.ones((len(x), 1), F32)], axis=1).reshape(-1)
    x = np.concatenate([x, -x])
    # Magnitudes 2 + x and their mean, 2 in effect: x comes back from the difference.
    magnitudes = x + F32(2)
    offset = F32(math.fsum(magnitudes.tolist()) / magnitudes.size)
    values = np.zeros((magnitudes.size, 64), F32)
    values[:, 0] = magnitudes
    _, indices, nested, mean = grit.quantize(values, "bnb.nf4_double").planes
    expected, absmax = quantize_blockwise(library, magnitudes - offset)
    assert mean.tobytes() == offset.tobytes()
    assert_same_bytes(indices.tobytes(), expected.tobytes(), "indices")
    assert nested.tobytes() == absmax.tobytes()


# --- MLX ----------------------------------------------------------------------


def mlx(x, bits, group, dtype):
    x = x.astype(dtype).astype(F32).reshape(-1, group)
    bins = F32((1 << bits) - 1)
    low, high = x.min(axis=1), x.max(axis=1)
    far_below = np.abs(low) > np.abs(high)
    scales = np.maximum((high - low) / bins, F32(1e-7))
    scales = np.where(far_below, scales, -scales)
    edge = np.where(far_below, low, high)
    at_edge = np.rint(edge / scales)
    biases = np.where(at_edge != 0, edge, F32(0))
    scales = np.where(at_edge != 0, edge / at_edge, scales)
    codes = np.clip(np.rint((x - biases[:, None]) / scales[:, None]), 0, bins)
    return codes, scales.astype(dtype), biases.astype(dtype)


@pytest.mark.parametrize("dtype, suffix", [(BF16, "bf16"), (F16, "f16")])
@pytest.mark.parametrize("bits", [2, 3, 4, 5, 6, 8])
def test_mlx(bits, dtype, suffix):
    for group in (32, 64, 128):
        for kind in kinds_of(dtype):
            for x in arrays(kind, 1 << 13, 14):
                codes, scales, biases = mlx(x, bits, group, dtype)
                assert_same_bytes(encoded(x, f"mlx.q{bits}_{suffix}(group={group})"),
                                  low_first(codes, bits) + scales.tobytes() + biases.tobytes(),
                                  f"{kind} {group}")


@pytest.mark.parametrize("suffix", ["bf16", "f16"])
@pytest.mark.parametrize("bits", [2, 3, 4, 5, 6, 8])
def test_mlx_itself(bits, suffix):
    mx = pytest.importorskip("mlx.core")
    dtype, theirs = {"bf16": (BF16, mx.bfloat16), "f16": (F16, mx.float16)}[suffix]
    for group in (32, 64, 128):
        for kind in kinds_of(dtype):
            for x in arrays(kind, 1 << 13, 15):
                parts = mx.quantize(mx.array(x).astype(theirs), group_size=group, bits=bits)
                data, *rest = (np.array(part if part.dtype == mx.uint32 else part.view(mx.uint16))
                               for part in parts)
                assert_same_bytes(encoded(x, f"mlx.q{bits}_{suffix}(group={group})"),
                                  b"".join(part.tobytes() for part in (data, *rest)),
                                  f"{kind} {group}")


# --- HQQ ----------------------------------------------------------------------


def hqq(x, bits, group):
    """Quantizer.quantize with axis=1 and optimize=False."""
    x = x.reshape(-1, group)
    most = F32((1 << bits) - 1)
    low, high = x.min(axis=1, keepdims=True), x.max(axis=1, keepdims=True)
    span = high - low
    scales = F32(1) / span * most
    scales = np.where(np.abs(span) <= F32(1e-4), F32(1), scales)
    scales = np.minimum(scales, F32(2e4))
    zeros = -low * scales
    codes = np.clip(np.rint(x * scales + zeros), 0, most)
    return (high_first(codes, bits) + (F32(1) / scales).astype(F16).tobytes()
            + zeros.astype(F16).tobytes())


@pytest.mark.parametrize("group", [8, 64])
@pytest.mark.parametrize("kind", [kind for kind in NARROW if kind != "zero"])
@pytest.mark.parametrize("bits", [2, 4, 8])
def test_hqq(bits, kind, group):
    for x in arrays(kind, 1 << 13, 16):
        low = x.reshape(-1, group).min(axis=1)
        x = x[(low.reshape(-1, 512 // group) != 0).all(axis=1)]  # no order of -0 and +0
        assert_same_bytes(encoded(x, f"hqq.q{bits}(group={group})"), hqq(x, bits, group), kind)


# --- GPTQ ---------------------------------------------------------------------


def gptq(x, bits, group, stored_less):
    """AutoGPTQ: find_params and quantize with sym, then pack."""
    x = x.reshape(-1, group)
    most = F32((1 << bits) - 1)
    low = np.minimum(x.min(axis=1, keepdims=True), F32(0))
    high = np.maximum(x.max(axis=1, keepdims=True), F32(0))
    high = np.maximum(np.abs(low), high)
    low = np.where(low < 0, -high, low)
    none = (low == 0) & (high == 0)
    low, high = np.where(none, F32(-1), low), np.where(none, F32(1), high)
    scales = (high - low) / most
    zero = F32((most + 1) / 2)
    rounded = scales * (np.clip(np.rint(x / scales) + zero, 0, most) - zero)
    codes = np.rint((rounded + zero * scales) / scales.astype(F16).astype(F32))
    zeros = np.full(len(x), zero - stored_less)
    return (low_first(codes, bits) + scales.astype(F16).tobytes()
            + low_first(zeros, bits))


@pytest.mark.parametrize("group", [32, 128])
@pytest.mark.parametrize("kind", [kind for kind in NARROW if kind not in ("subnormal", "tiny")])
@pytest.mark.parametrize("bits", [2, 4, 8])
def test_gptq(bits, kind, group):
    for x in arrays(kind, 1 << 13, 17):
        for suffix, stored_less in (("", 1), ("_v2", 0)):
            assert_same_bytes(encoded(x, f"gptq.q{bits}{suffix}(group={group})"),
                              gptq(x, bits, group, stored_less), f"{kind} {suffix}")


# --- All ----------------------------------------------------------------------

REFUSING = ("ct.fp8_tensor", "ct.fp8_channel_bf16", "ct.int8_channel", "ct.int4",
            "ct.int4_f16", "ct.int4_zp", "ct.nvfp4", "deepseek.fp8", "deepseek.fp8_ue8m0",
            "bnb.nf4", "bnb.fp4_double", "mlx.q4_bf16", "mlx.q3_f16", "hqq.q4", "gptq.q8")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", REFUSING)
def test_what_is_not_finite_is_refused(name, value):
    x = np.ones((256, 256), F32)
    x[131, 7] = value
    with pytest.raises(grit.GritGradeError, match=rf"values\[{131 * 256 + 7}\]"):
        grit.quantize(x, name)


@pytest.mark.parametrize("name, value", [
    ("ct.fp8_channel_bf16", 3.4e38), ("ct.fp8_tensor_bf16", -3.4e38), ("ct.int4", 3.4e38),
    ("ct.int4_f16", 65520), ("ct.int4_zp", 3.4e38), ("mlx.q4_f16", 1e5),
    ("mlx.q4_bf16", 3.4e38), ("hqq.q4", 1e7), ("gptq.q4", 1e6)])
def test_what_the_scale_cannot_hold_is_refused(name, value):
    x = np.ones((4, 256), F32)
    x[2, 3] = value
    with pytest.raises(grit.GritGradeError, match="a scale overflows"):
        grit.quantize(x, name)


def oracles(library):
    yield from ((name, lambda x, name=name: mx(name, x)) for name in MX)
    for dtype, suffix in ((F32, ""), (BF16, "_bf16")):
        for name, axis, over, codes in (("fp8_tensor", None, 448, to_fp8),
                                        ("fp8_channel", 1, 448, to_fp8),
                                        ("int8_channel", 1, 127.5, to_int8)):
            yield f"ct.{name}{suffix}", lambda x, a=(axis, over, codes, dtype): ct_reduced(x, *a)
    yield "ct.int4", lambda x: ct_int4(x, 128, BF16)
    yield "ct.int4_f16", lambda x: ct_int4(x, 128, F16)
    yield "ct.int4_zp", lambda x: ct_int4_zp(x, 128)
    yield "ct.nvfp4", ct_nvfp4
    for suffix in ("", "_bf16", "_ue8m0"):
        yield "deepseek.fp8" + suffix, lambda x, suffix=suffix: deepseek(x, suffix)
    for name, levels in (("nf4", NF4), ("fp4", FP4)):
        yield f"bnb.{name}", lambda x, levels=levels: (
            lambda data, absmax: data + absmax.tobytes())(*bnb(levels, x, 64))
        yield f"bnb.{name}_double", lambda x, levels=levels: bnb_double(library, levels, x)
    for bits in (2, 3, 4, 5, 6, 8):
        for dtype, suffix in ((BF16, "bf16"), (F16, "f16")):
            yield f"mlx.q{bits}_{suffix}", lambda x, a=(bits, 64, dtype): (
                lambda codes, scales, biases: low_first(codes, a[0]) + scales.tobytes()
                + biases.tobytes())(*mlx(x, *a))
    for bits in (2, 4, 8):
        yield f"hqq.q{bits}", lambda x, bits=bits: hqq(x, bits, 64)
        yield f"gptq.q{bits}", lambda x, bits=bits: gptq(x, bits, 128, 1)
        yield f"gptq.q{bits}_v2", lambda x, bits=bits: gptq(x, bits, 128, 0)


def test_weights_of_a_model(minilm, library):  # noqa: F811
    x = np.ascontiguousarray(minilm["encoder.layer.0.intermediate.dense.weight"][:1024])
    compared = 0
    for name, oracle in oracles(library):
        assert_same_bytes(encoded(x, name), oracle(x), name)
        compared += 1
    assert compared == 43
