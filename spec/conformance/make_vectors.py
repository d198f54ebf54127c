# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the conformance vectors of GRIT v1 test: their inputs, and the constraints of
spec/grit-v1.md that each of them carries. `python3 spec/reference.py gen` derives
what is expected and writes vectors.json.
"""

import math

from reference import (
    COL_MAJOR, EDGES, ENUM_ALIASES, EXPONENT_ONLY, FORMATS, FORMAT_ALIASES, GRADE_UNKNOWN,
    HAS_ZP, INF, INTERLEAVED, LINEAR_META, MAX_BINARY32, MSB_FIRST, NAN, PLACEMENTS,
    PLANE_NAMES, REGISTERED, ROUNDINGS, SATURATIONS, SPARSE, ZP_L1SCALED, ZP_MINUS1,
    Grade, canonical_placements, compute_sizes, descriptor_of, digest, encode, f32,
    fmt_decode, from_bits, grade_named, max_finite_code, mul, pack_descriptor,
    raw_magnitude, relayout, to_bits, unpack_format, values_hex, word_text, words_of, write_codes)


class Draws:
    """The generator of spec/conformance/README.md."""

    def __init__(self, seed):
        self.state = seed

    def draw(self):
        self.state = (self.state * 1664525 + 1013904223) % 2**32
        return self.state >> 8

    def bell(self, count, scale=1.0):
        return [mul(math.ldexp(sum(self.draw() for _ in range(4)) - 2**25, -23), scale)
                for _ in range(count)]

    def wide(self, count, low=1, span=253):
        """Signs and significands at random, exponent fields from `low`."""
        return [from_bits((self.draw() >> 12 & 1) << 31
                          | (low + self.draw() % span) << 23
                          | self.draw() >> 1) for _ in range(count)]

    def octets(self, count):
        return bytes(self.draw() >> 16 for _ in range(count)).hex()


class Suite:
    """The list of vectors, in the making. `labels` are constraints, with spaces."""

    def __init__(self):
        self.vectors = []

    def add(self, labels, name, vector_kind, **inputs):
        self.vectors.append({"id": name, "clause": labels, "kind": vector_kind,
                             "inputs": inputs})

    def array(self, labels, name, grade, values, shape=None, **more):
        self.add(labels, name, "array", grade=grade, shape=shape or [len(values)],
                 values=values_hex(values), **more)


OTHER_FORMATS = {  # expressible, without a token
    "e5m2": 0x3467, "e3m2": 0x2065, "e2m3": 0x2085, "e3m0": 0x2023, "e1m2": 0x2063,
    "e4m3_ieee": 0x3487, "e3m4_ieee": 0x34A7, "ue5m3": 0x4887, "bfloat16": 0x350F,
    "tf32": 0x3572, "s2": 0x03E1, "s6": 0x03E5, "s16": 0x03EF, "s32": 0x03FF,
    "u3": 0x43E2, "u5": 0x43E4, "u16": 0x43EF, "u32": 0x43FF,
    # Corners: no fraction with NaN and with Inf; exponents beyond binary32; the
    # widest exponent-only format, and the narrowest formats there are.
    "e3m0_nan1": 0x2823, "e3m0_inf": 0x2423, "e15m4": 0x34B3, "e11m20_ieee": 0x36BF,
    "x32": 0x481F, "x2": 0x4801, "e1m0": 0x2021, "ue1m1": 0x4041, "e1m1_inf": 0x2442,
    "e5m2_nan2_no_inf": 0x3067,
}


def format_vectors(suite):
    for token, word in {**FORMATS, **OTHER_FORMATS}.items():
        suite.add("F1 F2 F13", f"format/{token}", "format_word", word=word_text(word, 4))
    refused = {
        "absent": 0x0000, "one_bit_integer": 0x03E0, "one_bit_exponent": 0x4000,
        "bias_override_e4m3": 0xA887, "nan_enc_3": 0x3887, "no_exponent_bit": 0x2087,
        "fraction_wider_than_word": 0x2383, "integer_with_inf": 0x07E7,
        "integer_with_nan": 0x0BE7, "exponent_with_inf": 0x4C07,
        "exponent_with_sign": 0x0807, "all_ones": 0xFFFF}
    for name, word in refused.items():
        suite.add("F2", f"format/refused/{name}", "format_word", word=word_text(word, 4))
    suite.add("F2 F6", "format/every_word", "format_space")

    for token, word in {**FORMATS, **OTHER_FORMATS}.items():
        f = unpack_format(word)
        codes = "all"
        if f.width > 8 and token not in ("binary16", "bfloat16"):
            top, draws = 2**f.width - 1, Draws(word)
            codes = sorted({0, 1, 2, 3, top, top - 1, top // 2, top // 2 + 1, top // 2 + 2,
                            max_finite_code(word), max_finite_code(word) + 1 & top,
                            f.bias & top if f.kind == EXPONENT_ONLY else 5}
                           | {draws.draw() * 257 & top for _ in range(16)})
        suite.add("F3 F5", f"fmt_decode/{token}", "fmt_decode", word=word_text(word, 4),
                  codes=codes)
    for token, codes in (("e2m1", [0x12, 0xF7, 0xFFFFFFF8]), ("s4", [0x1F, 0x80]),
                         ("e4m3", [0x17F, 0x238]), ("binary16", [0x13C00])):
        suite.add("F4", f"fmt_decode/high_bits/{token}", "fmt_decode",
                  word=word_text(FORMATS[token], 4), codes=codes)


def interesting_values(word):
    """Rungs, ties, their neighbours, both ends, and what is no number."""
    f, last = unpack_format(word), max_finite_code(word)
    codes = range(last + 1) if last < 16 else sorted(
        {0, 1, 2, last // 3, last // 2, last - 1, last})
    magnitudes = []
    for code in codes:
        low, high = raw_magnitude(f, code), raw_magnitude(f, code + 1)
        for q in (low, (low + high) / 2):
            x = f32(q) if q else 0.0
            if math.isfinite(x):
                magnitudes.append(x)
    near = []
    for x in magnitudes[1::5] + magnitudes[-2:]:
        near += [from_bits(b) for b in (to_bits(x) + 1, max(to_bits(x) - 1, 0))]
    magnitudes += near + [from_bits(1), 1.0, 1e30, MAX_BINARY32, INF]
    magnitudes = [x for x in dict.fromkeys(magnitudes) if x == x]
    return magnitudes + [-x for x in magnitudes[:-6:2] + magnitudes[-5:]] + [NAN]


def encode_vectors(suite):
    def add(token, rounding="rne", saturation="satfinite"):
        word = {**FORMATS, **OTHER_FORMATS}[token]
        suite.add("F7 F8 F9 F10 F11", f"fmt_encode/{token}/{rounding}/{saturation}", "fmt_encode",
                  word=word_text(word, 4), rounding=rounding, saturation=saturation,
                  values=values_hex(interesting_values(word)))

    for token in (*FORMATS, *OTHER_FORMATS):
        add(token)
    for token in ("e2m1", "e4m3", "e8m0", "binary16", "u4", "s4", "e5m2", "bfloat16"):
        for rounding in ROUNDINGS[1:]:
            add(token, rounding)
    for token in ("e2m1", "e4m3", "binary16", "binary32", "u4", "s4", "s8", "e5m2"):
        for saturation in SATURATIONS[1:]:
            add(token, "rne", saturation)
    for token in ("binary16", "e5m2", "e3m4_ieee"):
        for rounding in ROUNDINGS[1:]:
            add(token, rounding, "ovfinf")
    for name, token, saturation, values in (
            ("e2m1", "e2m1", "satfinite", [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, 6.5, INF,
                                           -0.25]),
            ("e4m3", "e4m3", "satfinite", [2.0**-10, from_bits(0x3A800001), 3 * 2.0**-10,
                                           1.0625, 1.1875, 448.0, 1e9, INF, -0.0]),
            ("e8m0", "e8m0", "satfinite", [1.5, 3.0, 0.0, -1.0]),
            ("binary16", "binary16", "satfinite", [65520.0, INF]),
            ("binary16_ovfinf", "binary16", "ovfinf", [65519.0, 65520.0, INF])):
        suite.add("F8 F9 F10", f"fmt_encode/published/{name}", "fmt_encode",
                  word=word_text(FORMATS[token], 4), rounding="rne", saturation=saturation,
                  values=values_hex(values))
    for token in ("e2m1", "e4m3", "e8m0", "u6", "s4"):  # every finite code comes back
        word = FORMATS[token]
        values = [raw_magnitude(unpack_format(word), code)
                  for code in range(max_finite_code(word) + 1)]
        suite.add("F12", f"fmt_encode/back/{token}", "fmt_encode", word=word_text(word, 4),
                  rounding="rne", saturation="satfinite",
                  values=values_hex([f32(v) if v else 0.0 for v in values]))


MX = "grit1(e=e2m1,k0=32,s0=e8m0,esr=exp2floormaxabs{})"


def grade_vectors(suite):
    def add(name, text, labels="G17 G19 G25 G26 G27"):
        suite.add(labels, f"grade/{name}", "grade", text=text)

    for name, text in REGISTERED.items():
        add(name.removeprefix("GRADE_").lower(), text, "E26 B21 G26 G28")
    add("white_space_and_case", "GRIT1( ESR = OCPMX ,S0=ue8m0,\n\tK0=032,\v\f\rE=fp4 )",
        "G1 G2 G13")
    add("any_order", "grit1(esr=ratio,s1=float,k1=0,s0=e4m3fn,k0=16,e=fp4)", "G5")
    add("every_default_written", MX.format(
        ",ct=dense,po=lsb,er=rne,es=satfinite,esn=preserve,dr=rne,ds=satfinite,"
        "dt=binary32,ao=unspec,ap=f32,ab=f32,ai=f32,an=any"), "G25 G27")
    add("every_key", "grit1(e=u4,k0=32,s0=u6,k1=8,s1=half,zp=u6,zpc=gptq,zps=l1,ct=pad8,"
        "po=msb,er=rtz,es=satmax,esr=affine,esn=ftz,dr=rtp,ds=ovfinf,dt=f16,ao=seq,"
        "ap=f16,ab=e4m3,ai=s8,an=preserve)")
    add("zero_point_defaults", "grit1(e=u4,k0=128,s0=f16,zp=u4,zpc=asis,zps=shared,esr=minmax)")
    add("gptq", "grit1(e=u4,k0=128,s0=f16,zp=u4,zpc=gptq,esr=ratio)")
    add("q8_0", "grit1(e=s8,k0=32,s0=binary16,esr=ratiomaxabs)")
    add("awq", "grit1(e=u4,k0=128,s0=binary16,zp=u4,esr=affineminmax)")
    add("compressed_tensors", "grit1(e=s4,k0=128,s0=binary32,esr=ratiomaxabs)")
    add("compressed_tensors_zp", "grit1(e=s4,k0=128,s0=binary32,zp=s4,esr=affineminmax)")
    add("custom_rule_loses_hyphens", "grit1(e=e2m1,k0=32,s0=e8m0,esr=custom:My-Rule=1)",
        "G4 G15")
    add("k0_zero_parses", "grit1(e=e2m1,k0=000,s0=e8m0,esr=floor)")
    add("k0_beyond_a_field_parses", "grit1(e=e2m1,k0=65536,s0=e8m0,esr=floor)")
    for text in ("pairwise8", "pairwise_8", "pairwise__008", "pair-wise-8"):
        add(f"alias/ao/{text}", MX.format(f",ao={text}"), "G16")
    for text in ("2:4:u2:asclsb", "02:04:uint2:sorted", "4:8:nibble:asc-lsb",
                 "1:32:u4:none", "31:32:u2:unordered"):
        add(f"sparsity/{text}", f"grit1(e=s8,k0=32,s0=f16,sp={text},esr=ratio)", "G14")
    alias_vectors(suite)
    refused_grades(suite)


def alias_vectors(suite):
    """Each spelling that is not canonical, once."""
    shells = {"rounding": ("er", MX), "saturation": ("es", MX), "order": ("ao", MX),
              "subnormal": ("esn", MX), "container": ("ct", MX), "packing": ("po", MX),
              "scale rule": ("esr", "grit1(e=e2m1,k0=32,s0=e8m0{})"),
              "zpc": ("zpc", "grit1(e=u4,k0=32,s0=f16,zp=u4,esr=minmax{})"),
              "zps": ("zps", "grit1(e=u4,k0=32,s0=u6,k1=8,s1=f16,zp=u6,esr=minmax{})")}
    for name, (key, shell) in shells.items():
        for aliases in ENUM_ALIASES[name].values():
            for text in aliases.split():
                suite.add("G19", f"grade/alias/{key}/{text}", "grade",
                          text=shell.format(f",{key}={text}"))
    for key in ("dr", "ds", "an"):  # the same words under another key
        text = {"dr": "floor", "ds": "inf", "an": "flush-to-zero"}[key]
        suite.add("G19", f"grade/alias/{key}/{text}", "grade",
                  text=MX.format(f",{key}={text}"))
    for aliases in FORMAT_ALIASES.values():
        for text in aliases.split():
            suite.add("G17", f"grade/alias/e/{text}", "grade",
                      text=f"grit1(e={text},k0=32,s0=e8m0,esr=floor)")


def refused_grades(suite):
    cases = {
        "empty_text": "", "no_shell": "e=e2m1,k0=32,s0=e8m0,esr=floor",
        "braces": "grit1{e=e2m1,k0=32,s0=e8m0,esr=floor}",
        "grit2": "grit2(e=e2m1,k0=32,s0=e8m0,esr=floor)",
        "projection": "gritdec1(e=e2m1,k0=32,s0=e8m0,esr=floor)",
        "unclosed": "grit1(e=e2m1,k0=32,s0=e8m0,esr=floor",
        "text_after": MX.format("") + ";", "no_fields": "grit1()",
        "leading_comma": "grit1(,e=e2m1,k0=32,s0=e8m0,esr=floor)",
        "double_comma": "grit1(e=e2m1,,k0=32,s0=e8m0,esr=floor)",
        "trailing_comma": MX.format(","), "no_equals": MX.format(",er"),
        "unknown_key": MX.format(",layout=row"), "swizzled": MX.format(",swizzled=1"),
        "empty_key": MX.format(",=rne"), "duplicate": MX.format(",e=e2m1"),
        "duplicate_by_alias": MX.format(",er=rn,er=rne"),
        "no_e": "grit1(k0=32,s0=e8m0,esr=floor)", "no_k0": "grit1(e=e2m1,s0=e8m0,esr=floor)",
        "no_s0": "grit1(e=e2m1,k0=32,esr=floor)", "no_esr": "grit1(e=e2m1,k0=32,s0=e8m0)",
        "k1_alone": MX.format(",k1=0"), "s1_alone": MX.format(",s1=f32"),
        "zpc_alone": MX.format(",zpc=asis"), "zps_alone": MX.format(",zps=shared"),
        "l1_without_level": MX.format(",zp=u4,zps=l1"),
        "bf16": "grit1(e=bf16,k0=32,s0=e8m0,esr=floor)",
        "fnuz": "grit1(e=e4m3fnuz,k0=32,s0=e8m0,esr=floor)",
        "b16": "grit1(e=b16,k0=32,s0=e8m0,esr=floor)",
        "u4b": "grit1(e=u4b,k0=32,s0=e8m0,esr=floor)",
        "int2_is_no_token": "grit1(e=int2,k0=32,s0=e8m0,esr=floor)",
        "s2": "grit1(e=s2,k0=32,s0=e8m0,esr=floor)",
        "bfloat16": "grit1(e=bfloat16,k0=32,s0=e8m0,esr=floor)",
        "unknown_format": "grit1(e=e9m9,k0=32,s0=e8m0,esr=floor)",
        "hyphen_in_a_format": "grit1(e=e2-m1,k0=32,s0=e8m0,esr=floor)",
        "empty_format": "grit1(e=,k0=32,s0=e8m0,esr=floor)",
        "unknown_rounding": MX.format(",er=rnd"), "unknown_ct": MX.format(",ct=pad16"),
        "rounding_word_elsewhere": MX.format(",es=floor"),
        "unknown_rule": "grit1(e=e2m1,k0=32,s0=e8m0,esr=maxabs)",
        "custom_without_a_name": "grit1(e=e2m1,k0=32,s0=e8m0,esr=custom:-)",
        "pairwise0": MX.format(",ao=pairwise0"), "pairwise": MX.format(",ao=pairwise"),
        "pairwise_parentheses": MX.format(",ao=pairwise(8)"),
        "non_ascii": MX.format(",ao=s\u00e9q"), "no_break_space": MX.format(",\u00a0ao=seq"),
        "arabic_digits": "grit1(e=e2m1,k0=\u0663\u0662,s0=e8m0,esr=floor)",
        "kelvin_sign": "grit1(e=e2m1,\u212a0=32,s0=e8m0,esr=floor)",
        "control_character": MX.format(",ao=seq\x01")}
    for digits in ("+32", "-1", "0x20", "3_2", "", "32.0", "9" * 25):
        cases[f"k0_{digits or 'empty'}"] = f"grit1(e=e2m1,k0={digits},s0=e8m0,esr=floor)"
    for sp in ("2:4:u2", "2:4:u2:asclsb:x", "4:4:u2:asclsb", "0:4:u2:asclsb",
               "2:33:u4:asclsb", "2:4:e2m1:none", "2:4:u6:asclsb", "+2:4:u2:asclsb",
               "2:0_4:u2:asclsb", "2:4:u2:up", ""):
        cases[f"sp_{sp or 'empty'}"] = f"grit1(e=s8,k0=32,s0=f16,sp={sp},esr=ratio)"
    for name, text in cases.items():
        suite.add(refusal_label(name), f"grade/refused/{name}", "grade", text=text)


REFUSAL_LABELS = {
    "G1": "non_ascii no_break_space arabic_digits kelvin_sign control_character",
    "G3": "empty_text no_shell braces grit2 projection unclosed text_after",
    "G4": "leading_comma double_comma trailing_comma no_equals",
    "G5": "duplicate duplicate_by_alias",
    "G6": "unknown_key swizzled empty_key",
    "G7": "no_fields no_e no_k0 no_s0 no_esr",
    "G8": "k1_alone s1_alone", "G9": "zpc_alone zps_alone", "G10": "l1_without_level",
    "G15": "custom_without_a_name",
    "G16": "pairwise0 pairwise pairwise_parentheses",
    "G17": "hyphen_in_a_format empty_format unknown_format",
    "G18": "bf16 fnuz b16 u4b int2_is_no_token s2 bfloat16",
}


def refusal_label(name):
    for label, names in REFUSAL_LABELS.items():
        if name in names.split():
            return label
    return "G13" if name.startswith("k0_") else "G14" if name.startswith("sp_") else "G19"


def descriptor_vectors(suite):
    for name in REGISTERED:
        suite.add("B1 B3 G30", f"descriptor/{name.removeprefix('GRADE_').lower()}", "descriptor",
                  grade=name)
        text = pack_descriptor(descriptor_of(grade_named(name))).hex()
        suite.add("B1 G30", f"descriptor/fields/{name.removeprefix('GRADE_').lower()}",
                  "descriptor_fields", desc_hex=text)
    suite.add("B1 B2", "descriptor/fields/counting_bytes", "descriptor_fields",
              desc_hex=bytes(range(64)).hex())
    suite.add("B2", "descriptor/fields/all_ones", "descriptor_fields", desc_hex="ff" * 64)
    suite.add("G30", "descriptor/every_flag_of_a_grade", "descriptor",
              grade="grit1(e=u4,k0=32,s0=u6,k1=8,s1=f16,zp=u6,zpc=minus1,zps=l1,ct=pad8,"
              "po=msb,esr=affine)", group_axis=3, note=0xDEADBEEF,
              placements=["0x0000000000000000", "0x8fffffffffffffff", "0xf000000000000000"])
    suite.add("G30", "descriptor/sparse_u4_unordered", "descriptor",
              grade="grit1(e=s4,k0=16,s0=f16,sp=3:8:u4:unord,esr=ratio)")
    refused = {
        "k0_zero": "grit1(e=e2m1,k0=0,s0=e8m0,esr=floor)",
        "k0_65536": "grit1(e=e2m1,k0=65536,s0=e8m0,esr=floor)",
        "k1_65536": "grit1(e=e2m1,k0=16,s0=e4m3,k1=65536,s1=f32,esr=ratio)",
        "sparse_with_zero_point": "grit1(e=u4,k0=32,s0=f16,zp=u4,sp=2:4:u2:asclsb,esr=ratio)",
        "index_too_narrow": "grit1(e=s8,k0=32,s0=f16,sp=2:8:u2:asclsb,esr=ratio)",
        "narrow_level_1": "grit1(e=u4,k0=16,s0=u6,k1=8,s1=u6,esr=ratio)"}
    for name, text in refused.items():
        labels = "G31 B7" if name == "narrow_level_1" else "G31"
        suite.add(labels, f"descriptor/refused/{name}", "descriptor", grade=text)


def fingerprint_vectors(suite):
    for text in ("", "a", "foobar"):
        suite.add("B20", f"fnv/{text or 'empty'}", "fingerprint", hex=text.encode().hex())
    suite.add("B20", "fnv/every_byte", "fingerprint", hex=bytes(range(256)).hex())
    for name, shape, axis in (
            ("MXFP4", [32], 0), ("MXFP4_RNE", [32], 0), ("NVF4", [16], 0),
            ("NVF4_RTZ", [16], 0), ("Q4KS", [256], 0), ("I8S24", [32], 0),
            ("MXFP4", [64, 128], 1), ("NVF4", [64, 128], 1), ("Q4KS", [4, 512], 1),
            ("I8S24", [64, 128], 1)):
        suite.add("B22", f"gid/{name.lower()}/{'x'.join(map(str, shape))}", "gid",
                  grade="GRADE_" + name, shape=shape, group_axis=axis)
    suite.add("B3 B23 B28", "fp/frame_note_split", "gid", grade="GRADE_MXFP4", shape=[32],
              note=0xFFFFFFFF)
    suite.add("B22", "gid/placement_is_hashed", "gid", grade="GRADE_MXFP4", shape=[32],
              placements=["0x1000000000000002", "0x1000000000000001", "0x0000000000000000"])
    suite.add("B22", "gid/axis_is_hashed", "gid", grade="GRADE_MXFP4", shape=[32, 32])
    suite.add("B22", "gid/rank_8", "gid", grade="GRADE_MXFP4",
              shape=[1, 1, 1, 1, 1, 1, 1, 32], group_axis=7)
    suite.add("B22", "gid/empty_array", "gid", grade="GRADE_MXFP4", shape=[0, 32],
              group_axis=1)
    suite.add("B22", "gid/an_unregistered_grade", "gid", grade=MX.format(",ao=seq"), shape=[32])
    for name, planes in (("empty", ["", "", "", ""]), ("data_alone", ["00", "", "", ""]),
                         ("same_byte_in_aux", ["", "", "", "00"]),
                         ("b1", ["20426476a8caecfe" + "00" * 8, "7f", "", ""])):
        suite.add("B26", f"digest/{name}", "digest", planes=planes)
    for text in ("22T52T4K0FJVN7WCVDGAHARX0D", "22t52t4kofjvn7wcvdgaharxod",
                 "2ZT52T4K0FJVN7WCVDGAHARXOL", "2IT52T4K0FJVN7WCVDGAHARXOI",
                 "00000000000000000000000000", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
                 "82T52T4K0FJVN7WCVDGAHARX0D", "22T52T4K0FJVN7WCVDGAHARX0U",
                 "22T52T4K0FJVN7WCVDGAHARX0", "22T52T4K0FJVN7WCVDGAHARX0DD",
                 "22T5!T4K0FJVN7WCVDGAHARX0D",
                 "\u017f2T52T4K0FJVN7WCVDGAHARX0D", ""):
        suite.add("B24 B25", f"base32/{text or 'empty'}", "base32", text=text)


TINY, ZEROS = from_bits(1), [0.0, -0.0] * 16


def mxfp4_vectors(suite):
    sqrt2 = from_bits(0x3FB504F3)  # the largest binary32 below the square root
    ties = [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, 6.5]
    specials = ([NAN] + [1.0] * 31 + [INF] + [2.0] * 31 + [-INF] + [0.0] * 31
                + [1.0, -0.0] * 16)
    for name, labels in (("MXFP4", "E7 E15 E27 D3 D4 D5 B8"),
                         ("MXFP4_RNE", "E15 E16 E28 D3 D4")):
        low = name.lower()

        def add(case, values, shape=None, grade="GRADE_" + name, low=low,
                labels=labels):
            suite.array(labels, f"{low}/{case}", grade, values, shape)

        add("tie_to_even", [*ties, *(-t for t in ties), *[0.0] * 16])
        add("specials", specials)
        add("zeros", ZEROS)
        add("one_is_not_zero", [*[0.0] * 31, 1.0])
        add("smallest", [TINY, -TINY] + [0.0] * 30)
        add("clamped_exponent", [2.0**-126, -(2.0**-127), 3 * 2.0**-126] + [0.0] * 29)
        add("largest", [MAX_BINARY32, -MAX_BINARY32, 2.0**127] + [1.0] * 29)
        add("around_sqrt_2", [sqrt2] * 32 + [from_bits(0x3FB504F4)] * 32)
        add("powers_of_two", [2.0**k for k in range(-16, 16)])
        add("bell_rank_2", Draws(1).bell(64), [2, 32])
        add("wide", Draws(2).wide(64))
        add("empty", [], [0, 32])


def nvf4_vectors(suite):
    for name, labels in (("NVF4", "E5 E6 E8 E9 E10 E23 E24 E25 E30 D1 D6"),
                         ("NVF4_RTZ", "E8 E23 E24 E31 D1 D6")):
        low = name.lower()

        def add(case, values, shape=None, grade="GRADE_" + name, low=low,
                labels=labels):
            suite.array(labels, f"{low}/{case}", grade, values, shape)

        add("worked_example", [6, -3, 1.5, .75, .5, .25, -.25, 0.0, -0.0,
                               from_bits(0x409CCCCD), 5.0, from_bits(0x40A33333), 2.5, 3.5,
                               -1.25, from_bits(0x3E99999A)])
        add("wide_dynamic_range", [6.0] * 16 + [-(2.0**-17)] * 16 + [2.0**-20] * 16
            + [2.0**-40] * 16)
        add("specials", [NAN] + [1.0] * 15 + [-INF] + [9.0] * 15 + [0.5, -0.0] * 8)
        add("nothing_finite", [INF] * 16)
        add("zeros", ZEROS)
        add("subnormal_tensor", [TINY, -TINY, 3 * TINY] + [0.0] * 13)
        add("largest", [MAX_BINARY32, -(2.0**127)] * 8)
        add("saturating_block", [0.001] * 15 + [448.0] + [1.0] * 16)
        add("bell_rank_3", Draws(3).bell(96), [2, 3, 16])
        add("wide", Draws(4).wide(64, 96, 40))
        add("empty", [], [0, 16])


def q4ks_vectors(suite):
    def add(case, values, shape=None):
        suite.array("E12 E17 E18 E19 E20 E21 E29 D1 D2 D17", f"q4ks/{case}", "GRADE_Q4KS",
                    values, shape)

    add("ramp", [i / 16 - 8 for i in range(256)])
    add("zeros", [0.0, -0.0] * 128)
    add("all_positive", [float(i % 32) for i in range(256)])
    add("all_negative", [-1.0 - i % 32 for i in range(256)])
    add("poison", [1.0] * 100 + [NAN] + [1.0] * 155 + [INF] + [-1.0] * 255)
    add("saturating_scales", [1e9 if i % 32 else -1e9 for i in range(256)])
    add("range_overflows", [3e38 if i % 2 else -3e38 for i in range(256)])
    add("tiny", [(i - 128) * TINY for i in range(256)])
    add("bell_rank_2", Draws(5).bell(256), [8, 32])
    add("wide", Draws(6).wide(256, 100, 40))
    add("empty", [], [0, 256])


def i8s24_vectors(suite):
    def add(case, values, shape=None):
        suite.array("E5 E9 E10 E14 E22 E32 B16 B17 D2", f"i8s24/{case}", "GRADE_I8S24",
                    values, shape)

    add("quad_pattern", [3.0, 0.0, 0.0, 1.0] * 8)
    add("ties", [1.0, -1.0, 1.0, -1.0] * 8)
    add("not_finite", [INF, INF, NAN, 0.0] * 8 + [NAN, INF, -INF, 5.0] + [1.0] * 28)
    add("zeros", ZEROS)
    add("smallest_scale", [TINY, 0.0, -TINY, 0.0] * 8)
    add("saturating_scale", [MAX_BINARY32, -1e30, 1.0, 2.0] * 8)
    for name, v, S in (("first", 0xBC473800, 0x13F8), ("second", 0xC0C7507F, 0x2E16)):
        largest = mul(fmt_decode(FORMATS["binary16"], S), 127.0)  # S becomes the scale
        add(f"division_trap/{name}", [largest, from_bits(v), 0.0, 0.0] + [0.0] * 28)
    add("bell_rank_2", Draws(7).bell(64), [2, 32])
    add("wide", Draws(8).wide(64, 100, 40))
    add("empty", [], [0, 32])


def grouping_vectors(suite):
    suite.array("B15", "affine/groups_over_the_end_of_a_row",
                "grit1(e=u4,k0=4,s0=u6,k1=2,s1=binary16,zp=u6,zps=l1,esr=affineminmax)",
                Draws(10).bell(48), [4, 12])
    suite.array("B13 B14 E2", "mxfp4/group_axis_not_innermost", "GRADE_MXFP4", Draws(9).bell(64),
                [32, 2], group_axis=0)


class Generic:
    """Arrays of grades that no name stands for, of numbers that differ."""

    def __init__(self, suite):
        self.suite, self.seed = suite, 100

    def __call__(self, labels, name, grade, count=None, values=None, shape=None):
        self.seed += 1
        parsed = Grade.parse(grade)
        if values is None:
            count = count or 2 * parsed.k0 * max(parsed.k1, 1)
            values = Draws(self.seed).bell(count, 3.0)
        self.suite.array(labels + " E3", f"generic/{name}", grade, values, shape)


def generic_vectors(suite):
    """Encode where a rule is defined."""
    add = Generic(suite)
    one_level_vectors(add)
    packing_vectors(add)
    two_level_vectors(add)
    projections_and_refusals(suite)


def one_level_vectors(add):
    for e in FORMATS:
        add("E13 E22", f"ratio/{e}", f"grit1(e={e},k0=16,s0=binary16,esr=ratiomaxabs)")
        add("E13 E15", f"exp2floor/{e}", f"grit1(e={e},k0=16,s0=e8m0,esr=exp2floormaxabs)")
    for s0 in FORMATS:
        if s0 not in ("binary16", "e8m0"):
            add("E13 E22", f"ratio_scale/{s0}", f"grit1(e=s8,k0=16,s0={s0},esr=ratio)")
            add("E13 E15", f"exp2_scale/{s0}", f"grit1(e=e2m1,k0=16,s0={s0},esr=floor)",
                values=Draws(len(s0)).wide(32, 120, 12))
    boundaries = [from_bits(b) for b in (0x3F800000, 0x3F800001, 0x3FB504F3, 0x3FB504F4,
                                         0x3FFFFFFF, 0x00000001, 0x7F7FFFFF, 0x40000000)]
    for rule in ("exp2ceilmaxabs", "exp2rnemaxabs", "exp2floormaxabs"):
        add("E13 E15", f"boundaries/{rule}", f"grit1(e=e4m3,k0=2,s0=e8m0,esr={rule})",
            values=[v for b in boundaries for v in (b, -b)])
    for er in ROUNDINGS[1:]:
        add("E13 E22", f"rounding/{er}", f"grit1(e=s4,k0=16,s0=e4m3,er={er},esr=ratio)")
        add("E13 E22", f"rounding_two_levels/{er}",
            f"grit1(e=e2m1,k0=16,s0=e4m3,k1=0,s1=binary32,er={er},esr=ratio)", 32)
    for es in SATURATIONS[1:]:
        add("E13 E22", f"saturation/{es}", f"grit1(e=s4,k0=16,s0=binary16,es={es},esr=floor)")
        add("E13 E22", f"saturation_of_scales/{es}",
            f"grit1(e=s8,k0=2,s0=binary16,es={es},esr=ratio)",
            values=[MAX_BINARY32, 1.0, 1e-30, -1e30, 65504.0 * 127, 1.0, 65520.0 * 127, 0.0])
    largest = mul(from_bits(0x3B41270B), 6.0)  # makes it the scale
    add("D2 E8", "division_trap", "grit1(e=e2m1,k0=2,s0=binary32,esr=ratio)",
        values=[largest, from_bits(0x3B7170CE)])
    add("E4 E11", "preserve_any", "grit1(e=e2m1,k0=16,s0=e8m0,esr=floor,esn=any)")


def packing_vectors(add):
    for e in ("u2", "u4", "u6", "e2m1", "s4", "e4m3"):
        for ct, po in (("pad8", "lsb"), ("dense", "msb"), ("pad8", "msb")):
            add("B8 B9 B10 E4", f"packing/{e}/{ct}/{po}",
                f"grit1(e={e},k0=8,s0=binary16,ct={ct},po={po},esr=ratio)")
    for sp in ("1:2:u2:asclsb", "1:4:u2:unord", "3:4:u2:asclsb", "2:4:u4:asclsb",
               "4:8:u4:asclsb", "1:16:u4:asclsb", "5:16:u4:unord"):
        add("E14 B16 B17", f"sparsity/{sp}",
            f"grit1(e=s8,k0=32,s0=binary16,sp={sp},esr=ratio)", 64)
    add("E14 B16 B17", "sparsity/packed_nibbles",
        "grit1(e=e2m1,k0=16,s0=e8m0,sp=2:4:u2:asclsb,esr=floor)")
    add("E14 B16 B17", "sparsity/packed_crumbs_msb",
        "grit1(e=u2,k0=16,s0=binary16,sp=1:4:u2:asclsb,po=msb,esr=ratio)")


def two_level_vectors(add):
    for s0, s1 in (("e4m3", "binary16"), ("binary16", "binary32"), ("e8m0", "e8m0"),
                   ("u6", "binary32"), ("u8", "e4m3")):
        add("E13 E23 E24", f"two_levels/{s0}/{s1}",
            f"grit1(e=s4,k0=16,s0={s0},k1=0,s1={s1},esr=ratio)", 48)
    add("E6", "two_levels/poison_goes_to_level_1",
        "grit1(e=s4,k0=4,s0=u6,k1=0,s1=binary16,esr=ratio)",
        values=[1.0, 2.0, NAN, 3.0, 4.0, 5.0, 6.0, 7.0])
    for e, s0, zp, s1 in (("u2", "u4", "u4", "binary16"), ("u6", "u8", "u4", "binary32"),
                          ("u8", "u6", "u8", "e4m3"), ("u4", "u2", "u2", "binary16")):
        add("E13 E18 E19 E20", f"affine/{e}/{s0}/{zp}/{s1}",
            f"grit1(e={e},k0=8,s0={s0},k1=4,s1={s1},zp={zp},zps=l1,esr=affine)")
    add("E12 E18 E19 E20", "affine/range_overflows_binary32_scales",
        "grit1(e=u4,k0=8,s0=u6,k1=2,s1=binary32,zp=u6,zps=l1,esr=affine)",
        values=[MAX_BINARY32, -MAX_BINARY32] * 8)
    add("E5 E6", "poison/one_level", "grit1(e=u4,k0=4,s0=e4m3,esr=ratio)",
        values=[1.0, INF, 2.0, 3.0, 4.0, 5.0, 6.0, NAN, 1.0, 2.0, 3.0, 4.0])
    add("E21 E6", "poison/affine",
        "grit1(e=u4,k0=2,s0=u6,k1=2,s1=e4m3,zp=u6,zps=l1,esr=affine)",
        values=[1.0, -INF, 2.0, 3.0, 4.0, -5.0, 6.0, 7.0])
    add("E6", "poison/affine_without_nan",
        "grit1(e=u4,k0=2,s0=u6,k1=2,s1=u8,zp=u6,zps=l1,esr=affine)",
        values=[1.0, -INF, 2.0, 3.0])
    for zpc in ("asis", "minus1"):
        grade = f"grit1(e=u4,k0=16,s0=binary16,zp=u4,zpc={zpc},esr=affine)"
        add("E13 E17 E33", f"affine_shared/{zpc}", grade)
        add("E5 E7 E33", f"affine_shared/{zpc}/corners", grade,
            values=[0.0, -0.0] * 8 + [1.0] * 16 + [-1.0] * 16 + [NAN] + [1.0] * 15
            + [2.0**-30, -(2.0**-30)] * 8 + [1e38, -1e38] * 8)
    add("E33", "affine_shared/other_formats",
        "grit1(e=u2,k0=8,s0=e8m0,zp=u8,zpc=minus1,esr=affine)", 24)
    for name, values in (("infinite", [1e30] + [1.0] * 7), ("finite", [1e3] + [1.0] * 7)):
        add("E12 F7", f"two_levels/outer_scale_{name}",
            "grit1(e=s4,k0=4,s0=e4m3,k1=0,s1=binary16,es=ovfinf,esr=ratio)", values=values)
    add("E6", "no_nan_anywhere", "grit1(e=u4,k0=4,s0=u8,esr=ratio)",
        values=[1.0, INF, 2.0, 3.0])
    add("B13 E14", "sparsity/runs_cross_groups",
        "grit1(e=s8,k0=2,s0=f16,sp=1:4:u2:asclsb,esr=ratio)", 16)
    add("B13", "odd_group", "grit1(e=u4,k0=3,s0=binary16,esr=ratio)", 9)
    add("B13", "one_element_groups", "grit1(e=e2m1,k0=1,s0=binary32,esr=ratio)", 5)


def projections_and_refusals(suite):
    def add(labels, name, keys, values, grade="grit1(e=f32,k0=8,s0=f32,esr=ratio,{})"):
        data = write_codes([to_bits(v) for v in values], FORMATS["binary32"])
        suite.add(labels, f"projection/{name}", "decode", grade=grade.format(keys),
                  shape=[len(values)], planes=[data.hex(), "0000803f", "", ""])

    values = [1.0, -1.5, 0.3, 448.0, -500.0, 1e-9, 0.0, -0.0]
    for dt in FORMATS:
        add("D19", f"dt/{dt}", f"dt={dt}", values)
        add("D20", f"nan/{dt}", f"dt={dt}", [1.0] * 7 + [NAN])
    for dr in ROUNDINGS:
        for dt in ("s8", "e4m3"):
            add("D19", f"dr/{dr}/{dt}", f"dr={dr},dt={dt}",
                [0.5, 1.5, -0.5, -1.5, 2.3, -2.3, 126.5, 0.001])
    for ds in SATURATIONS:
        for dt in ("binary16", "s4", "e4m3"):
            add("D19", f"ds/{ds}/{dt}", f"ds={ds},dt={dt}",
                [65504.0, 65519.0, 65520.0, -INF, 7.4, 65536.0, INF, -65520.0])
    refused = {
        "custom": "grit1(e=s8,k0=4,s0=f16,esr=custom:mine)",
        "ftz": "grit1(e=s8,k0=4,s0=f16,esr=ratio,esn=ftz)",
        "exp2_two_levels": "grit1(e=s8,k0=4,s0=f16,k1=0,s1=f32,esr=floor)",
        "ratio_super_groups": "grit1(e=s8,k0=2,s0=f16,k1=2,s1=f32,esr=ratio)",
        "ratio_two_levels_sparse":
            "grit1(e=s8,k0=4,s0=f16,k1=0,s1=f32,sp=2:4:u2:asclsb,esr=ratio)",
        "ratio_zero_point": "grit1(e=u4,k0=4,s0=f16,zp=u4,zpc=minus1,esr=ratio)",
        "affine_without_zero_point": "grit1(e=u4,k0=4,s0=f16,esr=affine)",
        "affine_two_levels_shared": "grit1(e=u4,k0=2,s0=u6,k1=2,s1=f16,zp=u6,esr=affine)",
        "affine_per_tensor": "grit1(e=u4,k0=4,s0=u6,k1=0,s1=f16,zp=u6,zps=l1,esr=affine)",
        "affine_shared_signed": "grit1(e=s4,k0=4,s0=f16,zp=s4,esr=affine)",
        "affine_of_floats": "grit1(e=e2m1,k0=2,s0=u6,k1=2,s1=f16,zp=u6,zps=l1,esr=affine)",
        "affine_rtz": "grit1(e=u4,k0=2,s0=u6,k1=2,s1=f16,zp=u6,zps=l1,er=rtz,esr=affine)"}
    for name, grade in refused.items():
        suite.array("E11 E13", f"encode/refused/{name}", grade, [1.0, 2.0, 3.0, 4.0])


def decode_vectors(suite):
    """Section 8: planes that an encoder need not write."""
    def add(labels, name, grade, shape, *planes, **more):
        suite.add(labels, f"decode/{name}", "decode", grade=grade, shape=shape,
                  planes=list(planes), **more)

    registered_decode_vectors(add)
    zero_point_vectors(add)
    other_decode_vectors(add)


def registered_decode_vectors(add):
    every_code = "1032547698badcfe" * 2
    add("D7 D8 D11", "mxfp4/codes_under_scales", "GRADE_MXFP4", [192], every_code * 6,
        "00017f80feff", "", "")
    scales = "007f80ff01fe7eb808c8"
    add("D10 D11", "nvf4/codes_under_scales", "GRADE_NVF4", [160], "1032547698badcfe" * 10,
        scales, "0000803f", "")
    add("D1 D6", "nvf4/left_to_right", "GRADE_NVF4", [16], "6600000000000000", "65",
        "fa2c3a3e", "")
    for name, bits in (("inf", "0000807f"), ("nan", "010080ff"), ("zero", "00000080"),
                       ("negative_subnormal", "01000080"), ("largest", "ffff7f7f")):
        add("D8 D10", f"nvf4/tensor_scale_{name}", "GRADE_NVF4", [32],
            "1032547698badcfe" * 2, "387f", bits, "")
    draws = Draws(20)
    add("D17 B6", "q4ks/any_bytes", "GRADE_Q4KS", [256], draws.octets(128), draws.octets(8),
        draws.octets(4), draws.octets(8))
    small = "grit1(e=u4,k0=4,s0=u6,k1=2,s1=binary16,zp=u6,zps=l1,esr=affineminmax)"
    for name, pair in (("d_inf", "007c0000"), ("d_nan", "017c003c"), ("dmin_nan", "003c00fe"),
                       ("dmin_inf", "003c007c"), ("both_inf", "007c007c"),
                       ("negative", "00bc00bc"), ("subnormal", "01000180")):
        add("D8 D10 D17", f"minima/{name}", small, [16], "10fe8f07f0012345", "003f0105",
            pair + "003c0038", "3f000207")
    add("D12", "i8s24/sparsity_wins", "GRADE_I8S24", [32], "80017f00" * 4, "007e", "",
        "4489ce84")
    for name, scale in (("inf", "007c"), ("negative", "00c0"), ("zero", "0080"),
                        ("subnormal", "0100")):
        add("D8 D12 D14", f"i8s24/scale_{name}", "GRADE_I8S24", [32], "80017f00ff813200" * 2,
            scale, "", "4489ce84")
    add("D13 D14", "i8s24/duplicate_indices", "GRADE_I8S24", [32], draws.octets(16), "003c",
        "", "05afc4e4")
    add("D13 D14", "i8s24/descending_indices", "GRADE_I8S24", [32], draws.octets(16), "003c",
        "", "3311e6b1")
    add("D13", "indices_beyond_the_run", "grit1(e=s8,k0=6,s0=f16,sp=2:6:u4:asclsb,esr=ratio)",
        [12], "01020304", "003c003c", "", "7150")
    add("B13 D14", "runs_cross_groups", "grit1(e=s8,k0=2,s0=f16,sp=1:4:u2:asclsb,esr=ratio)",
        [8], "0304", "003c0040007c007e", "", "0b")


def zero_point_vectors(add):
    zp = "grit1(e=u4,k0=4,s0=f16,zp={},zpc={},esr=affine)"
    add("D15", "zp/shared", zp.format("u4", "asis"), [8], "10fe8f07", "003c0042", "", "080f")
    add("D16", "zp/minus1", zp.format("u4", "minus1"), [8], "10fe8f07", "003c0042", "", "070f")
    add("D15", "zp/signed", zp.format("s4", "asis"), [8], "10fe8f07", "003c0042", "", "0807")
    add("D18", "zp/float_with_nan", zp.format("e4m3", "asis"), [8], "10fe8f07", "003c0042",
        "", "7f38")
    add("D8 D15", "zp/binary16_inf", zp.format("binary16", "asis"), [8], "10fe8f07",
        "003c0042", "", "007c0038")
    add("D4 D15", "zp/signed_zeros", "grit1(e=e2m1,k0=4,s0=f16,zp=e2m1,esr=affine)", [8],
        "80188018", "003c003c", "", "0800")
    add("B5 B6", "zp/pad_bits_are_masked", zp.format("u4", "asis"), [8], "10fe8f07",
        "003c0042", "", "f8ff")
    add("D1 D15", "zp/one_rounding", "grit1(e=s8,k0=4,s0=f32,zp=s8,esr=affine)", [4],
        "01fd7f80", "cdcccc3d", "", "07")
    two = "grit1(e=u4,k0=4,s0=u6,k1={},s1=f16,zp=u6{},esr=affine)"
    add("D7 D15", "zp/two_levels_shared", two.format(2, ""), [8], "10fe8f07", "3f02", "0038",
        "0a05")
    add("D16 D17", "zp/two_levels_minus1_l1", two.format(2, ",zpc=minus1,zps=l1"), [8],
        "10fe8f07", "3f02", "00380034", "0a05")
    add("D7 D17", "zp/per_tensor_l1", two.format(0, ",zps=l1"), [8], "10fe8f07", "3f02",
        "00380034", "0a05")


def other_decode_vectors(add):
    add("B13 D7", "super_groups_of_floats", "grit1(e=e2m1,k0=2,s0=e4m3,k1=2,s1=f32,esr=ratio)",
        [8], "10fe8f07", "3840487f", "0000003f000080bf", "")
    add("B6", "pad8_pad_bits_are_masked", MX.format(",ct=pad8"), [32],
        bytes(range(0xF0, 0x100)).hex() * 2, "7f", "", "")
    add("B8 B9", "u6_dense_lsb", "grit1(e=u6,k0=4,s0=f16,esr=ratio)", [8], "8110c201fc3f",
        "003c003c", "", "")
    add("B8 B9", "u6_dense_msb", "grit1(e=u6,k0=4,s0=f16,po=msb,esr=ratio)", [8],
        "0410c201fc3f", "003c003c", "", "")
    add("B8 B9", "u2_dense_msb", "grit1(e=u2,k0=4,s0=f16,po=msb,esr=ratio)", [8], "1be4",
        "003c003c", "", "")
    add("D7 G15", "custom_rule", "grit1(e=s8,k0=4,s0=e8m0,esr=custom:mine)", [4], "80ff017f",
        "7e", "", "")
    add("D20", "dt_of_nan", "grit1(e=s8,k0=4,s0=e8m0,esr=floor,dt=u8)", [8],
        "80ff017f80ff017f", "7fff", "", "")
    add("D11", "elements_e8m0_with_nan", "grit1(e=e8m0,k0=4,s0=e8m0,esr=floor)", [4],
        "0001ff7f", "80", "", "")
    add("D8 D11", "elements_binary16_with_inf", "grit1(e=binary16,k0=4,s0=binary32,esr=ratio)",
        [4], "007c00fc017e0080", "000000c0", "", "")
    for e in FORMATS:  # every code of every element format, or many of the wide ones
        f = unpack_format(FORMATS[e])
        count = min(2**f.width, 256) if f.width <= 8 else 16
        codes = range(count) if f.width <= 8 else [
            Draws(count + i).draw() * 256 & 2**f.width - 1 for i in range(count)]
        grade = f"grit1(e={e},k0=4,s0=e4m3,esr=ratio)"
        data = write_codes(list(codes), FORMATS[e], pad8=False).hex()
        scales = bytes(0x38 + i % 9 for i in range(count // 4)).hex()
        add("D7 F3", f"every_code/{e}", grade, [count], data, scales, "", "")
    add("D9", "short_plane", "GRADE_MXFP4", [32], "00" * 15, "7f", "", "")
    add("D9", "long_plane", "GRADE_MXFP4", [32], "00" * 16, "7f7f", "", "")
    add("D9", "unexpected_plane", "GRADE_MXFP4", [32], "00" * 16, "7f", "", "00")
    add("B7", "narrow_level_1", "grit1(e=u4,k0=2,s0=u6,k1=2,s1=u6,esr=ratio)", [4],
        "1234", "0102", "03", "")


MAPPED = {"row_major": 0x1000000000000001, "col_major": 0x1000000000000002,
          "swizzle_128x4b": 0x1000000000000003, "tile_16x16": 0x1000000000000004,
          "linear_meta": 0x1000000000000011}
UNMAPPED = {"unspecified": 0, "block_aos": 0x1000000000000005,
            "meta_m16n8k32": 0x1000000000000012, "pack_k4_12b": 0x1000000000000020,
            "hash": 0x8000000000000001, "opaque": 0xF << 60}


def placement_vectors(suite):
    for word in (0, 1, 0x0FFFFFFFFFFFFFFF, *PLACEMENTS, 0x1000000000000000,
                 0x1000000000000006, 0x1000000000000013, 0x1000000000000021,
                 0x2000000000000001, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000,
                 0x8123456789ABCDEF, 0x9000000000000001, 0xC000000000000000,
                 0xE000000000000001, 0xF000000000000000, 0xFFFFFFFFFFFFFFFF):
        suite.add("P1 P3", f"placement/{word_text(word, 16)}", "placement",
                  word=word_text(word, 16))
    for name, word, rows, cols in (
            ("row_major", 1, 3, 4), ("col_major", 2, 3, 4), ("swizzle", 3, 128, 4),
            ("swizzle_tiles", 3, 128, 8), ("tile", 4, 16, 32), ("tile_rows", 4, 32, 16),
            ("linear_meta", 0x11, 2, 5), ("col_major_empty", 2, 0, 4)):
        suite.add("P4 P5", f"map/{name}", "placement_map",
                  word=word_text(0x1 << 60 | word, 16), rows=rows, cols=cols)
    for name, word, rows, cols in (
            ("swizzle_rows", 3, 64, 4), ("swizzle_columns", 3, 128, 6),
            ("tile_rows", 4, 17, 16), ("tile_columns", 4, 16, 8)):
        suite.add("P6", f"map/refused/{name}", "placement_map",
                  word=word_text(0x1 << 60 | word, 16), rows=rows, cols=cols)
    for name, word in UNMAPPED.items():
        suite.add("P2 P10", f"map/refused/{name}", "placement_map",
                  word=word_text(word, 16), rows=4, cols=4)
    layout_vectors(suite)
    relayout_vectors(suite)


def layout_vectors(suite):
    nested = "Compose(Swizzle(2,0,3),Tile(ColMajor,[2,4]))"
    for text in ("RowMajor", "ColMajor", "Tile(RowMajor,[16,16])", "Perm([0,2,4,6,1,3,5,7])",
                 "Interleave(ColMajor,4)", "Swizzle(3,4,3)", "Pad(128)", nested,
                 "Opaque(vendor.x-1,00ff)", "Opaque(v,)"):
        suite.add("P12 P13", f"layout/{text}", "layout", text=text)
    for text in ("", "rowmajor", "RowMajor ", "RowMajor()", "Tile(RowMajor,[16])",
                 "Tile(RowMajor,[16,16,16])", "Tile(RowMajor, [16,16])", "Perm([])",
                 "Perm([01])", "Swizzle(1,2)", "Pad()", "Pad(-1)", "Compose(RowMajor)",
                 "Opaque(,00)", "Opaque(v,0)", "Opaque(v,0F)", "RowMajor,RowMajor",
                 "Tile(RowMajor,[16,16]"):
        suite.add("P12", f"layout/refused/{text or 'empty'}", "layout", text=text)
    for text, rows, cols in (
            ("RowMajor", 2, 3), ("ColMajor", 2, 3), ("Tile(RowMajor,[2,2])", 4, 6),
            ("Tile(ColMajor,[2,3])", 4, 6), ("Tile(Tile(RowMajor,[2,1]),[2,2])", 8, 4),
            ("Interleave(RowMajor,3)", 2, 6), ("Swizzle(2,0,2)", 4, 4),
            ("Swizzle(1,1,2)", 4, 4), ("Perm([0,2,4,6,1,3,5,7])", 2, 8), ("Pad(4)", 2, 3),
            ("Compose(ColMajor,Pad(4))", 2, 3), (nested, 4, 8),
            ("Interleave(Pad(4),2)", 2, 3), ("Compose(Perm([1,0]),ColMajor)", 3, 2)):
        suite.add("P14", f"layout_map/{text}/{rows}x{cols}", "layout_map", text=text,
                  rows=rows, cols=cols)
    for text, rows, cols in (
            ("Tile(RowMajor,[3,2])", 4, 6), ("Tile(RowMajor,[0,2])", 4, 6),
            ("Tile(Pad(4),[2,3])", 4, 6), ("Interleave(RowMajor,5)", 2, 6),
            ("Interleave(RowMajor,0)", 2, 6), ("Swizzle(0,0,1)", 4, 4),
            ("Swizzle(1,0,0)", 4, 4), ("Swizzle(3,0,3)", 4, 4), ("Perm([0,2,1])", 4, 4),
            ("Perm([0,0])", 4, 4), ("Perm([1,2])", 4, 4), ("Pad(0)", 4, 4),
            ("Compose(RowMajor,Opaque(v,))", 4, 4)):
        suite.add("P10 P14" if "Opaque" in text else "P14",
                  f"layout_map/refused/{text}/{rows}x{cols}", "layout_map", text=text,
                  rows=rows, cols=cols)


def relayout_vectors(suite):
    def words(*names):
        return [word_text({**MAPPED, **UNMAPPED}[name], 16) for name in names]

    grades = {"mxfp4": ("GRADE_MXFP4", [2, 64]), "i8s24": ("GRADE_I8S24", [2, 64]),
              "nvf4": ("GRADE_NVF4", [4, 32]), "q4ks": ("GRADE_Q4KS", [2, 256]),
              "u6": ("grit1(e=u6,k0=4,s0=f16,po=msb,esr=ratio)", [16, 16])}
    for name, (grade, shape) in grades.items():
        parsed = grade_named(grade)
        planes = encode(parsed, shape, Draws(len(name)).bell(math.prod(shape)))
        meta = ("col_major", "linear_meta") if parsed["sp"] else (
            "col_major", "row_major") if parsed["zp"] else ("unspecified", "unspecified")
        old = words("row_major", "row_major", meta[1])
        changes = [("col_major", words("col_major", "col_major", meta[0]))]
        if shape[0] % 16 == 0 and shape[1] % 16 == 0 and not parsed["sp"]:
            changes.append(("tile_16x16", words("tile_16x16", "col_major", meta[0])))
        for target, new in changes:
            suite.add("L1 L2 P4 P20", f"relayout/{name}/{target}", "relayout", grade=grade,
                      shape=shape, planes=[p.hex() for p in planes], old=old, new=new)
            moved = relayout(parsed, shape, planes, words_of(old), words_of(new))
            suite.add("L1 P4 D9", f"decode/placed/{name}/{target}", "decode", grade=grade,
                      shape=shape, planes=[p.hex() for p in moved], placements=new)
            suite.add("L2 P20", f"relayout/{name}/{target}_and_back", "relayout", grade=grade,
                      shape=shape, planes=[p.hex() for p in moved], old=new, new=old)
    mxfp4 = {"grade": "GRADE_MXFP4", "shape": [2, 32], "planes": ["10" * 32, "7f80", "", ""]}
    row = words("row_major", "row_major", "unspecified")
    suite.add("L2 P20", "relayout/to_itself", "relayout", **mxfp4, old=row, new=row)
    for name in UNMAPPED:
        other = words(name, "row_major", "unspecified")
        suite.add("L3 P10", f"relayout/refused/out_of_{name}", "relayout", **mxfp4, old=other,
                  new=row)
        suite.add("P2 P10", f"decode/refused/placed/{name}", "decode", **mxfp4,
                  placements=other)
    suite.add("P17 P20", "relayout/refused/equal_hashes", "relayout", **mxfp4,
              old=words("hash", "row_major", "unspecified"),
              new=words("hash", "row_major", "unspecified"))
    suite.add("L2 P20", "relayout/opaque_left_alone", "relayout", **mxfp4,
              old=words("opaque", "row_major", "unspecified"),
              new=words("opaque", "col_major", "unspecified"))
    suite.add("P6", "relayout/refused/tile_does_not_fit", "relayout", **mxfp4, old=row,
              new=words("tile_16x16", "row_major", "unspecified"))
    suite.add("P9", "relayout/refused/one_word_for_both_scales", "relayout",
              grade="grit1(e=u4,k0=2,s0=u6,k1=2,s1=f16,zp=u6,zps=l1,esr=affine)",
              shape=[16, 32], planes=["00" * 256, "00" * 256, "00" * 512, "00" * 256],
              old=words("row_major", "row_major", "row_major"),
              new=words("row_major", "tile_16x16", "row_major"))
    suite.add("P8", "relayout/one_scale_for_the_array", "decode", grade="GRADE_NVF4",
              shape=[2, 16], planes=["10" * 16, "3840", "0000003f", ""],
              placements=words("row_major", "col_major", "unspecified"))
    suite.add("P7", "relayout/refused/no_matrix", "relayout", grade="GRADE_MXFP4",
              shape=[32, 2], planes=["10" * 32, "7f80", "", ""], old=row, group_axis=0,
              new=words("row_major", "col_major", "unspecified"))


def relation_vectors(suite):
    payload = ["20426476a8caecfe" + "00" * 8, "7f", "", ""]
    suite.add("G33 G37 G29 L8", "supersedes/demo/mxfp4_rne_bytes_decode_identically", "supersedes",
              a="GRADE_MXFP4_RNE", b="GRADE_MXFP4", shape=[32], planes=payload)
    suite.add("G33 G37 G29", "supersedes/nvf4_rtz_bytes_decode_identically", "supersedes",
              a="GRADE_NVF4_RTZ", b="GRADE_NVF4", shape=[16],
              planes=["d72301086876641a", "7e", "2549123b", ""])
    for edge in EDGES:
        suite.add("G33", f"edge/{edge['from'][6:].lower()}", "edge", **edge)
    mxfp4_edge, nvf4 = EDGES[0], "GRADE_NVF4"
    suite.add("G34", "edge/refused/no_reason", "edge", **{**mxfp4_edge, "reason": ""})
    suite.add("G34", "edge/refused/projections", "edge", **{**mxfp4_edge, "to": nvf4})
    suite.add("G35", "edge/refused/full", "edge", **{**mxfp4_edge, "scope": "full"})
    suite.add("G35", "edge/full_where_encode_agrees", "edge", **{
        **mxfp4_edge, "scope": "full", "from": MX.format(",ao=seq")})
    names = list(REGISTERED)
    for a, b in (*((a, b) for i, a in enumerate(names) for b in names[i:]),
                 ("GRADE_MXFP4_RNE", "GRADE_MXFP4")):
        for scope in ("decode", "full"):
            suite.add("G36 G37", f"equivalent/{a[6:].lower()}/{b[6:].lower()}/{scope}",
                      "equivalent", a=a, b=b, scope=scope)
    suite.add("G36 G37", "equivalent/by_projection_alone_is_not_enough", "equivalent",
              a="GRADE_MXFP4", b=MX.format(",ao=seq"), scope="decode")
    orders = ("seq", "pairwise8", "pairwise16", "tree", "unspec")
    for key, tokens in (("ao", orders), ("an", ("preserve", "ftz", "any")),
                        *((key, ("binary16", "binary32")) for key in ("ap", "ab", "ai"))):
        suite.add("G21 G23", f"order/{key}", "token_order", key=key, tokens=list(tokens))
    for a, b in (("ao=seq", "ao=unspec"), ("ao=unspec", "ao=seq"), ("ao=tree", "ao=tree"),
                 ("ao=pairwise8", "ao=pairwise16"), ("an=ftz", "an=any"), ("an=any", "an=ftz"),
                 ("ao=seq,an=ftz", "ao=tree,an=any"), ("ao=seq,an=any", "ao=tree,an=ftz"),
                 ("ap=binary16", "ap=binary32"), ("esn=ftz", "esn=any"),
                 ("er=rtz,ao=seq", "er=rne,ao=tree"), ("dt=f16", "dt=f32")):
        pair = {"a": MX.format("," + a), "b": MX.format("," + b)}
        suite.add("G21 G22", f"refines/{a}/{b}", "refines", kernel=pair["a"],
                  request=pair["b"])
        suite.add("G23", f"join/{a}/{b}", "join", **pair)
    suite.add("G21 G22", "refines/encode_keys_do_not_matter", "refines",
              kernel="GRADE_MXFP4_RNE", request="GRADE_MXFP4")
    suite.add("G21 G22", "refines/another_format", "refines", kernel="GRADE_NVF4",
              request="GRADE_MXFP4")
    suite.add("G23", "join/of_two_formats", "join", a="GRADE_NVF4", b=MX.format(",ao=seq"))
    for name, grade, key, value in (
            ("seq_to_unspec", MX.format(",ao=seq"), "ao", "unspec"),
            ("seq_to_pairwise", MX.format(",ao=seq"), "ao", "pairwise_4"),
            ("ftz_to_any", MX.format(",an=ftz"), "an", "any"),
            ("to_itself", MX.format(",ao=tree"), "ao", "tree"),
            ("stronger", MX.format(""), "ao", "seq"),
            ("incomparable", MX.format(",an=ftz"), "an", "preserve"),
            ("not_accumulation", MX.format(""), "er", "rtz"),
            ("another_format", MX.format(",ap=f16"), "ap", "f32"),
            ("unknown_token", MX.format(""), "ao", "random")):
        suite.add("G24", f"relax/{name}", "relax", grade=grade, key=key, value=value)


def size_vectors(suite):
    def add(name, grade, shape, **more):
        suite.add("B18 B19 C21", f"sizes/{name}", "sizes", grade=grade, shape=shape, **more)

    for name in REGISTERED:
        low = name[6:].lower()
        for shape in ([256], [3, 512], [2, 0, 256], [0]):
            add(f"{low}/{'x'.join(map(str, shape))}", name, shape)
        add(f"{low}/not_whole_groups", name, [257])
    add("rank_0", "GRADE_MXFP4", [], group_axis=0)
    add("rank_8", "GRADE_MXFP4", [1] * 7 + [32])
    add("rank_9", "GRADE_MXFP4", [1] * 8 + [32])
    add("negative_extent", "GRADE_MXFP4", [-1, 32])
    add("axis_beyond_rank", "GRADE_MXFP4", [32], group_axis=1)
    add("axis_negative", "GRADE_MXFP4", [32], group_axis=-1)
    add("count_of_63_bits", "GRADE_MXFP4", [2**31, 2**26])
    add("bits_beyond_63_bits", "GRADE_MXFP4", [2**31, 2**31])
    add("count_beyond_63_bits", "GRADE_MXFP4", [2**62, 2**62])
    add("empty_never_overflows", "GRADE_MXFP4", [2**62, 2**62, 0])
    add("groups_not_whole", "GRADE_Q4KS", [32])
    add("groups_whole_over_rows", "GRADE_Q4KS", [8, 32])
    add("u6_dense_rounds_up", "grit1(e=u6,k0=1,s0=f16,esr=ratio)", [3])
    add("u6_pad8", "grit1(e=u6,k0=1,s0=f16,ct=pad8,esr=ratio)", [3])
    add("sparse_axis", "grit1(e=s8,k0=2,s0=f16,sp=2:4:u2:asclsb,esr=ratio)", [6])
    add("sparse_nibbles_round_up", "grit1(e=e2m1,k0=4,s0=f16,sp=1:4:u2:asclsb,esr=ratio)",
        [12])


STEP_LABELS = {
    "1.1": "C5", "1.2": "C5 B4", "1.3": "C5 B4", "1.4": "C5", "1.5": "C5", "1.6": "C5",
    "1.7": "C5", "1.8": "C6", "1.9": "C7", "1.10": "C8", "1.11": "C9", "1.12": "C10",
    "2.1": "C11 G32", "2.2": "C12 G32", "3.1": "C13 P1", "3.2": "C14 P11", "4": "C21",
    "4.1": "C15", "4.2": "C16", "4.3": "C17", "4.4": "C18", "4.6": "C20 C26",
    "5.1": "C23 C24", "5.2": "C25", "ok": "C35 P11", "order": "C4", "level_3": "C30"}


# Single vectors that test something else besides.
MORE_LABELS = {
    "check/4.6/three_sizes": "C22", "check/ok/group_axis_not_innermost": "C28",
    "check/ok/minus1_without_effect": "C36", "check/ok/level_1_reads_nothing": "C3",
    "check/ok/note": "B28 C27", "check/2.2/sp_meta_fmt": "C19",
    "check/2.2/meta_format_of_i8s24": "C19", "check/4.6/unexpected_plane": "B11"}


def step_labels(name):
    labels = STEP_LABELS.get(name.split("/")[1], "").split()
    labels += MORE_LABELS.get(name, "").split()
    return " ".join(labels + ["C2"] * ("/level_" in name and "/ok/" in name))


class Checks:
    """Vectors of grit_check, as edits of what is correct."""

    def __init__(self, suite):
        self.suite = suite

    def add(self, name, grade="GRADE_MXFP4", shape=None, edits=None, sizes=None, level=1,
            labels="C4", **more):
        parsed = grade_named(grade)
        shape = shape or [32 * max(parsed.k1, 1)]
        d = descriptor_of(parsed, len(shape) - 1)
        if sizes is None:
            sizes = compute_sizes(d, shape)["bytes"] if all(e >= 0 for e in shape) else [0] * 4
        raw = pack_descriptor({**d, **(edits or {})})
        self.suite.add(step_labels(name) or labels, name, "check", desc_hex=raw.hex(), shape=shape,
                       plane_bytes=sizes, level=level, **more)


def check_vectors(suite):
    checks = Checks(suite)
    add = checks.add
    for name in REGISTERED:
        low = name[6:].lower()
        for level in (-1, 0, 1, 9) if name == "GRADE_MXFP4" else (0, 1):
            add(f"check/ok/{low}/level_{level}", name, level=level,
                **({"planes": ["00" * 16, "7f", "", ""]} if level > 1 else {}))
    for name, raw in (("all_zeros_descriptor", "00" * 64), ("all_ones_descriptor", "ff" * 64)):
        suite.add("C33 C34", f"degenerate/{name}", "check", desc_hex=raw, shape=[32],
                  plane_bytes=[16, 1, 0, 0], level=1)
    suite.add("C5", "degenerate/no_bytes", "check", desc_hex="", shape=[32],
              plane_bytes=[16, 1, 0, 0], level=1)
    suite.add("C5", "degenerate/63_bytes", "check", desc_hex="47525431" + "00" * 59,
              shape=[32], plane_bytes=[16, 1, 0, 0], level=1)
    step_1_vectors(add)
    step_2_vectors(add)
    step_3_vectors(add)
    step_4_vectors(add)
    step_5_vectors(checks)
    step_order_vectors(add)


def step_1_vectors(add):
    for step, name, edits in (
            ("1.1", "magic_0", {"magic": 0}), ("1.1", "magic_big_endian", {"magic": 0x47525431}),
            ("1.2", "hdr_bytes_63", {"hdr_bytes": 63}), ("1.2", "hdr_bytes_0", {"hdr_bytes": 0}),
            ("1.3", "version_0", {"version": 0}), ("1.3", "version_2", {"version": 2}),
            ("1.4", "n_levels_0", {"n_levels": 0}), ("1.4", "n_levels_3", {"n_levels": 3}),
            ("1.5", "flags_40", {"flags": 0x40}), ("1.5", "flags_80", {"flags": 0x80}),
            ("1.6", "frame_rsvd_1", {"frame_rsvd": 1}), ("1.7", "container_2", {"container": 2}),
            ("1.8", "k1_without_level", {"k1": 1}),
            ("1.8", "scale1_without_level", {"scale1": 0x371F}),
            ("1.9", "sparse_and_zp", {"flags": SPARSE | HAS_ZP}),
            ("1.10", "l1_without_zp", {"flags": ZP_L1SCALED}),
            ("1.10", "l1_without_level", {"flags": ZP_L1SCALED | HAS_ZP}),
            ("1.11", "elem_bias_ovr", {"elem": 0xA043}),
            ("1.12", "elem_nan_enc_3", {"elem": 0x3843}),
            ("1.12", "scale0_nan_enc_3", {"scale0": 0x5807}),
            ("1.12", "zp_fmt_nan_enc_3", {"zp_fmt": 0x1BE3})):
        add(f"check/{step}/{name}", edits=edits)
    add("check/1.12/scale1_nan_enc_3", "GRADE_NVF4", edits={"scale1": 0x3F1F})


def step_2_vectors(add):
    for name, edits in (
            ("id_zero", {"grade_id": 0}), ("id_one_bit", {"grade_id": 0x2370EE9EE454A182})):
        add(f"check/2.1/{name}", edits=edits)
    for name, edits in (
            ("n_levels", {"n_levels": 2}), ("interleaved", {"flags": INTERLEAVED}),
            ("msb_first", {"flags": MSB_FIRST}), ("minus1", {"flags": ZP_MINUS1}),
            ("has_zp", {"flags": HAS_ZP}), ("pad8", {"container": 1}),
            ("elem_e4m3", {"elem": 0x2887}), ("scale0_bias_ovr", {"scale0": 0xC807}),
            ("zp_fmt", {"zp_fmt": 0x43E3}), ("k0_0", {"k0": 0}), ("k0_64", {"k0": 64}),
            ("sp_n", {"sp_n": 2}), ("sp_meta_fmt", {"sp_meta_fmt": 3}),
            ("sp_order", {"sp_order": 1}), ("two_fields", {"k0": 128, "elem": 0x03E3}),
            ("id_of_another_frame", {"grade_id": 0x00FF6F4C2870831E})):
        add(f"check/2.2/{name}", edits=edits)
    add("check/2.2/elem_s4_for_u4", "GRADE_Q4KS", edits={"elem": 0x03E3})
    add("check/2.2/k1_0", "GRADE_Q4KS", edits={"k1": 0})
    add("check/2.2/sp_m", "GRADE_I8S24", edits={"sp_m": 0})
    add("check/2.2/meta_format_of_i8s24", "GRADE_I8S24", edits={"sp_meta_fmt": 2})
    add("check/2.2/index_order", "GRADE_I8S24", edits={"sp_order": 0})
    add("check/ok/id_of_the_sibling", edits={"grade_id": 0x254285E10D6068C8})
    seq = MX.format(",ao=seq")
    add("check/2.1/not_registered", seq)
    add("check/ok/registered_by_the_user", seq, grades=[seq])
    add("check/2.2/registered_by_the_user", seq, grades=[seq], edits={"k0": 16})
    wide = "grit1(e=u4,k0=32,s0=binary16,zp=u4,ct=pad8,po=msb,esr=affine)"
    add("check/ok/registered_zero_points", wide, grades=[wide])


def step_3_vectors(add):
    for field in ("placement_data", "placement_scale"):
        for name, word in (("class_0_payload", 1), ("class_1_unregistered", 0x1000000000000006),
                           ("class_2", 2 << 60), ("class_c", 0xC << 60)):
            add(f"check/3.1/{field}/{name}", edits={field: word})
        for name, word in (("unspecified", 0), ("hash_0", 8 << 60), ("opaque", 0xF << 60),
                           ("all_ones", 2**64 - 1), ("pack_k4_12b", 0x1000000000000020)):
            add(f"check/ok/{field}/{name}", edits={field: word})
    add("check/3.1/placement_meta/class_2", "GRADE_I8S24", edits={"placement_meta": 2 << 60})
    add("check/3.2/meta_without_aux", edits={"placement_meta": LINEAR_META})
    add("check/3.2/aux_without_meta", "GRADE_I8S24", edits={"placement_meta": 0})
    add("check/3.2/zero_points_without_meta", "GRADE_Q4KS", edits={"placement_meta": 0})
    add("check/ok/meta_m16n8k32", "GRADE_I8S24", edits={"placement_meta": 0x1000000000000012})


def step_4_vectors(add):
    good = [16, 1, 0, 0]
    for name, shape, edits in (
            ("negative_extent", [-1, 32], {"group_axis": 1}), ("negative_axis", [32],
             {"group_axis": -1}), ("axis_1_of_1", [32], {"group_axis": 1}),
            ("rank_9", [1] * 8 + [32], {"group_axis": 8})):
        add(f"check/4.1/{name}", shape=shape, edits=edits, sizes=good)
    add("check/4/count_overflows", shape=[2**62, 2**62], edits={"group_axis": 0}, sizes=good)
    add("check/4/bits_overflow", shape=[2**31, 2**31], edits={"group_axis": 1}, sizes=good)
    add("check/ok/empty_never_overflows", shape=[2**62, 2**62, 0], sizes=[0] * 4)
    add("check/4.2/shape_33", shape=[33], sizes=good)
    add("check/4.2/outer_axis", shape=[31, 32], edits={"group_axis": 0}, sizes=[496, 31, 0, 0])
    quad = "grit1(e=s8,k0=2,s0=f16,sp=2:4:u2:asclsb,esr=ratio)"
    add("check/4.3/shape_6", quad, shape=[6], sizes=[3, 6, 0, 2], grades=[quad])
    add("check/4.4/one_group_of_eight", "GRADE_Q4KS", shape=[32], sizes=[16, 1, 4, 1])
    for plane, name in enumerate(PLANE_NAMES):
        for change in (-1, 1):
            sizes = [128, 8, 4, 8]
            sizes[plane] += change
            add(f"check/4.6/{name}_{'short' if change < 0 else 'long'}", "GRADE_Q4KS",
                sizes=sizes)
    add("check/4.6/made_for_k0_64", shape=[8192], sizes=[4096, 128, 0, 0])
    add("check/4.6/made_for_k0_16", shape=[8192], sizes=[4096, 512, 0, 0])
    add("check/4.6/zero_points_for_k0_64", "GRADE_Q4KS", shape=[512], sizes=[256, 16, 8, 8])
    add("check/4.6/planes_missing", shape=[8192], sizes=[0, 0, 0, 0])
    add("check/4.6/unexpected_plane", sizes=[16, 1, 4, 0])
    add("check/4.6/negative_size", sizes=[-16, 1, 0, 0])
    add("check/4.6/three_sizes", sizes=[16, 1, 0])
    add("check/4.6/scale1_of_an_empty_tensor", "GRADE_NVF4", shape=[0], sizes=[0, 0, 0, 0])
    add("check/ok/empty_nvf4", "GRADE_NVF4", shape=[0], sizes=[0, 0, 4, 0])
    add("check/ok/group_axis_not_innermost", shape=[32, 2], edits={"group_axis": 0},
        sizes=[32, 2, 0, 0])
    odd = "grit1(e=u4,k0=32,s0=u6,k1=1,s1=f16,zp=u6,zpc=minus1,zps=l1,esr=affine)"
    add("check/ok/minus1_without_effect", odd, grades=[odd])
    add("check/ok/note", edits={"note": 0xFFFFFFFF})


def placed_index_vectors(add):
    """5.2 reads indices in the order of items, not in that of slots."""
    grade, shape = grade_named("GRADE_I8S24"), [2, 32]
    row = canonical_placements(grade)
    columns = (*row[:2], COL_MAJOR)
    planes = encode(grade, shape, [3.0, 0.0, 0.0, 1.0, 0.0, 2.0, 5.0, 0.0] * 8)
    placed = [plane.hex() for plane in relayout(grade, shape, planes, row, columns)]
    for name, word in (("ok/col_major_indices", COL_MAJOR), ("5.2/col_major_as_linear", LINEAR_META),
                       ("ok/indices_without_a_map", 0x1000000000000012)):
        add(f"check/{name}", "GRADE_I8S24", shape=shape, level=2, planes=placed,
            edits={"placement_meta": word})
    add("check/5.2/linear_as_col_major", "GRADE_I8S24", shape=shape, level=2,
        planes=[plane.hex() for plane in planes], edits={"placement_meta": COL_MAJOR})


def step_5_vectors(checks):
    add = checks.add
    grade = grade_named("GRADE_I8S24")
    planes = encode(grade, [32], [3.0, 0.0, 0.0, 1.0] * 8)
    texts, right = [plane.hex() for plane in planes], digest(planes).hex()
    wrong = right[:-1] + ("0" if right[-1] != "0" else "1")

    def sparse(name, level=2, **more):
        add(f"check/{name}", "GRADE_I8S24", level=level, **{"planes": texts, **more})

    sparse("ok/level_2")
    sparse("ok/level_2_digest", expected_digest=right)
    sparse("ok/level_1_reads_nothing", level=1, planes=[None] * 4, expected_digest=wrong)
    sparse("5.1/digest", expected_digest=wrong)
    sparse("5.1/digest_of_15_bytes", expected_digest=right[:30])
    sparse("5.1/plane_missing", planes=texts[:3] + [None])
    sparse("5.1/no_planes", planes=[])
    for name, run in (("descending", "3"), ("duplicate", "5"), ("zero_zero", "0")):
        sparse(f"5.2/{name}", planes=[*texts[:3], run + "ccccccc"])
        sparse(f"ok/level_1/{name}", level=1, planes=[*texts[:3], run + "ccccccc"])
    sparse("5.1/digest_before_order", planes=[*texts[:3], "3ccccccc"], expected_digest=right)
    wide = "grit1(e=s8,k0=8,s0=f16,sp=2:8:u4:asclsb,esr=ratio)"
    for name, meta in (("ok/index_7_of_8", "70"), ("5.2/index_8_of_8", "80")):
        add(f"check/{name}", wide, shape=[8], level=2, planes=["0101", "003c", "", meta],
            grades=[wide])
    placed_index_vectors(add)
    unord = "grit1(e=s8,k0=8,s0=f16,sp=2:8:u4:unord,esr=ratio)"
    add("check/ok/unordered_indices", unord, shape=[8], level=2,
        planes=["0101", "003c", "", "07"], grades=[unord])

    def probe(name, grade, planes, shape=(64,), grades=()):
        add(f"check/level_3/{name}", grade, shape=list(shape), level=3, planes=planes,
            **({"grades": list(grades)} if grades else {}))

    data = "20426476a8caecfe" * 4
    probe("scales_alike", "GRADE_MXFP4", [data, "7f7f", "", ""])
    probe("scales_differ", "GRADE_MXFP4", [data, "7f80", "", ""])
    probe("one_group", "GRADE_MXFP4", [data[:32], "7f", "", ""], shape=(32,))
    s8 = "grit1(e=s8,k0=32,s0=f16,esr=ratio)"
    for name, codes in (("small", "3fc1"), ("at_half", "3fc0"), ("zero", "0000")):
        probe(f"codes_{name}", s8, [codes * 32, "003c003c", "", ""], grades=[s8])
    probe("sparse_codes_small", "GRADE_I8S24", ["3fc1" * 16, "003c003c", "", "44" * 8])
    probe("empty", "GRADE_MXFP4", ["", "", "", ""], shape=(0, 32))


def step_order_vectors(add):
    """Two faults each: the first in order is the answer."""
    for name, edits, more in (
            ("1_before_2", {"version": 2, "grade_id": 0}, {}),
            ("1.5_before_1.9", {"flags": 0xC0 | SPARSE | HAS_ZP}, {}),
            ("1.11_before_1.12", {"elem": 0xB843}, {}),
            ("2_before_3", {"grade_id": 0, "placement_data": 1}, {}),
            ("3_before_4", {"placement_scale": 1}, {"shape": [33], "sizes": [1, 1, 1, 1]}),
            ("4_before_5", {}, {"sizes": [15, 1, 0, 0], "level": 2,
                                "planes": ["00" * 15, "7f", "", ""],
                                "expected_digest": "00" * 16})):
        add(f"check/order/{name}", edits=edits, **more)


# What the text and the fact sheet publish, as data that nothing here computed.
PUBLISHED = {
    "grade/mxfp4": {"grade_id": "2370ee9ee454a183"},
    "grade/mxfp4_rne": {"grade_id": "254285e10d6068c8"},
    "grade/nvf4": {"grade_id": "00ff6f4c2870831e"},
    "grade/nvf4_rtz": {"grade_id": "006c3850a3f42dea"},
    "grade/q4ks": {"grade_id": "1c600de02594fb55"},
    "grade/i8s24": {"grade_id": "bbbb283a2539ebe8"},
    "grade/gptq": {"grade_id": "06bea10afea3063c"},
    "grade/q8_0": {"grade_id": "400f52478a1c6577"},
    "grade/awq": {"grade_id": "614437e1948ea67d"},
    "grade/compressed_tensors": {"grade_id": "4c608b8a06b4454b"},
    "grade/compressed_tensors_zp": {"grade_id": "00b3c5d30a25a45f"},
    "fnv/a": {"fnv1a64": "af63dc4c8601ec8c",
              "fnv1a128": "d228cb696f1a8caf78912b704e4a8964"},
    "fnv/foobar": {"fnv1a64": "85944171f73967e8",
                   "fnv1a128": "343e1662793c64bf6f0d3597ba446f18"},
    "fnv/empty": {"fnv1a64": "cbf29ce484222325"},
    "digest/empty": {"digest": "28ee198ca550ba36979ea053be3dc70d"},
    "mxfp4/tie_to_even": {
        "planes": ["20426476a8caecfe0000000000000000", "7f", "", ""],
        "digest": "9452a02851ba1a1d793b97df51266001",
        "gid": "42d145a24c0f96ea7e336d82a2ac740d",
        "gid_base32": "22T52T4K0FJVN7WCVDGAHARX0D"},
    "i8s24/quad_pattern": {
        "planes": ["7f2a" * 8, "0c26", "", "cccccccc"],
        "gid_base32": "2X7NNMYRJ9K6508JQTR1J37VR9"},
    "nvf4/worked_example": {"planes": ["d72301086876641a", "7e", "2549123b", ""]},
    "gid/mxfp4/32": {"gid": "42d145a24c0f96ea7e336d82a2ac740d"},
    "gid/mxfp4_rne/32": {"gid": "2f3efabf3d1e187ca7ef69905b717bdd"},
    "gid/nvf4/16": {"gid": "12549967fed114cfed1017e2c0cec2db"},
    "gid/nvf4_rtz/16": {"gid": "1d9b3d3fe099e495877491b14274a902"},
    "gid/q4ks/256": {"gid": "c646d848ea67be921f6866d8ce071e8e"},
    "gid/i8s24/32": {"gid": "5d3d6b4f6249998a044afac06433ef09"},
    "gid/mxfp4/64x128": {"gid": "adb52c923319bb16d15bea486b69b407"},
    "gid/nvf4/64x128": {"gid": "7b34d67a09e6d95d1a771f09bcea1b89"},
    "gid/q4ks/4x512": {"gid": "7c2a15155e685d1b361445516c011dbd"},
    "gid/i8s24/64x128": {"gid": "2e60ba0f248e4794c86b517743f80d8b"},
    "fp/frame_note_split": {"gid": "42d145a24c0f96ea7e336d82a2ac740d"},
    "descriptor/mxfp4": {"desc_hex":
        "47525431400101004320074800000000000020000000000000000000000000000100000000000010"
        "0100000000000010000000000000000083a154e49eee7023"},
    "descriptor/nvf4": {"desc_hex":
        "4752543140010200432087281f370000000010000000000000000000000000000100000000000010"
        "010000000000001000000000000000001e8370284c6fff00"},
    "descriptor/q4ks": {"desc_hex":
        "4752543140010221e343e5436f35e543000020000800000000000000000000000100000000000010"
        "0100000000000010010000000000001055fb9425e00d601c"},
    "descriptor/i8s24": {"desc_hex":
        "4752543140010104e7036f3500000000000020000000020401010000000000000100000000000010"
        "01000000000000101100000000000010e8eb39253a28bbbb"},
    "fmt_encode/published/e2m1": {"codes": [0, 2, 2, 4, 4, 6, 6, 7, 7, 8]},
    "fmt_encode/published/e4m3": {"codes": [0, 1, 2, 0x38, 0x3A, 0x7E, 0x7E, 0x7E, 0x80]},
    "fmt_encode/published/e8m0": {"codes": [0x80, 0x80, 0, 0x7F]},
    "fmt_encode/published/binary16": {"codes": [0x7BFF, 0x7BFF]},
    "fmt_encode/published/binary16_ovfinf": {"codes": [0x7BFF, 0x7C00, 0x7C00]},
    "i8s24/division_trap/first": {"planes": ["7ff4" + "00" * 14, "f813", "", "44444444"]},
    "i8s24/division_trap/second": {"planes": ["7fbf" + "00" * 14, "162e", "", "44444444"]},
    "generic/division_trap": {"planes": ["27", "0b27413b", "", ""]},
    "degenerate/all_zeros_descriptor": {"status": GRADE_UNKNOWN, "step": "1.1"},
    "degenerate/all_ones_descriptor": {"status": GRADE_UNKNOWN, "step": "1.1"},
    "supersedes/demo/mxfp4_rne_bytes_decode_identically": {
        "same_decode": True, "decode_scope": True, "full_scope": False},
}


def list_vectors():
    suite = Suite()
    for part in (format_vectors, encode_vectors, grade_vectors, descriptor_vectors,
                 fingerprint_vectors, placement_vectors, relation_vectors, size_vectors,
                 mxfp4_vectors, nvf4_vectors, q4ks_vectors, i8s24_vectors,
                 grouping_vectors, generic_vectors, decode_vectors, check_vectors):
        part(suite)
    ids = [vector["id"] for vector in suite.vectors]
    assert len(ids) == len(set(ids)), sorted(i for i in ids if ids.count(i) > 1)
    return suite.vectors
