# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files: views and their lifetime, round trips through other packages' readers
and writers, hostile bytes."""

import gc
import json
import os
import struct

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import grit_mlir as grit
from bits import ALL, GGUF, assert_same_bits

PLAIN = ["float64", "float32", "float16", "complex64", "int64", "int32", "int16", "int8",
         "uint64", "uint32", "uint16", "uint8", "bool", "bfloat16", "float8_e4m3fn",
         "float8_e5m2", "float8_e8m0fnu"]


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def some(name, shape=(3, 8)):
    rng = np.random.default_rng(9)
    dtype = dtype_of(name)
    if name == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    count = int(np.prod(shape))
    return rng.integers(0, 256, count * dtype.itemsize, np.uint8).view(dtype).reshape(shape)


@pytest.fixture
def saved(tmp_path, weights):
    """A file with every contract and every plain type."""
    tensors = {name: grit.quantize(weights, name) for name in ALL}
    tensors.update({name: some(name) for name in PLAIN})
    path = tmp_path / "all.safetensors"
    grit.save(path, tensors, {"who": "test", "ключ": "значение"})
    return path, tensors


def test_round_trip(saved):
    path, tensors = saved
    with grit.open(path, level=2) as file:
        assert file.format == "safetensors"
        assert file.nbytes == path.stat().st_size
        assert set(file) == set(tensors) and len(file) == len(tensors)
        assert "mxfp4" in file and "absent" not in file
        assert file.metadata["who"] == "test" and file.metadata["ключ"] == "значение"
        for name, tensor in tensors.items():
            read = file[name]
            if isinstance(tensor, grit.Array):
                assert isinstance(read, grit.Array)
                assert read.gid == tensor.gid and read.digest == tensor.digest
                assert_same_bits(read.dequantize(), tensor.dequantize(), name)
                info = file.info(name)
                assert info.contract == tensor.contract and info.shape == tensor.shape
                assert info.digest == tensor.digest and info.nbytes == tensor.nbytes
            else:
                assert read.dtype == tensor.dtype and read.shape == tensor.shape
                assert read.tobytes() == tensor.tobytes()
                assert file.info(name).contract is None
        with pytest.raises(KeyError):
            file["absent"]


def test_axis_and_placements_survive(tmp_path, weights):
    made = grit.quantize(weights.T.copy(), "hurray.nf4", axis=0)
    plain = grit.quantize(weights, "mxfp4")
    placed = grit.Array("mxfp4", (6, 512), plain.planes, placements={"scale": "col_major"})
    path = tmp_path / "x.safetensors"
    grit.save(path, {"a": made, "b": placed})
    file = grit.open(path)
    assert file["a"].axis == 0 and file["a"].gid == made.gid
    assert file["b"].placements == placed.placements and file["b"].gid == placed.gid


def test_tensors_are_views_that_outlive_the_file(saved):
    path, tensors = saved
    file = grit.open(path)
    array, plain = file["nvf4"], file["float32"]
    for view in (*[p for p in array.planes if p.size], plain, file.raw("q4ks")):
        assert not view.flags.writeable
        assert not view.flags.owndata
    again = file["nvf4"]
    assert np.shares_memory(again.planes[0], array.planes[0])
    assert again.planes[0].ctypes.data == array.planes[0].ctypes.data
    raw = file.raw("nvf4")
    assert raw.ctypes.data == array.planes[0].ctypes.data
    expected = tensors["nvf4"].dequantize()
    file.close()
    del file, again, raw
    gc.collect()
    os.remove(path)
    assert_same_bits(array.dequantize(), expected)
    assert plain.tobytes() == tensors["float32"].tobytes()


def mapped(path):
    with open("/proc/self/maps") as maps:
        return str(path) in maps.read()


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="needs /proc")
def test_the_mapping_goes_away_with_the_last_view(saved):
    path, _ = saved
    file = grit.open(path)
    plane = file["mxfp4"].planes[0]
    file.close()
    del file
    gc.collect()
    assert mapped(path)
    del plane
    gc.collect()
    assert not mapped(path)


def test_a_closed_file(saved):
    path, _ = saved
    with grit.open(path) as file:
        assert "tensors" in repr(file)
    assert "closed" in repr(file)
    for use in (lambda: file["mxfp4"], lambda: file.info("mxfp4"), lambda: file.metadata,
                lambda: file.raw("mxfp4"), lambda: file.format):
        with pytest.raises(ValueError, match="closed"):
            use()


# --- Other packages ------------------------------------------------------------


def test_the_package_safetensors_reads_what_we_write(saved):
    safe = pytest.importorskip("safetensors")
    path, tensors = saved
    data = path.read_bytes()
    entries = dict(safe.deserialize(data))
    assert set(entries) == set(tensors)
    for name, tensor in tensors.items():
        entry = entries[name]
        if isinstance(tensor, grit.Array):
            assert entry["dtype"] == "U8"
            expected = b"".join(plane.tobytes() for plane in tensor.planes)
        else:
            assert entry["shape"] == list(tensor.shape)
            expected = tensor.tobytes()
        assert bytes(entry["data"]) == expected, name
    with safe.safe_open(path, "np") as file:
        assert file.metadata()["who"] == "test"
        stored = json.loads(file.metadata()["__grit__"])
    assert stored["version"] == 1
    assert stored["tensors"]["q4ks"]["contract"] == "q4ks"


def test_we_read_what_the_package_safetensors_writes(tmp_path):
    numpy = pytest.importorskip("safetensors.numpy")
    tensors = {name: some(name) for name in PLAIN[:3] + PLAIN[4:13]}
    tensors["scalar"] = np.array(3.5, np.float32)
    tensors["empty"] = np.zeros((0, 4), np.float32)
    path = tmp_path / "x.safetensors"
    numpy.save_file(tensors, path, {"k": "v"})
    with grit.open(path) as file:
        assert file.metadata == {"k": "v"}
        for name, tensor in tensors.items():
            assert file[name].shape == tensor.shape and file[name].dtype == tensor.dtype
            assert file[name].tobytes() == tensor.tobytes()


def test_the_package_gguf_reads_what_we_write(tmp_path, weights):
    gguf = pytest.importorskip("gguf")
    # The package has no reader for these, or not their size.
    names = set(GGUF) - {"gguf.q8_1", "gguf.q8_k", "gguf.q1_0", "gguf.q2_0"}
    tensors = {name: grit.quantize(weights, name) for name in sorted(names)}
    tensors["plain"] = weights
    tensors["half"] = weights.astype(np.float16)
    path = tmp_path / "x.gguf"
    keys = {"general.architecture": "test", "a.flag": True, "a.small": 7,
            "a.big": 2**40, "a.negative": -5, "a.real": 0.5}
    grit.save(path, tensors, keys)
    reader = gguf.GGUFReader(path)
    for key, value in keys.items():
        assert reader.get_field(key).contents() == value, key
    assert {t.name for t in reader.tensors} == set(tensors)
    for tensor in reader.tensors:
        given = tensors[tensor.name]
        assert list(tensor.shape) == [512, 6]
        values = gguf.dequantize(tensor.data, tensor.tensor_type)
        expected = given.dequantize() if isinstance(given, grit.Array) else given
        assert_same_bits(expected, values.astype(np.float32), tensor.name)
    with grit.open(path, level=2) as file:
        assert file.format == "gguf"
        for name in names:
            assert file[name].gid == tensors[name].gid
            assert file[name].digest == tensors[name].digest


def test_we_read_what_the_package_gguf_writes(tmp_path, weights):
    gguf = pytest.importorskip("gguf")
    path = tmp_path / "x.gguf"
    writer = gguf.GGUFWriter(path, "test")
    writer.add_string("a.text", "words")
    writer.add_uint32("a.number", 42)
    writer.add_array("a.list", [1, 2, 3])
    blocks = {}
    for name in ("Q4_0", "Q5_0", "Q8_0", "MXFP4"):
        kind = gguf.GGMLQuantizationType[name]
        blocks[name] = gguf.quantize(weights, kind)
        writer.add_tensor(name, blocks[name], raw_dtype=kind)
    writer.add_tensor("plain", weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with grit.open(path, level=2) as file:
        assert file.metadata["a.text"] == "words" and file.metadata["a.number"] == "42"
        for name, block in blocks.items():
            assert file[name].contract == grit.Contract("gguf." + name)
            assert file[name].shape == (6, 512)
            expected = gguf.dequantize(block, gguf.GGMLQuantizationType[name])
            assert_same_bits(file[name].dequantize(), expected, name)
        assert np.array_equal(file["plain"], weights)
        assert file.info("Q5_0").dtype == "Q5_0"
        assert file.raw("Q5_0").size == file.info("Q5_0").nbytes == 6 * 16 * 22


# --- Refusals --------------------------------------------------------------------


def test_a_grade_that_is_registered_nowhere(tmp_path, weights):
    """The file names the contract in full: its reader need not know it before."""
    text = "grit1(e=e2m1,k0=16,s0=e8m0,esr=exp2floormaxabs)"
    array = grit.quantize(weights, text)
    path = tmp_path / "own.safetensors"
    grit.save(path, {"w": array})
    found = grit.open(path)["w"]
    assert found.contract == array.contract
    assert found.descriptor == array.descriptor
    np.testing.assert_array_equal(found.dequantize(), array.dequantize())


def test_what_cannot_be_saved(tmp_path, weights):
    target = tmp_path / "x.safetensors"
    with pytest.raises(TypeError, match="cannot be stored"):
        grit.save(target, {"w": np.zeros(3, "U4")})
    with pytest.raises(TypeError, match="safetensors stores strings"):
        grit.save(target, {}, {"k": 3})
    with pytest.raises(grit.CheckError):
        grit.save(target, {"": weights})
    with pytest.raises(ValueError, match="'safetensors' or 'gguf'"):
        grit.save(target, {}, format="onnx")
    with pytest.raises(grit.GritGradeError, match="GGUF has no type"):
        grit.save(tmp_path / "x.gguf", {"w": grit.quantize(weights, "mxfp4")})
    with pytest.raises(TypeError, match="a value is"):
        grit.save(tmp_path / "x.gguf", {}, {"k": None})
    with pytest.raises(ValueError, match="64 bits"):
        grit.save(tmp_path / "x.gguf", {}, {"k": 2**64})
    with pytest.raises(grit.CheckError):
        grit.save(tmp_path / "absent" / "x.safetensors", {"w": weights})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a.safetensors", "a.gguf"])
def test_names_and_keys_are_text(tmp_path, name):
    x = np.ones(3, np.float32)
    path = tmp_path / name
    for save, what in ((lambda key: grit.save(path, {key: x}), "the name of a tensor"),
                       (lambda key: grit.save(path, {"x": x}, {key: "v"}), "a key")):
        with pytest.raises(TypeError, match=f"{what}.* is a str, not int: 1"):
            save(1)
        with pytest.raises(ValueError, match=f"{what}.* UTF-8"):
            save("\ud800")
    with pytest.raises(ValueError, match="'k'.* UTF-8"):
        grit.save(path, {"x": x}, {"k": "\udcff"})
    assert not path.exists()


def test_the_level_of_open(tmp_path, weights):
    path = tmp_path / "x.safetensors"
    grit.save(path, {"w": grit.quantize(weights, "mxfp4")})
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    path.write_bytes(damaged)
    for level in (-2**70, 0, 1):
        grit.open(path, level)
    for level in (2, 7, 2**70):
        with pytest.raises(grit.GritDigestError):
            grit.open(path, level)
    with pytest.raises(TypeError, match="level is an int, not str"):
        grit.open(path, "2")


def test_shapes_that_numpy_does_not_have(tmp_path):
    header = json.dumps({"x": {"dtype": "F32", "shape": [2**62, 0],
                               "data_offsets": [0, 0]}}).encode()
    path = tmp_path / "x.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header)
    with grit.open(path) as file:
        assert file.info("x").shape == (2**62, 0) and file.raw("x").size == 0
        with pytest.raises(ValueError, match="NumPy has no arrays of shape"):
            file["x"]


def test_a_save_replaces_the_whole_file_or_nothing(tmp_path, weights):
    path = tmp_path / "x.safetensors"
    grit.save(path, {"w": weights})
    before = path.read_bytes()
    file = grit.open(path)
    with pytest.raises(grit.CheckError):
        grit.save(path, {"w" * 70000: weights})
    assert path.read_bytes() == before
    grit.save(path, {"w": weights * 2})
    assert np.array_equal(file["w"], weights)  # the old file, still mapped
    assert np.array_equal(grit.open(path)["w"], weights * 2)


def test_a_name_for_the_format(tmp_path, weights):
    for given in (str(tmp_path / "a.GGUF"), os.fsencode(tmp_path / "b.gguf")):
        grit.save(given, {"w": weights})
        assert grit.open(given).format == "gguf"
    grit.save(tmp_path / "c.bin", {"w": weights}, format="gguf")
    assert grit.open(tmp_path / "c.bin").format == "gguf"


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        grit.open(tmp_path / "absent")
    with pytest.raises(grit.CheckError):
        grit.open(tmp_path)


@pytest.mark.parametrize("data", [
    b"", b"GGUF", b"\0" * 7, b"\0" * 8, b"\xff" * 64, struct.pack("<Q", 2) + b"{}x",
    struct.pack("<Q", 2**63) + b"{}", struct.pack("<Q", 1) + b"{",
    b"GGUF" + struct.pack("<IQQ", 3, 2**60, 0), b"GGUF" + struct.pack("<IQQ", 9, 0, 0)])
def test_bytes_that_are_no_file(tmp_path, data):
    path = tmp_path / "bad"
    path.write_bytes(data)
    with pytest.raises(grit.CheckError) as caught:
        grit.open(path)
    assert caught.value.detail["message"]


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    weights = np.random.default_rng(3).normal(size=(2, 256)).astype(np.float32)
    folder = tmp_path_factory.mktemp("hostile")
    tensors = {name: grit.quantize(weights, name) for name in ALL}
    tensors["plain"] = weights
    grit.save(folder / "a.safetensors", tensors)
    tensors = {name: grit.quantize(weights, name) for name in GGUF}
    grit.save(folder / "a.gguf", tensors, {"k": "v", "n": 3})
    return folder, [(folder / name).read_bytes() for name in ("a.safetensors", "a.gguf")]


def read_everything(path):
    with grit.open(path, level=2) as file:
        for name in file:
            try:
                tensor = file[name]
            except TypeError:  # a type without a contract or a dtype
                continue
            if isinstance(tensor, grit.Array):
                assert tensor.dequantize().shape == tensor.shape
            else:
                assert tensor.nbytes == file.info(name).nbytes


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_damaged_files_are_read_or_refused(bases, data):
    folder, contents = bases
    content = bytearray(data.draw(st.sampled_from(contents)))
    for _ in range(data.draw(st.integers(1, 4))):
        # Mostly in the header, where a change means most.
        at = data.draw(st.one_of(st.integers(0, min(len(content), 3000) - 1),
                                 st.integers(0, len(content) - 1)))
        content[at] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content))):]
    path = folder / "damaged"
    path.write_bytes(content)
    try:
        read_everything(path)
    except grit.CheckError as error:
        assert error.detail["message"]
