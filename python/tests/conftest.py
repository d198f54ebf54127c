# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What several test files need."""

import json
import pathlib

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def golden():
    return json.loads((ROOT / "spec/conformance/grit-golden.json").read_text())


@pytest.fixture
def weights():
    return np.random.default_rng(1).normal(size=(6, 512)).astype(np.float32)
