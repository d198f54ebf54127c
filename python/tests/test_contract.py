# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contracts: names, identities, refusals."""

import pickle

import numpy as np
import pytest

import grit_mlir as grit
from bits import ALL, CHECKPOINTS, DECODED, GRADES, NEEDING, OWN_GRADES, VECTORS


def test_the_registered_names():
    names = [c.name for c in grit.contracts()]
    assert sorted(names) == sorted(ALL + VECTORS + DECODED + CHECKPOINTS)
    # Grades first, then what follows the order of ggml's types, then the others.
    assert tuple(names[:len(GRADES + OWN_GRADES)]) == GRADES + OWN_GRADES
    assert tuple(name for name in names if name in CHECKPOINTS) == CHECKPOINTS


@pytest.mark.parametrize("name", [c.name for c in grit.contracts() if not c.encodes])
def test_formats_without_an_encoder_refuse_to_encode_by_name(name):
    with pytest.raises(grit.GritGradeError, match=name):
        grit.quantize(np.zeros((64, 1024), np.float32), name)


@pytest.mark.parametrize("name", NEEDING)
def test_formats_that_need_importance_say_so_by_name(name):
    assert grit.Contract(name).encodes
    with pytest.raises(grit.GritGradeError, match=f"needs importance(.|\n)*{name}"):
        grit.quantize(np.zeros((64, 1024), np.float32), name)


def test_a_text_is_a_contract():
    text = ("gritfmt1(planes=[4/1@0,16/32@1], codes=p0:4@0+i*4, level=u4*2-15, "
            "scales=[(binary16, lin/32, p1:16@0+i*16)], axis=32)")
    contract = grit.Contract(text)
    codes, scale = np.full(16, 0xF0, np.uint8), np.array([0.5], np.float16)
    values = grit.Array(contract, (32,), [codes, scale.view(np.uint8)]).dequantize()
    assert values.tolist() == [-7.5, 7.5] * 16
    assert grit.Contract(grit.Contract("gguf.q6_k").canonical).name == "gguf.q6_k"
    with pytest.raises(grit.GritGradeError, match="line 1, column 39"):
        grit.Contract("gritfmt1(planes=[4/1@0], codes=p0:4@0+j*4)")


@pytest.mark.parametrize("name", GRADES)
def test_grades_have_the_published_strings_and_ids(golden, name):
    published = golden["grades"]["GRADE_" + name.upper()]
    contract = grit.Contract(name)
    assert contract.is_grade
    assert contract.canonical == published["canonical"]
    assert contract.grade_id == contract.id == int(published["grade_id"], 16)


@pytest.mark.parametrize("name", ALL)
def test_every_spelling_gives_the_same_contract(name):
    contract = grit.Contract(name)
    spellings = [name.upper(), name.title()]
    if contract.is_grade:
        spellings += ["GRADE_" + name.upper(), contract.canonical]
    for text in spellings:
        assert grit.Contract(text) == contract, text
        assert hash(grit.Contract(text)) == hash(contract)
    assert grit.Contract(contract) == contract
    assert pickle.loads(pickle.dumps(contract)) == contract
    assert repr(contract) == f"Contract('{name}')"
    assert len({grit.Contract(n) for n in ALL}) == len(ALL)


@pytest.mark.parametrize("name", sorted(set(ALL) - set(GRADES + OWN_GRADES)))
def test_foreign_formats_have_no_grade_id(name):
    contract = grit.Contract(name)
    assert not contract.is_grade
    assert contract.grade_id is None
    assert contract.canonical.startswith("gritfmt1(")


def test_contracts_equal_nothing_else():
    assert grit.Contract("mxfp4") != "mxfp4"
    assert grit.Contract("mxfp4") != grit.Contract("gguf.mxfp4")
    assert grit.Contract("mxfp4") != grit.Contract("mxfp4_rne")
    assert grit.Contract("mxfp4") != None  # noqa: E711
    assert grit.Contract("mxfp4") not in (None, 1)


def test_a_registered_grade_is_known_everywhere():
    text = "grit1(e=e2m1,k0=64,s0=e8m0,esr=exp2floormaxabs)"
    array = grit.quantize(np.ones((2, 64), np.float32), text)
    sizes = [len(plane) for plane in array.planes]
    with pytest.raises(grit.GritGradeError):
        grit.check(array.descriptor, array.shape, sizes)
    mine = grit.register_grade("my-mx64", text)
    assert mine == grit.Contract("MY-MX64") == grit.Contract(text)
    assert grit.register_grade("my-mx64", text) == mine
    assert grit.check(array.descriptor, array.shape, sizes) is None
    with pytest.raises(grit.CheckError, match="name"):
        grit.register_grade("mxfp4", text)


def format_text(name, level="s4"):
    return (f"gritfmt1(name={name},encode=ratio,planes=[data=4/1@0,scale=16/20@1],\n"
            f"codes=data:4@0+i*4,level={level},"
            "scales=[d=(binary16,lin/20,scale:16@0+i*16)],axis=20)")


def test_a_registered_format_is_known_by_name(tmp_path):
    text = format_text("my.nibbles")
    with pytest.raises(grit.GritGradeError):
        grit.Contract("my.nibbles")
    mine = grit.register_format(text)
    assert mine == grit.Contract("My.Nibbles") == grit.Contract(mine.canonical)
    assert grit.register_format(text) == mine
    assert mine.name == mine.canonical
    assert mine.display_name == "my.nibbles" and repr(mine) == "Contract('my.nibbles')"
    path = tmp_path / "nibbles.grit"
    path.write_text("# a comment\n" + text)
    assert grit.register_format(path) == grit.register_format(str(path)) == mine
    array = grit.quantize(np.linspace(-7, 7, 40, dtype=np.float32).reshape(2, 20), "my.nibbles")
    assert [plane.nbytes for plane in array.planes[:2]] == [20, 4]
    grit.save(tmp_path / "x.safetensors", {"w": array})
    assert grit.open(tmp_path / "x.safetensors")["w"].contract == mine


def test_a_format_that_cannot_be_registered_is_refused_with_its_place(tmp_path):
    grit.register_format(format_text("my.taken", "u4"))
    with pytest.raises(grit.GritGradeError, match="'my.taken' = gritfmt1") as caught:
        grit.register_format(format_text("my.taken"))
    assert caught.value.detail["field"] == "name"
    path = tmp_path / "wrong.grit"
    path.write_text(format_text("my.wrong", "s5"))
    with pytest.raises(grit.GritGradeError) as caught:
        grit.register_format(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert caught.value.detail["field"] == "line 2, column 26"
    with pytest.raises(grit.GritGradeError, match=r"\(line 2, column 20\)"):
        grit.register_format(format_text("my.wrong", "s8"))
    with pytest.raises(FileNotFoundError):
        grit.register_format(tmp_path / "none.grit")


def test_the_block_of_nf4_is_a_parameter():
    assert grit.Contract("hurray.nf4") == grit.Contract("hurray.nf4(block=64)")
    wide = grit.Contract("hurray.nf4(block=128)")
    assert wide != grit.Contract("hurray.nf4")
    assert wide.bits_per_element == 4 + 32 / 128


@pytest.mark.parametrize("name, bits", [
    ("mxfp4", 4.25), ("nvf4", 4.5), ("q4ks", 4.625), ("i8s24", 5.5),
    ("gguf.q4_0", 4.5), ("gguf.q4_k", 4.5), ("gguf.q8_0", 8.5),
    ("gguf.mxfp4", 4.25), ("gguf.iq4_nl", 4.5), ("hurray.nf4", 4.5)])
def test_bits_per_element(name, bits):
    assert grit.Contract(name).bits_per_element == bits


@pytest.mark.parametrize("case", range(30))
def test_grade_strings(golden, case):
    entry = golden["grade_strings"][case]
    if entry["canonical"] is None:
        with pytest.raises(grit.GritGradeError):
            grit.Contract(entry["text"])
    else:
        contract = grit.Contract(entry["text"])
        assert contract.canonical == entry["canonical"]
        assert contract.grade_id == int(entry["grade_id"], 16)


@pytest.mark.parametrize("name, hint", [
    ("mxfp5", "mxfp4"), ("gguf.q4_9", "gguf.q4_"), ("hurray.nf5", "hurray.nf4")])
def test_an_unknown_name_is_refused_with_the_nearest_one(name, hint):
    with pytest.raises(grit.GritGradeError, match=f"did you mean '{hint}") as caught:
        grit.Contract(name)
    assert caught.value.detail["field"] == "contract"
    assert caught.value.detail["found"] == f"'{name}'"


@pytest.mark.parametrize("name", [
    "", " ", "grit1(", "grit1()", "hurray.nf4(block=0)", "hurray.nf4(block=65)",
    "hurray.nf4(block=99999999999999999999)", "m\0xfp4", "mxfp-4", "é" * 1000])
def test_names_that_are_none_are_refused(name):
    with pytest.raises(grit.GritGradeError):
        grit.Contract(name)


@pytest.mark.parametrize("name", [None, 4, b"mxfp4", ["mxfp4"]])
def test_other_types_are_type_errors(name):
    with pytest.raises(TypeError):
        grit.Contract(name)
