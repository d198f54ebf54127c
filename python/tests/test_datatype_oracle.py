# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""This package on random input against grit-datatype, which shares no code with it.

What is not compared is wrong there; FAULTS in spec/conformance/routes/by_datatype.py
lists it by reason, with the vectors that show it. GRIT_CONFORMANCE=full makes the
rounds long.
"""

import math
import pathlib
import random
import re
import sys

import numpy as np
import pytest

import grit_mlir as grit
from bits import GRADES, assert_same_bits, from_hex
from grit_mlir import _core
from test_reference_oracle import (BLOCK, comparable_word, random_check, random_grade_text,
                                   random_planes, random_values, rounds)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "spec"))
import reference  # noqa: E402

package = pytest.importorskip("grit")
CANONICAL = (0x1000000000000001, 0x1000000000000001)


def refusal(call):
    """The status of what `call` refuses, else Ok."""
    try:
        call()
    except grit.CheckError as error:
        return error.status.name
    return "Ok"


def is_comparable_text(text):
    """int2 becomes a token that is none, sp takes every format for its indices and
    signs in its numbers, a custom rule needs no name."""
    lower = text.lower().replace(" ", "")
    return not ("int2" in lower.replace("uint2", "") or "s2" in lower or "custom" in lower
                or re.search(r"sp=[^,]*[+_]", lower)
                or re.search(r"sp=\d+:\d+:(?!u2|u4|uint2|uint4|nibble)", lower))


def random_grades(rng, count):
    """Spellings, and the canonical text that grit-datatype gives for them or None."""
    found = 0
    while found < count:
        text = random_grade_text(rng)
        if not is_comparable_text(text):
            continue
        found += 1
        try:
            yield text, package.canonicalize(text)
        except package.GradeError:
            yield text, None


def test_grade_texts():
    """What parses, and what it becomes (G12, G25); a contract is usable besides (G31)."""
    accepted = 0
    for text, canonical in random_grades(random.Random(21), rounds(3_000, 200_000)):
        try:
            contract = grit.Contract(text)
        except grit.CheckError:
            if canonical is not None:  # ... or no array can have it
                with pytest.raises(reference.Refused):
                    reference.verify_grade(reference.Grade.parse(canonical))
            continue
        assert contract.canonical == canonical, text
        assert contract.grade_id == package.grade_id_of(canonical)
        accepted += 1
    assert accepted > 300


def test_descriptors_and_identities():
    """The 64 bytes, the sizes of the planes and the gid of grades of every kind (B2,
    B22)."""
    compared = 0
    rng = random.Random(22)
    for text, canonical in random_grades(rng, rounds(2_000, 100_000)):
        try:
            contract = grit.Contract(text)
        except grit.CheckError:
            continue
        axis = rng.randrange(3)
        extent = math.lcm(contract.axis_multiple, contract.array_multiple)
        shape = [1] * axis + [extent * rng.randrange(1, 4)]
        grade = reference.Grade.parse(canonical)
        meta = reference.canonical_placements(grade)[2]
        spec = _core.Spec(contract, shape, axis, None)
        theirs = package.desc_from_grade_string(canonical, axis, 0, *CANONICAL, meta)
        assert spec.descriptor() == theirs.pack(), text
        sizes = [0] * 4
        for slot, size in zip(spec.plane_slots, spec.plane_sizes()):
            sizes[slot] = size
        assert sizes == list(package.expected_plane_bytes(theirs, shape)["bytes"]), text
        assert spec.gid() == package.gid_of(theirs, canonical, shape)
        compared += 1
    assert compared > 200


def test_checks_of_descriptors():
    """Steps 1 to 4 in their order (C4)."""
    rng, statuses = random.Random(23), set()
    for _ in range(rounds(5_000, 200_000)):
        _, raw, shape, sizes = random_check(rng)
        expected = package.grit_check_status(raw, shape, sizes).status.spec_name
        assert refusal(lambda: grit.check(raw, shape, sizes)) == expected, (raw.hex(), shape)
        statuses.add(expected)
    assert statuses == {"Ok", "SizeMismatch", "GradeUnknown", "PlacementUnknown"}


def test_checks_of_bytes():
    """Step 5: the order of sparse indices, and digests (C24, C25). Planes are there:
    without them grit-datatype says Ok."""
    rng = random.Random(24)
    raw = reference.pack_descriptor(reference.descriptor_of(
        reference.grade_named("GRADE_I8S24")))
    statuses = []
    for _ in range(rounds(500, 50_000)):
        planes = [rng.randbytes(16), rng.randbytes(2), b"",
                  bytes(rng.choice((0x44, 0x48, 0x9C, 0xED, rng.randrange(256)))
                        for _ in range(4))]
        digest = rng.choice((None, package.digest_of(planes), rng.randbytes(16)))
        sizes = [len(plane) for plane in planes]
        expected = package.grit_check_status(raw, [32], sizes, 2, digest, planes)
        found = refusal(lambda: grit.check(raw, [32], sizes, 2, planes, digest))
        assert found == expected.status.spec_name, (planes, digest)
        statuses.append(found)
    assert 0 < statuses.count("Ok") < len(statuses)


def test_fingerprints():
    """Digests of any four planes, and base32 both ways (B24, B26)."""
    rng, alphabet = random.Random(25), package.CROCKFORD_ALPHABET + "ilouIL O"
    for _ in range(rounds(1_000, 100_000)):
        planes = [rng.randbytes(rng.choice((0, 0, 1, 7, 64))) for _ in range(4)]
        buffers = [np.frombuffer(plane, np.uint8) for plane in planes]
        assert _core.digest(buffers) == package.digest_of(planes)
        value = rng.randbytes(16)
        assert _core.from_base32(package.crockford32(value)) == value
        text = rng.choice("0123457789") + "".join(rng.choices(
            rng.choice((alphabet, package.CROCKFORD_ALPHABET)), k=rng.choice((25, 25, 24))))
        try:
            expected = package.crockford32_decode(text)
        except ValueError:
            expected = None
        try:
            found = _core.from_base32(text)
        except ValueError:
            found = None
        assert found == expected, text


def test_numbers():
    """Codes of formats of any kind whose values binary32 holds (F3, F4)."""
    rng = random.Random(26)
    for _ in range(rounds(3_000, 100_000)):
        word = comparable_word(rng)
        code = rng.getrandbits((word & 31) + 1)
        assert_same_bits([_core.decode_code(word, code)],
                         [package.fmt_decode(word, code)], (hex(word), code))


@pytest.mark.parametrize("name", GRADES)
def test_arrays_of_the_six(name):
    """Encode and decode (E2, D8). Not compared: encode under nvf4_rtz, which rounds as
    nvf4 does, and ranges of q4ks that overflow, where grit-datatype raises."""
    registered = "GRADE_" + name.upper()
    rng, grade = random.Random(name + "3"), reference.grade_named(registered)
    for _ in range(rounds(15 if name == "q4ks" else 60, 5_000)):
        count = BLOCK[name] * rng.choice((1, 2))
        values = random_values(rng, count)
        overflows = name == "q4ks" and max(
            (abs(v) for v in values if v == v and abs(v) < reference.INF), default=0) > 1e38
        if name != "nvf4_rtz" and not overflows:
            array = grit.quantize(np.array(values, np.float32), name)
            planes = [bytes(plane) for plane in package.encode(registered, values)]
            assert [plane.tobytes() for plane in array.planes] == planes, values
        planes = random_planes(rng, grade, [count])
        assert_same_bits(grit.Array(name, [count], planes).dequantize(),
                         from_hex("".join(package.decode_bits(registered, planes, count))))


def codes_of(plane, width, count):
    """`count` numbers of `width` bits, one after the other, least significant first."""
    bits = np.unpackbits(np.frombuffer(plane, np.uint8), bitorder="little")
    weights = 1 << np.arange(width, dtype=np.uint64)
    return bits[:width * count].reshape(count, width).astype(np.uint64) @ weights


def test_generic_grades():
    """Dense grades of one and two levels, put together from grit-datatype's numbers
    and sizes: S1 * S0, times the element, each product rounded (D1, D6, D7)."""
    rng, formats = random.Random(27), list(package.fmt.NAME_FMT)
    for _ in range(rounds(300, 20_000)):
        e, s0 = rng.choice(formats), rng.choice(formats)
        k0, k1 = rng.choice((1, 2, 4, 8)), rng.choice((0, 1, 2))
        s1 = rng.choice(("", "binary16", "binary32", "e4m3", "u8"))
        pad = rng.choice(("", ",ct=pad8"))
        text = package.canonicalize(f"grit1(e={e},k0={k0},s0={s0}"
                                    + (f",k1={k1},s1={s1}" if s1 else "") + f"{pad},esr=ratio)")
        count = 16
        d = package.desc_from_grade_string(text, 0, 0, *CANONICAL, 0)
        info = package.expected_plane_bytes(d, [count])
        planes = [rng.randbytes(size) for size in info["bytes"]]

        def values(plane, token, items, padded):
            word = package.fmt.NAME_FMT[token]
            width = (word & 31) + 1
            stored = -(-width // 8) * 8 if padded else width
            codes = codes_of(plane, stored, items) & np.uint64((1 << width) - 1)
            return np.array([package.fmt_decode(word, int(code)) for code in codes],
                            np.float32)

        with np.errstate(all="ignore"):
            scales = values(planes[1], s0, count // k0, True)
            if s1:
                outer = values(planes[2], s1, info["n_groups1"], True)
                scales = np.repeat(outer, k1 if k1 else scales.size) * scales
            expected = np.repeat(scales, k0) * values(planes[0], e, count, bool(pad))
        assert_same_bits(grit.Array(text, [count], planes).dequantize(), expected,
                         (text, planes))
