# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Multiply by quantized weights that are never decoded into memory."""

import numpy as np

import grit_mlir as grit

rng = np.random.default_rng(0)
weights = rng.normal(size=(256, 512)).astype(np.float32)
x = rng.normal(size=(4, 512)).astype(np.float32)
exact = x @ weights.T

for name in ("mxfp4", "q4ks", "gguf.q4_k", "hurray.nf4"):
    array = grit.quantize(weights, name)
    y = grit.matmul(x, array)  # compiled on the first call, kept for the next
    assert np.allclose(y, x @ array.dequantize().T, rtol=1e-3, atol=1e-2)
    print(f"{name:<12} error {np.linalg.norm(y - exact) / np.linalg.norm(exact):.2%}")

# Any module compiles; its functions take Arrays and ndarrays.
module = grit.compiler.compile("""
  #w = #grit.grade<mxfp4>
  func.func @twice(%w: !grit.array<256x512x#w>, %y: tensor<256x512xf32>)
      -> tensor<256x512xf32> {
    %d = grit.decode ins(%w : !grit.array<256x512x#w>)
                     outs(%y : tensor<256x512xf32>) -> tensor<256x512xf32>
    %r = arith.addf %d, %d : tensor<256x512xf32>
    return %r : tensor<256x512xf32>
  }
""")
array = grit.quantize(weights, "mxfp4")
signature = module.signatures["twice"]
print("twice takes:", ", ".join(f"{o['name']} ({o['access']})" for o in signature["operands"]))
out = np.empty((256, 512), np.float32)
operands = [array] + [out if o["access"] != "in" else np.zeros_like(out)
                      for o in signature["operands"][1:]]
module["twice"](*operands)
assert np.array_equal(out, 2 * array.dequantize())
