# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The laws of GRIT v1, 5.4, compiled: slice, transpose, concat and relayout of drawn
arrays against NumPy on the decoded values, bit for bit. What a law forbids is found
by counting elements, and must be refused in the words of the law."""

import math
import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import grit_mlir as grit
from bits import assert_same_bits, require_compiler
from grit_mlir import _core

require_compiler()

#===----------------------------------------------------------------------===#
# Contracts, arrays, functions
#===----------------------------------------------------------------------===#

SPELLED = (
    "grit1(e=e2m1,k0=3,s0=e8m0,po=msb,esr=exp2floormaxabs)",
    "grit1(e=u2,k0=1,s0=e8m0,esr=ratiomaxabs)",
    "grit1(e=u2,k0=5,s0=e8m0,po=msb,esr=ratiomaxabs)",
    "grit1(e=u4,k0=3,s0=u4,zp=u2,esr=affineminmax)",
    "grit1(e=u6,k0=4,s0=e8m0,esr=ratiomaxabs)",
    "grit1(e=s8,k0=8,s0=binary16,sp=2:4:u2:asclsb,ct=pad8,esr=ratiomaxabs)")
NAMES = ("mxfp4", "nvf4", "q4ks", "i8s24", "gguf.q4_0", "gguf.q4_k", "hurray.nf4") + SPELLED

REFUSED = (grit.compiler.CompileError, grit.GritSizeError)
few = settings(max_examples=80, deadline=None, derandomize=True, database=None)


@pytest.fixture(scope="module", autouse=True)
def registered():
    """Compiled functions take arrays of registered grades only."""
    for number, text in enumerate(SPELLED):
        grit.register_grade(f"law-{number}", text)


def outer(name):
    """Elements, in row-major order, of the outermost group that is not the array."""
    contract = grit.Contract(name)
    return math.lcm(contract.axis_multiple, contract.array_multiple)


def random_array(name, shape, axis, seed):
    """Random bytes as planes; indices of survivors rise."""
    rng = np.random.default_rng(seed)
    spec = _core.Spec(grit.Contract(name), list(shape), axis, None)
    array = grit.Array._make(spec, [rng.integers(0, 256, size, dtype=np.uint8)
                                    for size in spec.plane_sizes()])
    if name == "i8s24" or "sp=2:4" in name:
        low, high = rng.choice(np.array([4, 8, 12, 9, 13, 14], np.uint8),
                               (2, array.planes[3].size))
        array.planes[3][:] = low | high << 4
    return array


def extents(shape):
    return "".join(f"{'?' if extent is None else extent}x" for extent in shape)


def array_type(name, shape, axis, placements=None):
    contract = grit.Contract(name)
    kind, text = (("grade", contract.canonical) if contract.is_grade
                  else ("format", contract.name))
    options = "" if axis == len(shape) - 1 else f", axis = {axis}"
    for role, word in (placements or {}).items():
        options += f", {role} = {word if word.islower() else f'layout({chr(34)}{word}{chr(34)})'}"
    return f'!grit.array<{extents(shape)}#grit.{kind}<"{text}">{options}>'


def decoded(operation, arrays, types, result, shape, of, scalars=()):
    """The values of `operation` on `arrays`, whose result type is `result`, of extents
    `shape`, of which `of` says which are known to the compiler."""
    names = [f"%a{i}" for i in range(len(arrays))]
    tensor = f"tensor<{extents(of)}f32>"
    arguments = [f"{name}: {kind}" for name, kind in zip(names, types)]
    arguments += [f"%y: {tensor}"] + [f"%i{n}: index" for n in range(len(scalars))]
    source = f"""\
func.func @f({', '.join(arguments)}) -> {tensor} {{
  %r = {operation.format(', '.join(names))} : {', '.join(types)} -> {result}
  %v = grit.decode ins(%r : {result}) outs(%y : {tensor}) -> {tensor}
  return %v : {tensor}
}}
"""
    out = np.full(shape, 7, np.float32)
    grit.compiler.compile(source)["f"](*arrays, out, *scalars)
    return out


def counted(shape, axis, name):
    """The places of elements in the order in which groups are counted: NF4 counts
    scales along its axis."""
    places = np.arange(math.prod(shape)).reshape(shape)
    if name != "hurray.nf4":
        return places, lambda part: part.reshape(-1)
    order = [i for i in range(len(shape)) if i != axis] + [axis]
    moved = np.empty(shape, np.int64)
    moved.transpose(order)[...] = np.arange(moved.size).reshape([shape[i] for i in order])
    return moved, lambda part: part.transpose(order).reshape(-1)


def keeps_groups(places, unit):
    """Whether these elements, in order, are whole groups in order."""
    if places.size % unit:
        return False
    groups = places.reshape(-1, unit)
    return bool(np.all(groups[:, 0] % unit == 0) and
                np.all(groups == groups[:, :1] + np.arange(unit)))


def laws_allow(name, places):
    return all(keeps_groups(places, unit) for unit in
               {grit.Contract(name).axis_multiple, outer(name)})


def assert_result(allowed, words, compute, expected, what):
    """`compute` gives `expected`, or is refused in `words`."""
    if allowed:
        assert_same_bits(compute(), expected, what)
        return
    with pytest.raises(REFUSED, match=words):
        compute()


def known(shape, dynamic):
    return [None if hidden else extent for extent, hidden in zip(shape, dynamic)]


SEEDS = st.integers(0, 2**32 - 1)

#===----------------------------------------------------------------------===#
# Slices (L5)
#===----------------------------------------------------------------------===#


@st.composite
def slices(draw):
    name = draw(st.sampled_from(NAMES))
    multiple = outer(name)
    rank = draw(st.integers(1, 3))
    axis = draw(st.integers(0, rank - 1)) if name == "hurray.nf4" else rank - 1
    shape = [draw(st.integers(1, 5)) for _ in range(rank)]
    shape[axis] = multiple * draw(st.integers(1, 3))
    steps = [1] * rank
    steps[axis] = draw(st.sampled_from([multiple] * 4 + [max(1, multiple // 2)]))
    empty = draw(st.sampled_from([None] * 5 + list(range(rank))))
    box = []
    for dim, (extent, step) in enumerate(zip(shape, steps)):
        start = draw(st.integers(0, extent // step - 1))
        size = 0 if dim == empty else draw(st.integers(1, extent // step - start))
        box.append(slice(start * step, (start + size) * step))
    dynamic = [[draw(st.booleans()) for _ in shape] if draw(st.booleans()) else [False] * rank
               for _ in range(3)]
    return name, shape, axis, box, dynamic, draw(SEEDS)


@few
@given(slices())
def test_L5_slices(drawn):
    name, shape, axis, box, (extent_hidden, offset_hidden, size_hidden), seed = drawn
    array = random_array(name, shape, axis, seed)
    scalars, lists = [], []
    sizes = [part.stop - part.start for part in box]
    for numbers, hidden in (([part.start for part in box], offset_hidden),
                            (sizes, size_hidden)):
        lists.append([])
        for number, is_hidden in zip(numbers, hidden):
            lists[-1].append(f"%i{len(scalars)}" if is_hidden else str(number))
            if is_hidden:
                scalars.append(number)
    offsets, taken = (", ".join(entries) for entries in lists)
    box = tuple(box)
    places, order = counted(shape, axis, name)
    multiple = grit.Contract(name).axis_multiple
    allowed = laws_allow(name, order(places[box])) and (
        sizes[axis] == shape[axis]
        or box[axis].start % multiple == 0 == box[axis].stop % multiple)
    of = known(sizes, size_hidden)
    assert_result(
        allowed, r"\(L5\)|whole (level-1 )?groups",
        lambda: decoded(f"grit.slice {{}} [{offsets}] [{taken}]", [array],
                        [array_type(name, known(shape, extent_hidden), axis)],
                        array_type(name, of, axis), sizes, of, scalars),
        array.dequantize()[box], str(drawn))


@settings(few, max_examples=12)
@given(st.integers(0, 6), st.integers(0, 6), SEEDS)
def test_L5_slices_of_rows_that_share_groups(start, size, seed):
    """A Q4KS group of 256 goes on in the next row of 384."""
    assume(start + size <= 6 and size > 0)
    array = random_array("q4ks", (6, 384), 1, seed)
    compute = lambda hidden: decoded(
        f"grit.slice {{}} [{'%i0' if hidden else start}, 0] [{size}, 384]", [array],
        [array_type("q4ks", (6, 384), 1)], array_type("q4ks", (size, 384), 1), (size, 384),
        (size, 384), [start] if hidden else [])
    for hidden in (False, True):
        assert_result(start % 2 == 0 == size % 2, r"\(L5\)|whole (level-1 )?groups",
                      lambda: compute(hidden), array.dequantize()[start:start + size],
                      f"{start} {size} {hidden}")


@pytest.mark.parametrize("start, size", [(3, 0), (2, 1), (-1, 1), (0, 3), (2**62, 1)])
def test_slices_that_reach_beyond_the_array(start, size):
    array = random_array("mxfp4", (2, 32), 1, 0)
    source = """
func.func @f(%a: !grit.array<2x32x#grit.grade<mxfp4>>, %y: tensor<?x32xf32>, %o: index,
             %n: index) -> tensor<?x32xf32> {
  %s = grit.slice %a [%o, 0] [%n, 32]
       : !grit.array<2x32x#grit.grade<mxfp4>> -> !grit.array<?x32x#grit.grade<mxfp4>>
  %r = grit.decode ins(%s : !grit.array<?x32x#grit.grade<mxfp4>>)
                   outs(%y : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %r : tensor<?x32xf32>
}
"""
    with pytest.raises(grit.GritSizeError, match="outside of the array|beyond the array"):
        grit.compiler.compile(source)["f"](array, np.zeros((size, 32), np.float32), start, size)


@pytest.mark.parametrize("name", ["mxfp4", "q4ks", "gguf.q4_0"])
def test_L5_arrays_carried_through_a_loop(name):
    """Each turn moves the first row to the end."""
    kind, row = (array_type(name, (rows, 256), 1) for rows in (None, 1))
    module = grit.compiler.compile(f"""\
func.func @f(%a: {kind}, %n: index, %y: tensor<?x256xf32>) -> tensor<?x256xf32> {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = grit.dim %a, 0 : {kind}
  %rest = arith.subi %rows, %one : index
  %last = scf.for %i = %zero to %n step %one iter_args(%w = %a) -> ({kind}) {{
    %first = grit.slice %w [0, 0] [1, 256] : {kind} -> {row}
    %others = grit.slice %w [1, 0] [%rest, 256] : {kind} -> {kind}
    %next = grit.concat dim 0 %others, %first : {kind}, {row} -> {kind}
    scf.yield %next : {kind}
  }}
  %v = grit.decode ins(%last : {kind}) outs(%y : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %v : tensor<?x256xf32>
}}
""")
    array = random_array(name, (7, 256), 1, 3)
    for turns in range(9):
        out = np.full((7, 256), 7, np.float32)
        module["f"](array, turns, out)
        assert_same_bits(out, np.roll(array.dequantize(), -turns, axis=0),
                         f"{name}, {turns} turns")


#===----------------------------------------------------------------------===#
# Transposes (L4)
#===----------------------------------------------------------------------===#


@st.composite
def transposes(draw):
    name = draw(st.sampled_from(NAMES))
    rank = draw(st.integers(2, 4))
    axis = draw(st.integers(0, rank - 1)) if name == "hurray.nf4" else rank - 1
    shape = [draw(st.integers(2, 4)) for _ in range(rank)]
    shape[axis] = outer(name) * draw(st.integers(1, 2))
    permutation = draw(st.permutations(range(rank)))
    if draw(st.integers(0, 3)):  # mostly one that keeps the axis
        permutation = [dim for dim in permutation if dim != axis]
        permutation.insert(axis, axis)
    hidden = [draw(st.booleans()) for _ in shape]
    return name, shape, axis, list(permutation), hidden, draw(SEEDS)


@few
@given(transposes())
def test_L4_transposes(drawn):
    name, shape, axis, permutation, hidden, seed = drawn
    array = random_array(name, shape, axis, seed)
    moved = [shape[dim] for dim in permutation]
    allowed = permutation[axis] == axis
    if allowed:
        places, order = counted(shape, axis, name)
        assert laws_allow(name, order(places.transpose(permutation)))
    else:
        hidden = [True] * len(shape)  # types of any extents are types
    of = [known(shape, hidden)[dim] for dim in permutation]
    assert_result(
        allowed, r"\(L4\)",
        lambda: decoded(f"grit.transpose {{}} {permutation}", [array],
                        [array_type(name, known(shape, hidden), axis)],
                        array_type(name, of, axis), moved, of),
        array.dequantize().transpose(permutation), str(drawn))


@pytest.mark.parametrize("shape, allowed", [
    ((2, 3, 128), False), ((2, 3, 2, 128), True), ((2, 2, 3, 128), False)])
def test_L4_rows_that_share_groups(shape, allowed):
    array = random_array("q4ks", shape, len(shape) - 1, 1)
    permutation = [1, 0, *range(2, len(shape))]
    moved = [shape[dim] for dim in permutation]
    axis = len(shape) - 1
    assert allowed == laws_allow("q4ks", np.arange(array.size).reshape(shape).transpose(
        permutation).reshape(-1))
    assert_result(allowed, r"\(L4\)",
                  lambda: decoded(f"grit.transpose {{}} {permutation}", [array],
                                  [array_type("q4ks", shape, axis)],
                                  array_type("q4ks", moved, axis), moved, moved),
                  array.dequantize().transpose(permutation), str(shape))


#===----------------------------------------------------------------------===#
# Concatenations (L5)
#===----------------------------------------------------------------------===#


@st.composite
def concatenations(draw):
    name = draw(st.sampled_from([name for name in NAMES if name != "nvf4"]))
    rank = draw(st.integers(1, 3))
    axis = draw(st.integers(0, rank - 1)) if name == "hurray.nf4" else rank - 1
    shape = [draw(st.integers(1, 4)) for _ in range(rank)]
    shape[axis] = outer(name) * draw(st.integers(1, 2))
    dim = draw(st.integers(0, rank - 1))
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        part = list(shape)
        part[dim] = draw(st.integers(0, 3)) * (outer(name) if dim == axis else 1)
        parts.append(part)
    hidden = [[draw(st.booleans()) for _ in shape] for _ in parts]
    return name, parts, axis, dim, hidden, draw(SEEDS)


@few
@given(concatenations())
def test_L5_concatenations(drawn):
    name, parts, axis, dim, hidden, seed = drawn
    arrays = [random_array(name, part, axis, seed + i) for i, part in enumerate(parts)]
    values = np.concatenate([array.dequantize() for array in arrays], dim)
    # Known along `dim` when all parts are, elsewhere when one is.
    of = [None if (any if at == dim else all)(column) else extent
          for at, (extent, column) in enumerate(zip(values.shape, zip(*hidden)))]
    types = [array_type(name, known(part, hides), axis)
             for part, hides in zip(parts, hidden)]
    found = decoded(f"grit.concat dim {dim} {{}}", arrays, types,
                    array_type(name, of, axis), values.shape, of)
    assert_same_bits(found, values, str(drawn))


@pytest.mark.parametrize("name, parts, words", [
    ("q4ks", [(2, 384), (3, 384)], r"\(L5\)|whole level-1 groups"),
    ("q4ks", [(2, 128), (2, 384)], r"\(L5\)"),
    ("nvf4", [(1, 16), (1, 16)], "for the whole array")])
def test_L5_parts_that_share_groups(name, parts, words):
    arrays = [random_array(name, part, 1, 2) for part in parts if name != "q4ks"] or parts
    dim = int(parts[0][0] == parts[1][0])
    whole = list(parts[0])
    whole[dim] += parts[1][dim]
    with pytest.raises(grit.compiler.CompileError, match=words):
        decoded(f"grit.concat dim {dim} {{}}", arrays,
                [array_type(name, part, 1) for part in parts], array_type(name, whole, 1),
                whole, whole)


#===----------------------------------------------------------------------===#
# Placements (L1)
#===----------------------------------------------------------------------===#


@st.composite
def layouts(draw, depth=2):
    kind = draw(st.sampled_from(
        ["RowMajor", "ColMajor", "Swizzle", "Perm", "Tile", "Interleave", "Compose"]
        if depth else ["RowMajor", "ColMajor", "Swizzle", "Perm"]))
    inner = layouts(depth=depth - 1) if depth else None
    few_of = st.sampled_from([1, 2, 3, 4, 8])
    if kind == "Swizzle":
        bits, shift = draw(st.integers(1, 2)), draw(st.integers(1, 3))
        return f"Swizzle({bits},{draw(st.integers(0, 3))},{shift})"
    if kind == "Perm":
        numbers = draw(st.permutations(range(draw(st.sampled_from([2, 3, 4, 6, 8])))))
        return f"Perm([{','.join(map(str, numbers))}])"
    if kind == "Tile":
        return f"Tile({draw(inner)},[{draw(few_of)},{draw(few_of)}])"
    if kind == "Interleave":
        return f"Interleave({draw(inner)},{draw(few_of)})"
    if kind == "Compose":
        return f"Compose({draw(inner)},{draw(inner)})"
    return kind


FITS = {"mxfp4": 32, "i8s24": 32, "hurray.nf4": 64, **{name: 24 for name in SPELLED},
        SPELLED[2]: 120}


@settings(few, max_examples=100)
@given(st.sampled_from(sorted(FITS)), layouts(), st.sampled_from([1, 3, 4, 8]),
       st.booleans(), SEEDS)
def test_L1_relayouts(name, text, rows, hidden, seed):
    """A function that moves an array to a placement and takes a slice there, and one
    that reads the rows of an array that lies there; the format library says which
    placements fit, and is the judge of bytes."""
    columns = FITS[name]
    shape = (rows, columns)
    array = random_array(name, shape, 1, seed)
    placements = {"data": text}
    plain = array_type(name, shape, 1)
    there = array_type(name, shape, 1, placements)
    sizes = [plane.size for plane in array.planes if plane.size]
    planes = ", ".join(f"tensor<{size}xi8>" for size in sizes)
    values = [f"%p#{i}" for i in range(len(sizes))]
    move = f"""\
func.func @f(%a: {plain}) -> ({planes}) {{
  %m = grit.relayout %a : {plain} -> {there}
  %p:{len(sizes)} = grit.planes %m : {there} -> {planes}
  return {', '.join(values)} : {planes}
}}
"""
    given_placements = {"data": f"layout({text})"}
    try:
        grit.quantize(np.zeros(shape, np.float32), name, placements=given_placements)
    except grit.CheckError:
        with pytest.raises(grit.compiler.CompileError, match="does not fit|no map|permutation"):
            grit.compiler.compile(move)
        return
    out = [np.full(size, 0x5A, np.int8) for size in sizes]
    grit.compiler.compile(move)["f"](array, *out)
    moved = iter(out)
    placed = grit.Array(name, shape, [next(moved).view(np.uint8) if plane.size else plane
                                      for plane in array.planes],
                        placements=given_placements)
    assert_same_bits(placed.dequantize(), array.dequantize(), text)

    known_rows = (None if hidden else rows, columns)
    canonical = array_type(name, known_rows, 1)
    kind = array_type(name, known_rows, 1, placements)
    try:
        found = decoded("grit.relayout {}", [placed], [kind], canonical, shape, known_rows)
    except REFUSED as refusal:
        assert hidden and re.search("number of rows that is not known|rows must be a multiple",
                                    str(refusal)), text
        return
    assert_same_bits(found, array.dequantize(), text)
