# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Big-endian GGUF files against the package gguf, which writes them and converts
files of some types in place, and against ggml's own code on a big-endian machine:
big_endian_blocks.json has eight blocks of each type, and the SHA-256 of the values
(binary32, little-endian) that dequantize_row_* of commit d99724f gave for them, built
with -ffp-contract=off for s390x and run in an emulator."""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

import grit_mlir as grit
import hostile
from bits import DECODED, GGUF, assert_same_bits, bits

gguf = pytest.importorskip("gguf")
from gguf.scripts import gguf_convert_endian  # noqa: E402

GRIT = pathlib.Path(os.environ.get("GRIT_BUILD", "build")) / "bin" / "grit"
# Types that the package converts.
CONVERTED = ("f32", "f16", "bf16", "q4_0", "q8_0", "q4_k", "q6_k", "mxfp4", "nvfp4")
# Types whose levels are vectors of a table.
GRIDS = {"iq1_s", "iq1_m", "iq2_xxs", "iq2_xs", "iq2_s", "iq3_xxs", "iq3_s"}
TYPES = sorted({name.removeprefix("gguf.") for name in (*GGUF, *DECODED)} - GRIDS)
PLAIN = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i16": np.int16,
         "i32": np.int32}
# Newer types have no number in the package.
TYPE_IDS = {**{kind.name.lower(): int(kind) for kind in gguf.GGMLQuantizationType},
            "q1_0": 41, "q2_0": 42}
KEYS = {"general.architecture": "test", "general.file_type": 1, "a.flag": True,
        "a.small": 7, "a.big": 2**40, "a.negative": -5, "a.real": 0.5}


def convert(source, target, *arguments):
    run = subprocess.run([GRIT, "convert", source, "-o", target, *arguments],
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return target.read_bytes()


def by_the_package(source, target, order, monkeypatch):
    shutil.copy(source, target)
    monkeypatch.setattr("builtins.input", lambda prompt: "YES")
    reader = gguf.GGUFReader(target, "r+")
    gguf_convert_endian.convert_byteorder(
        reader, argparse.Namespace(order=order, dry_run=False))
    reader.data.flush()
    return target.read_bytes()


def blocks_of(name, rng, shape=(3, 512)):
    if name in PLAIN:
        width = np.dtype(PLAIN[name]).itemsize
        return rng.integers(0, 256, (shape[0], shape[1] * width), np.uint8).view(PLAIN[name])
    size = round(grit.Contract(f"gguf.{name}").bits_per_element * shape[0] * shape[1] / 8)
    return grit.Array(f"gguf.{name}", shape, [rng.integers(0, 256, size, np.uint8)])


@pytest.fixture
def little(tmp_path):
    rng = np.random.default_rng(17)
    tensors = {name: blocks_of(name, rng) for name in CONVERTED}
    grit.save(tmp_path / "little.gguf", tensors, KEYS)
    return tmp_path / "little.gguf"


def values_of(path):
    """The bits of every tensor, and the metadata."""
    found = {}
    with grit.open(path, level=2) as file:
        for name in file:
            tensor = file[name]
            decoded = tensor.dequantize() if isinstance(tensor, grit.Array) else tensor
            found[name] = np.array(decoded)
        return found, dict(file.metadata)


def assert_same_values(one, other):
    (a, keys), (b, other_keys) = values_of(one), values_of(other)
    assert keys == other_keys and list(a) == list(b)
    for name in a:
        assert a[name].dtype == b[name].dtype and a[name].tobytes() == b[name].tobytes(), name


def test_what_the_package_converted_reads_the_same(little, tmp_path, monkeypatch):
    by_the_package(little, tmp_path / "big.gguf", "big", monkeypatch)
    assert_same_values(little, tmp_path / "big.gguf")
    listed = subprocess.run([GRIT, "inspect", "--json", tmp_path / "big.gguf"],
                            capture_output=True, text=True, check=True).stdout
    assert json.loads(listed)["byte_order"] == "big"


def test_conversion_writes_the_bytes_of_the_package(little, tmp_path, monkeypatch):
    expected = by_the_package(little, tmp_path / "theirs.gguf", "big", monkeypatch)
    assert convert(little, tmp_path / "ours.gguf", "--byte-order", "big") == expected
    back = by_the_package(tmp_path / "ours.gguf", tmp_path / "back.gguf", "little",
                          monkeypatch)
    assert back == little.read_bytes()
    assert convert(tmp_path / "theirs.gguf", tmp_path / "again.gguf") == back


@pytest.mark.parametrize("version", [2, 3])
def test_what_the_package_writes(tmp_path, version):
    """It gives blocks to a big-endian file as they are, so that only types of bytes and
    plain numbers mean what they did."""
    path = tmp_path / "x.gguf"
    rng = np.random.default_rng(3)
    writer = gguf.GGUFWriter(path, "test", endianess=gguf.GGUFEndian.BIG)
    for name, add in (("uint8", 200), ("int8", -5), ("uint16", 65535), ("int16", -2),
                      ("uint32", 77), ("int32", -77), ("uint64", 2**50), ("int64", -2**50),
                      ("float32", 0.1), ("float64", 0.1), ("bool", True),
                      ("string", "words"), ("array", [1, 2, 300]),):
        getattr(writer, f"add_{name}")(f"a.{name}", add)
    writer.add_array("a.strings", ["x", "yz"])
    plain = {name: rng.integers(-100, 100, (4, 6)).astype(kind)
             for name, kind in PLAIN.items()}
    for name, tensor in plain.items():
        writer.add_tensor(name, tensor)
    blocks = rng.integers(0, 250, (2, 17 * 4), np.uint8)
    writer.add_tensor("mxfp4", blocks, raw_dtype=gguf.GGMLQuantizationType.MXFP4)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    content = path.read_bytes()
    assert content[4:8] == b"\0\0\0\3"
    if version == 2:  # the same but for the number
        path.write_bytes(content[:7] + b"\2" + content[8:])
    with grit.open(path, level=2) as file:
        keys = file.metadata
        assert keys["a.uint16"] == "65535" and keys["a.int64"] == str(-2**50)
        assert keys["a.float32"] == "0.1" and keys["a.float64"] == "0.1"
        assert keys["a.array"] == "[1, 2, 300]" and keys["a.string"] == "words"
        for name, tensor in plain.items():
            assert np.array_equal(file[name], tensor) and file[name].dtype == tensor.dtype
        expected = gguf.dequantize(blocks, gguf.GGMLQuantizationType.MXFP4)
        assert_same_bits(file["mxfp4"].dequantize(), expected, "mxfp4")


BLOCKS = json.loads(pathlib.Path(__file__).with_name("big_endian_blocks.json").read_text())


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_are_read_as_a_big_endian_machine_reads_them(tmp_path, name):
    content, expected = BLOCKS[name]
    data, elements = bytes.fromhex(content), grit.Contract(f"gguf.{name}").axis_multiple
    kind = TYPE_IDS[name]
    path = tmp_path / "big.gguf"
    path.write_bytes(hostile.Gguf("big").one([elements, 8], kind=kind, data=0) + data)
    with grit.open(path, level=2) as file:
        values = file["w"].dequantize()
    assert hashlib.sha256(bits(values).astype("<u4").tobytes()).hexdigest() == expected


@pytest.mark.parametrize("name", TYPES)
def test_every_type_comes_back(tmp_path, name):
    little = tmp_path / "little.gguf"
    grit.save(little, {"w": blocks_of(name, np.random.default_rng(5))}, KEYS)
    convert(little, tmp_path / "big.gguf", "--byte-order", "big")
    assert_same_values(little, tmp_path / "big.gguf")
    assert convert(tmp_path / "big.gguf", tmp_path / "again.gguf") == little.read_bytes()


@pytest.mark.parametrize("name", sorted(GRIDS))
def test_grids_are_refused(tmp_path, name):
    little = tmp_path / "little.gguf"
    grit.save(little, {"w": blocks_of(name, np.random.default_rng(5))})
    run = subprocess.run([GRIT, "convert", little, "-o", tmp_path / "big.gguf",
                          "--byte-order", "big"], capture_output=True, text=True)
    assert run.returncode == 1 and "tensor 'w': byte order" in run.stderr
    assert name.upper() in run.stderr
