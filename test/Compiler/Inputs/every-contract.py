"""Writes a module with a decode and a matmul of every contract.

Usage: every-contract.py ELEMENT < formats.json

The input is the output of `grit formats --json`. Functions are decode0,
matmul0, decode1, ... in its order; activations and results have ELEMENT.
"""

import json
import sys

FUNCTIONS = """
func.func @decode{i}(%a: {array}, %y: tensor<?x256x{t}>) -> tensor<?x256x{t}> {{
  %r = grit.decode ins(%a : {array}) outs(%y : tensor<?x256x{t}>) -> tensor<?x256x{t}>
  return %r : tensor<?x256x{t}>
}}
func.func @matmul{i}(%x: tensor<?x256x{t}>, %w: {array}, %y: tensor<?x?x{t}>) -> tensor<?x?x{t}> {{
  %r = grit.matmul ins(%x, %w : tensor<?x256x{t}>, {array}) outs(%y : tensor<?x?x{t}>) -> tensor<?x?x{t}>
  return %r : tensor<?x?x{t}>
}}"""

for i, contract in enumerate(json.load(sys.stdin)["formats"]):
    attribute = "grade" if contract["kind"] == "grade" else "format"
    array = f"!grit.array<?x256x#grit.{attribute}<{contract['name']}>>"
    print(FUNCTIONS.format(i=i, array=array, t=sys.argv[1]))
