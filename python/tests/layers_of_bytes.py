# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers with codes of bytes and floats, and their values by the equations of each tool."""

import numpy as np

from layer_support import (BF16, E2M1, E4M3, E5M2, E8M0, F16, F32, FNUZ, changed, f32, nibbles,
                           octets, powers, scales)


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


def blocks(dtype, suffix="weight_scale_inv", lead=(), size=(128, 128)):
    rows, columns = 300, 200
    weight = octets(*lead, rows, columns).view(E4M3)
    grid = (-(-rows // size[0]), -(-columns // size[1]))
    scale = powers(*lead, *grid, dtype=E8M0) if dtype is E8M0 else scales(dtype, *lead, *grid)
    spread = f32(scale).repeat(size[0], -2).repeat(size[1], -1)[..., :rows, :columns]
    config = {"quant_method": "fp8", "weight_block_size": list(size)}
    if suffix == "weight_scale":
        config = {"quant_method": "compressed-tensors", "config_groups": {"group_0": {
            "weights": {"num_bits": 8, "strategy": "block", "block_structure": list(size)}}}}
    if size != (128, 128):
        word, bits = {F32: ("binary32", 32), BF16: ("0x350f", 16), E8M0: ("e8m0", 8)}[dtype]
        text = f"{size[0]}x{size[1]}"
        name = (f"gritfmt1(planes=[8/1@0,{bits}/{text}@1],codes=p0:8@0+i*8,level=e4m3,"
                f"scales=[({word},{text},p1:{bits}@0+i*{bits})])")
        return {"weight": weight, suffix: scale}, config, f32(weight) * spread, name
    name = "deepseek.fp8" + {F32: "", BF16: "_bf16", E8M0: "_ue8m0"}[dtype]
    return {"weight": weight, suffix: scale}, config, f32(weight) * spread, name


def int8_groups(dtype, group, rows=48, columns=256):
    parts = {"weight": octets(rows, columns).view(np.int8),
             "weight_scale": scales(dtype, rows, columns // group)}
    config = {"quant_method": "compressed-tensors", "config_groups": {"group_0": {
        "weights": {"num_bits": 8, "strategy": "group", "group_size": group,
                    "symmetric": True}}}}
    weight = f32(parts["weight"]) * f32(parts["weight_scale"]).repeat(group, 1)
    suffix = {F32: "", BF16: "_bf16", F16: "_f16"}[dtype]
    return parts, config, weight, f"ct.int8_group{suffix}(group={group})"


def int8_zeros(dtype, group=None, rows=48, columns=256):
    """Asymmetric: a signed zero point for each scale."""
    groups = columns // group if group else 1
    parts = {"weight": octets(rows, columns).view(np.int8),
             "weight_scale": scales(dtype, rows, groups),
             "weight_zero_point": octets(rows, groups).view(np.int8)}
    kind = "group" if group else "channel"
    config = {"quant_method": "compressed-tensors", "config_groups": {"group_0": {
        "weights": {"num_bits": 8, "strategy": kind, "group_size": group,
                    "symmetric": False}}}}
    width = columns // groups
    codes = f32(parts["weight"]) - f32(parts["weight_zero_point"]).repeat(width, 1)
    suffix = {F32: "", BF16: "_bf16", F16: "_f16"}[dtype]
    return (parts, config, codes * f32(parts["weight_scale"]).repeat(width, 1),
            f"ct.int8_{kind}_zp{suffix}" + (f"(group={group})" if group else ""))


def fnuz(kind, shape, rows=30, columns=20):
    parts = {"weight": octets(rows, columns).view(FNUZ), "weight_scale": scales(F32, *shape)}
    weight = f32(parts["weight"]) * parts["weight_scale"].reshape(-1, 1)
    return parts, {"quant_method": "quark"}, weight, f"fnuz.fp8_{kind}"


CASES = {
    "nvfp4 that divides": lambda: nvfp4("compressed-tensors"),
    "nvfp4 that multiplies": lambda: nvfp4("modelopt"),
    "mxfp4 bytes": lambda: mxfp4(np.uint8), "mxfp4 powers": lambda: mxfp4(E8M0),
    "gpt-oss": experts,
    "mxfp8 e4m3": lambda: mxfp8(E4M3), "mxfp8 e5m2": lambda: mxfp8(E5M2),
    **{f"fp8 {k} {d.__name__} {s}": lambda k=k, d=d, s=s: fp8(k, d, s) for d in (F32, BF16)
       for k, s in (("tensor", ()), ("tensor", (1,)), ("channel", (300,)),
                    ("channel", (300, 1)))},
    **{f"fp8 fnuz {k}": lambda k=k, s=s: fnuz(k, s)
       for k, s in (("tensor", (1,)), ("channel", (30, 1)))},
    "int8": lambda: fp8("channel", F32, (300, 1), True),
    "int8 bf16": lambda: fp8("channel", BF16, (300, 1), True),
    **{f"int8 groups of {g} {d.__name__}": lambda d=d, g=g: int8_groups(d, g)
       for d in (F32, BF16, F16) for g in (32, 128)},
    **{f"int8 with zero points {d.__name__}": lambda d=d: int8_zeros(d) for d in (F32, BF16)},
    **{f"int8 groups of {g} with zero points {d.__name__}": lambda d=d, g=g: int8_zeros(d, g)
       for d in (F32, BF16, F16) for g in (32, 128)},
    **{f"fp8 blocks {d.__name__} {s}": lambda d=d, s=s: blocks(d, s)
       for d, s in ((F32, "weight_scale_inv"), (BF16, "weight_scale_inv"),
                    (E8M0, "weight_scale_inv"), (F32, "weight_scale"),
                    (BF16, "weight_scale"), (E8M0, "scale"))},
    "fp8 blocks of experts": lambda: blocks(F32, lead=(2,)),
    **{f"fp8 blocks of {r} x {c} {d.__name__} {s}":
       lambda d=d, s=s, r=r, c=c: blocks(d, s, size=(r, c))
       for d, s, r, c in ((F32, "weight_scale_inv", 64, 64), (BF16, "weight_scale", 32, 256),
                          (E8M0, "weight_scale_inv", 1, 128), (F32, "weight_scale", 48, 7))},
}


REFUSALS = {
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
    "blocks of three axes": (lambda: changed(blocks(F32), {"weight_block_size": [1, 64, 64]}),
                             "weight_block_size", "[1, 64, 64]"),
    "other blocks": (lambda: changed(blocks(F32), {"weight_block_size": [64, 64]}),
                     "weight_scale_inv': shape", "[N / R = 5, K / C = 4]"),
    "scales of fused rows": (
        lambda: changed(fp8("tensor", F32, ()), weight_scale=scales(F32, 3)),
        "weight_scale", "[1] or [N = 300, 1]"),
    "zero points of symmetric bytes": (
        lambda: changed(fp8("channel", F32, (300, 1), True),
                        weight_zero_point=np.zeros((300, 1), np.int8)),
        "symmetric", "zero points"),
}
