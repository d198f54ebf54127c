# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers with records beside them, as bitsandbytes and HQQ store them, and their values by
the equations of each tool."""

import json

import numpy as np

from layer_support import F16, F32, changed, f32, octets, scales, state, words
from test_bitsandbytes_oracle import dynamic_map

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


def int8(rows=40, columns=24, layout=None):
    """LLM.int8(): the product is rounded, and multiplied with 1 / 127."""
    parts = {"weight": octets(rows, columns).view(np.int8),
             "SCB": np.abs(scales(F32, rows))}
    if layout is not None:
        parts["weight_format"] = np.array(layout, np.uint8)
    weight = f32(parts["weight"]) * parts["SCB"][:, None] * F32(7.874015718698502e-3)
    return parts, {"quant_method": "bitsandbytes", "load_in_8bit": True}, weight, "bnb.int8"


def hqq(bits, group, shape=(64, 256), axis=1):
    """The array of groups is [n / G, G], or [G, n / G] along axis 0. Its rows are packed
    side by side; those of 3 bits are filled up to a multiple of ten."""
    groups = int(np.prod(shape)) // group
    count, length = (groups, group) if axis else (group, groups)
    if bits == 3:
        per, dtype, name = 10, np.int32, "3bit_32"
    else:
        per, dtype, name = 8 // bits, np.uint8, f"{bits}bit_u8"
    stored = words(-(-count // per), length) if bits == 3 else octets(count // per, length)
    statistics = (groups, 1) if axis else (1, groups)
    parts = {"W_q": stored, "scale": scales(F16, *statistics),
             "zero": scales(F16, *statistics), "shape": np.array(shape, np.int64),
             "nbits": np.array(bits, np.int32), "axis": np.array(axis, np.int32),
             "group_size": np.array(group, np.int32),
             "packing": np.frombuffer(name.encode(), np.uint8)}
    if bits == 4:
        parts |= {"view_as_float": np.array(0, np.uint8), "compute_dtype": octets(13),
                  "axis": np.array(axis, np.uint8), "nbits": np.array(4, np.uint8)}
    assert stored.dtype == dtype
    codes = np.concatenate([stored >> bits * (per - 1 - i) & ((1 << bits) - 1)
                            for i in range(per)])[:count]
    weight = (f32(codes) - f32(parts["zero"])) * f32(parts["scale"])
    contract = f"hqq.q{bits}(group={group})" if axis else f"hqq.q{bits}_axis0"
    return parts, {"quant_method": "hqq"}, weight.reshape(shape), contract


CASES = {
    **{f"bitsandbytes {k} {b} {n}": lambda k=k, b=b, n=n: bitsandbytes(k, b, n)
       for k in ("nf4", "fp4") for b, n in ((64, False), (128, False), (64, True))},
    "bitsandbytes of rank 4": lambda: bitsandbytes("nf4", 64, False, (8, 4, 16, 16)),
    "LLM.int8()": int8, "LLM.int8() in rows": lambda: int8(layout=0),
    **{f"hqq {b} bits {g}": lambda b=b, g=g: hqq(b, g)
       for b in (1, 2, 3, 4, 8) for g in (32, 64)},
    **{f"hqq {b} bits {g} axis 0": lambda b=b, g=g: hqq(b, g, axis=0)
       for b in (1, 2, 3, 4, 8) for g in (32, 64)},
}


NF4_STATE = "weight__quant_state__bitsandbytes__nf4"
REFUSALS = {
    "LLM.int8() for old kernels": (lambda: changed(int8(layout=2)), "weight_format", "0"),
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
    "the third axis": (lambda: changed(hqq(4, 64), axis=np.array(2, np.int32)), "axis", "1"),
    "another packing": (
        lambda: changed(hqq(4, 64), packing=np.frombuffer(b"4bit_32", np.uint8)),
        "packing", "4bit_32"),
    "three bits of HQQ in bytes": (lambda: changed(hqq(4, 64), nbits=np.array(3, np.int32)),
                                   "", "3"),
    "six bits of HQQ": (lambda: changed(hqq(4, 64), nbits=np.array(6, np.int32)),
                        "bits", "6"),
}
