#!/usr/bin/env python3
# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measure the level-1 check and the digest: check.py [--build DIR] [--output FILE].

Runs grit-check-speed (C++ and C), then times grit_mlir and the package grit-datatype in
this process, and prints everything as JSON: nanoseconds per check of a 4096 x 4096
array, GB/s of digests, how many times slower grit-datatype is, and the part of the rate
of 128-bit multiplications, one per byte, that the digest reaches.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHAPE = (4096, 4096)


def nanoseconds_of(call, count):
    """Per call, in the fastest of 20 runs, by the time of this process."""
    best = float("inf")
    for _ in range(20):
        start = time.process_time_ns()
        for _ in range(count):
            call()
        best = min(best, time.process_time_ns() - start)
    return round(best / count, 1)


def time_python(name):
    """The two packages on one array of a grade."""
    import grit as datatype
    import grit_mlir
    from grit_mlir import _core

    spec = _core.Spec(grit_mlir.Contract(name), list(SHAPE), -1, None)
    sizes = [0] * 4
    for slot, size in zip(spec.plane_slots, spec.plane_sizes()):
        sizes[slot] = size
    raw = spec.descriptor()
    if datatype.grit_check_status(raw, SHAPE, sizes).status.spec_name != "Ok":
        raise SystemExit(f"grit-datatype refuses {name}")
    desc = datatype.GritDesc.unpack(raw)
    return {"python": nanoseconds_of(lambda: grit_mlir.check(raw, SHAPE, sizes), 1000),
            "grit-datatype": nanoseconds_of(
                lambda: datatype.grit_check_status(desc, SHAPE, sizes).status, 200)}


def digest_rates():
    """GB/s over one plane: 1 MB, or 64 KB for what is slow."""
    import grit as datatype
    import numpy as np
    from grit_mlir import _core

    rates = {}
    for name, size, call in (
            ("python", 1 << 20, lambda plane: _core.digest(
                [np.frombuffer(plane, np.uint8), *[np.empty(0, np.uint8)] * 3])),
            ("grit-datatype", 1 << 16, lambda plane: datatype.digest_of(
                [plane, b"", b"", b""]))):
        plane = bytes(range(256)) * (size // 256)
        rates[name] = float(f"{size / nanoseconds_of(lambda: call(plane), 1):.3g}")
    return rates


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path,
                        default=os.environ.get("GRIT_BUILD", ROOT / "build"))
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    build = Path(arguments.build)
    sys.path.insert(0, str(build / "python"))

    program = build / "bench/grit-check-speed"
    if not program.exists():
        sys.exit(f"{program} is not built: cmake -DGRIT_ENABLE_BENCHMARKS=ON, then the "
                 "target grit-benchmarks")
    result = json.loads(subprocess.run([program], check=True, capture_output=True,
                                       text=True).stdout)
    for name, times in result["check_ns"].items():
        times.update(time_python(name))
        times["datatype_by_cpp"] = round(times["grit-datatype"] / times["cpp"])
        times["datatype_by_c"] = round(times["grit-datatype"] / times["c"])
    result["digest_gb_per_s"] |= digest_rates()
    result["digest_by_multiply"] = {
        chains: round(result["digest_gb_per_s"][chains] / rate, 2)
        for chains, rate in result["multiply_gb_per_s"].items()}
    text = json.dumps(result, indent=2)
    print(text)
    if arguments.output:
        arguments.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
