#!/usr/bin/env python3
"""Makes spec/conformance/encode-vectors.json: what encode must write.

    python3 scripts/make-encode-vectors.py > spec/conformance/encode-vectors.json

The bytes come from packages that are not part of this project: libgguf (ggml's
C code) for the GGUF formats, libggml-python (ggml's own library) for the three
that it does not write, grit-datatype for the grades. Inputs are not
stored: `values` below makes them from integers alone, and
unittests/Format/EncodeVectorsTest.cpp makes the same ones. Kinds are described
in spec/conformance/README.md.
"""

import ctypes
import importlib.metadata
import json
import pathlib
import sys

import grit
import libggml
import libgguf
import numpy as np

SHAPE = (2, 256)

GGUF = tuple("gguf." + name for name in (
    "q4_0", "q8_0", "mxfp4", "q4_k", "iq4_nl", "q5_0", "q4_1", "q5_1", "q1_0",
    "tq1_0", "tq2_0", "nvfp4", "q5_k", "q2_k", "q3_k", "q6_k", "iq4_xs"))
# ggml's function, and the elements and bytes of a block.
GGML = {
    "gguf.q8_1": ("quantize_row_q8_1_ref", 32, 36),
    "gguf.q8_k": ("quantize_row_q8_K_ref", 256, 292),
    "gguf.q2_0": ("quantize_row_q2_0_ref", 64, 18),
}
# Codes of vectors; the first three are encoded under importance alone.
NEEDING = ("gguf.iq1_s", "gguf.iq2_xxs", "gguf.iq2_xs")
VECTORS = (*NEEDING, "gguf.iq1_m", "gguf.iq2_s", "gguf.iq3_xxs", "gguf.iq3_s")
# NVF4_RTZ is absent: the package encodes it as NVF4 (see README.md).
GRADES = ("mxfp4", "mxfp4_rne", "nvf4", "q4ks", "i8s24")
WEIGHTED = (*("gguf." + name for name in (
    "q4_k", "iq4_nl", "q4_0", "q5_0", "q4_1", "q5_1", "q5_k", "q2_k", "q3_k",
    "q6_k", "iq4_xs")), *VECTORS)

COMMON = ("bell", "uniform", "outlier", "ties", "constant", "zero", "positive",
          "negative", "subnormal", "wide", "sparse", "scales")
# The package raises where the range of a group overflows; ggml has no result
# for numbers that are not finite, and none for magnitudes whose squares are not.
GRADES_ONLY = ("poison",)
EXTREME = ("mxfp4", "mxfp4_rne", "nvf4", "i8s24", "gguf.q4_k", *GGML,
           *("gguf." + name for name in (
               "q4_0", "q8_0", "mxfp4", "q5_0", "q4_1", "q5_1", "q1_0", "tq1_0",
               "tq2_0", "nvfp4")))


class Lcg:
    """x' = 1664525 x + 1013904223 mod 2^32; a draw is its upper 24 bits."""

    def __init__(self, seed):
        self.state = seed

    def draw(self):
        self.state = (self.state * 1664525 + 1013904223) % (1 << 32)
        return self.state >> 8


def from_bits(word):
    return np.array([word], np.uint32).view(np.float32)[0]


def bell(lcg):
    total = sum(lcg.draw() for _ in range(4)) - (1 << 25)
    return np.float32(total) * np.float32(2.0 ** -23)


def uniform(lcg):
    return np.float32(lcg.draw() - (1 << 23)) * np.float32(2.0 ** -23)


def float_with_exponent(lcg, lowest, count):
    low = lcg.draw()
    exponent = lowest + lcg.draw() % count
    return from_bits((low >> 23) << 31 | exponent << 23 | (low & 0x7FFFFF))


def element(kind, i, lcg, held):
    if kind == "bell":
        return bell(lcg)
    if kind == "uniform":
        return uniform(lcg)
    if kind == "outlier":
        return bell(lcg) * np.float32(64 if i % 31 == 0 else 1)
    if kind == "ties":
        return np.float32(lcg.draw() % 65) / np.float32(8) - np.float32(4)
    if kind == "constant":
        if i % 32 == 0:
            held["value"] = bell(lcg)
        return held["value"]
    if kind == "zero":
        return np.float32(-0.0 if i % 3 == 0 else 0.0)
    if kind == "positive":
        return abs(bell(lcg))
    if kind == "negative":
        return -abs(bell(lcg))
    if kind == "subnormal":
        low = lcg.draw()
        return from_bits((low >> 23) << 31 | (low & 0x7FFFFF))
    if kind == "wide":
        return float_with_exponent(lcg, 96, 40)
    if kind == "extreme":
        return float_with_exponent(lcg, 1, 253)
    if kind == "sparse":
        value = bell(lcg)
        return value if lcg.draw() % 8 == 0 else np.float32(0)
    if kind == "scales":
        if i % 32 == 0:
            held["exponent"] = lcg.draw() % 60 - 40
        return bell(lcg) * np.float32(2.0 ** held["exponent"])
    if kind == "poison":
        value = bell(lcg)
        for step, word in ((97, 0x7FC00000), (89, 0x7F800000),
                           (83, 0xFF800000)):
            if i % step == 5:
                return from_bits(word)
        return value
    raise ValueError(kind)


def values(kind, seed):
    lcg, held = Lcg(seed), {}
    count = SHAPE[0] * SHAPE[1]
    return np.array([element(kind, i, lcg, held) for i in range(count)],
                    np.float32).reshape(SHAPE)


def importance(seed):
    lcg = Lcg(seed)
    return np.array([np.float32(lcg.draw() + 1) * np.float32(2.0 ** -24)
                     for _ in range(SHAPE[1])], np.float32)


def from_ggml(library, name, x):
    function, elements, size = GGML[name]
    blocks = np.zeros(x.size // elements * size, np.uint8)
    getattr(library, function)(
        x.ctypes.data_as(ctypes.c_void_p),
        blocks.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(x.size))
    return blocks.tobytes()


def planes(name, x, weights, library):
    if name in GGML:
        return from_ggml(library, name, x)
    if name in (*GGUF, *VECTORS):
        qtype = getattr(libgguf.GGMLQuantizationType, name[5:].upper())
        return libgguf.quantize_rows(x, qtype, imatrix=weights).tobytes()
    return b"".join(grit.encode("GRADE_" + name.upper(),
                                [float(v) for v in x.reshape(-1)]))


def has_gap(name, x):
    """Whether ggml misplaces codes: after a group of zeros in a block of IQ3_S."""
    zeros = (x.reshape(-1, 8, 32) == 0).all(axis=2)
    return name == "gguf.iq3_s" and bool((zeros.any(axis=1) & ~zeros.all(axis=1)).any())


def main():
    path, = pathlib.Path(libggml.__path__[0]).glob("lib*/libggml-base.so")
    library = ctypes.CDLL(str(path))
    cases, seed = [], 1
    for contract in (*GRADES, *GGUF, *GGML, *VECTORS):
        kinds = [*COMMON]
        kinds += GRADES_ONLY if contract in GRADES else ()
        kinds += ("extreme",) if contract in EXTREME else ()
        runs = [(kind, contract in NEEDING) for kind in kinds]
        if contract in WEIGHTED:
            runs += [(kind, 1) for kind in ("bell", "outlier", "scales")]
        for kind, weighted in runs:
            case = {"contract": contract, "kind": kind, "seed": seed}
            weights = None
            if weighted:
                case["importance_seed"] = seed + 1000
                weights = importance(seed + 1000)
            x = values(kind, seed)
            if has_gap(contract, x):
                continue
            case["planes"] = planes(contract, x, weights, library).hex()
            cases.append(case)
            seed += 1
    made_with = {name: importlib.metadata.version(name)
                 for name in ("grit-datatype", "libgguf", "libggml-python")}
    head = json.dumps({"made_with": made_with, "shape": SHAPE})
    lines = ",\n".join(json.dumps(case) for case in cases)
    sys.stdout.write(head[:-1] + ', "cases": [\n' + lines + "\n]}\n")


if __name__ == "__main__":
    main()
