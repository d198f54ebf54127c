# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparisons that every test of bits uses."""

import numpy as np
import pytest

import grit_mlir as grit

# The reference grades of GRIT v1, and grades that have a name here only.
GRADES = ("mxfp4", "mxfp4_rne", "nvf4", "nvf4_rtz", "q4ks", "i8s24")
OWN_GRADES = ("mxfp8_e4m3",)
GGUF = tuple(f"gguf.{name}" for name in (
    "q4_0", "q4_k", "q8_0", "mxfp4", "iq4_nl", "q4_1", "q5_0", "q5_1", "q8_1", "q2_k",
    "q3_k", "q5_k", "q6_k", "q8_k", "iq4_xs", "tq1_0", "tq2_0", "nvfp4", "q1_0", "q2_0"))
NINFER = tuple(f"ninfer.{name}" for name in (
    "q4_g64_fp16", "q5_g64_fp16", "q6_g64_fp16", "q8_g32_fp16", "t2_g128_fp16",
    "fp8_e4m3fn_row_bf16", "fp8_e4m3fn_row_fp16"))
# Codes of vectors; the first three encode under importance alone.
NEEDING = ("gguf.iq1_s", "gguf.iq2_xxs", "gguf.iq2_xs")
VECTORS = NEEDING + ("gguf.iq1_m", "gguf.iq2_s", "gguf.iq3_xxs", "gguf.iq3_s")
# Everything else that encodes.
ALL = GRADES + OWN_GRADES + GGUF + ("hurray.nf4",) + NINFER
# Formats without an encoder.
DECODED = tuple(f"gguf.{name}" for name in (
    "f32", "f16", "bf16", "i8", "i16", "i32"))
# Formats of checkpoints.
CHECKPOINTS = (
    "mxfp8_e5m2", "mxfp6_e2m3", "mxfp6_e3m2", "mxint8", "ct.fp8_tensor", "ct.fp8_tensor_bf16",
    "ct.fp8_channel", "ct.fp8_channel_bf16", "ct.int8_channel", "ct.int8_channel_bf16",
    "ct.int4", "ct.int4_f16", "ct.int4_zp", "ct.int4_order", "ct.int4_f16_order",
    "ct.int4_zp_order", "ct.int8", "ct.int8_f16", "ct.int8_zp", "ct.int8_order",
    "ct.int8_f16_order", "ct.int8_zp_order", "ct.int8_group", "ct.int8_group_bf16",
    "ct.int8_group_f16", "ct.int8_channel_zp", "ct.int8_channel_zp_bf16", "ct.int8_group_zp",
    "ct.int8_group_zp_bf16", "ct.int8_group_zp_f16", "ct.nvfp4", "fnuz.fp8_tensor",
    "fnuz.fp8_channel", "deepseek.fp8", "deepseek.fp8_bf16", "deepseek.fp8_ue8m0", "bnb.nf4",
    "bnb.nf4_double", "bnb.fp4", "bnb.fp4_double", "bnb.int8", "mlx.q2_bf16", "mlx.q2_f16",
    "mlx.q3_bf16", "mlx.q3_f16", "mlx.q4_bf16", "mlx.q4_f16", "mlx.q5_bf16", "mlx.q5_f16",
    "mlx.q6_bf16", "mlx.q6_f16", "mlx.q8_bf16", "mlx.q8_f16", "mlx.nvfp4", "hqq.q1", "hqq.q2",
    "hqq.q3", "hqq.q4", "hqq.q8", "hqq.q1_axis0", "hqq.q2_axis0", "hqq.q3_axis0",
    "hqq.q4_axis0", "hqq.q8_axis0", "gptq.q2", "gptq.q2_v2", "gptq.q3", "gptq.q3_v2",
    "gptq.q4", "gptq.q4_v2", "gptq.q8", "gptq.q8_v2", "gptq.q2_order", "gptq.q2_v2_order",
    "gptq.q3_order", "gptq.q3_v2_order", "gptq.q4_order", "gptq.q4_v2_order", "gptq.q8_order",
    "gptq.q8_v2_order", "ninfer.nvfp4", "ninfer.nvfp4_stacked", "ninfer.q2_g64_fp16",
    "ninfer.pq2_0")


def require_compiler():
    """Skips the module that calls it where grit was built without MLIR."""
    try:
        grit.compiler.library_path()
    except FileNotFoundError as error:
        pytest.skip(f"built without MLIR: {error}", allow_module_level=True)


def bits(values):
    """The bits of float32 values, every NaN as the canonical one: oracles keep
    whatever payload their arithmetic gives."""
    values = np.asarray(values, np.float32).reshape(-1)
    return np.where(np.isnan(values), np.uint32(0x7FC00000), values.view(np.uint32))


def assert_same_bits(actual, expected, what=""):
    """`actual` is ours, whose NaNs must be canonical as they are."""
    a = np.ascontiguousarray(actual, np.float32).reshape(-1).view(np.uint32)
    b = bits(expected)
    assert a.size == b.size, what
    different = np.flatnonzero(a != b)
    assert different.size == 0, (
        f"{what}: {different.size} of {a.size} values differ, the first at "
        f"{different[0]}: {a[different[0]]:08x}, expected {b[different[0]]:08x}")


def from_hex(text):
    """float32 values of 8 hex digits each."""
    return np.frombuffer(bytes.fromhex(text), ">u4").astype(np.uint32).view(np.float32)
