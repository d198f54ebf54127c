# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`search="mse"`: never more squared error than the encoder without it, in any block."""

import numpy as np
import pytest

import grit_mlir

ENCODED = [c.name for c in grit_mlir.contracts() if c.encodes]
# Needed by some contracts, refused without a search by others.
WEIGHTS = np.random.default_rng(9).random(512).astype(np.float32) + 0.01
# Contracts with one scale for each group: all their groups have room for less error.
SIMPLE = ("mxfp4", "nvf4", "q4ks", "mxfp8_e4m3", "i8s24", "gguf.q4_0", "gguf.q4_1",
          "gguf.q5_0", "gguf.q5_1", "gguf.q8_0", "gguf.iq4_nl", "gguf.q4_k", "gguf.q6_k",
          "gguf.iq2_xs", "gguf.iq3_s", "gguf.nvfp4", "hurray.nf4")


def make(kind, rows=24):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(rows, 512))
    if kind == "laplace":
        x = rng.laplace(size=x.shape) ** 3
    elif kind == "outlier":
        x[:, ::31] *= 100
    elif kind == "constant":
        x = np.repeat(x[:, :16], 32, axis=1)
    elif kind == "sparse":
        x *= rng.random(x.shape) < 0.02
    elif kind == "tiny":
        x *= 1e-30
    elif kind == "zero":
        x *= 0
    elif kind == "positive":
        x = np.abs(x) + 1
    return x.astype(np.float32)


def needs_importance(contract):
    return grit_mlir.Contract(contract).importance == "needed"


def takes_importance(contract):
    return grit_mlir.Contract(contract).importance != "none"


def errors(array, x, weights):
    """The weighted squared error of each 16 elements; every group is a multiple of that."""
    difference = array.dequantize().astype(np.float64) - x
    return (weights * difference ** 2).reshape(len(x), -1, 16).sum(axis=2)


@pytest.mark.parametrize("kind", ["normal", "laplace", "outlier", "constant", "sparse",
                                  "tiny", "zero", "positive"])
@pytest.mark.parametrize("contract", ENCODED)
def test_no_block_is_worse(contract, kind):
    # Some groups of groups are of many rows.
    x = make(kind, max(24, grit_mlir.Contract(contract).array_multiple // 512))
    weights = WEIGHTS if needs_importance(contract) else None
    home = grit_mlir.quantize(x, contract, importance=weights)
    best = grit_mlir.quantize(x, contract, importance=weights, search="mse")
    weights = np.float64(1) if weights is None else weights.astype(np.float64)
    # A block of a block format; 256 elements hold whole groups of every format, but for
    # blocks of rows and columns: then it is the array.
    part = x.size // 16 if contract.startswith("deepseek.") else 16
    before = errors(home, x, weights).reshape(-1, part).sum(axis=1)
    after = errors(best, x, weights).reshape(-1, part).sum(axis=1)
    assert (after <= before).all()
    if kind == "normal" and contract in SIMPLE:
        assert after.sum() < before.sum()


@pytest.mark.parametrize("group", [16, 32])
def test_no_group_is_worse(group):
    contract = {16: "nvf4", 32: "gguf.q4_0"}[group]
    x = make("normal")
    before = errors(grit_mlir.quantize(x, contract), x, 1)
    after = errors(grit_mlir.quantize(x, contract, search="mse"), x, 1)
    before, after = (e.reshape(-1, group // 16).sum(axis=1) for e in (before, after))
    assert (after <= before).all()
    assert (after < before).mean() > 0.5


@pytest.mark.parametrize("contract", ["mxfp4", "nvf4", "gguf.q8_0", "gguf.q4_k", "i8s24",
                                      "gguf.iq3_xxs", "gguf.q4_0"])
def test_importance_weighs_the_search(contract):
    x = make("normal")
    weights = np.where(np.arange(512) % 2, 1.0, 1e-4).astype(np.float32)
    plain = grit_mlir.quantize(x, contract, search="mse")
    given = weights if takes_importance(contract) else None
    home = grit_mlir.quantize(x, contract, importance=given)
    weighted = grit_mlir.quantize(x, contract, importance=weights, search="mse")
    wide = weights.astype(np.float64)
    assert errors(weighted, x, wide).sum() < errors(home, x, wide).sum()
    assert errors(weighted, x, wide).sum() < errors(plain, x, wide).sum()


@pytest.mark.parametrize("contract", ["nvf4", "gguf.q4_k", "gguf.iq1_m", "hurray.nf4"])
def test_the_same_rows_give_the_same_bytes(contract):
    """Whatever rows are beside them, and so whichever thread has them. The array-wide
    scale of nvf4 is that of the largest element, which both halves hold."""
    x = make("normal", rows=64)
    x[0, 0] = x[32, 0] = 8
    whole = grit_mlir.quantize(x, contract, search="mse")
    again = grit_mlir.quantize(x, contract, search="mse")
    for a, b in zip(whole.planes, again.planes):
        np.testing.assert_array_equal(a, b)
    halves = [grit_mlir.quantize(part, contract, search="mse").dequantize()
              for part in (x[:32], x[32:])]
    np.testing.assert_array_equal(whole.dequantize(), np.concatenate(halves))


def test_matrices_have_importance_of_their_own():
    x = make("normal", rows=8).reshape(2, 4, 512)
    weights = np.random.default_rng(2).random((2, 512)).astype(np.float32)
    found = grit_mlir.quantize(x, "gguf.q4_k", importance=weights).dequantize()
    for i in range(2):
        alone = grit_mlir.quantize(x[i], "gguf.q4_k", importance=weights[i])
        np.testing.assert_array_equal(found[i], alone.dequantize())


def test_other_searches_are_refused():
    with pytest.raises(ValueError, match="'best'"):
        grit_mlir.quantize(make("normal"), "mxfp4", search="best")
