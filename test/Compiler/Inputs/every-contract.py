"""Writes a module with a decode and a matmul of every contract with groups.

Usage: every-contract.py ELEMENT < formats.json

The input is the output of `grit formats --json`. Functions are decode0,
matmul0, decode1, ... in its order; activations and results have ELEMENT. Plain
numbers, of which a row may hold any count, are left out.
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

grouped = [contract for contract in json.load(sys.stdin)["formats"]
           if contract["axis_multiple"] > 1]
for i, contract in enumerate(grouped):
    attribute = "grade" if contract["kind"] == "grade" else "format"
    array = f"!grit.array<?x256x#grit.{attribute}<{contract['name']}>>"
    print(FUNCTIONS.format(i=i, array=array, t=sys.argv[1]))
