# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spec/conformance/vectors.json against this package.

What the package has no function for is in NOT_ANSWERED; single vectors that it
answers otherwise are in DIFFERENCES. Both say why, and both are tested: an entry
that has become untrue fails.
"""

import json
import pathlib
import sys

import numpy as np
import pytest

import grit_mlir as grit
from bits import assert_same_bits, from_hex
from grit_mlir import _core

SPEC = pathlib.Path(__file__).resolve().parents[2] / "spec"
sys.path.insert(0, str(SPEC))
import reference  # noqa: E402

VECTORS = json.loads((SPEC / "conformance/vectors.json").read_text())["vectors"]

NOT_ANSWERED = {
    "format_word": "no function takes a word apart; unittests/Format do",
    "format_space": "no function judges a word; unittests/Format do",
    "fmt_encode": "no function encodes one number; unittests/Format do",
    "descriptor_fields": "no function takes a descriptor apart",
    "fingerprint": "no function hashes bytes; grade ids, gids and digests are compared",
    "placement": "no function judges one word; the checks have a word of every class",
    "placement_map": "maps are seen through decode alone",
    "layout": "layout expressions are not part of the package",
    "layout_map": "layout expressions are not part of the package",
    "relayout": "relayout is not part of the package",
    "edge": "supersedes edges are not part of the package",
    "equivalent": "supersedes edges are not part of the package",
    "refines": "the order of grades is not part of the package",
    "token_order": "the order of grades is not part of the package",
    "join": "the order of grades is not part of the package",
    "relax": "the order of grades is not part of the package",
}
# Vectors that the package answers otherwise, by the reason.
DIFFERENCES = {vector: reason for reason, vectors in {
    "a contract is also usable (G31), and no array has this grade": (
        "grade/k0_beyond_a_field_parses", "grade/k0_zero_parses",
        "grade/sparsity/1:32:u4:none", "grade/sparsity/31:32:u2:unordered"),
}.items() for vector in vectors}


def contract_of(name):
    return grit.Contract(reference.REGISTERED.get(name, name))


def refusal(call):
    """The status of what `call` refuses; None if it does not."""
    try:
        call()
    except grit.CheckError as error:
        return error.status.name
    return None


def planes_of(texts):
    return [None if text is None else bytes.fromhex(text) for text in texts]


def empty_array(contract, shape, axis, placements=None):
    """An array whose planes are zeros, for what does not depend on them."""
    spec = _core.Spec(contract, shape, axis, placements)
    planes = [bytes(size) for size in spec.plane_sizes()]
    slots = [b""] * 4
    for slot, plane in zip(spec.plane_slots, planes):
        slots[slot] = plane
    return grit.Array(contract, shape, slots, axis, placements)


# --- One answer per kind -----------------------------------------------------------


def answer_fmt_decode(inputs, expected):
    word = int(inputs["word"], 16)
    codes = inputs["codes"]
    if codes == "all":
        codes = range(2 ** ((word & 31) + 1))
    values = np.array([_core.decode_code(word, code) for code in codes], np.float32)
    if "values" in expected:
        assert_same_bits(values, from_hex(expected["values"]))
    else:
        packed = values.astype("<f4").tobytes()
        assert f"{reference.fnv1a64(packed):016x}" == expected["fnv1a64"]


def answer_grade(inputs, expected):
    if "refused" in expected:
        assert refusal(lambda: grit.Contract(inputs["text"])) == "GradeUnknown"
        return
    contract = grit.Contract(inputs["text"])
    assert contract.canonical == expected["canonical"]
    assert f"{contract.grade_id:016x}" == expected["grade_id"]


def answer_descriptor(inputs, expected):
    axis = inputs.get("group_axis", 0)
    if "refused" in expected:
        assert refusal(lambda: contract_of(inputs["grade"])) == "GradeUnknown"
        return
    contract = contract_of(inputs["grade"])
    extent = int(np.lcm(contract.axis_multiple, contract.array_multiple))
    array = empty_array(contract, [1] * axis + [extent], axis, inputs.get("placements"))
    raw = bytearray(array.descriptor)
    raw[28:32] = inputs.get("note", 0).to_bytes(4, "little")  # the package writes 0
    assert raw.hex() == expected["desc_hex"]


def answer_gid(inputs, expected):
    array = empty_array(contract_of(inputs["grade"]), inputs["shape"],
                        inputs.get("group_axis", 0), inputs.get("placements"))
    assert array.gid.hex() == expected["gid"]
    assert _core.from_base32(expected["gid_base32"]) == array.gid


def answer_base32(inputs, expected):
    if "refused" in expected:
        with pytest.raises(ValueError):
            _core.from_base32(inputs["text"])
        return
    assert _core.from_base32(inputs["text"]).hex() == expected["bytes"]


def answer_digest(inputs, expected):
    planes = [np.frombuffer(plane, np.uint8) for plane in planes_of(inputs["planes"])]
    assert _core.digest(planes).hex() == expected["digest"]


def answer_sizes(inputs, expected):
    shape, axis = inputs["shape"], inputs.get("group_axis", len(inputs["shape"]) - 1)
    if expected["status"] != "Ok":
        grade = reference.grade_named(inputs["grade"])
        raw = reference.pack_descriptor(reference.descriptor_of(grade, axis))
        if inputs["grade"] in reference.REGISTERED:
            found = refusal(lambda: _core.spec_from_descriptor(raw, shape))
        else:
            found = refusal(lambda: _core.Spec(contract_of(inputs["grade"]), shape, axis))
        assert found == expected["status"]
        return
    spec = _core.Spec(contract_of(inputs["grade"]), shape, axis)
    sizes = [0] * 4
    for slot, size in zip(spec.plane_slots, spec.plane_sizes()):
        sizes[slot] = size
    assert sizes == expected["plane_bytes"]


def answer_check(inputs, expected):
    for text in inputs.get("grades", ()):
        grit.register_grade(f"vector-{grit.Contract(text).grade_id:016x}", text)
    """Warnings are not part of the package."""
    digest = inputs.get("expected_digest")
    try:
        grit.check(bytes.fromhex(inputs["desc_hex"]), inputs["shape"],
                   inputs["plane_bytes"], inputs["level"],
                   planes_of(inputs.get("planes", [])),
                   None if digest is None else bytes.fromhex(digest))
        assert expected["status"] == "Ok"
    except grit.CheckError as error:
        assert error.status.name == expected["status"]
        if "plane" in expected:
            assert error.detail["plane"] == expected["plane"]
        if "likely_k0" in expected:
            assert f"k0={expected['likely_k0']}" in str(error)


def answer_array(inputs, expected):
    values = from_hex(inputs["values"]).reshape(inputs["shape"])
    axis = inputs.get("group_axis", -1)
    if "refused" in expected:
        assert refusal(lambda: grit.quantize(values, contract_of(inputs["grade"]),
                                             axis)) == "GradeUnknown"
        return
    array = grit.quantize(values, contract_of(inputs["grade"]), axis)
    assert [plane.tobytes().hex() for plane in array.planes] == expected["planes"]
    assert array.descriptor.hex() == expected["desc_hex"]
    assert array.gid.hex() == expected["gid"]
    assert array.digest.hex() == expected["digest"]
    assert_same_bits(array.dequantize(), from_hex(expected["decoded"]))


def answer_decode(inputs, expected):
    def array():
        return grit.Array(contract_of(inputs["grade"]), inputs["shape"],
                          planes_of(inputs["planes"]), inputs.get("group_axis", -1),
                          inputs.get("placements"))

    if "refused" in expected:
        status = refusal(lambda: array().dequantize())
        reason = expected["refused"]
        assert status == (reason if reason in reference.STATUSES else "GradeUnknown")
        return
    assert array().gid.hex() == expected["gid"]
    assert array().digest.hex() == expected["digest"]
    assert_same_bits(array().dequantize(), from_hex(expected["decoded"]))


def answer_supersedes(inputs, expected):
    for name, gid in zip((inputs["a"], inputs["b"]), expected["gid"]):
        answer_decode({**inputs, "grade": name}, {
            "gid": gid, "decoded": expected["decoded"],
            "digest": reference.digest(planes_of(inputs["planes"])).hex()})


ANSWERS = {name.removeprefix("answer_"): function
           for name, function in list(globals().items()) if name.startswith("answer_")}


def test_every_kind_has_an_answer_or_a_reason():
    kinds = {vector["kind"] for vector in VECTORS}
    assert set(ANSWERS) | set(NOT_ANSWERED) == kinds
    assert not set(ANSWERS) & set(NOT_ANSWERED)
    assert set(DIFFERENCES) <= {vector["id"] for vector in VECTORS}


@pytest.mark.parametrize("vector", [
    pytest.param(vector, id=vector["id"],
                 marks=[pytest.mark.xfail(strict=True, reason=DIFFERENCES[vector["id"]])]
                 if vector["id"] in DIFFERENCES else [])
    for vector in VECTORS if vector["kind"] in ANSWERS])
def test_vector(vector):
    ANSWERS[vector["kind"]](vector["inputs"], vector["expected"])
