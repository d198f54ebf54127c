# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Implementations that are not part of grit, asked for the same bits.

Each function takes an array and its weights and yields (what, values compared,
values or bytes that differ).
"""

import numpy as np

GGUF_TYPES = {"gguf.q4_k": "Q4_K", "gguf.q4_0": "Q4_0"}

# The table of NF4 as QLoRA published it.
NF4 = np.array([
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
    -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
    0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0], np.float32)

# grit-datatype is plain Python and takes microseconds a value.
ROWS_FOR_GRIT_DATATYPE = 4


def different(a, b):
    """The number of values (or bytes) that are not the same bits."""
    a, b = (np.ascontiguousarray(x).reshape(-1) for x in (a, b))
    if a.size != b.size:
        return max(a.size, b.size)
    kind = np.uint32 if a.dtype == np.float32 else np.uint8
    return int(np.count_nonzero(a.view(kind) != b.view(kind)))


def nibbles(data):
    return np.stack([data & 15, data >> 4], axis=-1).reshape(-1)


def ggml(array, decoded, weights):
    """gguf's NumPy code decodes; libgguf, which is ggml's C code, also encodes."""
    import gguf
    import libgguf

    name = GGUF_TYPES[array.contract.name]
    blocks = array.planes[0].reshape(array.shape[0], -1)
    expected = gguf.dequantize(blocks, gguf.GGMLQuantizationType[name])
    yield "decode, gguf", decoded.size, different(decoded, expected)
    kind = libgguf.GGMLQuantizationType[name]
    expected = libgguf.dequantize_rows(blocks, kind)
    yield "decode, libgguf", decoded.size, different(decoded, expected)
    encoded = libgguf.quantize_rows(np.ascontiguousarray(weights), kind)
    yield "encode, libgguf", blocks.size, different(blocks, encoded)


def dtypes(array, decoded):
    """4-bit floats with scales of one byte, out of ml_dtypes' tables."""
    import ml_dtypes

    values = nibbles(array.planes[0]).view(ml_dtypes.float4_e2m1fn).astype(np.float32)
    if array.contract.name == "mxfp4":
        scale = array.planes[1].view(ml_dtypes.float8_e8m0fnu).astype(np.float32)
    else:
        scale = array.planes[1].view(ml_dtypes.float8_e4m3fn).astype(np.float32)
        scale = array.planes[2].view("<f4") * scale
    expected = values.reshape(scale.size, -1) * scale[:, None]
    yield "decode, ml_dtypes", decoded.size, different(decoded, expected)


def grit_datatype(array, decoded, weights):
    """The first rows, by the package that published the grades."""
    import grit

    import grit_mlir

    rows = weights[:ROWS_FOR_GRIT_DATATYPE]
    grade = "GRADE_" + array.contract.name.upper()
    share = rows.size / weights.size
    # All planes but a scale of the whole array have a part that belongs to the rows.
    planes = [plane if plane.size == 4 else plane[:round(plane.size * share)]
              for plane in array.planes]
    bits = grit.decode_bits(grade, [plane.tobytes() for plane in planes], rows.size)
    expected = np.array([int(text, 16) for text in bits], np.uint32).view(np.float32)
    yield ("decode, grit-datatype", rows.size,
           different(decoded[:ROWS_FOR_GRIT_DATATYPE], expected))
    encoded = grit.encode(grade, rows.reshape(-1).tolist())
    mine = grit_mlir.quantize(rows, array.contract).planes
    for plane, expected in zip(mine, encoded):
        expected = np.frombuffer(expected, np.uint8)
        yield "encode, grit-datatype", plane.size, different(plane, expected)


def nf4(array, decoded, weights):
    """The published table and the encoder of bitsandbytes in NumPy."""
    scale = array.planes[1].view("<f4")
    codes = nibbles(array.planes[0])
    expected = scale[:, None] * NF4[codes].reshape(scale.size, -1)
    yield "decode, NumPy", decoded.size, different(decoded, expected)
    blocks = np.ascontiguousarray(weights).reshape(scale.size, -1)
    absmax = np.abs(blocks).max(axis=1)
    bounds = (NF4[:-1] + NF4[1:]) / np.float32(2)
    scaled = blocks * (np.float32(1) / np.maximum(absmax, np.float32(1e-38)))[:, None]
    expected = np.searchsorted(bounds, scaled.reshape(-1)).astype(np.uint8)
    yield "encode, NumPy", codes.size, different(codes, expected)
    yield "encode, NumPy", absmax.nbytes, different(scale, absmax)


def compare(array, decoded, weights):
    """Everything there is to compare this array with."""
    name = array.contract.name
    if name in GGUF_TYPES:
        yield from ggml(array, decoded, weights)
        return
    if name == "hurray.nf4":
        yield from nf4(array, decoded, weights)
        return
    if name in ("mxfp4", "nvf4"):
        yield from dtypes(array, decoded)
    yield from grit_datatype(array, decoded, weights)
