#!/usr/bin/env python3
# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measure grit scan on a sparse checkpoint: scan.py GRIT [--tensors N] [--gigabytes G].

The file has holes instead of data, so it needs no space on the disk. Prints the median
wall time of the runs and the largest resident memory; with --deep, also the rate at
which a file of zeros in memory is read.
"""

import argparse
import json
import os
import resource
import statistics
import struct
import subprocess
import tempfile
import time


def write_checkpoint(path, tensors, size):
    """NVFP4 layers as one tool writes them: codes, block scales, tensor scale."""
    per_layer = size // (tensors // 4)
    columns = 4096
    rows = max(1, per_layer * 16 // (9 * columns // 2) // 2)
    header, offset = {}, 0
    for layer in range(tensors // 4):
        prefix = f"model.layers.{layer}.mlp.down_proj."
        for part, dtype, shape, size in (
                ("weight", "U8", [rows, columns // 2], rows * columns // 2),
                ("weight_scale", "F8_E4M3", [rows, columns // 16], rows * columns // 16),
                ("weight_scale_2", "F32", [], 4), ("input_scale", "F32", [], 4)):
            header[prefix + part] = {"dtype": dtype, "shape": shape,
                                     "data_offsets": [offset, offset + size]}
            offset += size
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + offset)
    return offset


def measure(command, runs):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        times.append(time.perf_counter() - start)
        if done.returncode not in (0, 3):
            raise SystemExit(f"{command} returned {done.returncode}")
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("grit")
    parser.add_argument("--tensors", type=int, default=10_000)
    parser.add_argument("--gigabytes", type=float, default=10)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--deep", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.safetensors")
        size = write_checkpoint(path, options.tensors, int(options.gigabytes * 1e9))
        command = [options.grit, "scan", path]
        seconds = measure(command, options.runs)
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        print(f"{options.tensors} tensors, {size / 1e9:.1f} GB: {seconds * 1e3:.0f} ms, "
              f"{memory / 1e6:.0f} MB resident at most")
        if options.deep:
            seconds = measure([*command, "--deep"], 1)
            print(f"--deep: {seconds:.2f} s, {size / seconds / 1e9:.2f} GB/s")


if __name__ == "__main__":
    main()
