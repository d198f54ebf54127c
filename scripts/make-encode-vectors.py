#!/usr/bin/env python3
"""Makes spec/conformance/encode-vectors.json: what encode must write.

    python3 scripts/make-encode-vectors.py > spec/conformance/encode-vectors.json

The bytes come from packages that are not part of this project: libgguf (ggml's
C code) for the GGUF formats, grit-datatype for the grades. Inputs are not
stored: `values` below makes them from integers alone, and
unittests/Format/EncodeVectorsTest.cpp makes the same ones. Kinds are described
in spec/conformance/README.md.
"""

import importlib.metadata
import json
import sys

import grit
import libgguf
import numpy as np

SHAPE = (2, 256)

GGUF = {
    "gguf.q4_0": libgguf.GGMLQuantizationType.Q4_0,
    "gguf.q8_0": libgguf.GGMLQuantizationType.Q8_0,
    "gguf.mxfp4": libgguf.GGMLQuantizationType.MXFP4,
    "gguf.q4_k": libgguf.GGMLQuantizationType.Q4_K,
    "gguf.iq4_nl": libgguf.GGMLQuantizationType.IQ4_NL,
}
# NVF4_RTZ is absent: the package encodes it as NVF4 (see README.md).
GRADES = ("mxfp4", "mxfp4_rne", "nvf4", "q4ks", "i8s24")
WEIGHTED = ("gguf.q4_k", "gguf.iq4_nl")

COMMON = ("bell", "uniform", "outlier", "ties", "constant", "zero", "positive",
          "negative", "subnormal", "wide", "sparse", "scales")
# The package raises where the range of a group overflows; ggml has no result
# for numbers that are not finite, and none for magnitudes whose squares are not.
GRADES_ONLY = ("poison",)
EXTREME = ("gguf.q4_0", "gguf.q8_0", "gguf.mxfp4", "gguf.q4_k", "mxfp4",
           "mxfp4_rne", "nvf4", "i8s24")


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


def planes(contract, x, weights):
    if contract in GGUF:
        return libgguf.quantize_rows(x, GGUF[contract], imatrix=weights).tobytes()
    return b"".join(grit.encode("GRADE_" + contract.upper(),
                                [float(v) for v in x.reshape(-1)]))


def main():
    cases, seed = [], 1
    for contract in (*GRADES, *GGUF):
        kinds = [*COMMON]
        kinds += GRADES_ONLY if contract in GRADES else ()
        kinds += ("extreme",) if contract in EXTREME else ()
        runs = [(kind, None) for kind in kinds]
        if contract in WEIGHTED:
            runs += [(kind, 1) for kind in ("bell", "outlier", "scales")]
        for kind, weighted in runs:
            case = {"contract": contract, "kind": kind, "seed": seed}
            weights = None
            if weighted:
                case["importance_seed"] = seed + 1000
                weights = importance(seed + 1000)
            x = values(kind, seed)
            case["planes"] = planes(contract, x, weights).hex()
            cases.append(case)
            seed += 1
    made_with = {name: importlib.metadata.version(name)
                 for name in ("grit-datatype", "libgguf")}
    head = json.dumps({"made_with": made_with, "shape": SHAPE})
    lines = ",\n".join(json.dumps(case) for case in cases)
    sys.stdout.write(head[:-1] + ', "cases": [\n' + lines + "\n]}\n")


if __name__ == "__main__":
    main()
