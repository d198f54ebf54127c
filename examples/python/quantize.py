# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantize a matrix, look at what came out, store it, and check it on the way in."""

import pathlib
import tempfile

import numpy as np

import grit_mlir as grit

weights = np.random.default_rng(0).normal(size=(256, 512)).astype(np.float32)
# How much each column matters; it is measured on data. A few contracts need it.
importance = np.random.default_rng(1).random(512).astype(np.float32)

print(f"{'contract':<12} {'bytes':>8} {'bits/weight':>12} {'error':>8}  planes")
arrays = {}
for contract in grit.contracts():
    if not contract.encodes:
        continue
    given = importance if contract.importance == "needed" else None
    array = grit.quantize(weights, contract, importance=given)
    error = np.linalg.norm(array.dequantize() - weights) / np.linalg.norm(weights)
    sizes = [plane.nbytes for plane in array.planes]
    print(f"{contract.name:<12} {array.nbytes:>8} {array.nbytes * 8 / weights.size:>12.3f} "
          f"{error:>8.2%}  {sizes}")
    arrays[contract.name] = array

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "weights.safetensors"
    grit.save(path, arrays)
    # Level 2 reads every plane and compares it with the digest in the file.
    with grit.open(path, level=2) as file:
        for name, array in arrays.items():
            assert file[name].gid == array.gid  # the same contract, shape, placements
            assert file[name].digest == array.digest  # the same bytes

# A boundary: what another library claims to hand over, checked before it is read.
array = arrays["nvf4"]
sizes = [plane.nbytes for plane in array.planes]
grit.check(array.descriptor, array.shape, sizes)
try:
    grit.check(array.descriptor, (512, 512), sizes)
except grit.CheckError as error:
    print(f"\nrefused, {error.status}: {error}")
