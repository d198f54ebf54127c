#!/usr/bin/env python3
# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The executable reference of GRIT v1, and the maker of its conformance vectors.

    python3 spec/reference.py gen      # write spec/conformance/vectors.json
    python3 spec/reference.py verify   # derive everything again and compare

It is written to be read beside spec/grit-v1.md, whose sections and constraints
the comments name, and it shares no code with the library: that can be tested
against it. It is slow on purpose. Every step is computed on exact rational
numbers and rounded where the text rounds.

A binary32 value is held in a Python float, which holds every one exactly; a
function that returns one has rounded it.

Order: arithmetic, format words, grades, fingerprints, placements, the descriptor,
the check, planes, decode, encode, relations between grades, vectors. What the
vectors contain is in spec/conformance/make_vectors.py.
"""

import json
import math
import re
import struct
import sys
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path


class Refused(Exception):
    """What the text refuses; `reason` is a stable word of this file."""

    def __init__(self, reason, message=""):
        super().__init__(message or reason)
        self.reason = reason


# === 1. Binary32 ================================================================

CANONICAL_NAN = 0x7FC00000
NAN, INF = float("nan"), float("inf")
MAX_BINARY32 = float.fromhex("0x1.fffffep127")


def from_bits(bits):
    return struct.unpack(">f", bits.to_bytes(4, "big"))[0]


def to_bits(x):
    """D3: there is one NaN."""
    return CANONICAL_NAN if x != x else int.from_bytes(struct.pack(">f", x), "big")


def is_negative(x):
    return math.copysign(1.0, x) < 0


def floor_log2(q):
    """Of a positive rational, exactly; never by a floating-point logarithm."""
    exponent = q.numerator.bit_length() - q.denominator.bit_length()
    return exponent if q >= Fraction(2) ** exponent else exponent - 1


def f32(q):
    """A rational number other than zero, rounded to nearest, ties to even."""
    magnitude = abs(q)
    exponent = max(floor_log2(magnitude), -126)
    ulp = Fraction(2) ** (exponent - 23)
    significand = round(magnitude / ulp)  # Python rounds halves to even
    # A significand that became 2^24 belongs to the next exponent; ldexp is exact.
    if significand * ulp >= 2**128:
        rounded = INF
    else:
        rounded = math.ldexp(significand, exponent - 23)
    return -rounded if q < 0 else rounded


def _exact(a, b):
    """Whether a result of a and b needs rounding: zeros, infinities and NaNs
    follow IEEE 754 in every precision, and Python's floats do too."""
    return math.isfinite(a) and math.isfinite(b) and a != 0 and b != 0


def mul(a, b):
    return f32(Fraction(a) * Fraction(b)) if _exact(a, b) else a * b


def add(a, b):
    if not _exact(a, b) or a == -b:
        return a + b
    return f32(Fraction(a) + Fraction(b))


def sub(a, b):
    return add(a, -b)


def div(a, b):
    if _exact(a, b):
        return f32(Fraction(a) / Fraction(b))
    if b != 0:
        return a / b
    sign = math.copysign(1.0, a) * math.copysign(1.0, b)
    return NAN if a == 0 or a != a else math.copysign(INF, sign)


ROUNDINGS = ("rne", "rna", "rtz", "rtp", "rtn")
SATURATIONS = ("satfinite", "satmax", "ovfinf")


def goes_up(fraction, is_odd, is_negative_number, rounding):
    """1.1: whether a magnitude `fraction` of the way from one representable
    magnitude (odd or even) to the next becomes the next."""
    if rounding == "rne":
        return fraction > Fraction(1, 2) or (fraction == Fraction(1, 2) and is_odd)
    if rounding == "rna":
        return fraction >= Fraction(1, 2)
    if rounding == "rtp":
        return fraction > 0 and not is_negative_number
    if rounding == "rtn":
        return fraction > 0 and is_negative_number
    return False  # rtz


def round_to_integer(q, rounding):
    low = abs(q).numerator // abs(q).denominator
    low += goes_up(abs(q) - low, low % 2 == 1, q < 0, rounding)
    return -low if q < 0 else low


def clamp(x, low, high):
    return min(max(x, low), high)


# === 2. Format words ============================================================

ABSENT = 0
INTEGER, EXPONENT_ONLY, FLOAT = "integer", "exponent-only", "float"

FORMATS = {  # 2.6
    "e2m1": 0x2043, "e4m3": 0x2887, "e8m0": 0x4807, "binary16": 0x356F,
    "binary32": 0x371F, "u2": 0x43E1, "u4": 0x43E3, "u6": 0x43E5, "u8": 0x43E7,
    "s4": 0x03E3, "s8": 0x03E7,
}


@dataclass(frozen=True)
class Format:
    """The fields of a word (2.1), and what follows from them."""

    word: int
    width: int
    p: int
    has_inf: bool
    nan_enc: int
    szero: bool
    unsigned: bool
    bias_ovr: bool

    @property
    def kind(self):
        return {31: INTEGER, 0: EXPONENT_ONLY}.get(self.p, FLOAT)

    @property
    def m_bits(self):
        return self.p - 1

    @property
    def e_bits(self):
        return self.width - (not self.unsigned) - self.m_bits

    @property
    def bias(self):
        bits = self.width if self.kind == EXPONENT_ONLY else self.e_bits
        return 2 ** (bits - 1) - 1

    @property
    def magnitude_mask(self):
        """The bits of a code below its sign."""
        return 2 ** (self.width - (not self.unsigned)) - 1


@lru_cache(maxsize=None)
def unpack_format(word):
    return Format(word, (word & 31) + 1, word >> 5 & 31, bool(word >> 10 & 1),
                  word >> 11 & 3, bool(word >> 13 & 1), bool(word >> 14 & 1),
                  bool(word >> 15))


def format_refusal(word):
    """F2: why a word names no format, or None. Every one of the 65536 words is one
    or the other."""
    f = unpack_format(word)
    tests = (
        ("absent", word == ABSENT),
        ("one-bit", f.width < 2),
        ("bias-override", f.bias_ovr),
        ("nan-reserved", f.nan_enc == 3),
        ("no-exponent", f.kind == FLOAT and f.e_bits < 1),
        ("infinity-without-float", f.kind != FLOAT and f.has_inf),
        ("integer-nan", f.kind == INTEGER and f.nan_enc != 0),
        ("signed-exponent", f.kind == EXPONENT_ONLY and not f.unsigned),
    )
    return next((reason for reason, holds in tests if holds), None)


def valid_format(word):
    reason = format_refusal(word)
    if reason:
        raise Refused(reason, f"format word 0x{word:04x}")
    return unpack_format(word)


def power_of_two(exponent):
    """Exactly, within what any comparison with a binary32 value can tell apart."""
    return Fraction(2) ** clamp(exponent, -4000, 4000)


def raw_magnitude(f, code):
    """The magnitude of a sign-cleared code, as if no code were NaN or Inf."""
    if f.kind == INTEGER:
        return Fraction(code)
    if f.kind == EXPONENT_ONLY:
        return power_of_two(code - f.bias)
    m, e = code & (2**f.m_bits - 1), code >> f.m_bits
    if e == 0:
        return m * power_of_two(1 - f.bias - f.m_bits)
    return (2**f.m_bits + m) * power_of_two(e - f.bias - f.m_bits)


def special(f, code):
    """NAN or INF for a sign-cleared code that is one of these, else None."""
    if f.kind == EXPONENT_ONLY:
        return NAN if f.nan_enc != 0 and code == 2**f.width - 1 else None
    if f.kind == INTEGER or code >> f.m_bits != 2**f.e_bits - 1:
        return None
    m = code & (2**f.m_bits - 1)
    if f.has_inf:
        return INF if m == 0 else NAN
    if (f.nan_enc == 1 and m == 2**f.m_bits - 1) or (f.nan_enc == 2 and m != 0):
        return NAN
    return None


def fmt_decode(word, code):
    """F3 to F5: exact, or else rounded to binary32."""
    f = valid_format(word)
    code &= 2**f.width - 1
    if f.kind == INTEGER:
        value = code if f.unsigned or code < 2 ** (f.width - 1) else code - 2**f.width
        return f32(Fraction(value)) if value else 0.0
    negative, code = code > f.magnitude_mask, code & f.magnitude_mask
    value = special(f, code)
    if value is None:
        magnitude = raw_magnitude(f, code)
        value = f32(magnitude) if magnitude else 0.0
    return NAN if value != value else -value if negative else value


@lru_cache(maxsize=None)
def max_finite_code(word):
    """The last rung of the ladder. Codes without the sign rise with the magnitude,
    and those that are not finite follow all that are."""
    f = valid_format(word)
    top = f.magnitude_mask
    if f.kind == INTEGER:
        return top
    if f.kind == EXPONENT_ONLY:
        return top - (f.nan_enc != 0)
    first_of_top_exponent = (2**f.e_bits - 1) << f.m_bits
    if f.has_inf:
        return first_of_top_exponent - 1
    return {0: top, 1: top - 1, 2: first_of_top_exponent}[f.nan_enc]


def max_finite(word):
    """maxnorm: 6 for e2m1, 448 for e4m3, 127 for s8."""
    return fmt_decode(word, max_finite_code(word))


def nan_code(word):
    """F7: the NaN that encode writes, or None. Wide formats with IEEE NaNs write the
    quiet one (0x7E00), the others all ones below the sign."""
    f = valid_format(word)
    if f.kind == INTEGER or f.nan_enc == 0:
        return None
    code = f.magnitude_mask
    if f.kind == FLOAT and f.nan_enc == 2 and f.width > 8 and f.m_bits > 0:
        code -= 2 ** (f.m_bits - 1) - 1
    value = special(f, code)
    return code if value is not None and value != value else None


@lru_cache(maxsize=None)
def ladder(word):
    """2.5: the finite magnitudes of a format of at most 8 bits, by code."""
    f = valid_format(word)
    return tuple(raw_magnitude(f, code) for code in range(max_finite_code(word) + 1))


def rung_below(word, a):
    """The largest finite code whose magnitude is at most `a`, or -1."""
    f, low, high = unpack_format(word), -1, max_finite_code(word)
    rungs = ladder(word) if f.width <= 8 else None
    while low < high:
        middle = (low + high + 1) // 2
        if (rungs[middle] if rungs else raw_magnitude(f, middle)) <= a:
            low = middle
        else:
            high = middle - 1
    return low


def overflow_code(f, last, x, rounding, saturation):
    """F8: the code of a magnitude beyond the ladder, or None if it is not beyond.
    Only ovfinf can reach Inf, and only a format that has one: then an overflow is
    what rounding would carry beyond the last rung if there were one more."""
    a = abs(x)
    if saturation != "ovfinf" or not f.has_inf:
        return last if a == INF or Fraction(a) >= raw_magnitude(f, last) else None
    if a == INF:
        return last + 1
    low, next_rung = raw_magnitude(f, last), raw_magnitude(f, last + 1)
    if Fraction(a) < low:
        return None
    part = min((Fraction(a) - low) / (next_rung - low), Fraction(1))
    if part == 1:  # at or beyond the missing rung: only the direction matters
        part = Fraction(3, 4)
    return last + goes_up(part, last % 2 == 1, x < 0, rounding)


def fmt_encode(word, x, rounding="rne", saturation="satfinite"):
    """2.5 (F7 to F11), for every width, rounding and saturation."""
    f = valid_format(word)
    if x != x:
        code = nan_code(word)
        if code is None:
            raise Refused("no-nan", f"format word 0x{word:04x}")
        return code
    if f.kind == INTEGER:
        last = max_finite_code(word)
        first = 0 if f.unsigned else -last - (saturation != "satfinite")
        if math.isinf(x):
            value = last if x > 0 else first
        else:
            value = clamp(round_to_integer(Fraction(x), rounding), first, last)
        return value & (2**f.width - 1)
    if f.unsigned:  # formats without a sign hold the magnitude
        x = abs(x)
    code = overflow_code(f, max_finite_code(word), x, rounding, saturation)
    if code is None:
        a = Fraction(abs(x))
        code = rung_below(word, a)
        if code < 0:  # F10: exponent-only formats have nothing below their first code
            code = 0
        else:
            low, high = raw_magnitude(f, code), raw_magnitude(f, code + 1)
            code += goes_up((a - low) / (high - low), code % 2 == 1, is_negative(x),
                            rounding)
    return code | (0 if f.unsigned or not is_negative(x) else 2 ** (f.width - 1))


# === 4. Grades ==================================================================

FORMAT_ALIASES = {
    "e2m1": "fp4 fp4e2m1 float4_e2m1 float4_e2m1fn e2m1fn mxfp4elem",
    "e4m3": "fp8e4m3 e4m3fn float8_e4m3fn f8e4m3fn",
    "e8m0": "ue8m0 e8m0fnu float8_e8m0fnu",
    "binary16": "f16 fp16 half float16",
    "binary32": "f32 fp32 float float32 single",
    "s4": "int4 sint4 i4",
    "s8": "int8 sint8 i8",
    "u2": "uint2", "u4": "uint4 nibble", "u6": "uint6", "u8": "uint8 byte",
}
# G18: they look like a format of the table and are another one.
FORBIDDEN_FORMATS = ("e4m3fnuz", "b16", "bf16", "bfloat16", "u4b", "int2", "s2")
ENUM_ALIASES = {
    "rounding": {
        "rne": "rn nearesttiestoeven nearest_even roundtiestoeven even",
        "rna": "nearesttiestoaway away",
        "rtz": "towardzero trunc truncate",
        "rtp": "towardpositive ceil up",
        "rtn": "towardnegative floor down",
    },
    "saturation": {
        "satfinite": "sat_finite satf finite clamp",
        "satmax": "sat_max",
        "ovfinf": "ovf_inf inf overflowtoinf",
    },
    "scale rule": {
        "exp2floormaxabs": "exp2floor floor rtz_shared_exp ocpmx",
        "exp2ceilmaxabs": "exp2ceil rceil",
        "exp2rnemaxabs": "exp2rne rne_shared_exp",
        "ratiomaxabs": "ratio amax_over_emax",
        "affineminmax": "affine minmax",
    },
    "subnormal": {
        "preserve": "preserved subnormalpreserved denorm",
        "ftz": "flushtozero subnormalftz",
        "any": "subnormalany",
    },
    "order": {
        "seq": "sequential inorder",
        "tree": "treeany any_tree",
        "unspec": "unspecified any",
    },
    "zpc": {"asis": "asstored stored", "minus1": "storedminusone stored_minus_one gptq"},
    "zps": {"shared": "sharedscale symmetric", "l1": "ownscale level1 l1scaled"},
    "container": {"dense": "packed", "pad8": "padto8 padded"},
    "packing": {"lsb": "lsbfirst littlebit", "msb": "msbfirst"},
    "index order": {"asclsb": "ascendinglsb ordered sorted", "unord": "unordered none"},
}

# 4.2: key, type, default. None: no default, so always written where it is present.
KEYS = {
    "e": ("format", None), "k0": ("integer", None), "s0": ("format", None),
    "k1": ("integer", None), "s1": ("format", None), "zp": ("format", None),
    "zpc": ("zpc", "asis"), "zps": ("zps", "shared"), "sp": ("sparsity", None),
    "ct": ("container", "dense"), "po": ("packing", "lsb"),
    "er": ("rounding", "rne"), "es": ("saturation", "satfinite"),
    "esr": ("scale rule", None), "esn": ("subnormal", "preserve"),
    "dr": ("rounding", "rne"), "ds": ("saturation", "satfinite"),
    "dt": ("format", "binary32"), "ao": ("order", "unspec"),
    "ap": ("format", "binary32"), "ab": ("format", "binary32"),
    "ai": ("format", "binary32"), "an": ("subnormal", "any"),
}
REQUIRED = ("e", "k0", "s0", "esr")
DECODE_KEYS = ("e", "k0", "s0", "k1", "s1", "zp", "zpc", "zps", "sp", "ct", "po",
               "dr", "ds", "dt")  # 4.5
ACCUMULATION_KEYS = ("ao", "ap", "ab", "ai", "an")


def _spellings(aliases):
    return {text: token for token, others in aliases.items()
            for text in (token, *others.split())}


SPELLINGS = {kind: _spellings(aliases) for kind, aliases in ENUM_ALIASES.items()}
FORMAT_SPELLINGS = _spellings(FORMAT_ALIASES)


def parse_format(value):
    if value in FORBIDDEN_FORMATS:
        raise Refused("forbidden-alias", value)
    if value not in FORMAT_SPELLINGS:
        raise Refused("unknown-format", value)
    return FORMAT_SPELLINGS[value]


def parse_integer(value, reason="bad-integer"):
    """G13: decimal digits alone, below 2^64."""
    if not re.fullmatch("[0-9]+", value):
        raise Refused(reason, value)
    digits = value.lstrip("0") or "0"
    if len(digits) > 20 or int(digits) >= 2**64:
        raise Refused(reason, value)
    return digits


def parse_sparsity(value):
    parts = value.split(":")
    if len(parts) != 4:
        raise Refused("bad-sp", value)
    n, m = (parse_integer(part, "bad-sp") for part in parts[:2])
    meta = FORMAT_SPELLINGS.get(parts[2])
    order = SPELLINGS["index order"].get(parts[3].replace("-", ""))
    if not 1 <= int(n) < int(m) <= 32 or meta not in ("u2", "u4") or order is None:
        raise Refused("bad-sp", value)
    return f"{n}:{m}:{meta}:{order}"


def parse_value(key, value):
    kind = KEYS[key][0]
    if kind == "format":
        return parse_format(value)
    if kind == "integer":
        return parse_integer(value)
    if kind == "sparsity":
        return parse_sparsity(value)
    plain = value.replace("-", "")
    if kind == "scale rule" and re.fullmatch("custom:.+", plain):
        return plain
    if kind == "order" and (match := re.fullmatch("pairwise_*0*([1-9][0-9]*)", plain)):
        return "pairwise" + match[1]
    if plain not in SPELLINGS[kind]:
        raise Refused("unknown-token", value)
    return SPELLINGS[kind][plain]


def _plain_text(text):
    """G1 and G2. No other alphabet folds into ASCII."""
    if re.search("[^\t-\r -~]", text):
        raise Refused("bad-character", repr(text))
    return re.sub("[\t-\r ]", "", text).lower()


class Grade:
    """A grade: for each key its canonical token, or None where it is absent."""

    def __init__(self, fields):
        self.fields = {key: fields.get(key, default) for key, (_, default) in KEYS.items()}
        if "zp" not in fields:
            self.fields |= {"zpc": None, "zps": None}

    def __getitem__(self, key):
        return self.fields[key]

    @staticmethod
    def parse(text):
        text = _plain_text(text)
        if not text.startswith("grit1(") or not text.endswith(")"):
            raise Refused("bad-shell", text)
        fields, body = {}, text[len("grit1("):-1]
        for item in body.split(",") if body else ():
            key, equals, value = item.partition("=")
            if not equals:
                raise Refused("bad-field", item)
            if key not in KEYS:
                raise Refused("unknown-key", key)
            if key in fields:
                raise Refused("duplicate-key", key)
            fields[key] = parse_value(key, value)
        if any(key not in fields for key in REQUIRED):
            raise Refused("missing-key")
        if ("k1" in fields) != ("s1" in fields):
            raise Refused("level-pair")
        if "zp" not in fields and ("zpc" in fields or "zps" in fields):
            raise Refused("zp-required")
        if fields.get("zps") == "l1" and "k1" not in fields:
            raise Refused("level1-required")
        return Grade(fields)

    def canonical(self):
        return "grit1(" + ",".join(
            f"{key}={self[key]}" for key, (_, default) in KEYS.items()
            if self[key] is not None and (default is None or self[key] != default)) + ")"

    def decode_projection(self):
        return "gritdec1(" + ",".join(
            f"{key}={self[key]}" for key in DECODE_KEYS if self[key] is not None) + ")"

    def grade_id(self):
        return fnv1a64(self.canonical().encode())

    # What the fields say, as numbers.
    def word(self, key):
        return FORMATS[self[key]] if self[key] else ABSENT

    @property
    def k0(self):
        return int(self["k0"])

    @property
    def k1(self):
        return int(self["k1"] or 0)

    @property
    def levels(self):
        return 2 if self["k1"] is not None else 1

    @property
    def sparsity(self):
        """(N, M, bits of an index, whether ascending), or None."""
        if self["sp"] is None:
            return None
        n, m, meta, order = self["sp"].split(":")
        return int(n), int(m), int(meta[1:]), order == "asclsb"


def verify_grade(grade):
    """G31: refuses what parses and no array can have."""
    tests = [("k0-range", not 1 <= grade.k0 <= 0xFFFF),
             ("k1-range", grade.k1 > 0xFFFF),
             ("narrow-level-1", grade.levels == 2
              and unpack_format(grade.word("s1")).width < 8),
             ("one-aux-plane", bool(grade["sp"] and grade["zp"]))]
    if grade.sparsity:
        _, m, bits, _ = grade.sparsity
        tests.append(("narrow-index", m > 2**bits))
    for reason, holds in tests:
        if holds:
            raise Refused(reason, grade.canonical())


REGISTERED = {  # 10.0
    "GRADE_MXFP4": "grit1(e=e2m1,k0=32,s0=e8m0,esr=exp2floormaxabs)",
    "GRADE_MXFP4_RNE": "grit1(e=e2m1,k0=32,s0=e8m0,esr=exp2rnemaxabs)",
    "GRADE_NVF4": "grit1(e=e2m1,k0=16,s0=e4m3,k1=0,s1=binary32,esr=ratiomaxabs)",
    "GRADE_NVF4_RTZ":
        "grit1(e=e2m1,k0=16,s0=e4m3,k1=0,s1=binary32,er=rtz,esr=ratiomaxabs)",
    "GRADE_Q4KS":
        "grit1(e=u4,k0=32,s0=u6,k1=8,s1=binary16,zp=u6,zps=l1,esr=affineminmax)",
    "GRADE_I8S24": "grit1(e=s8,k0=32,s0=binary16,sp=2:4:u2:asclsb,esr=ratiomaxabs)",
}


# === 6. Fingerprints ============================================================


def fnv1a64(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 % 2**64
    return h


def fnv1a128(data):
    h = 0x6C62272E07BB014262B821756295C58D
    for byte in data:
        h = (h ^ byte) * 0x0000000001000000000000000000013B % 2**128
    return h.to_bytes(16, "big")


def gid(canonical, descriptor, shape):
    """B22, B23: the note, bytes 28 to 31, is not part of it."""
    return fnv1a128(canonical.encode() + b"\0" + descriptor[:28] + descriptor[32:]
                    + struct.pack(f"<I{len(shape)}q", len(shape), *shape))


def digest(planes):
    """B26: an absent plane contributes its length, zero."""
    return fnv1a128(b"".join(struct.pack("<Q", len(p)) + p for p in planes))


CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def base32(identity):
    value = int.from_bytes(identity, "big")
    return "".join(CROCKFORD[value >> shift & 31] for shift in range(125, -1, -5))


def parse_base32(text):
    if not re.fullmatch("[0-9A-Za-z]{26}", text):
        raise Refused("bad-base32", text)
    value = 0
    for symbol in text.upper().replace("I", "1").replace("L", "1").replace("O", "0"):
        if symbol not in CROCKFORD:
            raise Refused("bad-base32", text)
        value = value << 5 | CROCKFORD.index(symbol)
    if value >= 2**128:
        raise Refused("bad-base32", text)
    return value.to_bytes(16, "big")


# === 5. Placements ==============================================================

UNSPECIFIED = 0
ROW_MAJOR, COL_MAJOR = 0x1000000000000001, 0x1000000000000002
SWIZZLE_128X4B, TILE_16X16 = 0x1000000000000003, 0x1000000000000004
LINEAR_META = 0x1000000000000011
PLACEMENTS = {  # P3
    ROW_MAJOR: "ROW_MAJOR", COL_MAJOR: "COL_MAJOR", SWIZZLE_128X4B: "SWIZZLE_128x4B",
    TILE_16X16: "TILE_16x16", 0x1000000000000005: "BLOCK_AOS",
    LINEAR_META: "LINEAR_META", 0x1000000000000012: "META_M16N8K32",
    0x1000000000000020: "PACK_K4_12B",
}
SIZE_MISMATCH, PLACEMENT_UNKNOWN = "SizeMismatch", "PlacementUnknown"


def placement_acceptable(word):
    """P1."""
    return word == UNSPECIFIED or word in PLACEMENTS or word >> 60 in (0x8, 0xF)


def need(condition, reason):
    if not condition:
        raise Refused(reason)


def placement_map(word, rows, cols):
    """P4: the slot of each item of a plane, in row-major order."""
    if word in (ROW_MAJOR, LINEAR_META):
        return list(range(rows * cols))
    if word == COL_MAJOR:
        return [c * rows + r for r in range(rows) for c in range(cols)]
    if word == SWIZZLE_128X4B:
        need(rows % 128 == 0 and cols % 4 == 0, SIZE_MISMATCH)
        return [(r // 128 * (cols // 4) + c // 4) * 512
                + r % 32 * 16 + r // 32 % 4 * 4 + c % 4
                for r in range(rows) for c in range(cols)]
    if word == TILE_16X16:
        need(rows % 16 == 0 and cols % 16 == 0, SIZE_MISMATCH)
        return [(r // 16 * (cols // 16) + c // 16) * 256 + r % 16 * 16 + c % 16
                for r in range(rows) for c in range(cols)]
    raise Refused(PLACEMENT_UNKNOWN, f"0x{word:016x}")  # P10


def slots_of(word, canonical, items, columns):
    """P7, P8: the slot of each of `items` items of a plane with `columns` of them
    in a line of the last axis, or None where lines hold no whole number."""
    need(placement_acceptable(word), PLACEMENT_UNKNOWN)
    if items == 0 or word == canonical or (items == 1 and word in PLACEMENTS):
        return range(items)
    need(columns is not None, PLACEMENT_UNKNOWN)
    return placement_map(word, items // columns if columns else 0, columns)


def found_slots(*plane):
    """slots_of for the check, which leaves alone what it cannot find."""
    try:
        return slots_of(*plane)
    except Refused:
        return None


# Layout expressions (5.3), as tuples: a name, and what follows it.
NUMBER = "(?:0|[1-9][0-9]*)"


class LayoutParser:
    """P12: the canonical text and no other."""

    def __init__(self, text):
        self.text, self.at = text, 0

    def take(self, pattern):
        match = re.compile(pattern).match(self.text, self.at)
        need(match, "bad-layout")
        self.at = match.end()
        return match[0]

    def number(self):
        return int(self.take(NUMBER))

    def expression(self):
        name = self.take("[A-Za-z]+")
        if name in ("RowMajor", "ColMajor"):
            return (name,)
        self.take("[(]")
        parts = self.arguments(name)
        self.take("[)]")
        return (name, *parts)

    def arguments(self, name):
        if name in ("Tile", "Interleave", "Compose"):
            inner = self.expression()
            self.take(",")
            if name == "Compose":
                return inner, self.expression()
            if name == "Interleave":
                return inner, self.number()
            return inner, *self.numbers(2)
        if name == "Swizzle":
            base = [self.number()]
            for _ in range(2):
                self.take(",")
                base.append(self.number())
            return base
        if name == "Perm":
            return self.numbers()
        if name == "Pad":
            return [self.number()]
        need(name == "Opaque", "bad-layout")
        return self.take("[A-Za-z0-9_.-]+"), self.take(",") and self.take("(?:[0-9a-f]{2})*")

    def numbers(self, count=None):
        self.take(r"\[")
        numbers = [self.number()]
        while self.text[self.at:self.at + 1] == ",":
            self.at += 1
            numbers.append(self.number())
        self.take(r"\]")
        need(count in (None, len(numbers)), "bad-layout")
        return numbers


def parse_layout(text):
    parser = LayoutParser(text)
    expression = parser.expression()
    need(parser.at == len(text), "bad-layout")
    return expression


def layout_word(text):
    """P13."""
    parse_layout(text)
    return 0x8 << 60 | fnv1a64(text.encode()) % 2**60


def has_pad(expression):
    return expression[0] == "Pad" or any(has_pad(part) for part in expression[1:]
                                         if isinstance(part, tuple))


def layout_map(expression, rows, cols):
    """P14: the slot of each index, and the columns C' of the matrix of slots."""
    name, *parts = expression
    count = rows * cols
    if name == "RowMajor":
        return list(range(count)), cols
    if name == "ColMajor":
        return [c * rows + r for r in range(rows) for c in range(cols)], cols
    if name == "Tile":
        inner, t0, t1 = parts
        need(t0 and t1 and rows % t0 == 0 and cols % t1 == 0 and not has_pad(inner),
             SIZE_MISMATCH)
        tiles, _ = layout_map(inner, rows // t0, cols // t1)
        return [tiles[r // t0 * (cols // t1) + c // t1] * t0 * t1 + r % t0 * t1 + c % t1
                for r in range(rows) for c in range(cols)], cols
    if name == "Interleave":
        slots, wide = layout_map(parts[0], rows, cols)
        n, total = parts[1], rows * wide
        need(n and total % n == 0, SIZE_MISMATCH)
        return [y % (total // n) * n + y // (total // n) for y in slots], wide
    if name == "Swizzle":
        b, m, shift = parts
        need(b and shift and count % 2 ** (b + m + shift) == 0, SIZE_MISMATCH)
        mask = (2**b - 1) << (m + shift)
        return [x ^ (x & mask) >> shift for x in range(count)], cols
    if name == "Perm":
        n = len(parts)
        need(sorted(parts) == list(range(n)) and count % n == 0, SIZE_MISMATCH)
        return [parts.index(x % n) + x - x % n for x in range(count)], cols
    if name == "Pad":
        need(parts[0], SIZE_MISMATCH)
        wide = -(-cols // parts[0]) * parts[0]
        return [r * wide + c for r in range(rows) for c in range(cols)], wide
    if name == "Compose":
        first, middle = layout_map(parts[1], rows, cols)
        second, wide = layout_map(parts[0], rows, middle)
        return [second[y] for y in first], wide
    raise Refused(PLACEMENT_UNKNOWN, "Opaque")


# === 3. The descriptor ==========================================================

MAGIC = 0x31545247
HAS_ZP, ZP_MINUS1, SPARSE, MSB_FIRST = 0x01, 0x02, 0x04, 0x08
INTERLEAVED, ZP_L1SCALED, RESERVED_FLAGS = 0x10, 0x20, 0xC0
MAX_RANK = 8
PLANE_NAMES = ("data", "scale0", "scale1", "aux")

DESCRIPTOR_LAYOUT = struct.Struct("<I4B4HhHH6BI4Q")
DESCRIPTOR_FIELDS = (
    "magic", "hdr_bytes", "version", "n_levels", "flags", "elem", "scale0", "scale1",
    "zp_fmt", "group_axis", "k0", "k1", "sp_n", "sp_m", "sp_meta_fmt", "sp_order",
    "container", "frame_rsvd", "note", "placement_data", "placement_scale",
    "placement_meta", "grade_id")
assert DESCRIPTOR_LAYOUT.size == 64


def unpack_descriptor(raw):
    return dict(zip(DESCRIPTOR_FIELDS, DESCRIPTOR_LAYOUT.unpack(raw)))


def pack_descriptor(d):
    return DESCRIPTOR_LAYOUT.pack(*(d[field] for field in DESCRIPTOR_FIELDS))


def frame_of(grade):
    """G30: the fields that a grade demands."""
    n, m, bits, ascending = grade.sparsity or (0, 0, 0, False)
    flags = (HAS_ZP * (grade["zp"] is not None) | ZP_MINUS1 * (grade["zpc"] == "minus1")
             | SPARSE * (m != 0) | MSB_FIRST * (grade["po"] == "msb")
             | ZP_L1SCALED * (grade["zps"] == "l1"))
    return {
        "n_levels": grade.levels, "flags": flags, "elem": grade.word("e"),
        "scale0": grade.word("s0"), "scale1": grade.word("s1"),
        "zp_fmt": grade.word("zp"), "k0": grade.k0, "k1": grade.k1, "sp_n": n,
        "sp_m": m, "sp_meta_fmt": bits // 2, "sp_order": int(ascending),
        "container": int(grade["ct"] == "pad8")}


def canonical_placements(grade):
    meta = LINEAR_META if grade["sp"] else ROW_MAJOR if grade["zp"] else UNSPECIFIED
    return ROW_MAJOR, ROW_MAJOR, meta


def descriptor_of(grade, group_axis=0, placements=None, note=0):
    verify_grade(grade)
    data, scale, meta = placements or canonical_placements(grade)
    return {"magic": MAGIC, "hdr_bytes": 64, "version": 1, "group_axis": group_axis,
            "frame_rsvd": 0, "note": note, "placement_data": data,
            "placement_scale": scale, "placement_meta": meta,
            "grade_id": grade.grade_id(), **frame_of(grade)}


# === 7. Checks ==================================================================

OK, GRADE_UNKNOWN, DIGEST_MISMATCH = "Ok", "GradeUnknown", "DigestMismatch"
STATUSES = (OK, SIZE_MISMATCH, GRADE_UNKNOWN, PLACEMENT_UNKNOWN, DIGEST_MISMATCH)


class Failure(Exception):
    """The first test that fails, with what a message needs."""

    def __init__(self, status, step, field, expected=None, actual=None, **more):
        super().__init__(f"{status} at step {step}: {field}")
        self.detail = {"status": status, "step": step, "field": field,
                       "expected": expected, "actual": actual, **more}


def require(condition, *arguments, **more):
    if not condition:
        raise Failure(*arguments, **more)


def check_frame(d):
    def must(condition, step, field, expected=None):
        require(condition, GRADE_UNKNOWN, step, field, expected, d[field])

    must(d["magic"] == MAGIC, "1.1", "magic", MAGIC)
    must(d["hdr_bytes"] == 64, "1.2", "hdr_bytes", 64)
    must(d["version"] == 1, "1.3", "version", 1)
    must(d["n_levels"] in (1, 2), "1.4", "n_levels")
    must(d["flags"] & RESERVED_FLAGS == 0, "1.5", "flags")
    must(d["frame_rsvd"] == 0, "1.6", "frame_rsvd", 0)
    must(d["container"] in (0, 1), "1.7", "container")
    if d["n_levels"] == 1:
        must(d["k1"] == 0, "1.8", "k1", 0)
        must(d["scale1"] == ABSENT, "1.8", "scale1", ABSENT)
    must(not (d["flags"] & SPARSE and d["flags"] & HAS_ZP), "1.9", "flags")
    if d["flags"] & ZP_L1SCALED:
        must(d["flags"] & HAS_ZP, "1.10", "flags")
        must(d["n_levels"] == 2, "1.10", "n_levels", 2)
    must(not unpack_format(d["elem"]).bias_ovr, "1.11", "elem")
    for field in ("elem", "scale0", "scale1", "zp_fmt"):
        must(unpack_format(d[field]).nan_enc != 3, "1.12", field)


def registry(extra=()):
    """The grades that are known, by id."""
    grades = [Grade.parse(text) for text in (*REGISTERED.values(), *extra)]
    return {grade.grade_id(): grade for grade in grades}


def check_grade(d, known):
    require(d["grade_id"] in known, GRADE_UNKNOWN, "2.1", "grade_id", None, d["grade_id"])
    grade = known[d["grade_id"]]
    frame = frame_of(grade)
    differ = [field for field in frame if d[field] != frame[field]]
    require(not differ, GRADE_UNKNOWN, "2.2", ",".join(differ),
            [frame[field] for field in differ], [d[field] for field in differ])
    return grade


def check_placements(d):
    for field in ("placement_data", "placement_scale", "placement_meta"):
        require(placement_acceptable(d[field]), PLACEMENT_UNKNOWN, "3.1", field, None,
                d[field])
    has_aux = bool(d["flags"] & (HAS_ZP | SPARSE))
    require(has_aux == (d["placement_meta"] != UNSPECIFIED), PLACEMENT_UNKNOWN, "3.2",
            "placement_meta", None, d["placement_meta"])


def code_width(word, pad8):
    width = unpack_format(word).width
    return 8 if pad8 and width <= 8 else width


def compute_sizes(d, shape):
    """Step 4 but for the comparison, with the sizes of 3.9."""
    def must(condition, step, field, expected=None, actual=None):
        require(condition, SIZE_MISMATCH, step, field, expected, actual)

    must(len(shape) <= MAX_RANK, "4.1", "rank", MAX_RANK, len(shape))
    for axis, extent in enumerate(shape):
        must(extent >= 0, "4.1", f"shape[{axis}]", None, extent)
    must(0 <= d["group_axis"] < len(shape), "4.1", "group_axis", len(shape),
         d["group_axis"])
    along = shape[d["group_axis"]]
    sparse = bool(d["flags"] & SPARSE)
    must(d["k0"] != 0 and along % d["k0"] == 0, "4.2", "k0", d["k0"], along)
    if sparse:
        must(d["sp_m"] != 0 and along % d["sp_m"] == 0, "4.3", "sp_m", d["sp_m"], along)
    numel = math.prod(shape)
    groups0 = numel // d["k0"]
    if d["n_levels"] == 1:
        groups1 = 0
    elif d["k1"] == 0:
        groups1 = 1
    else:
        must(groups0 % d["k1"] == 0, "4.4", "k1", d["k1"], groups0)
        groups1 = groups0 // d["k1"]
    if sparse:
        must(d["sp_meta_fmt"] in (0, 1, 2), "4.5", "sp_meta_fmt", None, d["sp_meta_fmt"])
    stored = numel * d["sp_n"] // d["sp_m"] if sparse else numel
    pair = 2 if d["flags"] & ZP_L1SCALED else 1
    bits = [stored * code_width(d["elem"], d["container"] == 1),
            groups0 * code_width(d["scale0"], True),
            groups1 * pair * code_width(d["scale1"], False),
            numel // d["sp_m"] * d["sp_n"] * 2 * d["sp_meta_fmt"] if sparse
            else groups0 * code_width(d["zp_fmt"], True) if d["flags"] & HAS_ZP
            else 0]
    products = [numel, numel * d["sp_n"] if sparse else 0, *bits]
    must(max(products) < 2**63, "4", "shape", 2**63 - 1, max(products))  # C21
    return {"numel": numel, "stored": stored, "groups0": groups0, "groups1": groups1,
            "bytes": [-(-count // 8) for count in bits]}


def likely_k0(d, sizes, plane, found):
    """7.5: the group size under which a plane of one value per group would have
    the bytes that were found."""
    word = {1: d["scale0"], 3: d["zp_fmt"] if d["flags"] & HAS_ZP else ABSENT}.get(plane)
    if not word or found == 0:
        return None
    k0, rest = divmod(sizes["numel"] * code_width(word, True), 8 * found)
    return k0 if rest == 0 and k0 not in (0, d["k0"]) else None


def check_sizes(d, sizes, plane_bytes):
    require(len(plane_bytes) == 4, SIZE_MISMATCH, "4.6", "plane_bytes", 4,
            len(plane_bytes))
    for plane, (required, found) in enumerate(zip(sizes["bytes"], plane_bytes)):
        require(required == found, SIZE_MISMATCH, "4.6", f"plane_bytes[{plane}]",
                required, found, plane=plane,
                likely_k0=likely_k0(d, sizes, plane, found))


def item_slots(d, shape, sizes):
    """The slots of element codes, level-0 scales and, in a sparse array, indices;
    None for those that cannot be found."""
    def columns(step, times=1):
        return shape[-1] // step * times if shape[-1] % step == 0 else None

    n, m = (d["sp_n"], d["sp_m"]) if d["flags"] & SPARSE else (1, 1)
    return (found_slots(d["placement_data"], ROW_MAJOR, sizes["stored"], columns(m, n)),
            found_slots(d["placement_scale"], ROW_MAJOR, sizes["groups0"], columns(d["k0"])),
            found_slots(d["placement_meta"], LINEAR_META, sizes["stored"], columns(m, n)))


def check_contents(d, shape, sizes, planes, expected_digest):
    for plane, size in enumerate(sizes["bytes"]):
        present = plane < len(planes) and planes[plane] is not None
        require(present or size == 0, DIGEST_MISMATCH, "5.1", f"planes[{plane}]", size,
                None, plane=plane)
    planes = [planes[i] if i < len(planes) and planes[i] else b"" for i in range(4)]
    if expected_digest is not None:
        found = digest(planes)
        require(found == expected_digest, DIGEST_MISMATCH, "5.1", "digest",
                expected_digest.hex(), found.hex())
    if d["flags"] & SPARSE and d["sp_order"] == 1 and d["sp_meta_fmt"] != 0:
        n, m = d["sp_n"], d["sp_m"]
        stored = read_stream(planes[3], 2 * d["sp_meta_fmt"], sizes["stored"])
        in_order = [stored[slot] for slot in item_slots(d, shape, sizes)[2] or ()]
        for run in range(len(in_order) // n):
            indices = in_order[run * n:run * n + n]
            rising = all(a < b for a, b in zip(indices, indices[1:]))
            require(rising and indices[-1] < m, DIGEST_MISMATCH, "5.2", f"run {run}",
                    m, indices, plane=3)


def probes(d, shape, sizes, planes):
    """7.6: advice about at most 64 groups."""
    count = min(64, sizes["groups0"])
    if count < 2:
        return []
    samples = {j * sizes["groups0"] // count for j in range(count)}
    warnings = []
    data, scales, meta = item_slots(d, shape, sizes)
    if unpack_format(d["scale0"]).kind == EXPONENT_ONLY and scales is not None:
        codes = read_codes(planes[1], d["scale0"], sizes["groups0"])
        if len({codes[scales[group]] for group in samples}) == 1:
            warnings.append("scales-without-spread")
    sparse = d["flags"] & SPARSE
    if d["elem"] == FORMATS["s8"] and data is not None and not (sparse and meta is None):
        groups = [i // d["k0"] for i in range(sizes["numel"])]
        if sparse:
            stored = read_stream(planes[3], 2 * d["sp_meta_fmt"], sizes["stored"])
            indices = [stored[slot] for slot in meta]
            groups = [groups[i] for i in kept_positions(d["sp_n"], d["sp_m"], indices)]
        largest = max((abs(fmt_decode(d["elem"], code))
                       for code, group in zip((planes[0][slot] for slot in data), groups)
                       if group in samples),
                      default=0)
        if 0 < largest < 64:
            warnings.append("codes-far-from-limit")
    return warnings


def structural_warnings(d, shape):
    """C28, C36: what is legal and easily means something else."""
    warnings = []
    if math.prod(shape[d["group_axis"] + 1:]) > 1:
        warnings.append("group-axis-not-innermost")
    if d["flags"] & ZP_MINUS1 and d["flags"] & ZP_L1SCALED:
        warnings.append("minus1-without-effect")
    return warnings


def grit_check(raw, shape, plane_bytes, level=1, planes=(), expected_digest=None,
               extra_grades=()):
    """7.3: the first failure, or Ok with warnings. Level 0 at run time is level 1
    (C2): what is erased is erased by a compiler."""
    try:
        require(len(raw) == 64, GRADE_UNKNOWN, "1.1", "descriptor", 64, len(raw))
        d = unpack_descriptor(raw)
        check_frame(d)
        check_grade(d, registry(extra_grades))
        check_placements(d)
        sizes = compute_sizes(d, shape)
        check_sizes(d, sizes, plane_bytes)
        warnings = structural_warnings(d, shape)
        if level >= 2:
            check_contents(d, shape, sizes, planes, expected_digest)
        if level >= 3:
            warnings += probes(d, shape, sizes, planes)
        return {"status": OK, "warnings": warnings}
    except Failure as failure:
        return failure.detail


# === 3.5 Bits in planes =========================================================


def read_stream(plane, width, count, first=0, msb=False):
    """B8 to B10: `count` codes of `width` bits, packed without gaps, from code
    `first` on."""
    if width >= 8:
        step = width // 8
        return [int.from_bytes(plane[(first + i) * step:(first + i + 1) * step], "little")
                for i in range(count)]
    codes = []
    for start in range(first * width, (first + count) * width, width):
        bits = []
        for bit in range(start, start + width):
            place = 7 - bit % 8 if msb else bit % 8
            bits.append(plane[bit // 8] >> place & 1)
        if msb:
            bits.reverse()
        codes.append(sum(bit << i for i, bit in enumerate(bits)))
    return codes


def write_stream(codes, width, msb=False):
    if width >= 8:
        return b"".join(code.to_bytes(width // 8, "little") for code in codes)
    plane = bytearray(-(-len(codes) * width // 8))
    for i, code in enumerate(codes):
        for j in range(width):
            bit = i * width + j
            value = code >> (width - 1 - j if msb else j) & 1
            plane[bit // 8] |= value << (7 - bit % 8 if msb else bit % 8)
    return bytes(plane)


def read_codes(plane, word, count, pad8=True, msb=False):
    """Codes of a plane; a sub-byte code in a byte of its own has bits of padding,
    which mean nothing."""
    width = unpack_format(word).width
    codes = read_stream(plane, code_width(word, pad8), count, 0, msb and not pad8)
    return [code & (2**width - 1) for code in codes]


def write_codes(codes, word, pad8=True, msb=False):
    return write_stream(codes, code_width(word, pad8), msb and not pad8)


# === 8. Decode ==================================================================


def array_sizes(grade, shape, axis=None):
    """The sizes of an array of this grade, grouped along its last axis unless
    another is named."""
    d = descriptor_of(grade, len(shape) - 1 if axis is None else axis)
    return compute_sizes(d, shape)


def project(grade, value):
    """8.1, step 6 (D19, D20): a NaN stays one, whether dt has a code for it or not."""
    if grade["dt"] == "binary32" or value != value:
        return value
    word = grade.word("dt")
    return fmt_decode(word, fmt_encode(word, value, grade["dr"], grade["ds"]))


def kept_positions(n, m, indices):
    """D13, D14: the logical indices that are stored, in order."""
    kept = []
    for run in range(len(indices) // n):
        kept += [run * m + i for i in sorted(set(indices[run * n:run * n + n])) if i < m]
    return kept


def plane_slots(grade, shape, sizes, placements):
    """5.2: for each plane, the slots of its items."""
    last = shape[-1]

    def per(step, times=1):
        return last // step * times if step and last % step == 0 else None

    n, m = grade.sparsity[:2] if grade.sparsity else (1, 1)
    data, scale, meta = canonical_placements(grade)
    words = placements or (data, scale, meta)
    aux = (sizes["stored"], per(m, n)) if grade["sp"] else (sizes["groups0"], per(grade.k0))
    return [slots_of(words[0], data, sizes["stored"], per(m, n)),
            slots_of(words[1], scale, sizes["groups0"], per(grade.k0)),
            slots_of(words[1], scale, sizes["groups1"], per(grade.k0 * grade.k1)),
            slots_of(words[2], meta, *aux) if meta else range(0)]


class Stored:
    """What the planes of an array hold, in the order of items: codes of elements,
    values of scales and zero points, and the positions of the elements."""

    def __init__(self, grade, shape, sizes, planes, placements):
        slots = plane_slots(grade, shape, sizes, placements)

        def in_order(plane, codes):
            return [codes[slot] for slot in slots[plane]]

        def values(plane, key, count):
            word = grade.word(key)
            return [fmt_decode(word, code) for code in read_codes(planes[plane], word, count)]

        self.codes = in_order(0, read_codes(planes[0], grade.word("e"), sizes["stored"],
                                            grade["ct"] == "pad8", grade["po"] == "msb"))
        self.scale0 = in_order(1, values(1, "s0", sizes["groups0"]))
        self.scale1 = self.minimum1 = self.zeros = ()
        if grade.levels == 2:
            each = 2 if grade["zps"] == "l1" else 1  # pairs [S1, Z1]
            stored = values(2, "s1", sizes["groups1"] * each)
            self.scale1 = in_order(2, stored[::each])
            self.minimum1 = in_order(2, stored[each - 1::each])
        self.positions = range(sizes["numel"])
        if grade.sparsity:
            n, m, bits, _ = grade.sparsity
            indices = in_order(3, read_stream(planes[3], bits, sizes["stored"]))
            self.positions = kept_positions(n, m, indices)
        elif grade["zp"]:
            self.zeros = in_order(3, values(3, "zp", sizes["groups0"]))


def decode(grade, shape, planes, axis=None, placements=None):
    """The binary32 values of an array, by the steps of 8.1."""
    sizes = array_sizes(grade, shape, axis)
    need([len(plane) for plane in planes] == sizes["bytes"], SIZE_MISMATCH)
    if sizes["numel"] == 0:
        return []
    stored = Stored(grade, shape, sizes, planes, placements)
    elem, l1 = grade.word("e"), grade["zps"] == "l1"

    @lru_cache(maxsize=None)
    def scale(g0):
        if grade.levels == 1:
            return stored.scale0[g0]
        return mul(stored.scale1[g0 // grade.k1 if grade.k1 else 0], stored.scale0[g0])

    @lru_cache(maxsize=None)
    def offset(g0):
        zero = stored.zeros[g0]
        if l1:
            return mul(stored.minimum1[g0 // grade.k1 if grade.k1 else 0], zero)
        return add(zero, 1.0) if grade["zpc"] == "minus1" else zero

    def value(i, code):
        S = scale(i // grade.k0)
        e = fmt_decode(elem, code)
        if S != S or e != e:
            return NAN
        if not grade["zp"]:
            return mul(S, e)
        Z = offset(i // grade.k0)
        if l1:
            return NAN if Z != Z else sub(mul(S, e), Z)
        return mul(S, sub(e, Z))

    out = [0.0] * sizes["numel"]  # D12: what is masked is +0.0
    for i, code in zip(stored.positions, stored.codes):
        out[i] = project(grade, value(i, code))
    return out


def relayout(grade, shape, planes, old, new, axis=None):
    """P20: the planes, with every item moved from its old slot to its new one.
    Equal words leave a plane alone, unless they are hashes."""
    sizes = array_sizes(grade, shape, axis)
    if sizes["numel"] == 0:
        return planes
    old, new = list(old), list(new)
    for role, word in enumerate(canonical_placements(grade)):
        if old[role] == new[role] and old[role] >> 60 != 0x8:
            old[role] = new[role] = word
    before = plane_slots(grade, shape, sizes, old)
    after = plane_slots(grade, shape, sizes, new)
    l1, bits = grade["zps"] == "l1", grade.sparsity[2] if grade.sparsity else 0
    widths = [code_width(grade.word("e"), grade["ct"] == "pad8"),
              code_width(grade.word("s0"), True),
              code_width(grade.word("s1"), False) * (2 if l1 else 1),
              bits or code_width(grade.word("zp"), True)]
    msb = grade["po"] == "msb" and grade["ct"] == "dense"
    moved = []
    for plane, content in enumerate(planes):
        if not content:
            moved.append(content)
            continue
        codes = read_stream(content, widths[plane], len(after[plane]), 0, msb and plane == 0)
        items = [0] * len(codes)
        for source, target in zip(before[plane], after[plane]):
            items[target] = codes[source]
        moved.append(write_stream(items, widths[plane], msb and plane == 0))
    return moved


# === 9. Encode ==================================================================


def encode_refusal(grade):
    """E11, E13: why a grade that can be decoded has no rule to encode, or None."""
    rule, two = grade["esr"], grade.levels == 2
    tests = {"custom-rule": rule.startswith("custom:"), "esn": grade["esn"] == "ftz"}
    if rule == "affineminmax":
        formats = [unpack_format(grade.word(key))
                   for key in (("e", "s0", "zp") if two else ("e", "zp")) if grade[key]]
        tests |= {
            "zp": grade["zp"] is None,
            "zps": two and grade["zps"] != "l1",
            "k1": two and grade.k1 == 0,
            "unsigned-integers": not all(f.kind == INTEGER and f.unsigned for f in formats),
            "er-es": (grade["er"], grade["es"]) != ("rne", "satfinite"),
        }
    else:
        tests |= {
            "zp": grade["zp"] is not None,
            "levels": two and rule != "ratiomaxabs",
            "k1": two and grade.k1 != 0,
            "sp-levels": two and grade.sparsity is not None,
        }
    return next((reason for reason, holds in tests.items() if holds), None)


def positive_code(word, x, rounding, saturation):
    """E10: a scale that is at least the least positive one."""
    code = fmt_encode(word, x, rounding, saturation)
    return code if fmt_decode(word, code) > 0 else 1


def amax(values):
    return max((abs(v) for v in values), default=0.0)


def all_finite(values):
    return all(math.isfinite(v) for v in values)


def shared_exponent(rule, largest):
    """X0 of 9.2: log2(amax), rounded to an integer exactly (E16)."""
    exponent = floor_log2(Fraction(largest))
    f = Fraction(largest) / Fraction(2) ** exponent  # in [1, 2)
    if rule == "exp2ceilmaxabs":
        return exponent + (f > 1)
    if rule == "exp2rnemaxabs":
        return exponent + (f * f > 2)
    return exponent


def wanted_scale(grade, largest):
    """E15, E22: the scale of one level before it is encoded into its format."""
    elem = grade.word("e")
    if grade["esr"] == "ratiomaxabs":
        return div(largest, max_finite(elem))
    emax = floor_log2(Fraction(max_finite(elem)))
    return math.ldexp(1.0, clamp(shared_exponent(grade["esr"], largest) - emax, -127, 127))


def element_code(grade, v, S):
    """E8, E25."""
    quotient = math.copysign(0.0, v) if S == 0 else div(v, S)
    return fmt_encode(grade.word("e"), quotient, grade["er"], grade["es"])


def poison(word):
    """E6: the code that carries a NaN."""
    if nan_code(word) is None:
        raise Refused("no-nan", f"format word 0x{word:04x}")
    return nan_code(word)


def encode_one_level(grade, groups):
    """9.2 and 9.4: exp2... and ratiomaxabs with one scale per group."""
    s0, er, es = grade.word("s0"), grade["er"], grade["es"]
    scales, codes = [], []
    for values in groups:
        if not all_finite(values):
            scales.append(poison(s0))
            codes.append([0] * len(values))
            continue
        largest = amax(values)
        wanted = wanted_scale(grade, largest) if largest else 1.0
        scales.append(positive_code(s0, wanted, er, es))
        S = fmt_decode(s0, scales[-1])
        codes.append([element_code(grade, v, S) for v in values])
    return scales, [], [], codes


def encode_ratio_two_levels(grade, groups):
    """E23, E24: a scale of the array, and one per group beside it. er governs the
    group scales and the elements, not the scale of the array."""
    s0, s1, er, es = grade.word("s0"), grade.word("s1"), grade["er"], grade["es"]
    if nan_code(s0) is None and not all(map(all_finite, groups)):
        # E6: the scale of the array is the innermost one that can hold a NaN.
        return ([0] * len(groups), [poison(s1)], [],
                [[0] * len(values) for values in groups])
    largest = amax(v for values in groups for v in values if math.isfinite(v))
    maxnorm = max_finite(grade.word("e"))
    wanted = div(div(largest, maxnorm), max_finite(s0)) if largest else 1.0
    tensor = positive_code(s1, wanted, "rne", es)
    sT = fmt_decode(s1, tensor)
    scales, codes = [], []
    for values in groups:
        if not all_finite(values):
            scales.append(poison(s0))
            codes.append([0] * len(values))
            continue
        ratio = div(div(amax(values), maxnorm), sT) if amax(values) else 1.0
        scales.append(fmt_encode(s0, ratio, er, es))
        S = mul(sT, fmt_decode(s0, scales[-1]))
        codes.append([element_code(grade, v, S) for v in values])
    return scales, [tensor], [], codes


def value_range(grade, values):
    """E17: step and offset. Zero is always in range; a group without negative
    values has lo = +0.0 and therefore the offset -0.0."""
    lo = min((v for v in values if v < 0), default=0.0)
    hi = max((v for v in values if v > 0), default=0.0)
    return div(sub(hi, lo), max_finite(grade.word("e"))), -lo


def round_clamped(x, low, high):
    """rint and clamp, of infinities too. A NaN, which only a range that overflows
    binary32 can bring about, gives `low` (E12 leaves it open)."""
    if math.isinf(x) or x != x:
        return high if x > 0 else low
    return clamp(round_to_integer(Fraction(x), "rne"), low, high)


def encode_affine_shared(grade, groups):
    """E33."""
    s0, top = grade.word("s0"), int(max_finite(grade.word("e")))
    bias = 1 if grade["zpc"] == "minus1" else 0
    last = int(max_finite(grade.word("zp")))
    scales, zeros, codes = [], [], []
    for values in groups:
        if not all_finite(values):
            scales.append(poison(s0))
            zeros.append(0)
            codes.append([0] * len(values))
            continue
        step, offset = value_range(grade, values)
        scales.append(positive_code(s0, step if step else 1.0, "rne", "satfinite"))
        S = fmt_decode(s0, scales[-1])
        z = round_clamped(div(offset, S), bias, last + bias)
        zeros.append(z - bias)
        codes.append([clamp(round_clamped(div(v, S), -2**40, 2**40) + z, 0, top)
                      for v in values])
    return scales, [], zeros, codes


def encode_affine_two_levels(grade, groups):
    """E18 to E21."""
    s0, s1, zp = grade.word("s0"), grade.word("s1"), grade.word("zp")
    top0, topz = int(max_finite(s0)), int(max_finite(zp))
    top = int(max_finite(grade.word("e")))
    scales, pairs, minima, codes = [], [], [], []
    for first in range(0, len(groups), grade.k1):
        block = groups[first:first + grade.k1]
        if not all(all_finite(values) for values in block):
            pairs += [poison(s1), 0]
            scales += [0] * len(block)
            minima += [0] * len(block)
            codes += [[0] * len(values) for values in block]
            continue
        ranges = [value_range(grade, values) for values in block]
        max_step = max(step for step, _ in ranges)
        # -0.0 unless an offset is positive.
        max_offset = max((offset for _, offset in ranges if offset > 0), default=-0.0)
        pairs.append(fmt_encode(s1, div(max_step, float(top0))))
        pairs.append(fmt_encode(s1, div(max_offset, float(topz))))
        d, dmin = fmt_decode(s1, pairs[-2]), fmt_decode(s1, pairs[-1])
        for values, (step, offset) in zip(block, ranges):
            sc = 0 if d == 0 else round_clamped(div(step, d), 0, top0)
            m = 0 if dmin == 0 else round_clamped(div(offset, dmin), 0, topz)
            scales.append(sc)
            minima.append(m)
            S, Z = mul(d, float(sc)), mul(dmin, float(m))
            codes.append([0 if S == 0 else round_clamped(div(add(v, Z), S), 0, top)
                          for v in values])
    return scales, pairs, minima, codes


def select_survivors(grade, values):
    """E14: the N largest magnitudes of every M, ties to the lower index; NaN counts
    as infinite. Returns the kept positions in order and their indices."""
    n, m, _, _ = grade.sparsity
    kept, indices = [], []
    for first in range(0, len(values), m):
        def rank(i):
            a = abs(values[first + i])
            return (-INF if a != a else -a), i
        chosen = sorted(sorted(range(m), key=rank)[:n])
        indices += chosen
        kept += [first + i for i in chosen]
    return kept, indices


def encode(grade, shape, values, axis=None):
    """The four planes of `values`, binary32 numbers in row-major order."""
    sizes = array_sizes(grade, shape, axis)
    if len(values) != sizes["numel"]:
        raise Refused("value-count", str(sizes["numel"]))
    if reason := encode_refusal(grade):
        raise Refused(reason, grade.canonical())
    kept, indices = range(len(values)), []
    if grade.sparsity:
        kept, indices = select_survivors(grade, values)
    groups = [[] for _ in range(sizes["groups0"])]
    for i in kept:
        groups[i // grade.k0].append(values[i])
    if grade["esr"] == "affineminmax":
        rule = encode_affine_two_levels if grade.levels == 2 else encode_affine_shared
    else:
        rule = encode_ratio_two_levels if grade.levels == 2 else encode_one_level
    scale0, scale1, zeros, codes = rule(grade, groups)
    data = write_codes([code for group in codes for code in group], grade.word("e"),
                       grade["ct"] == "pad8", grade["po"] == "msb")
    aux = b""
    if grade.sparsity:
        aux = write_stream(indices, grade.sparsity[2])
    elif grade["zp"]:
        aux = write_codes(zeros, grade.word("zp"))
    plane1 = write_codes(scale1, grade.word("s1")) if grade.levels == 2 else b""
    planes = [data, write_codes(scale0, grade.word("s0")), plane1, aux]
    assert [len(plane) for plane in planes] == sizes["bytes"]
    return planes


# === 4.3 and 11. Relations between grades =======================================

EDGES = [  # 11.2
    {"from": "GRADE_MXFP4_RNE", "to": "GRADE_MXFP4", "scope": "decode",
     "reason": "only the rounding of the shared exponent at encode differs"},
    {"from": "GRADE_NVF4_RTZ", "to": "GRADE_NVF4", "scope": "decode",
     "reason": "only the rounding at encode differs"},
]


def edge_refusal(edge, suite_arrays=()):
    """G34, G35: what forbids an edge. `suite_arrays` are the (shape, values) of the
    suite's encode vectors, on which both grades of a full edge must agree."""
    if not edge["reason"]:
        return "no-reason"
    a, b = (Grade.parse(REGISTERED.get(edge[end], edge[end])) for end in ("from", "to"))
    if a.decode_projection() != b.decode_projection():
        return "projections-differ"
    if edge["scope"] == "full":
        for shape, values in suite_arrays:
            if planes_or_refusal(a, shape, values) != planes_or_refusal(b, shape, values):
                return "encode-differs"
    return None


def planes_or_refusal(grade, shape, values):
    try:
        return encode(grade, shape, values)
    except Refused as refusal:
        return refusal.reason
    except Failure as failure:
        return failure.detail["status"]


def equivalent(a, b, scope, edges=()):
    """G36: the closure of the edges of this scope or a stronger one, and of equal
    canonical strings."""
    edges = [edge for edge in (*EDGES, *edges) if edge["scope"] in (scope, "full")]
    links = [tuple(Grade.parse(REGISTERED.get(edge[end], edge[end])).canonical()
                   for end in ("from", "to")) for edge in edges]
    reached, frontier = {a.canonical()}, [a.canonical()]
    while frontier:
        here = frontier.pop()
        for x, y in links:
            there = {x: y, y: x}.get(here)
            if there and there not in reached:
                reached.add(there)
                frontier.append(there)
    return b.canonical() in reached


ORDER_RANK = {"seq": 0, "tree": 2, "unspec": 3}  # any pairwiseK: 1


def token_refines(key, a, b):
    """4.3, for one of the keys 19 to 23: whether a promises all that b promises."""
    if a == b:
        return True
    if key == "an":
        return b == "any"
    if key == "ao":
        return ORDER_RANK.get(a, 1) < ORDER_RANK.get(b, 1)
    return False


def refines(kernel, request):
    """G21, G22: whether a kernel of this grade may serve the request."""
    return (kernel.decode_projection() == request.decode_projection()
            and all(token_refines(key, kernel[key], request[key])
                    for key in ACCUMULATION_KEYS))


def join_token(key, a, b):
    for token in (a, b):
        if token_refines(key, a, token) and token_refines(key, b, token):
            return token
    if key == "ao":  # two block lengths
        return "tree"
    if key == "an":
        return "any"
    raise Refused("no-join", f"{key}: {a}, {b}")


def join(a, b):
    """G23: the accumulation contract of a result; its representation is its own."""
    return {key: join_token(key, a[key], b[key]) for key in ACCUMULATION_KEYS}


def relax(grade, key, value):
    """G24: the grade with a weaker promise."""
    if key not in ACCUMULATION_KEYS:
        raise Refused("not-accumulation", key)
    value = parse_value(key, value)
    if not token_refines(key, grade[key], value):
        raise Refused("not-weaker", f"{key}={value}")
    return Grade({**{k: v for k, v in grade.fields.items() if v is not None}, key: value})


# === 15. Conformance vectors ====================================================
# A vector has an id, a clause (the constraints it tests), a kind, inputs and what is
# expected. The functions below derive the last from the inputs, one per kind.

CONFORMANCE = Path(__file__).resolve().parent / "conformance"
DERIVE = {}


def kind(function):
    DERIVE[function.__name__.removeprefix("derive_")] = function
    return function


def grade_named(text):
    return Grade.parse(REGISTERED.get(text, text))


def values_hex(values):
    return "".join(f"{to_bits(v):08x}" for v in values)


def values_of(text):
    return [from_bits(int(text[i:i + 8], 16)) for i in range(0, len(text), 8)]


def planes_of(texts):
    return [None if text is None else bytes.fromhex(text) for text in texts]


def words_of(texts):
    return texts and [int(text, 16) for text in texts]


def word_text(word, digits):
    return f"0x{word:0{digits}x}"


@kind
def derive_format_word(word):
    f = valid_format(int(word, 16))
    out = {"width": f.width, "kind": f.kind, "unsigned": f.unsigned,
           "signed_zero": f.szero, "max_finite": values_hex([max_finite(f.word)]),
           "nan_code": nan_code(f.word)}
    if f.kind == FLOAT:
        out |= {"exponent_bits": f.e_bits, "fraction_bits": f.m_bits, "bias": f.bias,
                "has_inf": f.has_inf}
    return out


@kind
def derive_format_space():
    """Every word: how many of each verdict, and a hash of all in order (one byte
    each: 0 for valid, else the place of the reason in the sorted list)."""
    verdicts = [format_refusal(word) or "" for word in range(2**16)]
    names = sorted(set(verdicts))
    return {"counts": {name or "valid": verdicts.count(name) for name in names},
            "fnv1a64": f"{fnv1a64(bytes(map(names.index, verdicts))):016x}"}


@kind
def derive_fmt_decode(word, codes):
    word = int(word, 16)
    width = valid_format(word).width
    every = range(2**width) if codes == "all" else codes
    values = [fmt_decode(word, code) for code in every]
    if len(values) <= 256:
        return {"values": values_hex(values)}
    packed = b"".join(to_bits(v).to_bytes(4, "little") for v in values)
    return {"fnv1a64": f"{fnv1a64(packed):016x}"}


@kind
def derive_fmt_encode(word, rounding, saturation, values):
    def code(x):
        try:
            return fmt_encode(int(word, 16), x, rounding, saturation)
        except Refused:
            return None
    return {"codes": [code(x) for x in values_of(values)]}


@kind
def derive_grade(text):
    grade = Grade.parse(text)
    return {"canonical": grade.canonical(), "grade_id": f"{grade.grade_id():016x}",
            "gritdec1": grade.decode_projection()}


@kind
def derive_descriptor(grade, group_axis=0, placements=None, note=0):
    d = descriptor_of(grade_named(grade), group_axis, words_of(placements), note)
    return {"desc_hex": pack_descriptor(d).hex()}


@kind
def derive_descriptor_fields(desc_hex):
    return unpack_descriptor(bytes.fromhex(desc_hex))


@kind
def derive_fingerprint(hex):
    data = bytes.fromhex(hex)
    return {"fnv1a64": f"{fnv1a64(data):016x}", "fnv1a128": fnv1a128(data).hex()}


def identities(grade, d, shape, planes=None):
    identity = gid(grade.canonical(), pack_descriptor(d), shape)
    out = {"desc_hex": pack_descriptor(d).hex(), "gid": identity.hex(),
           "gid_base32": base32(identity)}
    if planes is not None:
        out["digest"] = digest(planes).hex()
    return out


@kind
def derive_gid(grade, shape, group_axis=0, placements=None, note=0):
    grade = grade_named(grade)
    d = descriptor_of(grade, group_axis, words_of(placements), note)
    return identities(grade, d, shape)


@kind
def derive_base32(text):
    return {"bytes": parse_base32(text).hex()}


@kind
def derive_digest(planes):
    return {"digest": digest(planes_of(planes)).hex()}


@kind
def derive_array(grade, shape, values, group_axis=None):
    """Encode, identities, and decode of what was encoded."""
    grade = grade_named(grade)
    axis = len(shape) - 1 if group_axis is None else group_axis
    planes = encode(grade, shape, values_of(values), axis)
    return {"planes": [plane.hex() for plane in planes],
            "plane_bytes": [len(plane) for plane in planes],
            **identities(grade, descriptor_of(grade, axis), shape, planes),
            "decoded": values_hex(decode(grade, shape, planes, axis))}


@kind
def derive_decode(grade, shape, planes, group_axis=None, placements=None):
    """Planes that no encoder need have written."""
    grade, planes, placements = grade_named(grade), planes_of(planes), words_of(placements)
    axis = len(shape) - 1 if group_axis is None else group_axis
    raw = pack_descriptor(descriptor_of(grade, axis, placements))
    return {"gid": gid(grade.canonical(), raw, shape).hex(),
            "digest": digest(planes).hex(),
            "decoded": values_hex(decode(grade, shape, planes, axis, placements))}


@kind
def derive_relayout(grade, shape, planes, old, new, group_axis=None):
    moved = relayout(grade_named(grade), shape, planes_of(planes), words_of(old),
                     words_of(new), group_axis)
    return {"planes": [plane.hex() for plane in moved]}


@kind
def derive_sizes(grade, shape, group_axis=None):
    try:
        sizes = array_sizes(grade_named(grade), shape, group_axis)
        return {"status": OK, "plane_bytes": sizes["bytes"]}
    except Failure as failure:
        return failure.detail


@kind
def derive_check(desc_hex, shape, plane_bytes, level, planes=(), expected_digest=None,
                 grades=()):
    """`grades` are registered beside the six."""
    if expected_digest is not None:
        expected_digest = bytes.fromhex(expected_digest)
    return grit_check(bytes.fromhex(desc_hex), shape, plane_bytes, level,
                      planes_of(planes), expected_digest, grades)


@kind
def derive_placement(word):
    word = int(word, 16)
    return {"acceptable": placement_acceptable(word),
            "name": "UNSPECIFIED" if word == 0 else PLACEMENTS.get(word)}


@kind
def derive_placement_map(word, rows, cols):
    return {"slots": placement_map(int(word, 16), rows, cols)}


@kind
def derive_layout(text):
    return {"word": word_text(layout_word(text), 16)}


@kind
def derive_layout_map(text, rows, cols):
    slots, wide = layout_map(parse_layout(text), rows, cols)
    return {"slots": slots, "columns": wide}


@kind
def derive_edge(**edge):
    if reason := edge_refusal(edge, suite_arrays()):
        raise Refused(reason)
    return {"registered": edge in EDGES}


@kind
def derive_equivalent(a, b, scope):
    return {"equivalent": equivalent(grade_named(a), grade_named(b), scope)}


@kind
def derive_supersedes(a, b, shape, planes):
    """One payload under two grades."""
    outcomes = [derive_decode(name, shape, planes) for name in (a, b)]
    grades = [grade_named(name) for name in (a, b)]
    return {"desc_hex": [pack_descriptor(descriptor_of(grade)).hex() for grade in grades],
            "gid": [out["gid"] for out in outcomes],
            "decoded": outcomes[0]["decoded"],
            "same_decode": outcomes[0]["decoded"] == outcomes[1]["decoded"],
            "decode_scope": equivalent(*grades, "decode"),
            "full_scope": equivalent(*grades, "full")}


@kind
def derive_refines(kernel, request):
    return {"refines": refines(grade_named(kernel), grade_named(request))}


@kind
def derive_token_order(key, tokens):
    """The order of a key, and its joins, as rows by the first token."""
    def joined(a, b):
        try:
            return join_token(key, a, b)
        except Refused:
            return None
    return {"refines": [[token_refines(key, a, b) for b in tokens] for a in tokens],
            "join": [[joined(a, b) for b in tokens] for a in tokens]}


@kind
def derive_join(a, b):
    return join(grade_named(a), grade_named(b))


@kind
def derive_relax(grade, key, value):
    return {"canonical": relax(grade_named(grade), key, value).canonical()}


def derive(vector_kind, inputs):
    try:
        out = DERIVE[vector_kind](**inputs)
    except Refused as refusal:
        return {"refused": refusal.reason}
    except Failure as failure:
        return {"refused": failure.detail["status"]}
    return {key: value for key, value in out.items() if value is not None}


# === Verification ===============================================================


def golden_differences(golden):
    """grit-golden.json was made by another implementation; its README names what
    this project decides otherwise."""
    def compare(what, found, expected):
        if found != expected:
            yield f"grit-golden.json: {what}: {found} is not {expected}"

    for name, entry in golden["grades"].items():
        found = derive("grade", {"text": entry["canonical"]}) | derive(
            "descriptor", {"grade": name})
        yield from compare(name, found, entry)
    for entry in golden["vectors"] + golden["resolution"]:
        inputs = {"grade": entry["grade"], "shape": entry["shape"], "values": entry["inputs"]}
        found = derive("array", inputs)
        for key in ("planes", "decoded", "digest", "gid", "gid_base32", "plane_bytes"):
            if key in entry:
                yield from compare(f"{entry['name']}: {key}", found[key],
                                   entry.get("rtz_" + key, entry[key]))
        if "planes" in entry:  # what the package wrote decodes alike everywhere
            found = derive("decode", {"grade": entry["grade"], "shape": entry["shape"],
                                      "planes": entry["planes"]})
            yield from compare(entry["name"] + ": decode", found["decoded"], entry["decoded"])
    for entry in golden["decode_only"]:
        inputs = {key: entry[key] for key in ("grade", "shape", "planes")}
        found = derive("decode", inputs) | derive("gid", {key: entry[key] for key in
                                                          ("grade", "shape")})
        for key in ("decoded", "digest", "gid", "gid_base32", "desc_hex"):
            yield from compare(f"{entry['name']}: {key}", found[key], entry[key])
        found = derive("check", {"desc_hex": entry["desc_hex"], "shape": entry["shape"],
                                 "plane_bytes": entry["plane_bytes"], "level": 2,
                                 "planes": entry["planes"]})
        yield from compare(entry["name"] + ": level2", found["status"], entry["level2"])
    for entry in golden["checks"]:
        inputs = {"level" if key == "check_level" else key: entry[key]
                  for key in ("desc_hex", "shape", "plane_bytes", "check_level", "planes",
                              "expected_digest") if key in entry}
        found = derive("check", inputs)
        step = int(found.get("step", "0").split(".")[0])
        yield from compare(entry["name"], [found["status"], step],
                           [entry["status"], entry["step"]])
    for entry in golden["grade_strings"]:
        found = derive("grade", {"text": entry["text"]})
        why = entry.get("why")
        if "e=bf16" in entry["text"]:  # G18 names it
            why = "forbidden-alias"
        yield from compare(entry["text"],
                           [found.get(key) for key in ("canonical", "grade_id", "refused")],
                           [entry.get("canonical"), entry.get("grade_id"), why])
    yield from golden_number_differences(golden, compare)


def golden_number_differences(golden, compare):
    for entry in golden["fmt_decode"]:
        codes = entry["codes"]
        if codes != "all":
            codes = [int(code, 16) for code in codes]
        found = derive("fmt_decode", {"word": entry["word"], "codes": codes})
        yield from compare("fmt_decode of " + entry["name"], found["values"], entry["values"])
    infinite = {"7f800000": 0x7BFF, "ff800000": 0xFBFF}
    for entry in golden["fmt_encode"]:
        for bits, code in entry["cases"]:
            expected = None if code is None else int(code, 16)
            if entry["word"] == "0x356f" and entry["sat"] != "ovfinf":
                expected = infinite.get(bits, expected)
            found = derive("fmt_encode", {"word": entry["word"], "rounding": "rne",
                                          "saturation": entry["sat"], "values": bits})
            yield from compare(f"fmt_encode {entry['word']} {entry['sat']} of {bits}",
                               found["codes"], [expected])
    for entry in golden["base32"]:
        found = derive("base32", {"text": entry["text"]})
        yield from compare("base32 " + entry["text"], found.get("bytes"), entry["gid"])
    for entry in golden["supersedes"]:
        data, scale = entry["payload"][:32], entry["payload"][32:]
        found = derive("supersedes", {"a": "GRADE_MXFP4_RNE", "b": "GRADE_MXFP4",
                                      "shape": [32], "planes": [data, scale, "", ""]})
        expected = {"desc_hex": [entry["desc_a"], entry["desc_b"]],
                    "decoded": entry["decoded"], "same_decode": True,
                    "decode_scope": entry["decode_scope"], "full_scope": entry["full_scope"]}
        yield from compare(entry["name"], {key: found[key] for key in expected}, expected)


def suite_module():
    """The list of vectors, which is data more than text and has a file of its own."""
    sys.path.insert(0, str(CONFORMANCE))
    try:
        import make_vectors
    finally:
        sys.path.pop(0)
    return make_vectors


@lru_cache(maxsize=None)
def suite_arrays():
    """What the suite encodes, for G35."""
    return tuple((vector["inputs"]["shape"], values_of(vector["inputs"]["values"]))
                 for vector in suite_module().list_vectors() if vector["kind"] == "array")


def make_vectors():
    vectors = suite_module().list_vectors()
    for vector in vectors:
        vector["expected"] = derive(vector["kind"], vector["inputs"])
    return vectors


def vectors_text(vectors):
    """One vector per line, sorted by id, so that a change shows as one line."""
    lines = [json.dumps(vector, sort_keys=True, separators=(",", ":"))
             for vector in sorted(vectors, key=lambda vector: vector["id"])]
    return '{"spec":"GRIT","version":1,"vectors":[\n' + ",\n".join(lines) + "\n]}\n"


def published_differences(vectors, published):
    by_id = {vector["id"]: vector for vector in vectors}
    for name, facts in published.items():
        expected = by_id[name]["expected"] if name in by_id else {}
        for key, value in facts.items():
            if expected.get(key) != value:
                yield f"{name}: {key}: {expected.get(key)} is not the published {value}"


def verify():
    text = (CONFORMANCE / "vectors.json").read_text()
    vectors = json.loads(text)["vectors"]
    differences = [f"{vector['id']}: found {found}, expected {vector['expected']}"
                   for vector in vectors
                   for found in [derive(vector["kind"], vector["inputs"])]
                   if found != vector["expected"]]
    listed = [{key: vector[key] for key in vector if key != "expected"}
              for vector in vectors]
    if listed != sorted(suite_module().list_vectors(), key=lambda vector: vector["id"]):
        differences.append("vectors.json does not list what make_vectors.py does")
    if text != vectors_text(vectors):
        differences.append("vectors.json is not formatted as gen writes it")
    published = suite_module().PUBLISHED
    differences += published_differences(vectors, published)
    golden = json.loads((CONFORMANCE / "grit-golden.json").read_text())
    differences += golden_differences(golden)
    for difference in differences:
        print(difference)
    print(f"{len(vectors)} vectors, {len(published)} of them with published values, and "
          f"grit-golden.json: {len(differences)} differences")
    return 1 if differences else 0


def main(arguments):
    if arguments == ["gen"]:
        vectors = make_vectors()
        text = vectors_text(vectors)
        (CONFORMANCE / "vectors.json").write_text(text)
        print(f"vectors.json: {len(vectors)} vectors, {len(text)} bytes")
        return 0
    if arguments == ["verify"]:
        return verify()
    print(__doc__.split("\n\n")[1], file=sys.stderr)
    return 64


if __name__ == "__main__":
    sys.modules["reference"] = sys.modules["__main__"]  # for make_vectors.py
    sys.exit(main(sys.argv[1:]))
