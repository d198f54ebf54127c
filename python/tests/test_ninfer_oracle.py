# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NInfer's layouts and encoders against NumPy: the equations of its documents, step by step,
over whole matrices at once."""

import ml_dtypes
import numpy as np
import pytest

import grit_mlir as grit
from bits import assert_same_bits
from grit_mlir import ninfer

RNG = np.random.default_rng(20)
#          name             bits  group  low  high
GROUPED = {"q2_g64_fp16": (2, 64, -1, 2), "q4_g64_fp16": (4, 64, -8, 7),
           "q5_g64_fp16": (5, 64, -16, 15), "q6_g64_fp16": (6, 64, -32, 31),
           "q8_g32_fp16": (8, 32, -127, 127), "t2_g128_fp16": (2, 128, -1, 1)}
QUANTIZED = [name for name in GROUPED if name != "q2_g64_fp16"]


# ---------------------------------------------------------------------------
# Bytes
# ---------------------------------------------------------------------------

def align(x, a):
    return -(-x // a) * a


def pack(words, bits):
    """Words of so many bits, one after the other, lowest bit first."""
    stream = words.reshape(-1, 1) >> np.arange(bits) & 1
    return np.packbits(stream.astype(np.uint8), bitorder="little")


def row_split(name, integers, scales):
    """The payload of integers [N, K] and scale words [N, ceil(K / G)]."""
    bits, group, _, _ = GROUPED[name]
    n, k = integers.shape
    padded = align(k, 128)
    q = np.zeros((n, padded), np.int64)
    q[:, :k] = integers
    s = np.zeros((n, padded // group), np.uint16)
    s[:, :scales.shape[1]] = scales
    u = q + 1 if name == "q2_g64_fp16" else q & (1 << bits) - 1
    low = 4 if bits in (5, 6) else bits
    planes = [pack(u & (1 << low) - 1, low)]
    if bits > low:
        planes.append(pack(u >> low, bits - low))
    planes.append(s.astype("<u2").view(np.uint8).reshape(-1))
    payload = np.zeros(0, np.uint8)
    for plane in planes:
        payload = np.concatenate([np.pad(payload, (0, align(payload.size, 256) - payload.size)),
                                  plane])
    return payload


def halves(words):
    return words.view(np.float16).astype(np.float32)


@pytest.mark.parametrize("name", GROUPED)
@pytest.mark.parametrize("shape", [(1, 1), (3, 200), (5, 128), (7, 130), (2, 257), (4, 31)])
def test_row_split_payloads(name, shape):
    _, group, low, high = GROUPED[name]
    integers = RNG.integers(low, high + 1, shape)
    scales = RNG.integers(1, 0x7C00, (shape[0], align(shape[1], group) // group), np.uint16)
    scales |= RNG.integers(0, 2, scales.shape, np.uint16) << 15
    payload = row_split(name, integers, scales)
    record = ninfer.Record(name, shape)
    assert record.nbytes == payload.size
    record.check(payload)
    expected = halves(scales).repeat(group, axis=1)[:, :shape[1]] * integers.astype(np.float32)
    assert_same_bits(record.decode(payload), expected, name)
    array = record.read(payload)
    assert_same_bits(array.dequantize()[:, :shape[1]], expected, name)
    np.testing.assert_array_equal(record.write(array), payload)


@pytest.mark.parametrize("name", GROUPED)
def test_every_code_under_every_scale_and_what_is_legal(name):
    """Whole rows of one code under all 65,536 scale words."""
    bits, group, low, high = GROUPED[name]
    offset = name == "q2_g64_fp16"
    words = np.arange(1 << 16, dtype=np.uint16)
    values = halves(words)
    finite = np.isfinite(values)
    for u in ({0, 1, 2, 3} if bits == 2 else {0, 1, (1 << bits - 1) - 1, 1 << bits - 1}):
        q = u - 1 if offset else u - (u >> bits - 1 << bits)
        legal = finite if offset else finite & (words != 0x8000) & ((words != 0) | (q == 0))
        legal = legal & (low <= q <= high)
        # One group per row is enough to know; the other groups of a row are zeros.
        sample = np.unique(np.concatenate([[0, 1, 0x7BFF, 0x7C00, 0x8000, 0x8001, 0xFBFF, 0xFC00,
                                            0x7E00, 0xFFFF], RNG.integers(0, 1 << 16, 40)]))
        for word in sample.astype(np.uint16):
            integers = np.zeros((1, 128), np.int64)
            integers[0, :group] = q
            scales = np.zeros((1, 128 // group), np.uint16)
            scales[0, 0] = word
            payload = row_split(name, integers, scales)
            record = ninfer.Record(name, (1, 128))
            if legal[word]:
                record.check(payload)
            else:
                with pytest.raises(grit.GritDigestError):
                    record.check(payload)
        rows = np.full((512, 128 * group), q)
        payload = row_split(name, rows, words.reshape(512, 128))
        with np.errstate(all="ignore"):
            expected = values.repeat(group).reshape(512, -1) * np.float32(q)
        array = ninfer.Record(name, rows.shape).read(payload)
        assert_same_bits(array.dequantize(), expected, f"{name} {u}")


@pytest.mark.parametrize("shape, divisors", [((128, 64), 1), ((256, 192), 1), ((384, 64), 3),
                                             ((768, 128), 2)])
def test_block_scaled_payloads(shape, divisors):
    n, k = shape
    codes = RNG.integers(0, 16, shape, np.uint8)
    scales = RNG.integers(0, 0x7F, (n, k // 16), np.uint8)
    d = np.exp(RNG.normal(0, 3, divisors)).astype(np.float32)
    row, g = np.indices(scales.shape)
    place = (row // 128 * (k // 64) + g // 4) * 512 + row % 32 * 16 + row % 128 // 32 * 4 + g % 4
    swizzled = np.empty(scales.size, np.uint8)
    swizzled[place] = scales
    payload = np.concatenate([(codes[:, ::2] | codes[:, 1::2] << 4).reshape(-1), swizzled,
                              d.view(np.uint8)])
    record = ninfer.Record("nvfp4", shape, divisors=divisors)
    record.check(payload)
    assert [section.offset for section in record.sections] == [0, n * k // 2, n * k * 9 // 16]
    levels = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float32)
    under = scales.view(ml_dtypes.float8_e4m3fn).astype(np.float32).repeat(16, axis=1)
    expected = levels * under / d.repeat(n // divisors)[:, None]
    assert_same_bits(record.decode(payload), expected, str(shape))
    assert_same_bits(record.read(payload).dequantize(), expected, str(shape))
    np.testing.assert_array_equal(record.write(record.read(payload)), payload)


# ---------------------------------------------------------------------------
# grouped_absmax
# ---------------------------------------------------------------------------

def integers_of(x, words, low, high):
    """x [M, G] under scale words [M], by the reciprocal."""
    with np.errstate(all="ignore"):
        inverse = np.float32(1) / halves(words)
        return np.clip(np.rint(x * inverse[:, None]), low, high).astype(np.int64)


def half_words(x):
    """float32 to binary16 words; an underflow of what is not zero is the smallest."""
    with np.errstate(over="ignore"):
        words = x.astype(np.float16).view(np.uint16)
    tiny = (words & 0x7FFF == 0) & (x != 0)
    return np.where(tiny, np.where(x < 0, 0x8001, 1), words).astype(np.uint16)


def abs_max(x, low, high):
    amax = np.abs(x).max(axis=1)
    words = half_words(amax / np.float32(high))
    integers = integers_of(x, words, low, high)
    integers[amax == 0] = 0
    return words, integers


def in_groups(matrix, group):
    n, k = matrix.shape
    padded = np.zeros((n, align(k, group)), matrix.dtype)
    padded[:, :k] = matrix
    return padded.reshape(-1, group)


def payload_of(name, shape, words, integers):
    n, k = shape
    return row_split(name, integers.reshape(n, -1)[:, :k], words.reshape(n, -1))


def samples(shape):
    """Matrices of many magnitudes, with ties, zeros and subnormal scales among them."""
    normal = RNG.normal(size=shape)
    yield normal.astype(np.float32)
    yield (normal * np.exp2(RNG.integers(-140, 12, (shape[0], 1)))).astype(np.float32)
    yield np.round(normal * 8).astype(np.float32) / 2
    yield RNG.normal(size=shape).astype(ml_dtypes.bfloat16).astype(np.float32)
    sparse = np.where(RNG.random(shape) < 0.97, 0, normal)
    yield sparse.astype(np.float32)


@pytest.mark.parametrize("name", QUANTIZED)
def test_grouped_abs_max(name):
    _, group, low, high = GROUPED[name]
    for shape in ((64, 384), (31, 333)):
        for matrix in samples(shape):
            expected = payload_of(name, shape, *abs_max(in_groups(matrix, group), low, high))
            record = ninfer.Record(name, shape)
            found = record.encode(matrix)
            np.testing.assert_array_equal(found, expected)
            record.check(found)
            if shape[1] % 128 == 0:
                array = grit.quantize(matrix, "ninfer." + name)
                np.testing.assert_array_equal(record.write(array), expected)


# ---------------------------------------------------------------------------
# grouped_search
# ---------------------------------------------------------------------------

class Search:
    """The candidates of all groups [M, G] at once, in binary64, sums in ascending order."""

    def __init__(self, x, importance, low, high, negative):
        self.x, self.low, self.high, self.negative = x, low, high, negative
        self.wide = x.astype(np.float64)
        self.importance = importance.astype(np.float64)
        self.start, self.start_integers = abs_max(x, low, high)
        self.best = np.full(len(x), np.inf)
        self.words = self.start.copy()
        self.integers = self.start_integers.copy()

    def attempt(self, words, valid):
        if not self.negative:
            valid = valid & (words < 0x8000)
        integers = integers_of(self.x, words, self.low, self.high)
        scale = halves(words).astype(np.float64)
        error = np.zeros(len(self.x))
        for k in range(self.x.shape[1]):
            difference = self.wide[:, k] - scale * integers[:, k]
            error += self.importance[:, k] * (difference * difference)
        better = valid & (error < self.best)
        self.best[better] = error[better]
        self.words[better] = words[better]
        self.integers[better] = integers[better]

    def number(self, wanted):
        with np.errstate(all="ignore"):
            single = wanted.astype(np.float32)
        words = half_words(single)
        zero = words & 0x7FFF == 0
        words = np.where(zero, np.where(wanted < 0, 0x8001, 1), words).astype(np.uint16)
        valid = (wanted != 0) & (words & 0x7FFF < 0x7C00)
        words = np.where(valid, words, 1).astype(np.uint16)
        return words, valid

    def step(self, words, valid, by):
        magnitude = (words & 0x7FFF).astype(np.int64) + by
        inside = (magnitude >= 1) & (magnitude <= 0x7BFF)
        moved = np.where(inside, magnitude, 1).astype(np.uint16) | words & 0x8000
        self.attempt(moved, valid & inside)

    def fit(self, integers):
        above, below = np.zeros(len(self.x)), np.zeros(len(self.x))
        for k in range(self.x.shape[1]):
            above += self.importance[:, k] * self.wide[:, k] * integers[:, k]
            below += self.importance[:, k] * integers[:, k] * integers[:, k]
        return np.where(below > 0, above / np.maximum(below, 1e-300), 0)

    def run(self):
        every = np.ones(len(self.x), bool)
        amax = np.abs(self.x).max(axis=1)
        extreme = self.wide[np.arange(len(self.x)), np.abs(self.x).argmax(axis=1)]
        self.attempt(self.start, every)
        ratios = [round(0.70 + 0.02 * i, 2) for i in range(25)]
        for ratio in ratios:
            self.attempt(*self.number(amax.astype(np.float64) / self.high * ratio))
        for ratio in ratios:
            self.attempt(*self.number(extreme / self.low * ratio))
        scale = halves(self.start).astype(np.float64)
        for power in (-2, -1, 1, 2):
            self.attempt(*self.number(scale * 2.0 ** power))
        for by in (-2, -1, 1, 2):
            self.step(self.start, every, by)
        fitted, valid = self.number(self.fit(self.start_integers))
        self.attempt(fitted, valid)
        for power in (-1, 1):
            words, other = self.number(halves(fitted).astype(np.float64) * 2.0 ** power)
            self.attempt(words, valid & other)
        for by in (-2, -1, 1, 2):
            self.step(fitted, valid, by)
        refit, valid = self.number(self.fit(self.integers))
        self.attempt(refit, valid)
        for by in (-1, 1):
            self.step(refit, valid, by)
        zero = amax == 0
        self.words[zero] = 0
        self.integers[zero] = 0
        return self.words, self.integers


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", QUANTIZED)
def test_grouped_search(name, weighted, negative):
    _, group, low, high = GROUPED[name]
    shape = (24, 333)
    weights = RNG.random(shape[1]).astype(np.float32) if weighted else None
    rows = np.ones(shape, np.float32) if weights is None else np.tile(weights, (shape[0], 1))
    record = ninfer.Record(name, shape)
    for matrix in samples(shape):
        x = in_groups(matrix, group)
        search = Search(x, in_groups(rows, group), low, high, negative)
        expected = payload_of(name, shape, *search.run())
        found = record.encode(matrix, importance=weights, rule="grouped_search",
                              negative_scales=negative)
        np.testing.assert_array_equal(found, expected)
        record.check(found)


def test_the_search_is_never_worse_and_negative_scales_are_asked_for():
    matrix = RNG.normal(size=(48, 200)).astype(np.float32)
    weights = RNG.random(200).astype(np.float32)
    record = ninfer.Record("q4_g64_fp16", matrix.shape)

    def group_errors(payload):
        errors = weights * (record.decode(payload).astype(np.float64) - matrix) ** 2
        return in_groups(errors, 64).sum(axis=1)

    plain = record.encode(matrix)
    for negative in (False, True):
        searched = record.encode(matrix, importance=weights, rule="grouped_search",
                                 negative_scales=negative)
        assert (group_errors(searched) <= group_errors(plain) * (1 + 1e-12)).all()
        scales = searched[record.sections[-1].offset:].view(np.uint16)
        assert (scales >= 0x8000).any() == negative


# ---------------------------------------------------------------------------
# fp8_row_maxabs
# ---------------------------------------------------------------------------

def row_abs_max(matrix, scale_type):
    x = matrix.astype(ml_dtypes.bfloat16).astype(np.float32)
    largest = np.abs(x).max(axis=1)
    raw = largest / np.float32(448)
    words = raw.astype(scale_type).view(np.uint16)
    words = np.where((words == 0) & (raw != 0), 1, words).astype(np.uint16)
    with np.errstate(all="ignore"):
        inverse = np.float32(1) / words.view(scale_type).astype(np.float32)
        y = np.clip(x * inverse[:, None], -448, 448)
    codes = y.astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
    codes[largest == 0] = 0
    return codes, words


def row_payload(name, codes, words):
    scales = words.view(np.uint8).reshape(-1, 2)
    if name.endswith("fp16"):
        return np.concatenate([codes, scales], axis=1).reshape(-1)
    gap = np.zeros(align(codes.size, 256) - codes.size, np.uint8)
    return np.concatenate([codes.reshape(-1), gap, scales.reshape(-1)])


@pytest.mark.parametrize("name, scale_type", [("fp8_e4m3fn_row_bf16", ml_dtypes.bfloat16),
                                              ("fp8_e4m3fn_row_fp16", np.float16)])
def test_rows_of_fp8(name, scale_type):
    for shape in ((50, 200), (33, 7), (1, 1)):
        for matrix in samples(shape):
            matrix = np.where(np.abs(matrix).max(axis=1, keepdims=True) < 2.0 ** -100, 0, matrix)
            if scale_type == np.float16:
                matrix = np.clip(matrix, -60000, 60000)
            expected = row_payload(name, *row_abs_max(matrix, scale_type))
            record = ninfer.Record(name, shape)
            found = record.encode(matrix)
            np.testing.assert_array_equal(found, expected)
            record.check(found)
            array = grit.quantize(matrix, "ninfer." + name)
            np.testing.assert_array_equal(record.write(array), expected)
            assert_same_bits(record.decode(found), array.dequantize(), name)


@pytest.mark.parametrize("factor", [2.0 ** -22, 2.0 ** -14, 0.125, 1, 64, 32768])
def test_every_midpoint_of_e4m3(factor):
    """Halfway between two codes the even one is taken, on both sides of zero."""
    levels = np.arange(0x7F, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn).astype(np.float32)
    middle = (levels[1:] + levels[:-1]) / 2
    row = np.concatenate([levels, -levels, middle, -middle]) * np.float32(factor)
    matrix = row[None]
    for name, scale_type in (("fp8_e4m3fn_row_bf16", ml_dtypes.bfloat16),
                             ("fp8_e4m3fn_row_fp16", np.float16)):
        expected = row_payload(name, *row_abs_max(matrix, scale_type))
        np.testing.assert_array_equal(ninfer.Record(name, matrix.shape).encode(matrix), expected)


@pytest.mark.parametrize("name, scale_type", [("fp8_e4m3fn_row_bf16", ml_dtypes.bfloat16),
                                              ("fp8_e4m3fn_row_fp16", np.float16)])
def test_every_code_of_fp8_under_every_scale(name, scale_type):
    codes = np.tile(np.arange(256, dtype=np.uint8), (1 << 14, 1))
    words = RNG.permutation(1 << 16).astype(np.uint16)[:1 << 14]
    words[:4] = 0, 0x8000, 1, 0x7F80
    with np.errstate(all="ignore"):
        expected = codes.view(ml_dtypes.float8_e4m3fn).astype(np.float32) * \
            words.view(scale_type).astype(np.float32)[:, None]
    record = ninfer.Record(name, codes.shape)
    array = record.read(row_payload(name, codes, words))
    assert_same_bits(array.dequantize(), expected, name)


# ---------------------------------------------------------------------------
# Direct words, blocks, imports
# ---------------------------------------------------------------------------

@pytest.mark.parametrize("name, dtype", [("bf16", ml_dtypes.bfloat16), ("fp32", np.float32),
                                         ("int32", np.int32)])
@pytest.mark.parametrize("shape", [(), (3,), (2, 5), (2, 1, 3, 1, 2, 1, 2, 1, 2, 2)])
def test_direct_words(name, dtype, shape):
    count = int(np.prod(shape))
    words = RNG.integers(0, 256, count * np.dtype(dtype).itemsize, np.uint8)
    record = ninfer.Record(name, shape)
    np.testing.assert_array_equal(record.write(record.read(words)), words)
    with np.errstate(all="ignore"):
        expected = words.view(dtype).astype(np.float32).reshape(shape)
    assert_same_bits(record.decode(words), expected, name)


def test_every_block_format_is_stored_verbatim():
    for name, contract, layout in ninfer.formats():
        if layout != "gguf_blocks_v1":
            continue
        record = ninfer.Record(name, (3, 512))
        payload = RNG.integers(0, 256, record.nbytes, np.uint8)
        array = record.read(payload)
        assert array.contract.name == contract == name.replace("_", ".", 1)
        np.testing.assert_array_equal(record.write(array), payload)
        np.testing.assert_array_equal(record.import_encoded(array), payload)


def test_imported_words_keep_their_values():
    matrix = RNG.normal(size=(6, 192)).astype(np.float32)
    blocks = grit.quantize(matrix, "gguf.q8_0")
    record = ninfer.Record("q8_g32_fp16", matrix.shape)
    payload = record.import_encoded(blocks)
    record.check(payload)
    assert_same_bits(record.decode(payload), blocks.dequantize(), "q8_0")


def test_ternary_blocks_of_a_vendor():
    codes = RNG.integers(0, 3, (4, 2, 128), np.uint8)
    scales = RNG.normal(size=(4, 2, 1)).astype(np.float16)
    packed = codes[..., ::4] | codes[..., 1::4] << 2 | codes[..., 2::4] << 4 | codes[..., 3::4] << 6
    blocks = np.concatenate([scales.view(np.uint8), packed], axis=-1)
    array = grit.Array("ninfer.pq2_0", (4, 256), [blocks.reshape(-1)])
    expected = (scales.astype(np.float32) * (codes.astype(np.float32) - 1)).reshape(4, 256)
    assert_same_bits(array.dequantize(), expected, "pq2_0")
    record = ninfer.Record("t2_g128_fp16", (4, 256))
    payload = record.import_encoded(array)
    assert_same_bits(record.decode(payload), expected, "t2")
    np.testing.assert_array_equal(
        payload, row_split("t2_g128_fp16", (codes.astype(np.int64) - 1).reshape(4, 256),
                           scales.view(np.uint16).reshape(4, 2)))


def test_stacks():
    records, payloads = [], []
    for divisor in (2, 3, 5):
        record = ninfer.Record("nvfp4", (128, 64))
        payload = RNG.integers(0, 0x7F, record.nbytes, np.uint8)
        payload[-4:] = np.float32(divisor).reshape(1).view(np.uint8)
        records.append(record)
        payloads.append(payload)
    record, payload = ninfer.stack(records, payloads)
    assert (record.shape, record.divisors) == ((384, 64), 3)
    expected = np.concatenate([r.decode(p) for r, p in zip(records, payloads)])
    assert_same_bits(record.decode(payload), expected, "stack")
    stacked = grit.Array("ninfer.nvfp4_stacked", (384, 64),
                         record.read(payload).planes,
                         placements=record.read(payload).placements)
    assert_same_bits(stacked.dequantize(), expected, "stack of 128")


def test_refusals_say_why():
    for arguments, text in ((("q4", (1, 1)), "format"),
                            (("q4_g64_fp16", (1, 1), "row_scale_v1"), "layout"),
                            (("q4_g64_fp16", (3,)), "rank"), (("nvfp4", (64, 64)), "128"),
                            (("nvfp4", (256, 64), None, 3), "divisors")):
        with pytest.raises(grit.CheckError, match=text):
            ninfer.Record(*arguments)
    record = ninfer.Record("q4_g64_fp16", (1, 130))
    with pytest.raises(grit.GritSizeError, match="264 bytes"):
        record.read(np.zeros(260, np.uint8))
    with pytest.raises(grit.GritGradeError, match="grouped_search"):
        record.encode(np.ones((1, 130)), negative_scales=True)
    with pytest.raises(grit.GritGradeError, match="no encode rule"):
        record.encode(np.ones((1, 130)), rule="search")
    with pytest.raises(grit.GritGradeError):
        ninfer.Record("q2_g64_fp16", (1, 64)).encode(np.ones((1, 64)), rule="grouped_abs_max")
