#!/usr/bin/env python3
# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The executable reference of GRIT v1, and the maker of its conformance vectors.

    python3 spec/reference.py gen      # write spec/conformance/vectors.json
    python3 spec/reference.py verify   # derive everything again and compare

It is written to be read beside the text, whose section numbers the comments
carry, and it imports nothing of this project: another implementation can be
tested against it. It is slow on purpose. Every step is computed on exact
rational numbers and rounded where the text rounds.

A binary32 value is held in a Python float, which holds every one exactly; a
function that returns one has rounded it. Places where the text leaves a choice
are marked "Decision"; spec/conformance/README.md lists them.
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
    """Something that the text gives no meaning; `reason` is a stable word."""

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
    """1.2: there is one NaN."""
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
    """1.4: whether a magnitude `fraction` of the way from one representable
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
TOKEN_OF = {word: token for token, word in FORMATS.items()}


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
    """Why a word names no format, or None. Every one of the 65536 is one or the
    other. Decision: the order of the tests, and all but bias_ovr and nan_enc."""
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
    """2.4. Registered formats are exact; others are rounded to binary32."""
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
    """The NaN that encode writes, or None. Decision: wide formats with IEEE NaNs
    write the quiet one (0x7E00), the others all ones below the sign."""
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
    """The code of a magnitude beyond the ladder, or None if it is not beyond.
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
    """2.5, generalised to every width, rounding and saturation."""
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
        if code < 0:  # exponent-only formats have nothing below their first code
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
# An alias that maps to another format is refused, not accepted (4.4).
FORBIDDEN_FORMATS = ("e4m3fnuz", "b16", "u4b", "int2")
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
# A key is given a token in words of its own kind: 'floor' is rtn for er and
# exp2floormaxabs for esr.


def parse_format(value):
    if value in FORBIDDEN_FORMATS:
        raise Refused("forbidden-alias", value)
    if value not in FORMAT_SPELLINGS:
        raise Refused("unknown-format", value)
    return FORMAT_SPELLINGS[value]


def parse_integer(value, reason="bad-integer"):
    """Decimal digits alone; no number is larger than a field of 64 bits."""
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
    """4.4, rules 1 and 2. Decision: ASCII alone, so that no other alphabet folds
    into this one."""
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
    """Refuses what parses and no array can have."""
    tests = [("k0-range", not 1 <= grade.k0 <= 0xFFFF),
             ("k1-range", grade.k1 > 0xFFFF),
             # 3.4 pads sub-byte scales to bytes and 7.3 does not (Decision).
             ("narrow-level-1", grade.levels == 2
              and unpack_format(grade.word("s1")).width < 8),
             ("one-aux-plane", bool(grade["sp"] and grade["zp"]))]  # 3.3
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
    """6.3: the note, bytes 28 to 31, is not part of it."""
    return fnv1a128(canonical.encode() + b"\0" + descriptor[:28] + descriptor[32:]
                    + struct.pack(f"<I{len(shape)}q", len(shape), *shape))


def digest(planes):
    """6.5. An absent plane contributes its length, zero (the worked example B.1
    needs that)."""
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


# === 5. Placement words =========================================================

UNSPECIFIED = 0
PLACEMENTS = {
    0x1000000000000001: "ROW_MAJOR", 0x1000000000000002: "COL_MAJOR",
    0x1000000000000003: "SWIZZLE_128x4B", 0x1000000000000004: "TILE_16x16",
    0x1000000000000005: "BLOCK_AOS", 0x1000000000000011: "LINEAR_META",
    0x1000000000000012: "META_M16N8K32", 0x1000000000000020: "PACK_K4_12B",
}
ROW_MAJOR, LINEAR_META = 0x1000000000000001, 0x1000000000000011


def placement_class(word):
    return word >> 60


def placement_acceptable(word):
    """7.3, step 3."""
    return (word == UNSPECIFIED or word in PLACEMENTS
            or placement_class(word) in (0x8, 0xF))


# === 3. The descriptor ==========================================================

MAGIC = 0x31545247
HAS_ZP, ZP_MINUS1, SPARSE, MSB_FIRST = 0x01, 0x02, 0x04, 0x08
INTERLEAVED, ZP_L1SCALED, RESERVED_FLAGS = 0x10, 0x20, 0xC0
NOTE_ASSUMED = 0x00000001
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
    """The fields that a grade demands (7.3, step 2)."""
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


def descriptor_of(grade, group_axis=0, placements=None, note=0):
    """The canonical placements are ROW_MAJOR, and for the aux plane LINEAR_META
    if it holds indices, ROW_MAJOR if it holds zero points, else nothing."""
    verify_grade(grade)
    if placements is None:
        meta = LINEAR_META if grade["sp"] else ROW_MAJOR if grade["zp"] else UNSPECIFIED
        placements = (ROW_MAJOR, ROW_MAJOR, meta)
    data, scale, meta = placements
    return {"magic": MAGIC, "hdr_bytes": 64, "version": 1, "group_axis": group_axis,
            "frame_rsvd": 0, "note": note, "placement_data": data,
            "placement_scale": scale, "placement_meta": meta,
            "grade_id": grade.grade_id(), **frame_of(grade)}


# === 7. Checks ==================================================================

OK, SIZE_MISMATCH, GRADE_UNKNOWN = "Ok", "SizeMismatch", "GradeUnknown"
PLACEMENT_UNKNOWN, DIGEST_MISMATCH = "PlacementUnknown", "DigestMismatch"
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
    def need(condition, step, field, expected=None):
        require(condition, GRADE_UNKNOWN, step, field, expected, d[field])

    need(d["magic"] == MAGIC, "1.1", "magic", MAGIC)
    need(d["hdr_bytes"] == 64, "1.2", "hdr_bytes", 64)
    need(d["version"] == 1, "1.3", "version", 1)
    need(d["n_levels"] in (1, 2), "1.4", "n_levels")
    need(d["flags"] & RESERVED_FLAGS == 0, "1.5", "flags")
    need(d["frame_rsvd"] == 0, "1.6", "frame_rsvd", 0)
    need(d["container"] in (0, 1), "1.7", "container")
    if d["n_levels"] == 1:
        need(d["k1"] == 0, "1.8", "k1", 0)
        need(d["scale1"] == ABSENT, "1.8", "scale1", ABSENT)
    need(not (d["flags"] & SPARSE and d["flags"] & HAS_ZP), "1.9", "flags")
    if d["flags"] & ZP_L1SCALED:
        need(d["flags"] & HAS_ZP, "1.10", "flags")
        need(d["n_levels"] == 2, "1.10", "n_levels", 2)
    need(not unpack_format(d["elem"]).bias_ovr, "1.11", "elem")
    for field in ("elem", "scale0", "scale1", "zp_fmt"):
        need(unpack_format(d[field]).nan_enc != 3, "1.12", field)


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
    """The size equations. Decision: a count or a number of bits that does not fit
    63 bits is a mismatch; ranks above 8 are too."""
    def need(condition, step, field, expected=None, actual=None):
        require(condition, SIZE_MISMATCH, step, field, expected, actual)

    need(len(shape) <= MAX_RANK, "4.1", "rank", MAX_RANK, len(shape))
    for axis, extent in enumerate(shape):
        need(extent >= 0, "4.1", f"shape[{axis}]", None, extent)
    need(0 <= d["group_axis"] < len(shape), "4.1", "group_axis", len(shape),
         d["group_axis"])
    along = shape[d["group_axis"]]
    sparse = bool(d["flags"] & SPARSE)
    need(d["k0"] != 0 and along % d["k0"] == 0, "4.2", "k0", d["k0"], along)
    if sparse:
        need(d["sp_m"] != 0 and along % d["sp_m"] == 0, "4.3", "sp_m", d["sp_m"], along)
    numel = math.prod(shape)
    groups0 = numel // d["k0"]
    if d["n_levels"] == 1:
        groups1 = 0
    elif d["k1"] == 0:
        groups1 = 1
    else:
        need(groups0 % d["k1"] == 0, "4.4", "k1", d["k1"], groups0)
        groups1 = groups0 // d["k1"]
    if sparse:
        need(d["sp_meta_fmt"] in (0, 1, 2), "4.5", "sp_meta_fmt", None, d["sp_meta_fmt"])
    stored = numel * d["sp_n"] // d["sp_m"] if sparse else numel
    pair = 2 if d["flags"] & ZP_L1SCALED else 1
    bits = [stored * code_width(d["elem"], d["container"] == 1),
            groups0 * code_width(d["scale0"], True),
            groups1 * pair * code_width(d["scale1"], False),
            numel // d["sp_m"] * d["sp_n"] * 2 * d["sp_meta_fmt"] if sparse
            else groups0 * code_width(d["zp_fmt"], True) if d["flags"] & HAS_ZP
            else 0]
    products = [numel, numel * d["sp_n"] if sparse else 0, *bits]
    need(max(products) < 2**63, "4.1", "shape", 2**63 - 1, max(products))
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


def check_contents(d, sizes, planes, expected_digest):
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
        n, m, bits = d["sp_n"], d["sp_m"], 2 * d["sp_meta_fmt"]
        for run in range(sizes["numel"] // m):
            indices = read_stream(planes[3], bits, n, run * n)
            rising = all(a < b for a, b in zip(indices, indices[1:]))
            require(rising and indices[-1] < m, DIGEST_MISMATCH, "5.2", f"run {run}",
                    m, indices, plane=3)


def probes(d, sizes, planes):
    """7.6: advice about samples of at most 64 groups. Decision, as the text gives
    examples alone: exponent-only scales that are all alike; signed bytes of which
    none reaches half of the limit, though one is not zero."""
    count = min(64, sizes["groups0"])
    if count < 2:
        return []
    samples = [i * sizes["groups0"] // count for i in range(count)]
    warnings = []
    if unpack_format(d["scale0"]).kind == EXPONENT_ONLY:
        scales = {planes[1][group] for group in samples}
        if len(scales) == 1:
            warnings.append("scales-without-spread")
    if d["elem"] == FORMATS["s8"]:
        per_group = sizes["stored"] // sizes["groups0"]
        largest = max((abs(fmt_decode(d["elem"], planes[0][group * per_group + i]))
                       for group in samples for i in range(per_group)), default=0)
        if 0 < largest < 64:
            warnings.append("codes-far-from-limit")
    return warnings


def structural_warnings(d, shape):
    """Things that are legal and easily mean something else."""
    warnings = []
    if math.prod(shape[d["group_axis"] + 1:]) > 1:
        warnings.append("group-axis-not-innermost")
    if d["flags"] & ZP_MINUS1 and d["flags"] & ZP_L1SCALED:
        warnings.append("minus1-without-effect")
    return warnings


def grit_check(raw, shape, plane_bytes, level=1, planes=(), expected_digest=None,
               extra_grades=()):
    """7.3: the first failure, or Ok with warnings. Level 0 at run time is level 1
    (Decision): what is erased is erased by a compiler. Total: any bytes, any
    numbers."""
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
            check_contents(d, sizes, planes, expected_digest)
        if level >= 3:
            warnings += probes(d, sizes, planes)
        return {"status": OK, "step": "0", "warnings": warnings}
    except Failure as failure:
        return failure.detail


# === 3.5 Bits in planes =========================================================


def read_stream(plane, width, count, first=0, msb=False):
    """`count` codes of `width` bits, packed without gaps, from code `first` on.
    Decision for widths other than 4: least significant bit first across bytes;
    MSB_FIRST mirrors the stream, so that a code starts at its high bit."""
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
    """8.1, step 6. Decision: a NaN stays one, whether dt has a code for it or not,
    and so decode is total."""
    if grade["dt"] == "binary32" or value != value:
        return value
    word = grade.word("dt")
    return fmt_decode(word, fmt_encode(word, value, grade["dr"], grade["ds"]))


def kept_positions(grade, aux, numel):
    """The logical indices of a sparse array that are stored, in order. The indices
    of a run are a set, and those beyond it name nothing (Decision)."""
    n, m, bits, _ = grade.sparsity
    kept = []
    for run in range(numel // m):
        indices = set(read_stream(aux, bits, n, run * n))
        kept += [run * m + i for i in sorted(indices) if i < m]
    return kept


def decode(grade, shape, planes, axis=None):
    """The binary32 values of an array, by the equation of 8.1."""
    sizes = array_sizes(grade, shape, axis)
    if [len(plane) for plane in planes] != sizes["bytes"]:
        raise Refused("plane-sizes", str(sizes["bytes"]))
    data, plane0, plane1, aux = planes
    l1 = grade["zps"] == "l1"
    elem, s0, s1, zp = (grade.word(key) for key in ("e", "s0", "s1", "zp"))
    codes = read_codes(data, elem, sizes["stored"], grade["ct"] == "pad8",
                       grade["po"] == "msb")
    scale0 = [fmt_decode(s0, c) for c in read_codes(plane0, s0, sizes["groups0"])]
    scale1 = []
    if grade.levels == 2:
        count = sizes["groups1"] * (2 if l1 else 1)
        scale1 = [fmt_decode(s1, c) for c in read_codes(plane1, s1, count)]
    zeros = []
    if grade["zp"]:
        zeros = [fmt_decode(zp, c) for c in read_codes(aux, zp, sizes["groups0"])]

    @lru_cache(maxsize=None)
    def level1_group(g0):
        return g0 // grade.k1 if grade.k1 else 0

    @lru_cache(maxsize=None)
    def scale(g0):
        if grade.levels == 1:
            return scale0[g0]
        return mul(scale1[level1_group(g0) * (2 if l1 else 1)], scale0[g0])

    @lru_cache(maxsize=None)
    def offset(g0):
        if l1:
            return mul(scale1[level1_group(g0) * 2 + 1], zeros[g0])
        return add(zeros[g0], 1.0 if grade["zpc"] == "minus1" else 0.0)

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

    out = [0.0] * sizes["numel"]  # 8.3: what is masked is +0.0
    positions = range(sizes["numel"])
    if grade.sparsity:
        positions = kept_positions(grade, aux, sizes["numel"])
    for i, code in zip(positions, codes):
        result = project(grade, value(i, code))
        out[i] = NAN if result != result else result
    return out


# === 9. Encode ==================================================================


def encode_refusal(grade):
    """Why a grade that can be decoded has no rule to encode, or None."""
    rule, two = grade["esr"], grade.levels == 2
    integers = all(unpack_format(grade.word(key)).kind == INTEGER
                   and unpack_format(grade.word(key)).unsigned
                   for key in (("e", "zp", "s0") if two else ("e", "zp"))
                   if grade[key])
    tests = {
        "custom": rule.startswith("custom:"),
        "ftz": grade["esn"] == "ftz",  # the text does not say what is flushed
    }
    if rule == "affineminmax":
        tests |= {
            "affine-needs-zp": grade["zp"] is None,
            "affine-integers": not integers,
            "affine-shared-two-levels": two and grade["zps"] == "shared",
            "affine-per-tensor": two and grade.k1 == 0,
            "affine-rounding": (grade["er"], grade["es"]) != ("rne", "satfinite"),
        }
    else:
        tests |= {
            "zp-without-rule": grade["zp"] is not None,
            "exp2-two-levels": two and rule != "ratiomaxabs",
            "ratio-super-groups": two and grade.k1 != 0,
            "sparse-two-levels": two and grade.sparsity is not None,
        }
    return next((reason for reason, holds in tests.items() if holds), None)


def positive_code(word, x, rounding, saturation):
    """A scale is never zero where it has one level: the smallest code above."""
    code = fmt_encode(word, x, rounding, saturation)
    return code if fmt_decode(word, code) > 0 else 1


def amax(values):
    return max((abs(v) for v in values), default=0.0)


def all_finite(values):
    return all(math.isfinite(v) for v in values)


def shared_exponent(rule, largest):
    """9.2: log2(amax), rounded to an integer exactly."""
    exponent = floor_log2(Fraction(largest))
    f = Fraction(largest) / Fraction(2) ** exponent  # in [1, 2)
    if rule == "exp2ceilmaxabs":
        return exponent + (f > 1)
    if rule == "exp2rnemaxabs":
        return exponent + (f * f > 2)
    return exponent


def wanted_scale(grade, largest):
    """The scale of one level before it is projected into its format."""
    elem = grade.word("e")
    if grade["esr"] == "ratiomaxabs":
        return div(largest, max_finite(elem))
    emax = floor_log2(Fraction(max_finite(elem)))
    return math.ldexp(1.0, clamp(shared_exponent(grade["esr"], largest) - emax, -127, 127))


def element_code(grade, v, S):
    quotient = math.copysign(0.0, v) if S == 0 else div(v, S)
    return fmt_encode(grade.word("e"), quotient, grade["er"], grade["es"])


def encode_one_level(grade, groups):
    """9.2 and 9.4: exp2... and ratiomaxabs with one scale per group."""
    s0, er, es = grade.word("s0"), grade["er"], grade["es"]
    scales, codes = [], []
    for values in groups:
        if not all_finite(values):
            if nan_code(s0) is None:
                raise Refused("no-nan", grade["s0"])
            scales.append(nan_code(s0))
            codes.append([0] * len(values))
            continue
        largest = amax(values)
        wanted = wanted_scale(grade, largest) if largest else 1.0
        scales.append(positive_code(s0, wanted, er, es))
        S = fmt_decode(s0, scales[-1])
        codes.append([element_code(grade, v, S) for v in values])
    return scales, [], [], codes


def encode_ratio_two_levels(grade, groups):
    """10.3: a scale of the tensor, and one per group beside it. er governs the
    group scales and the elements, not the scale of the tensor (Decision)."""
    s0, s1, er, es = grade.word("s0"), grade.word("s1"), grade["er"], grade["es"]
    largest = amax(v for values in groups for v in values if math.isfinite(v))
    maxnorm = max_finite(grade.word("e"))
    wanted = div(div(largest, maxnorm), max_finite(s0)) if largest else 1.0
    tensor = positive_code(s1, wanted, "rne", es)
    sT = fmt_decode(s1, tensor)
    scales, codes = [], []
    for values in groups:
        if not all_finite(values):
            if nan_code(s0) is None:
                return poison_all(grade, groups)
            scales.append(nan_code(s0))
            codes.append([0] * len(values))
            continue
        ratio = div(div(amax(values), maxnorm), sT) if amax(values) else 1.0
        scales.append(fmt_encode(s0, ratio, er, es))  # may be zero: nvf4's honest limit
        S = mul(sT, fmt_decode(s0, scales[-1]))
        codes.append([element_code(grade, v, S) for v in values])
    return scales, [tensor], [], codes


def poison_all(grade, groups):
    """Decision: a NaN goes into the innermost scale that can hold one; the codes
    under it are 0."""
    if nan_code(grade.word("s1")) is None:
        raise Refused("no-nan", grade["s1"])
    return ([0] * len(groups), [nan_code(grade.word("s1"))], [],
            [[0] * len(values) for values in groups])


def value_range(grade, values):
    """9.3: step and offset. Zero is always in range; a group without negative
    values has lo = +0.0 and therefore the offset -0.0."""
    lo = min((v for v in values if v < 0), default=0.0)
    hi = max((v for v in values if v > 0), default=0.0)
    return div(sub(hi, lo), max_finite(grade.word("e"))), -lo


def round_clamped(x, low, high):
    """rne_int and clamp, of infinities too; a NaN gives `low` (Decision: it can
    only come from a range that overflows binary32)."""
    if math.isinf(x) or x != x:
        return high if x > 0 else low
    return clamp(round_to_integer(Fraction(x), "rne"), low, high)


def encode_affine_shared(grade, groups):
    """9.3 with one level and a zero point. Decision, as the text stops at step and
    off: S is step in the scale's format, z is off/S rounded, q is v/S rounded
    plus z, each clamped."""
    s0, top = grade.word("s0"), int(max_finite(grade.word("e")))
    bias = 1 if grade["zpc"] == "minus1" else 0
    last = int(max_finite(grade.word("zp")))
    scales, zeros, codes = [], [], []
    for values in groups:
        if not all_finite(values):
            if nan_code(s0) is None:
                raise Refused("no-nan", grade["s0"])
            scales.append(nan_code(s0))
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
    """10.2, for any number of groups and any unsigned integers."""
    s0, s1, zp = grade.word("s0"), grade.word("s1"), grade.word("zp")
    top0, topz = int(max_finite(s0)), int(max_finite(zp))
    top = int(max_finite(grade.word("e")))
    scales, pairs, minima, codes = [], [], [], []
    for first in range(0, len(groups), grade.k1):
        block = groups[first:first + grade.k1]
        if not all(all_finite(values) for values in block):
            if nan_code(s1) is None:
                raise Refused("no-nan", grade["s1"])
            pairs += [nan_code(s1), 0]
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
    """10.4: the N largest magnitudes of every M, ties to the lower index; NaN
    counts as infinite. Returns the kept positions in order and their indices."""
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


def edge_refusal(edge):
    """11.2: what forbids an edge. Full scope needs a suite that agrees under both
    grades, which no pair of version 1 has shown."""
    if not edge["reason"]:
        return "no-reason"
    if edge["scope"] not in ("decode", "full"):
        return "unknown-scope"
    a, b = (Grade.parse(REGISTERED.get(edge[end], edge[end])) for end in ("from", "to"))
    if a.decode_projection() != b.decode_projection():
        return "projections-differ"
    if edge["scope"] == "full" and a.canonical() != b.canonical():
        return "encode-differs"
    return None


def equivalent(a, b, scope, edges=()):
    """The closure of the edges of this scope or a stronger one, and of equal
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


ORDER_RANK = {"seq": 0, "tree": 2, "unspec": 3}


def weaker_or_equal(key, a, b):
    """Whether a promises what b promises, on one accumulation key."""
    if a == b:
        return True
    if key == "an":
        return b == "any"
    if key == "ao":
        return ORDER_RANK.get(a, 1) < ORDER_RANK.get(b, 1)
    return False


def refines(kernel, request):
    """4.3: a kernel of this grade may serve the request. Decision: keys 1 to 18
    must agree up to decode equivalence."""
    return (kernel.decode_projection() == request.decode_projection()
            and all(weaker_or_equal(key, kernel[key], request[key])
                    for key in ACCUMULATION_KEYS))


def join_token(key, a, b):
    for token in (a, b):
        if weaker_or_equal(key, a, token) and weaker_or_equal(key, b, token):
            return token
    if key == "ao":  # two block lengths
        return "tree"
    if key == "an":
        return "any"
    raise Refused("no-join", f"{key}: {a}, {b}")


def join(a, b):
    """The accumulation contract of a result; its representation is its own."""
    return {key: join_token(key, a[key], b[key]) for key in ACCUMULATION_KEYS}


def relax(grade, key, value):
    """The grade with a weaker promise on one accumulation key."""
    if key not in ACCUMULATION_KEYS:
        raise Refused("not-accumulation", key)
    value = parse_value(key, value)
    if not weaker_or_equal(key, grade[key], value):
        raise Refused("not-weaker", f"{key}={value}")
    return Grade({**{k: v for k, v in grade.fields.items() if v is not None}, key: value})
