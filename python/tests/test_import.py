# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`grit import`: layers of checkpoints as constants that compiled code decodes."""

import json
import re

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
    # Of a layer whose groups do not lie along its rows, the array has other extents.
    extents = re.match(r"!grit\.array<((?:\d+x)+)", kind)[1]
    shape = [int(extent) for extent in extents.split("x")[:-1]]
    result = f"tensor<{'x'.join(map(str, shape))}xf32>"
    decode = f"""module {{
      func.func @decode(%y: {result}) -> {result} {{
        %w = call @{json.dumps(name)}() : () -> {kind}
        %r = grit.decode ins(%w : {kind}) outs(%y : {result}) -> {result}
        return %r : {result}
      }}"""
    text = out.read_text().replace("module {", decode, 1)
    values = np.zeros(shape, np.float32)
    grit.compiler.compile(text)["decode"](values)
    assert_same_bits(values, expected, case)
