# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What several test files need."""

import collections
import json
import pathlib

import grit_mlir
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def recorded_contracts(monkeypatch, record_property):
    """Records in the results which contracts a test decodes and encodes, and how many
    values: docs/Status.md and `./dev cross-check` are made of that. A family has one
    name, whatever its parameter."""
    seen = collections.Counter()

    def record(kind, array):
        seen[kind, array.contract.name.split("(")[0]] += array.size

    dequantize, quantize = grit_mlir.Array.dequantize, grit_mlir.quantize

    def recorded_dequantize(self):
        record("decoded", self)
        return dequantize(self)

    def recorded_quantize(*args, **kwargs):
        array = quantize(*args, **kwargs)
        record("encoded", array)
        return array

    monkeypatch.setattr(grit_mlir.Array, "dequantize", recorded_dequantize)
    monkeypatch.setattr(grit_mlir, "quantize", recorded_quantize)
    yield
    for (kind, name), count in seen.items():
        if name not in ("grit1", "gritfmt1"):
            record_property(kind, f"{name} {count}")


@pytest.fixture(scope="session")
def golden():
    return json.loads((ROOT / "spec/conformance/grit-golden.json").read_text())


@pytest.fixture
def weights():
    return np.random.default_rng(1).normal(size=(6, 512)).astype(np.float32)
