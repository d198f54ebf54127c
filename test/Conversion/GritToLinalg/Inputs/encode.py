"""Prints a program that encodes the same numbers twice: as a constant, which the
library quantizes while compiling, and as a value that the compiler cannot see
through, which the emitted code quantizes. It prints how many bytes of each plane
differ.

usage: encode.py CONTRACT ROWS COLUMNS planes=BYTES,... [axis=N] [dynamic]
       [nonfinite] [tame] [half] [format]
"""

import random
import struct
import sys

contract, rows, columns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
options = sys.argv[4:]
axis = next((int(o[5:]) for o in options if o.startswith("axis=")), 1)
planes = [int(o) for o in next(o[7:] for o in options if o.startswith("planes=")).split(",")]
rng = random.Random(f"{contract} {rows} {columns}")


def from_bits(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def number(kind):
    """A number of one kind; a group of numbers is of one kind mostly."""
    if kind == "normal":
        return rng.gauss(0, 1)
    if kind == "half":  # what a scale of binary16 can hold
        return from_bits(rng.getrandbits(1) << 31 | rng.randrange(0x47000000))
    if kind == "wide":  # any finite exponent
        return from_bits(rng.getrandbits(1) << 31 | rng.randrange(0x7F800000))
    if kind == "tiny":  # subnormals and zeros of both signs
        return from_bits(rng.getrandbits(1) << 31 | rng.getrandbits(rng.randrange(24)))
    if kind == "zero":
        return rng.choice([0.0, -0.0])
    if kind == "positive":
        return abs(rng.gauss(0, 1))
    if kind == "huge":
        return rng.choice([-1, 1]) * from_bits(0x7F7FFFFF - rng.getrandbits(20))
    if kind == "tie":  # halves and quarters of small integers
        return rng.randrange(-64, 65) / 4
    if kind == "equal":  # equal magnitudes of both signs
        return rng.choice([-1, 1]) * 1.5
    return rng.choice([float("nan"), float("inf"), -float("inf"), 1.0])


kinds = ["normal", "wide", "tiny", "zero", "positive", "huge", "tie", "equal"]
if "tame" in options:  # a scale of the whole tensor leaves room for all groups
    kinds = ["normal", "positive", "tie", "equal", "zero"]
if "half" in options:  # the library refuses what overflows
    kinds = ["normal", "half", "tiny", "zero", "positive", "tie", "equal"]
if "nonfinite" in options:
    kinds.append("special")
values = []
while len(values) < rows * columns:
    kind = rng.choice(kinds)
    values += [number(kind) for _ in range(16)]
values = values[: rows * columns]
data = struct.pack(f"<{len(values)}f", *values).hex().upper()

shape = f"{rows}x{columns}"
extra = "" if axis == 1 else f", axis = {axis}"
kind = "format" if "." in contract or "format" in options else "grade"
seen = f"?x{columns}" if "dynamic" in options else shape
static_array = f"!grit.array<{shape}x#grit.{kind}<{contract}>{extra}>"
array = f"!grit.array<{seen}x#grit.{kind}<{contract}>{extra}>"
static_planes = ", ".join(f"tensor<{n}xi8>" for n in planes)

print(f"""
func.func private @differences(%a: tensor<?xi8>, %b: tensor<?xi8>) -> index {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c0 : tensor<?xi8>
  %m = tensor.dim %b, %c0 : tensor<?xi8>
  %same = arith.cmpi eq, %n, %m : index
  cf.assert %same, "the sizes of the planes differ"
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %c0) -> index {{
    %x = tensor.extract %a[%i] : tensor<?xi8>
    %y = tensor.extract %b[%i] : tensor<?xi8>
    %ne = arith.cmpi ne, %x, %y : i8
    %one = arith.index_castui %ne : i1 to index
    %s = arith.addi %sum, %one : index
    scf.yield %s : index
  }}
  return %r : index
}}
func.func private @encode(%x: tensor<{seen}xf32>) -> {array} {{
  %a = grit.encode %x : tensor<{seen}xf32> -> {array}
  return %a : {array}
}}
func.func @main() {{
  %x = arith.constant dense<"0x{data}"> : tensor<{shape}xf32>
  %expected = grit.encode %x : tensor<{shape}xf32> -> {static_array}
  %e:{len(planes)} = grit.planes %expected : {static_array} -> {static_planes}""")
if "dynamic" in options:
    print(f"  %y = tensor.cast %x : tensor<{shape}xf32> to tensor<{seen}xf32>")
    dynamic_planes = ", ".join("tensor<4xi8>" if n == 4 else "tensor<?xi8>" for n in planes)
else:
    dynamic_planes = static_planes
print(f"  %found = call @encode(%{'y' if 'dynamic' in options else 'x'}) : (tensor<{seen}xf32>) -> {array}")
print(f"  %f:{len(planes)} = grit.planes %found : {array} -> {dynamic_planes}")
for i, n in enumerate(planes):
    own = f"tensor<{n}xi8>"
    other = dynamic_planes.split(", ")[i]
    print(f"  %a{i} = tensor.cast %e#{i} : {own} to tensor<?xi8>")
    if other == "tensor<?xi8>":
        found = f"%f#{i}"
    else:
        found = f"%b{i}"
        print(f"  %b{i} = tensor.cast %f#{i} : {other} to tensor<?xi8>")
    print(f"  %n{i} = call @differences(%a{i}, {found}) : (tensor<?xi8>, tensor<?xi8>) -> index")
    print(f"  vector.print %n{i} : index")
print("  return\n}")
