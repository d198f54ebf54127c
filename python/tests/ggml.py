# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ggml's C functions, from the libraries in the package libggml-python."""

import ctypes
import pathlib

import numpy as np
import pytest


def load(library):
    """"base" or "cpu"."""
    package = pytest.importorskip("libggml")
    path, = pathlib.Path(package.__path__[0]).glob(f"lib*/libggml-{library}.so")
    return ctypes.CDLL(str(path))


def address(array):
    assert array.flags.c_contiguous
    return array.ctypes.data_as(ctypes.c_void_p)


def quantize(function, x, elements, size):
    """The blocks of `size` bytes that quantize_row_*_ref writes for `x`."""
    blocks = np.zeros(x.size // elements * size, np.uint8)
    getattr(load("base"), function)(address(x), address(blocks), ctypes.c_int64(x.size))
    return blocks.tobytes()


def dequantize(function, blocks, elements):
    """What dequantize_row_* makes of rows of bytes, a block in each."""
    blocks = np.ascontiguousarray(blocks)
    values = np.zeros((len(blocks), elements), np.float32)
    getattr(load("base"), function)(
        address(blocks), address(values), ctypes.c_int64(values.size))
    return values


def decoded_by_dots(blocks):
    """The values of Q8_1 blocks, for which ggml has no function: each is the product of
    its block and a block of Q4_1 with a single 1. A product is a sum that starts at 0.0,
    so that all zeros come out as 0.0."""
    library = load("cpu")
    library.ggml_cpu_init()  # fills the table of binary16 that products read
    dot = library.ggml_vec_dot_q4_1_q8_1_generic
    ones = np.zeros((32, 20), np.uint8)
    ones[:, 1] = 0x3C  # d = 1, m = 0
    for i in range(32):
        ones[i, 4 + i % 16] = 1 << 4 * (i // 16)
    blocks = np.ascontiguousarray(blocks)
    values = np.zeros((len(blocks), 32), np.float32)
    at = values.ctypes.data
    x = [ctypes.c_void_p(ones.ctypes.data + 20 * i) for i in range(32)]
    zero, one = ctypes.c_size_t(0), ctypes.c_int(1)
    width = ctypes.c_int(32)
    for block in range(len(blocks)):
        y = ctypes.c_void_p(blocks.ctypes.data + 36 * block)
        for i in range(32):
            dot(width, ctypes.c_void_p(at), zero, x[i], zero, y, zero, one)
            at += 4
    return values
