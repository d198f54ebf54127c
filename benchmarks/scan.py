#!/usr/bin/env python3
# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measure grit scan: scan.py GRIT [--gigabytes G] [--package GRIT-SCAN] [--folder DIR].

Four figures, each with what it is compared with in the same run:

- headers: a sparse checkpoint of 10 GB and 10,000 tensors; wall time and memory;
- --deep without digests: NVFP4 layers of random bytes; against reading the file with
  as many threads as the machine has processors;
- --deep with digests: MXFP4 arrays that grit quantize wrote; against the rate of four
  interleaved chains (grit-check-speed of the same build), times the processors;
- the package grit-datatype, when --package names its grit-scan, on the same headers,
  and its digest of the same planes.

The files lie in the page cache: the figures are those of the program, not of a disk.
Every time is the median of --runs. Other programs on the machine make the rates by the
clock smaller; the rates per processor second are those of the work itself.
"""

import argparse
import concurrent.futures
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time

THREADS = os.cpu_count()


def write_header(file, entries, metadata=None):
    """The header of tensors {name: (dtype, shape, bytes)}; returns the data size."""
    header, offset = {"__metadata__": metadata} if metadata else {}, 0
    for name, (dtype, shape, size) in entries.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    file.write(struct.pack("<Q", len(text)) + text)
    return offset


def nvfp4_layers(count, rows, columns):
    """Layers as one tool writes them: codes, block scales, tensor scale, input scale."""
    entries = {}
    for layer in range(count):
        prefix = f"model.layers.{layer}.mlp.down_proj."
        entries[prefix + "weight"] = ("U8", [rows, columns // 2], rows * columns // 2)
        entries[prefix + "weight_scale"] = (
            "F8_E4M3", [rows, columns // 16], rows * columns // 16)
        entries[prefix + "weight_scale_2"] = ("F32", [], 4)
        entries[prefix + "input_scale"] = ("F32", [], 4)
    return entries


def write_sparse(path, tensors, size):
    """Holes instead of data: it needs no space on the disk."""
    columns, layers = 4096, tensors // 4
    rows = max(1, size // layers * 16 // (9 * columns // 2) // 2)
    with open(path, "wb") as file:
        data = write_header(file, nvfp4_layers(layers, rows, columns))
        file.truncate(file.tell() + data)
    return data


def write_random(path, size):
    """Layers of codes that use the whole range, under scales that are numbers."""
    rows, columns = 4096, 4096
    layer = rows * columns * 9 // 16
    entries = nvfp4_layers(max(1, size // layer), rows, columns)
    codes = os.urandom(rows * columns // 2)
    scales = bytes(0x30 + b % 16 for b in os.urandom(rows * columns // 16))
    content = {"U8": codes, "F8_E4M3": scales, "F32": struct.pack("<f", 1e-3)}
    with open(path, "wb") as file:
        data = write_header(file, entries)
        for dtype, _, _ in entries.values():
            file.write(content[dtype])
    return data


def write_arrays(grit, path, size):
    """One array that grit quantize wrote, under many names."""
    rows, columns = 2048, 4096
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder:
        plain, one = os.path.join(folder, "p"), os.path.join(folder, "q")
        numbers = os.urandom(rows * columns)
        values = b"".join(struct.pack("<f", (b - 127.5) / 64) for b in range(256))
        with open(plain, "wb") as file:
            write_header(file, {"w.weight": ("F32", [rows, columns], 4 * rows * columns)})
            for begin in range(0, len(numbers), 1 << 20):
                file.write(b"".join(values[4 * b:4 * b + 4]
                                    for b in numbers[begin:begin + (1 << 20)]))
        subprocess.run([grit, "quantize", plain, "--to", "mxfp4", "-o", one], check=True,
                       stdout=subprocess.DEVNULL)
        with open(one, "rb") as file:
            length, = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(length))
            planes = file.read()
    record = json.loads(header["__metadata__"]["__grit__"])["tensors"]["w.weight"]
    names = [f"model.layers.{i}.mlp.down_proj.weight"
             for i in range(max(1, size // len(planes)))]
    records = json.dumps({"version": 1, "tensors": {name: record for name in names}})
    with open(path, "wb") as file:
        data = write_header(file, {name: ("U8", [len(planes)], len(planes)) for name in names},
                            {"__grit__": records})
        for _ in names:
            file.write(planes)
    return data, planes, [rows * columns // 2, rows * columns // 32]


def measure(command, runs, codes=(0, 3)):
    """Medians of the wall and the processor time in seconds, the largest memory in bytes."""
    times, used, memory = [], [], 0
    for _ in range(runs):
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        times.append(time.perf_counter() - start)
        used.append(usage.ru_utime + usage.ru_stime)
        memory = max(memory, usage.ru_maxrss * 1024)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in codes:
            raise SystemExit(f"{command} returned {process.returncode}")
    return statistics.median(times), statistics.median(used), memory


def read_rate(path, runs):
    """Reading the whole file, a share in each thread: bytes per second of the clock, and
    per processor second."""
    size, block = os.path.getsize(path), 1 << 20

    def read(part):
        buffer = bytearray(block)
        with open(path, "rb", buffering=0) as file:
            for offset in range(part * block, size, THREADS * block):
                os.preadv(file.fileno(), [buffer], offset)

    times, used = [], []
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        for _ in range(runs + 1):
            start, before = time.perf_counter(), time.process_time()
            list(pool.map(read, range(THREADS)))
            times.append(time.perf_counter() - start)
            used.append(time.process_time() - before)
    return size / statistics.median(times[1:]), size / statistics.median(used[1:])


def chain_rate(grit, runs):
    """Bytes per second of four interleaved chains on one processor: the best run."""
    command = [os.path.join(os.path.dirname(grit), "../bench/grit-check-speed")]
    texts = [subprocess.run(command, check=True, capture_output=True, text=True).stdout
             for _ in range(runs)]
    return max(1e9 * json.loads(text)["digest_gb_per_s"]["four_chains"] for text in texts)


def package_digest_rate(package, planes, sizes):
    """Bytes per second of grit-datatype's digest_of over the first of the planes."""
    code = ("import sys, time, grit\n"
            "planes = [sys.stdin.buffer.read()]\n"
            "start = time.perf_counter()\n"
            "grit.digest_of(planes + [b''] * 3)\n"
            "print(len(planes[0]) / (time.perf_counter() - start))")
    python = os.path.join(os.path.dirname(package), "python")
    part = planes[:min(sizes[0], 1 << 20)]
    return float(subprocess.run([python, "-c", code], input=part, check=True,
                                capture_output=True).stdout)


def headers(options, folder):
    path = os.path.join(folder, "sparse.safetensors")
    size = write_sparse(path, options.tensors, int(10e9))
    seconds, _, memory = measure([options.grit, "scan", path], options.runs)
    print(f"headers: {options.tensors} tensors, {size / 1e9:.1f} GB: {seconds * 1e3:.0f} ms, "
          f"{memory / 1e6:.0f} MB resident at most")
    if options.package:
        theirs, _, memory = measure([options.package, path], 1, range(256))
        print(f"  grit-datatype: {theirs * 1e3:.0f} ms ({theirs / seconds:.1f} times), "
              f"{memory / 1e6:.0f} MB")
    os.remove(path)


def deep_without_digests(options, folder):
    path = os.path.join(folder, "layers.safetensors")
    size = write_random(path, int(options.gigabytes * 1e9))
    reading, reading_cpu = read_rate(path, options.runs)
    seconds, used, _ = measure([options.grit, "scan", "--deep", path], options.runs)
    print(f"--deep without digests: {size / seconds / 1e9:.2f} GB/s; reading the file: "
          f"{reading / 1e9:.2f} GB/s; {size / seconds / reading:.0%} of it (target 60 %); "
          f"per processor second {size / used / 1e9:.2f} and {reading_cpu / 1e9:.2f} GB")
    os.remove(path)


def deep_with_digests(options, folder):
    path = os.path.join(folder, "arrays.safetensors")
    size, planes, sizes = write_arrays(options.grit, path, int(options.gigabytes * 1e9))
    read_rate(path, 1)
    seconds, used, _ = measure([options.grit, "scan", "--deep", path], options.runs, (0,))
    four = chain_rate(options.grit, options.runs)
    rate = size / seconds
    print(f"--deep with digests: {rate / 1e9:.2f} GB/s; four interleaved chains: "
          f"{four / 1e9:.2f} GB/s on each of {THREADS} processors; "
          f"{rate / four / THREADS:.0%} of them; {size / used / 1e9:.2f} GB per processor "
          f"second, {size / used / four:.0%} (target 70 %)")
    if options.package:
        theirs = package_digest_rate(options.package, planes, sizes)
        print(f"  grit-datatype, digest_of: {theirs / 1e6:.2f} MB/s "
              f"({rate / theirs:.0f} times)")
    os.remove(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grit", help="the program, in the bin of a build of grit-check-speed")
    parser.add_argument("--tensors", type=int, default=10_000)
    parser.add_argument("--gigabytes", type=float, default=2, help="of the --deep files")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--package", help="grit-scan of grit-datatype")
    parser.add_argument("--folder", help="where the files are written")
    options = parser.parse_args()
    print(f"{THREADS} processors")
    for part in (headers, deep_without_digests, deep_with_digests):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            part(options, folder)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
