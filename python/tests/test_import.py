# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`grit import`: layers of checkpoints as constants that compiled code decodes."""

import json

import numpy as np
import pytest

import grit_mlir as grit
from bits import assert_same_bits, require_compiler
from test_checkpoint_layers import CASES, checkpoint, full_config, named, pytestmark, run

__all__ = ["pytestmark"]
require_compiler()


@pytest.mark.parametrize("case", CASES)
def test_every_family(tmp_path, case):
    parts, config, expected, _ = CASES[case]()
    checkpoint(tmp_path, named(parts), full_config(config))
    out = tmp_path / "out.mlir"
    done = run("import", tmp_path, "-o", out, "--json")
    assert done.returncode == 0, done.stderr
    (name, kind), = [(f["name"], f["type"]) for f in json.loads(done.stdout)["functions"]
                     if f["type"].startswith("!grit.array")]
    assert name.startswith("model.layers.0.mlp.up_proj")
    result = f"tensor<{'x'.join(map(str, expected.shape))}xf32>"
    decode = f"""module {{
      func.func @decode(%y: {result}) -> {result} {{
        %w = call @{json.dumps(name)}() : () -> {kind}
        %r = grit.decode ins(%w : {kind}) outs(%y : {result}) -> {result}
        return %r : {result}
      }}"""
    text = out.read_text().replace("module {", decode, 1)
    values = np.zeros(expected.shape, np.float32)
    grit.compiler.compile(text)["decode"](values)
    assert_same_bits(values, expected, case)
