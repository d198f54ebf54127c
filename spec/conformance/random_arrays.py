#!/usr/bin/env python3
# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compare the C++ library with spec/reference.py on random arrays of the six grades.

Usage: random_arrays.py [--count N] [--jobs N] [--grade NAME]... [--build DIR]

Encodes N random arrays per grade (default 100,000) with both and decodes them, and
every fourth time also decodes random planes. Bytes and bits must be equal. The C++
code is reached through the Python package. The exit code is 1 when something differs;
the seed that is printed makes the same arrays again.
"""

import argparse
import multiprocessing
import os
import random
import sys
import time
from pathlib import Path

SPEC = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SPEC))
import reference  # noqa: E402

BLOCK = {"mxfp4": 32, "mxfp4_rne": 32, "nvf4": 16, "nvf4_rtz": 16, "q4ks": 256, "i8s24": 32}
CHUNK = 500


def random_values(rng, count):
    """Numbers of one of several distributions, with what is no number at times."""
    kind = rng.choice(("bell", "wide", "narrow", "ties", "zeros", "tiny", "special"))
    if kind == "wide":
        values = [reference.from_bits(rng.getrandbits(32)) for _ in range(count)]
        return [v if abs(v) < reference.INF else 1.0 for v in values]
    if kind == "narrow":
        base = rng.randrange(1, 250) << 23
        return [reference.from_bits(base | rng.getrandbits(25) | rng.getrandbits(1) << 31)
                for _ in range(count)]
    if kind == "ties":
        return [rng.randrange(-64, 65) / 8 for _ in range(count)]
    if kind == "zeros":
        return [rng.choice((0.0, -0.0)) for _ in range(count)]
    if kind == "tiny":
        return [reference.from_bits(rng.getrandbits(23) | rng.getrandbits(1) << 31)
                for _ in range(count)]
    values = [reference.from_bits(reference.to_bits(rng.gauss(0, 1))) for _ in range(count)]
    if kind == "special":
        for _ in range(rng.randrange(3)):
            values[rng.randrange(count)] = rng.choice((reference.NAN, reference.INF,
                                                       -reference.INF))
    return values


def random_planes(rng, grade, shape):
    return [rng.randbytes(size) for size in reference.array_sizes(grade, shape)["bytes"]]


def compare(name, seed, count):
    """Compares `count` arrays of a grade: text about those that differ."""
    import grit_mlir as grit
    import numpy as np

    def bits(array):
        return np.ascontiguousarray(array.dequantize(), "<f4").view("<u4").reshape(-1).tolist()

    def reference_bits(planes):
        return [reference.to_bits(v) for v in reference.decode(grade, shape, planes)]

    rng = random.Random(f"{name} {seed}")
    grade = reference.grade_named("GRADE_" + name.upper())
    differences = []
    for number in range(count):
        shape = [rng.choice((1, 1, 1, 2)), BLOCK[name]]
        values = random_values(rng, shape[0] * shape[1])
        array = grit.quantize(np.array(values, np.float32).reshape(shape), name)
        planes = reference.encode(grade, shape, values)
        if [plane.tobytes() for plane in array.planes] != planes:
            differences.append(f"{name}, seed {seed}, array {number}: encode {values}")
        elif bits(array) != reference_bits(planes):
            differences.append(f"{name}, seed {seed}, array {number}: decode {planes}")
        planes = random_planes(rng, grade, shape)
        if number % 4 == 0 and bits(grit.Array(name, shape, planes)) != reference_bits(planes):
            differences.append(f"{name}, seed {seed}, array {number}: decode {planes}")
    return differences


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--grade", action="append", choices=BLOCK)
    parser.add_argument("--build", default=os.environ.get("GRIT_BUILD", SPEC.parent / "build"))
    arguments = parser.parse_args()
    sys.path.insert(0, str(Path(arguments.build) / "python"))

    found = 0
    with multiprocessing.Pool(arguments.jobs) as pool:
        for name in arguments.grade or BLOCK:
            begin = time.monotonic()
            chunks = [(name, first, min(CHUNK, arguments.count - first))
                      for first in range(0, arguments.count, CHUNK)]
            differences = [text for part in pool.starmap(compare, chunks, 1) for text in part]
            for text in differences[:5]:
                print(text)
            print(f"{name}: {arguments.count} arrays, {len(differences)} differences "
                  f"({time.monotonic() - begin:.0f} s)", flush=True)
            found += len(differences)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
