# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers with codes in words, as GPTQ, AWQ, compressed-tensors and MLX store them, and
their values by the equations of each tool."""

import numpy as np

from layer_support import (BF16, E2M1, E4M3, F16, F32, RNG, along, changed, down, f32, fields,
                           grouped, nibbles, octets, powers, scales, words)


def threes(tensor):
    """Codes of 3 bits along the first axis: a stream of bits in the words of each column."""
    stream = np.unpackbits(tensor.T.copy().view(np.uint8), axis=-1, bitorder="little")
    return (stream.reshape(tensor.shape[1], -1, 3) @ (1, 2, 4)).T


def zeros_of(tensor, bits):
    return threes(tensor.T.copy()).T if bits == 3 else along(tensor, bits)


def gptq(bits, version, group, rows=64, columns=256, order=True, text=True):
    """`order`: True for neighbours, None for no tensor, or the group of each column."""
    groups = columns // group
    parts = {"qweight": words(columns * bits // 32, rows),
             "qzeros": words(groups, rows * bits // 32),
             "scales": scales(F16, groups, rows)}
    is_plain = order is True or order is None
    g_idx = np.arange(columns, dtype=np.int32) // group if is_plain else order
    if order is not None:
        parts["g_idx"] = g_idx
    config = {"quant_method": "gptq", "bits": bits, "group_size": group,
              "desc_act": not is_plain}
    if text:
        config["checkpoint_format"] = "gptq_v2" if version == 2 else "gptq"
    codes = threes(parts["qweight"]) if bits == 3 else down(parts["qweight"], bits)
    zeros = zeros_of(parts["qzeros"], bits).astype(np.int32) + (version == 1)
    weight = f32(parts["scales"])[g_idx] * f32(codes.astype(np.int32) - zeros[g_idx])
    name = f"gptq.q{bits}{'_v2' if version == 2 else ''}{'' if is_plain else '_order'}"
    return parts, config, weight.T, f"{name}(group={group})"


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


def gemv(group, rows=64, columns=256, padded=0):
    """Codes of a row follow one another; rows of scales and zero points are filled up to
    `padded` whole words."""
    groups = columns // group
    width = max(8 * padded, groups)
    parts = {"qweight": words(rows, columns // 8), "qzeros": words(rows, width // 8),
             "scales": scales(F16, rows, width)}
    zeros = along(parts["qzeros"], 4)[:, :groups].astype(np.int32).repeat(group, 1)
    spread = f32(parts["scales"][:, :groups]).repeat(group, 1)
    weight = f32(along(parts["qweight"], 4).astype(np.int32) - zeros) * spread
    config = {"quant_method": "awq", "bits": 4, "group_size": group, "version": "gemv"}
    return parts, config, weight, f"gptq.q4_v2(group={group})"


def gemv_fast(group, rows=64, columns=256, padded=16):
    """Codes are packed from random ones, with the steps of the tool."""
    codes = RNG.integers(0, 16, (rows, columns), dtype=np.int32)
    kernel = codes.reshape(rows, columns // 32, 4, 4, 2).transpose(0, 1, 3, 2, 4)
    kernel = kernel.reshape(rows, columns // 32, 4, 4, 2).transpose(0, 1, 2, 4, 3)
    kernel = kernel.reshape(rows // 4, 4, columns // 64, 64).transpose(0, 2, 1, 3)
    kernel = kernel.reshape(rows // 4, columns // 64, 64, 4)
    packed = sum(kernel[..., i] << 4 * i for i in range(4)).reshape(rows // 4, columns)
    parts = {"qweight": packed.astype(np.uint16).view(np.int16),
             "scales": scales(F16, padded, rows), "scaled_zeros": scales(F16, padded, rows)}
    groups = columns // group
    spread, zeros = (f32(parts[part][:groups]).repeat(group, 0).T
                     for part in ("scales", "scaled_zeros"))
    config = {"quant_method": "awq", "bits": 4, "group_size": group, "version": "gemv_fast"}
    return parts, config, f32(codes) * spread + zeros, f"mlx.q4_f16(group={group})"


def packed(dtype, group, zero, rows=64, columns=256, order=None, bits=4):
    groups = columns // group
    parts = {"weight_packed": words(rows, columns * bits // 32),
             "weight_scale": scales(dtype, rows, groups),
             "weight_shape": np.array([rows, columns], np.int64)}
    g_idx = np.arange(columns) // group
    is_ordered = order is not None and order.min() >= 0 and (order != g_idx).any()
    if order is not None:
        parts["weight_g_idx"] = order
    if is_ordered:
        g_idx = order
    half = 1 << bits - 1
    codes = along(parts["weight_packed"], bits).astype(np.int32) - half
    if zero:
        parts["weight_zero_point"] = words(rows * bits // 32, groups)
        zeros = down(parts["weight_zero_point"], bits).astype(np.int32) - half
        codes -= zeros[:, g_idx]
    weight = f32(codes) * f32(parts["weight_scale"])[:, g_idx]
    config = {"quant_method": "compressed-tensors", "format": "pack-quantized",
              "config_groups": {"group_0": {"weights": {
                  "num_bits": bits, "group_size": group, "symmetric": not zero,
                  "strategy": "group", "type": "int",
                  "actorder": "group" if is_ordered else None}}}}
    is_half = dtype is F16
    name = (f"gptq.q{bits}_v2" if is_half else f"ct.int{bits}_zp") if zero else \
        (f"ct.int{bits}_f16" if is_half else f"ct.int{bits}")
    return parts, config, weight, f"{name}{'_order' if is_ordered else ''}(group={group})"


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


def mlx_floats(mode, rows=24, columns=256):
    bits, group = (8, 32) if mode == "mxfp8" else (4, 16 if mode == "nvfp4" else 32)
    parts = {"weight": words(rows, columns * bits // 32, dtype=np.uint32),
             "scales": powers(rows, columns // group)}
    stored = parts["weight"].view(np.uint8)
    values = f32(stored.view(E4M3)) if bits == 8 else E2M1[nibbles(stored)]
    if mode == "nvfp4":
        parts["scales"] = octets(rows, columns // group) & 0x7E
        weight = values * f32(parts["scales"].view(E4M3)).repeat(group, 1)
    else:
        weight = np.ldexp(values, parts["scales"].astype(np.int32).repeat(group, 1) - 127)
    config = {"quantization": {"bits": bits, "group_size": group, "mode": mode}}
    name = {"mxfp4": "mxfp4", "mxfp8": "mxfp8_e4m3", "nvfp4": "mlx.nvfp4"}[mode]
    return parts, config, weight, name


def twice(case):
    """The configuration as newer versions write it."""
    parts, config, weight, name = case
    return parts, config | {"quantization_config": config["quantization"]}, weight, name


CASES = {
    **{f"gptq {b} bits v{v} groups of {g}": lambda b=b, v=v, g=g: gptq(b, v, g)
       for b in (2, 3, 4, 8) for v in (1, 2) for g in (32, 64)},
    **{f"gptq {b} bits v{v} act-order": lambda b=b, v=v: gptq(b, v, 32, order=grouped(256, 32))
       for b in (2, 3, 4, 8) for v in (1, 2)},
    "gptq without g_idx": lambda: gptq(4, 1, 32, order=None),
    "gptq in one group": lambda: gptq(4, 2, 256),
    "awq": awq, "awq groups of 32": lambda: awq(32),
    "awq gemv": lambda: gemv(32),
    **{f"awq gemv, padded, groups of {g}": lambda g=g: gemv(g, padded=4)
       for g in (32, 64, 128)},
    **{f"awq gemv_fast, groups of {g}": lambda g=g: gemv_fast(g) for g in (32, 64, 128)},
    **{f"packed {b} bits {d.__name__} {g} {z}":
       lambda b=b, d=d, g=g, z=z: packed(d, g, z, bits=b)
       for b in (4, 8) for d in (F16, BF16) for g in (32, 64) for z in (False, True)},
    **{f"packed {b} bits {d.__name__} {z} act-order":
       lambda b=b, d=d, z=z: packed(d, 32, z, order=grouped(256, 32), bits=b)
       for b in (4, 8) for d in (F16, BF16) for z in (False, True)},
    "packed in order": lambda: packed(BF16, 32, True, order=np.arange(256) // 32),
    "packed, the order unset": lambda: packed(F16, 32, False,
                                              order=np.full(256, -1, np.int32)),
    **{f"mlx {b} bits {d.__name__} {g}": lambda b=b, d=d, g=g: mlx(b, d, g)
       for b in (2, 3, 4, 5, 6, 8) for d in (F16, BF16) for g in (32, 128)},
    "mlx experts": lambda: mlx(4, BF16, 32, (3,)),
    **{f"mlx {m}": lambda m=m: mlx_floats(m) for m in ("mxfp4", "mxfp8", "nvfp4")},
    "mlx under two names": lambda: twice(mlx_floats("nvfp4")),
}


def put(values):
    """The first entries of a plane, replaced."""
    def change(old):
        new = old.copy()
        new[:len(values)] = values
        return new
    return change


REFUSALS = {
    "an order of other groups": (
        lambda: changed(gptq(4, 1, 32, order=grouped(256, 32)), g_idx=put([8])),
        "g_idx", "8 for column 0"),
    "an order below zero": (
        lambda: changed(gptq(4, 1, 32, order=grouped(256, 32)), g_idx=put([-2])),
        "g_idx", "-2 for column 0"),
    "an order of uneven groups": (
        lambda: changed(gptq(4, 1, 32), g_idx=lambda old: np.roll(old, 1) % 7),
        "g_idx", "different sizes"),
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
    "AWQ that is GPTQ": (lambda: changed(gptq(4, 1, 32, order=None),
                                         {"quant_method": "awq", "checkpoint_format": None}),
                         "scales': shape", "N = 512"),
    "AWQ for another kernel": (lambda: changed(awq(), {"version": "marlin"}), "version",
                               "gemm or gemv"),
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
    "three bits packed": (
        lambda: changed(packed(BF16, 32, False), {"config_groups": {"group_0": {
            "weights": {"num_bits": 3}}}}, weight_shape=np.array([64, 128])), "bits", "3"),
    "packed, and no width that fits": (
        lambda: changed(packed(BF16, 32, False), {"config_groups": None},
                        weight_shape=np.array([64, 96])), "bits", "4 8"),
    "MLX without a configuration": (
        lambda: ((mlx(4, BF16, 64)[0]), {}), "bits", "nothing"),
    "MLX without biases": (lambda: changed(mlx(4, BF16, 64), biases=None),
                           "biases", "missing"),
    "AWQ gemv without a group size": (lambda: changed(gemv(32, padded=4), {"group_size": None}),
                                      "group_size", "filled up"),
    "MLX of another mode": (
        lambda: changed(mlx_floats("nvfp4"), {"quantization": {
            "bits": 4, "group_size": 16, "mode": "mxfp4"}}), "scales", "fit"),
    "MLX of no mode": (
        lambda: changed(mlx_floats("mxfp4"), {"quantization": {"bits": 4, "group_size": 32}}),
        "", "mxfp4"),
    "an infinite scale of MLX": (
        lambda: changed(mlx_floats("mxfp4"), scales=lambda old: np.where(
            old == old.max(), 255, old).astype(np.uint8)), "scales", "0xff"),
}
