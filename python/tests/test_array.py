# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays: dtypes, layouts of the input, views, identities, refusals."""

import copy
import pickle
import threading

import ml_dtypes
import numpy as np
import pytest

import grit_mlir as grit
from bits import ALL, GGUF, GRADES, OWN_GRADES, assert_same_bits, from_hex

COUNTS = {"mxfp4": [3072 // 2, 3072 // 32, 0, 0], "nvf4": [1536, 192, 4, 0],
          "q4ks": [1536, 96, 48, 96], "i8s24": [1536, 192, 0, 384]}


@pytest.mark.parametrize("name", ALL)
def test_planes(weights, name):
    array = grit.quantize(weights, name)
    assert isinstance(array, grit.Array)
    assert array.contract == grit.Contract(name)
    assert array.shape == (6, 512) and array.ndim == 2 and array.size == 3072
    assert array.axis == 1
    assert isinstance(array.planes, tuple)
    for plane in array.planes:
        assert plane.dtype == np.uint8 and plane.ndim == 1
    grades = GRADES + OWN_GRADES
    assert len(array.planes) == (4 if name in grades else 1 if name in GGUF else 2)
    if name in COUNTS:
        assert [plane.size for plane in array.planes] == COUNTS[name]
    assert array.nbytes == sum(plane.nbytes for plane in array.planes)
    # NVF4 has one scale for the whole array on top, FP8 by rows one for each of 6 rows.
    constant = 32 if name.startswith("nvf4") else 6 * 16 if "_row_" in name else 0
    assert array.nbytes * 8 == 3072 * array.contract.bits_per_element + constant


@pytest.mark.parametrize("name", ALL)
def test_dequantize_is_near(weights, name):
    array = grit.quantize(weights, name)
    values = array.dequantize()
    assert values.dtype == np.float32 and values.shape == weights.shape
    error = np.linalg.norm(values - weights) / np.linalg.norm(weights)
    # 2:4 drops half of the values; others keep 4 bits or more. Ternary codes under
    # the largest magnitude lose most of a bell.
    limits = {"i8s24": 0.4, "nvf4_rtz": 0.25, "gguf.q8_0": 0.01, "gguf.q8_1": 0.01,
              "gguf.q8_k": 0.01, "gguf.q3_k": 0.2, "gguf.q2_k": 0.35, "gguf.q1_0": 0.7,
              "gguf.q2_0": 0.8, "gguf.tq1_0": 0.9, "gguf.tq2_0": 0.9,
              "ninfer.t2_g128_fp16": 0.9, "ninfer.q8_g32_fp16": 0.01}
    assert error < limits.get(name, 0.13)


@pytest.mark.parametrize("name", ALL)
def test_planes_are_not_copied(weights, name):
    made = grit.quantize(weights, name)
    array = grit.Array(name, weights.shape, made.planes)
    for a, b in zip(array.planes, made.planes):
        assert a.size == 0 or np.shares_memory(a, b)
    assert array.planes is array.planes
    assert array.gid == made.gid and array.digest == made.digest
    # A change of the bytes is seen: the array holds views.
    before = array.dequantize()
    made.planes[0][0] ^= 0xFF
    assert not np.array_equal(array.dequantize(), before, equal_nan=True)


def test_planes_are_any_buffers(weights):
    made = grit.quantize(weights, "mxfp4")
    data, scale = made.planes[:2]
    expected = made.dequantize()
    read_only = data.copy()
    read_only.flags.writeable = False
    spread = np.zeros((data.size, 3), np.uint8)
    spread[:, 1] = data
    for first in (data.tobytes(), bytearray(data), memoryview(data.tobytes()), read_only,
                  data.reshape(6, -1), spread[:, 1]):
        for rest in ((scale,), (scale, None), (scale, None, None), (scale, b"", b"")):
            array = grit.Array("mxfp4", (6, 512), (first, *rest))
            assert_same_bits(array.dequantize(), expected)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float64])
@pytest.mark.parametrize("name", ALL)
def test_other_float_types_equal_their_float32_values(weights, name, dtype):
    x = weights.astype(dtype)
    a, b = grit.quantize(x, name), grit.quantize(x.astype(np.float32), name)
    assert a.digest == b.digest and a.gid == b.gid


@pytest.mark.parametrize("name", ALL)
def test_inputs_that_are_not_contiguous(weights, name):
    expected = grit.quantize(weights, name).digest
    big = np.zeros((12, 1024), np.float32)
    big[::2, ::2] = weights
    swapped = weights.astype(">f4")
    for x in (np.asfortranarray(weights), big[::2, ::2], weights[::-1].copy()[::-1],
              swapped, weights.tolist()):
        assert grit.quantize(x, name).digest == expected


def test_float64_beyond_float32_is_an_infinity():
    x = np.full(32, 1e300)
    with np.errstate(all="raise"):
        a = grit.quantize(x, "mxfp4")
    assert a.digest == grit.quantize(np.full(32, np.inf, np.float32), "mxfp4").digest


@pytest.mark.parametrize("dtype", [np.int32, np.complex64, bool, object, "U3"])
def test_other_types_are_refused(dtype):
    with pytest.raises(TypeError, match="quantize takes float16"):
        grit.quantize(np.zeros(32).astype(dtype), "mxfp4")


def test_the_vectors_of_the_specification(golden):
    for vector in golden["vectors"]:
        name = vector["grade"].removeprefix("GRADE_")
        x = from_hex(vector["inputs"]).reshape(vector["shape"])
        planes = [bytes.fromhex(plane) for plane in vector["planes"]]
        given = grit.Array(name, vector["shape"], planes)
        assert_same_bits(given.dequantize(), from_hex(vector["decoded"]), vector["name"])
        assert given.digest.hex() == vector["digest"]
        assert given.gid.hex() == vector["gid"]
        if vector.get("encode_normative", True):
            made = grit.quantize(x, name)
            assert [plane.tobytes() for plane in made.planes] == planes, vector["name"]
            descriptor = bytearray(made.descriptor)
            descriptor[28:32] = bytes.fromhex(vector["desc_hex"])[28:32]  # the note
            assert descriptor.hex() == vector["desc_hex"]


def test_planes_that_no_encoder_writes(golden):
    for vector in golden["decode_only"]:
        planes = [bytes.fromhex(plane) for plane in vector["planes"]]
        array = grit.Array.from_descriptor(
            bytes.fromhex(vector["desc_hex"]), vector["shape"], planes)
        assert_same_bits(array.dequantize(), from_hex(vector["decoded"]), vector["name"])
        if vector["level2"] == "Ok":
            array.check(2, vector["digest"])
        else:
            with pytest.raises(grit.GritDigestError):
                array.check(2)


def test_the_group_axis(weights):
    along = grit.quantize(weights, "hurray.nf4", axis=1)
    assert grit.quantize(weights, "hurray.nf4").gid == along.gid
    across = grit.quantize(weights.T.copy(), "hurray.nf4", axis=0)
    assert across.axis == 0 and across.shape == (512, 6)
    assert across.gid != along.gid
    assert grit.Array("hurray.nf4", (512, 6), across.planes, axis=0).gid == across.gid
    for axis in (2, -3):
        with pytest.raises(grit.GritSizeError):
            grit.quantize(weights, "hurray.nf4", axis=axis)
    with pytest.raises(grit.GritSizeError, match="multiple of 64"):
        grit.quantize(weights, "hurray.nf4", axis=0)
    with pytest.raises(grit.CheckError, match="last axis"):
        grit.quantize(weights.T, "gguf.q4_0", axis=0)


def test_super_blocks_may_straddle_rows():
    x = np.random.default_rng(2).normal(size=(4, 384)).astype(np.float32)
    array = grit.quantize(x, "q4ks")
    flat = grit.quantize(x.reshape(-1), "q4ks")
    assert array.digest == flat.digest and array.gid != flat.gid
    assert_same_bits(array.dequantize(), flat.dequantize())


def test_placements(weights):
    made = grit.quantize(weights, "mxfp4")
    assert made.placements == ("row_major", "row_major", "unspecified")
    assert made.contract.placements == made.placements
    same = [{"data": "row_major"}, ("ROW_MAJOR", None, None),
            (0x1000000000000001, "row_major", 0), {}]
    for placements in same:
        array = grit.Array("mxfp4", (6, 512), made.planes, placements=placements)
        assert array.gid == made.gid, placements
    tiled = grit.Array("mxfp4", (6, 512), made.planes, placements={"scale": "col_major"})
    assert tiled.placements[1] == "col_major" and tiled.gid != made.gid
    with pytest.raises(grit.CheckError):
        grit.Array("mxfp4", (6, 512), made.planes, placements={"data": "sideways"})
    with pytest.raises(grit.GritLayoutError):
        grit.Array("i8s24", (6, 512), grit.quantize(weights, "i8s24").planes,
                   placements={"meta": "unspecified"})
    with pytest.raises(ValueError, match="no such placement"):
        grit.Array("mxfp4", (6, 512), made.planes, placements={"scales": "col_major"})
    with pytest.raises(ValueError, match="three"):
        grit.Array("mxfp4", (6, 512), made.planes, placements=("row_major",))


def swizzled(scales):
    """SWIZZLE_128x4B by its formula: rows r and columns c of 128 x 4 tiles."""
    rows, columns = scales.shape
    out = np.zeros(scales.size, np.uint8)
    for r, c in np.ndindex(rows, columns):
        tile = (r // 128) * (columns // 4) + c // 4
        out[tile * 512 + r % 32 * 16 + r % 128 // 32 * 4 + c % 4] = scales[r, c]
    return out


def test_quantize_into_placements():
    x = np.random.default_rng(4).normal(size=(256, 128)).astype(np.float32)
    plain = grit.quantize(x, "nvf4")
    scales = plain.planes[1].reshape(256, 8)
    for placements, expected in (({"scale": "swizzle_128x4b"}, swizzled(scales)),
                                 ((None, "col_major", None), scales.T.reshape(-1))):
        placed = grit.quantize(x, "nvf4", placements=placements)
        assert placed.placements[1] in str(placements)
        assert np.array_equal(placed.planes[1], expected)
        assert np.array_equal(placed.planes[0], plain.planes[0])
        assert np.array_equal(placed.planes[2], plain.planes[2])
    # Codes of 4 bits, the first of a byte in its low half.
    data = plain.planes[0]
    codes = np.stack([data & 15, data >> 4], axis=1).reshape(256, 128)
    placed = grit.quantize(x, "nvf4", placements={"data": "col_major"})
    columns = codes.T.reshape(-1)
    assert np.array_equal(placed.planes[0], columns[::2] | columns[1::2] << 4)


@pytest.mark.parametrize("name", [*GRADES, "hurray.nf4"])
def test_decode_reads_what_quantize_places(name):
    x = np.random.default_rng(5).normal(size=(2, 128, 256)).astype(np.float32)
    plain = grit.quantize(x, name)
    assert grit.quantize(x, name, placements=plain.placements).gid == plain.gid
    moved = [{"scale": "col_major"}, {"data": "tile_16x16", "scale": "col_major"}]
    if plain.planes[-1].size and name in GRADES:
        moved.append({"meta": "col_major"})
    for placements in moved:
        placed = grit.quantize(x, name, placements=placements)
        assert placed.gid != plain.gid and placed.digest != plain.digest
        assert_same_bits(placed.dequantize(), plain.dequantize(), f"{name} {placements}")


def test_P14_layouts_that_mix_bits_and_look_up():
    x = np.random.default_rng(6).normal(size=(16, 64)).astype(np.float32)
    plain = grit.quantize(x, "mxfp4")
    codes = np.stack([plain.planes[0] & 15, plain.planes[0] >> 4], axis=1).reshape(-1)
    order = np.array([3, 0, 2, 1])  # slot j of four holds item order[j]
    index = np.arange(1024)
    for text, slots in (
            ("Swizzle(2,0,3)", index ^ (index & 24) >> 3),
            ("Perm([3,0,2,1])", index // 4 * 4 + np.argsort(order)[index % 4]),
            ("Compose(ColMajor,Swizzle(1,0,1))",
             (index ^ (index & 2) >> 1) % 64 * 16 + (index ^ (index & 2) >> 1) // 64)):
        placed = grit.quantize(x, "mxfp4", placements={"data": f"layout({text})"})
        expected = np.zeros(1024, np.uint8)
        expected[slots] = codes
        assert np.array_equal(placed.planes[0], expected[::2] | expected[1::2] << 4), text
        assert_same_bits(placed.dequantize(), plain.dequantize(), text)


@pytest.mark.parametrize("name, shape, placements, text", [
    ("mxfp4", (2, 64), {"data": 0xF000000000000001}, "opaque"),
    ("mxfp4", (2, 64), {"scale": "block_aos"}, "no map"),
    ("mxfp4", (64, 64), {"scale": "swizzle_128x4b"}, "multiple of 128 x 4"),
    ("q4ks", (2, 384), {"scale": "col_major"}, "end of a row"),
    ("gguf.q4_0", (2, 64), {"data": "row_major"}, "one layout")])
def test_placements_that_no_encoder_can_fill(name, shape, placements, text):
    with pytest.raises(grit.CheckError, match=text) as caught:
        grit.quantize(np.zeros(shape, np.float32), name, placements=placements)
    assert caught.value.detail["field"] == "placement_" + next(iter(placements))
    assert caught.value.detail["plane"] is not None


@pytest.mark.parametrize("name", ALL)
def test_copies_and_pickles(weights, name):
    array = grit.quantize(weights, name)
    for plane in array.planes:
        plane.flags.writeable = False
    shared = copy.copy(array)
    apart = [copy.deepcopy(array)]
    apart += [pickle.loads(pickle.dumps(array, protocol)) for protocol in (2, 4, 5)]
    for other in (shared, *apart):
        assert other is not array and type(other) is grit.Array
        assert other.gid == array.gid and other.digest == array.digest
        assert_same_bits(other.dequantize(), array.dequantize())
    for a, *others in zip(array.planes, shared.planes, *(o.planes for o in apart)):
        assert a.size == 0 or np.shares_memory(a, others[0])
        assert not any(np.may_share_memory(a, b) for b in others[1:])


def test_a_pickle_keeps_axis_placements_and_subclass(weights):
    class Named(grit.Array):
        pass
    globals()["Named"] = Named
    Named.__qualname__ = "Named"
    across = grit.quantize(weights.T.copy(), "hurray.nf4(block=128)", axis=0)
    placed = grit.quantize(weights, "nvf4", placements={"scale": "col_major"})
    named = Named("mxfp4", (6, 512), grit.quantize(weights, "mxfp4").planes)
    own = grit.Array(across.contract.canonical, across.shape, across.planes, axis=0)
    for array in (across, placed, named, own):
        for other in (pickle.loads(pickle.dumps(array)), copy.deepcopy(array)):
            assert type(other) is type(array)
            assert other.gid == array.gid and other.axis == array.axis
            assert other.placements == array.placements
            assert other.contract == array.contract


@pytest.mark.parametrize("name", ALL)
def test_wrong_sizes_are_refused_by_plane(weights, name):
    made = grit.quantize(weights, name)
    for index, plane in enumerate(made.planes):
        for changed in (plane[:-1], np.append(plane, np.uint8(0))):
            if changed.size == plane.size:
                continue  # an absent plane cannot be shorter
            planes = list(made.planes)
            planes[index] = changed
            with pytest.raises(grit.GritSizeError) as caught:
                grit.Array(name, (6, 512), planes)
            detail = caught.value.detail
            assert detail["found"] == f"{changed.size} bytes"
            assert detail["declared"].startswith(f"{plane.size} bytes")
            assert detail["field"].startswith("plane_bytes[")
            assert detail["plane"] == index
    with pytest.raises(grit.GritSizeError):
        grit.Array(name, (6, 512), [])
    with pytest.raises(grit.GritSizeError):
        grit.Array(name, (6, 512), [*made.planes, b"x", b"y", b"z"])
    with pytest.raises(grit.GritSizeError):
        grit.Array(name, (5, 512), made.planes)


@pytest.mark.parametrize("shape", [
    (), (-32,), (2**62, 2**62), (2**63 - 1,), (1,) * 9, (33,), (2**40, 2**40)])
def test_shapes_that_fit_nothing(shape):
    with pytest.raises(grit.GritSizeError):
        grit.Array("mxfp4", shape, [b"", b""])


def test_extents_beyond_64_bits():
    with pytest.raises(ValueError, match="64 bits"):
        grit.Array("mxfp4", (2**64,), [b"", b""])
    with pytest.raises(TypeError):
        grit.Array("mxfp4", (32.0,), [b"", b""])


def test_axes_of_the_wrong_kind(weights):
    for make in (lambda axis: grit.quantize(weights, "mxfp4", axis),
                 lambda axis: grit.Array("mxfp4", (0, 32), [b"", b""], axis)):
        with pytest.raises(TypeError, match="axis is an int, not float"):
            make(1.0)
        with pytest.raises(ValueError, match="axis does not fit 32 bits: 1099511627776"):
            make(2**40)
        assert make(np.int64(1)).axis == 1


def test_shapes_that_numpy_does_not_have():
    array = grit.Array("mxfp4", (2**62, 32, 0, 32), [b"", b""])
    assert array.size == 0
    with pytest.raises(ValueError, match="NumPy has no arrays of shape"):
        array.dequantize()


def test_descriptors_of_the_wrong_kind():
    for wrong in (None, 64, "GRT1"):
        with pytest.raises(TypeError, match="a descriptor is bytes"):
            grit.Array.from_descriptor(wrong, (32,), [b"", b""])
        with pytest.raises(TypeError, match="a descriptor is bytes"):
            grit.check(wrong, (32,), (16, 1, 0, 0))


def test_planes_of_the_wrong_kind():
    with pytest.raises(TypeError, match="bytes"):
        grit.Array("mxfp4", (32,), [np.zeros(4, np.int32), np.zeros(1, np.uint8)])
    with pytest.raises(TypeError, match="sequence of buffers"):
        grit.Array("gguf.q4_0", (32,), np.zeros(18, np.uint8))
    with pytest.raises(TypeError):
        grit.Array("mxfp4", (32,), [3, 4])
    with pytest.raises(TypeError, match="a contract is"):
        grit.Array(5, (32,), [b"", b""])


@pytest.mark.parametrize("name", ALL)
def test_arrays_without_elements(name):
    array = grit.quantize(np.zeros((0, 512), np.float32), name)
    assert array.dequantize().shape == (0, 512)
    assert array.nbytes == (4 if name.startswith("nvf4") else 0)


def test_importance_only_where_the_encoder_uses_it(weights):
    weights_of = np.linspace(0.1, 9, 512, dtype=np.float32)
    plain = grit.quantize(weights, "gguf.q4_k")
    weighed = grit.quantize(weights, "gguf.q4_k", importance=weights_of)
    assert weighed.digest != plain.digest
    loss = lambda a: (((a.dequantize() - weights) ** 2) * weights_of).sum()
    assert loss(weighed) < loss(plain)
    with pytest.raises(grit.CheckError):
        grit.quantize(weights, "mxfp4", importance=weights_of)
    with pytest.raises(grit.CheckError):
        grit.quantize(weights, "gguf.q4_k", importance=weights_of[:5])


def test_many_threads_at_once(weights):
    x = np.tile(weights, (50, 4))
    expected = {name: grit.quantize(x, name).digest for name in ALL}
    failures = []

    def work(name):
        array = grit.quantize(x, name)
        if array.digest != expected[name] or array.dequantize().shape != x.shape:
            failures.append(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in ALL]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_repr(weights):
    text = repr(grit.quantize(weights, "gguf.q8_0"))
    assert text == "Array('gguf.q8_0', shape=(6, 512), nbytes=3264)"


def test_E1_one_rounding_to_binary32():
    """Values of other types become binary32 first, to nearest with ties to even,
    and what a NaN carries does not matter."""
    x = np.zeros((4, 32), np.float64)
    x[:, 0] = 6.0  # a scale of 1
    # Just above the tie 2.5 of e2m1, and equal to it in binary32: the even code.
    x[0, 1] = 2.5 + 2.0**-40
    # A tie between 2.5 and the next binary32 number goes to the even one, 2.5;
    # one between the next two goes up.
    x[0, 2] = 2.5 + 2.0**-23
    x[0, 3] = 2.5 + 3 * 2.0**-23
    array = grit.quantize(x, "mxfp4")
    assert array.dequantize()[0, :4].tolist() == [6.0, 2.0, 2.0, 3.0]
    for dtype, word, payloads in (
            (np.float16, np.uint16, (0x7C01, 0x7E00, 0xFFFF)),
            (ml_dtypes.bfloat16, np.uint16, (0x7F81, 0x7FC0, 0xFFFF)),
            (np.float64, np.uint64, (0x7FF0000000000001, 0x7FF8 << 48, 2**64 - 1))):
        planes = []
        for payload in payloads:
            values = x.astype(dtype)
            values.view(word)[1, 5] = payload
            planes.append([p.tobytes() for p in grit.quantize(values, "mxfp4").planes])
        assert planes[0] == planes[1] == planes[2]
        assert planes[0][1] == bytes([0x7F, 0xFF, 0x7F, 0x7F])
