# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package grit-datatype, an independent implementation of the six registered
grades. It is no part of this repository: run.py asks it only when it is told to, and
docs/Conformance.md compares."""

from . import (Difference, NotApplicable, Route, Unavailable, axis_of, descriptor_of,
               floats_of, planes_of, reference, same)

# What the package raises where it refuses; anything else is a fault of its own.
REFUSALS = (KeyError, ValueError)
ONLY_SIX = "it encodes and decodes the six registered grades, by name"


# Where it answers otherwise, by the reason.
FAULTS = {
    "an array may have any rank": ("check/4.1/rank_9", "sizes/rank_9"),
    "counts and sizes may exceed 63 bits":
        ("sizes/bits_beyond_63_bits", "sizes/count_beyond_63_bits"),
    "other than four sizes of planes are called a GradeUnknown": ("check/4.6/three_sizes",),
    "a digest is not compared where planes are absent": ("check/5.1/no_planes",),
    "an absent plane is called a GradeUnknown": ("check/5.1/plane_missing",),
    "the order of indices is checked as they are stored, wherever they lie":
        ("check/5.2/linear_as_col_major", "check/ok/col_major_indices",
         "check/ok/indices_without_a_map"),
    "a check has no warnings and no probes":
        ("check/level_3/scales_alike", "check/level_3/sparse_codes_small",
         "check/ok/group_axis_not_innermost"),
    "decode does not compare the sizes of planes with the shape":
        ("decode/long_plane", "decode/short_plane", "decode/unexpected_plane"),
    "a descriptor hashes the grade as it is spelled":
        ("descriptor/every_flag_of_a_grade", "descriptor/sparse_u4_unordered"),
    "a descriptor is made for grades that no array can have":
        ("descriptor/refused/index_too_narrow", "descriptor/refused/k0_65536",
         "descriptor/refused/k0_zero", "descriptor/refused/k1_65536",
         "descriptor/refused/narrow_level_1", "descriptor/refused/sparse_with_zero_point"),
    "large exponents overflow": ("fmt_decode/e15m4", "fmt_decode/x32",
                                 "fmt_encode/e15m4/rne/satfinite",
                                 "fmt_encode/e11m20_ieee/rne/satfinite",
                                 "fmt_encode/x32/rne/satfinite"),
    "formats of more than 8 bits are not encoded, but for binary16 and binary32":
        ("fmt_encode/bfloat16/rne/satfinite", "fmt_encode/tf32/rne/satfinite"),
    "infinities of binary16 and binary32 do not saturate":
        tuple(f"fmt_encode/{name}/rne/{saturation}" for name in ("binary16", "binary32")
              for saturation in ("satfinite", "satmax")) + ("fmt_encode/published/binary16",),
    "infinities are not encoded under ovfinf": ("fmt_encode/e5m2/rne/ovfinf",),
    "letters and digits beyond ASCII are folded or dropped":
        ("grade/refused/arabic_digits", "grade/refused/kelvin_sign",
         "grade/refused/no_break_space"),
    "integers may have any size": ("grade/refused/k0_9999999999999999999999999",),
    "a rule may be custom without a name": ("grade/refused/custom_without_a_name",),
    "sp takes signs, underscores and any format for its indices":
        ("grade/refused/sp_+2:4:u2:asclsb", "grade/refused/sp_2:0_4:u2:asclsb",
         "grade/refused/sp_2:4:e2m1:none", "grade/refused/sp_2:4:u6:asclsb"),
    "encoding under nvf4_rtz rounds as nvf4 does":
        ("nvf4_rtz/bell_rank_3", "nvf4_rtz/wide", "nvf4_rtz/wide_dynamic_range",
         "nvf4_rtz/worked_example"),
    "the range of a group of q4ks must not overflow": ("q4ks/range_overflows",),
}


class DatatypeRoute(Route):
    name = "datatype"
    known = {vector: reason for reason, vectors in FAULTS.items() for vector in vectors}
    not_offered = {kind: reason for reason, kinds in {
        "placements have names and no maps": ("placement_map",),
        "there are no layout expressions": ("layout", "layout_map"),
        "relayout moves nothing": ("relayout",),
        "an edge cannot be added": ("edge",),
        "grades are not ordered": ("refines", "token_order", "join", "relax"),
        "it does not judge format words": ("format_space",),
    }.items() for kind in kinds}

    def __init__(self, build):
        try:
            import grit
        except ImportError as error:
            raise Unavailable(f"grit-datatype is not installed: {error}") from None
        if not hasattr(grit, "GRADE_REGISTRY"):
            raise Unavailable(f"{grit.__file__} is not grit-datatype")
        self.package = grit
        self.answers = {name.removeprefix("answer_"): getattr(self, name)
                        for name in dir(self) if name.startswith("answer_")}

    def ask(self, expected, call):
        """What `call` gives. A refusal is right where one is expected, whose status
        grit-datatype does not always have; other exceptions are never right."""
        try:
            return call()
        except (self.package.GradeError, self.package.GritError, *REFUSALS) as error:
            if "refused" in expected:
                return None
            raise Difference(f"raises {type(error).__name__}: {error}") from None
        except Exception as error:
            raise Difference(f"raises {type(error).__name__}: {error}") from None

    @staticmethod
    def compare(found, expected):
        """A dict of answers with what is expected of the same keys."""
        if "refused" in expected:
            same("refused", found, None)
        else:
            for key, value in (found or {}).items():
                same(key, value, expected[key])

    # --- Numbers -------------------------------------------------------------------------

    def answer_format_word(self, inputs, expected):
        if "refused" in expected:
            raise NotApplicable("it does not judge format words")
        word = int(inputs["word"], 16)
        info = self.ask(expected, lambda: self.package.fmt_unpack(word))
        found = {"width": info.width, "unsigned": bool(info.unsigned)}
        if expected["kind"] == "float":
            found |= {"exponent_bits": info.exponent_bits, "has_inf": bool(info.has_inf),
                      "fraction_bits": info.mantissa_bits}
        self.compare(found, expected)

    def answer_fmt_decode(self, inputs, expected):
        word, codes = int(inputs["word"], 16), inputs["codes"]
        if codes == "all":
            codes = range(2 ** ((word & 31) + 1))
        found = self.ask(expected, lambda: "".join(
            f"{reference.to_bits(self.package.fmt_decode(word, code)):08x}"
            for code in codes))
        key = "values" if "values" in expected else "fnv1a64"
        if key == "fnv1a64":
            found = f"{reference.fnv1a64(floats_of(found)):016x}"
        same(key, found, expected[key])

    def answer_fmt_encode(self, inputs, expected):
        if inputs["rounding"] != "rne":
            raise NotApplicable("it rounds to nearest even only")
        word = int(inputs["word"], 16)

        def code(value):
            try:
                return self.package.fmt_encode_rne(word, value, inputs["saturation"])
            except ValueError:
                return None
        same("codes", self.ask(expected, lambda: [
            code(value) for value in reference.values_of(inputs["values"])]),
            expected["codes"])

    # --- Identities ----------------------------------------------------------------------

    def answer_fingerprint(self, inputs, expected):
        data = bytes.fromhex(inputs["hex"])
        self.compare({"fnv1a64": f"{self.package.fnv1a64(data):016x}",
                      "fnv1a128": self.package.fnv1a128(data).hex()}, expected)

    def answer_base32(self, inputs, expected):
        self.compare(self.ask(expected, lambda: {
            "bytes": self.package.crockford32_decode(inputs["text"]).hex()}), expected)

    def answer_digest(self, inputs, expected):
        planes = [plane or b"" for plane in planes_of(inputs["planes"])]
        self.compare({"digest": self.package.digest_of(planes).hex()}, expected)

    def answer_grade(self, inputs, expected):
        def parsed():
            text = self.package.canonicalize(inputs["text"])
            return {"canonical": text,
                    "grade_id": f"{self.package.grade_id_of(text):016x}",
                    "gritdec1": self.package.decode_projection(text)}
        self.compare(self.ask(expected, parsed), expected)

    def descriptor(self, inputs, axis):
        """The descriptor of a vector's grade; placements are the caller's business."""
        text = reference.REGISTERED.get(inputs["grade"], inputs["grade"])
        words = (reference.words_of(inputs.get("placements"))
                 or reference.canonical_placements(reference.Grade.parse(text)))
        return text, self.package.desc_from_grade_string(text, axis, inputs.get("note", 0),
                                                         *words)

    def answer_descriptor(self, inputs, expected):
        self.compare(self.ask(expected, lambda: {"desc_hex": self.descriptor(
            inputs, inputs.get("group_axis", 0))[1].pack().hex()}), expected)

    def answer_descriptor_fields(self, inputs, expected):
        d = self.package.GritDesc.unpack(bytes.fromhex(inputs["desc_hex"]))
        self.compare({name: getattr(d, name, None) for name in expected}, expected)

    def answer_gid(self, inputs, expected):
        def identity():
            text, d = self.descriptor(inputs, inputs.get("group_axis", 0))
            return {"desc_hex": d.pack().hex(),
                    "gid": self.package.gid_of(d, text, inputs["shape"]).hex(),
                    "gid_base32": self.package.gid_base32_of(d, text, inputs["shape"])}
        self.compare(self.ask(expected, identity), expected)

    # --- Checks --------------------------------------------------------------------------

    def answer_sizes(self, inputs, expected):
        axis = axis_of(inputs)

        def sizes():
            _, d = self.descriptor(inputs, axis)
            return list(self.package.expected_plane_bytes(d, inputs["shape"])["bytes"])
        if expected["status"] == "Ok":
            same("sizes", self.ask(expected, sizes), expected["plane_bytes"])
            return
        try:
            found = sizes()
        except Exception:  # its error for a size is internal; a check reports it
            return
        raise Difference(f"sizes {found}, expected {expected['status']}")

    def check(self, inputs):
        digest = inputs.get("expected_digest")
        planes = planes_of(inputs["planes"]) if inputs.get("planes") else None
        return self.package.grit_check_status(
            bytes.fromhex(inputs["desc_hex"]), inputs["shape"], inputs["plane_bytes"],
            inputs["level"], None if digest is None else bytes.fromhex(digest), planes)

    def answer_check(self, inputs, expected):
        if inputs.get("grades"):
            raise NotApplicable("no grade can be registered")
        found = self.ask(expected, lambda: self.check(inputs))
        same("status", found.status.spec_name, expected["status"])
        if expected.get("warnings"):
            raise Difference("there are no warnings")

    def answer_placement(self, inputs, expected):
        raw = descriptor_of({"grade": "GRADE_MXFP4", "shape": [32]},
                            [inputs["word"], "0x1000000000000001", "0x0000000000000000"])
        status = self.check({"desc_hex": raw.hex(), "shape": [32], "level": 1,
                             "plane_bytes": [16, 1, 0, 0]}).status.spec_name
        same("status", status, "Ok" if expected["acceptable"] else "PlacementUnknown")

    # --- Arrays --------------------------------------------------------------------------

    def name_of(self, grade):
        text = reference.REGISTERED.get(grade, grade)
        for name, registered in self.package.GRADE_REGISTRY.items():
            if registered == text:
                return name
        raise NotApplicable(ONLY_SIX)

    def decoded(self, name, inputs, planes):
        count = 1
        for extent in inputs["shape"]:
            count *= extent
        return "".join(self.package.decode_bits(name, planes, count))

    def answer_array(self, inputs, expected):
        name = self.name_of(inputs["grade"])

        def array():
            values = reference.values_of(inputs["values"])
            planes = [bytes(plane) for plane in self.package.encode(name, values)]
            text, d = self.descriptor(inputs, axis_of(inputs))
            return {"planes": [plane.hex() for plane in planes],
                    "decoded": self.decoded(name, inputs, planes),
                    "digest": self.package.digest_of(planes).hex(),
                    "gid": self.package.gid_of(d, text, inputs["shape"]).hex()}
        self.compare(self.ask(expected, array), expected)

    def answer_decode(self, inputs, expected):
        name = self.name_of(inputs["grade"])
        if "placements" in inputs:
            raise NotApplicable("placements have names and no maps")
        planes = [plane or b"" for plane in planes_of(inputs["planes"])]
        self.compare(self.ask(expected, lambda: {
            "decoded": self.decoded(name, inputs, planes),
            "digest": self.package.digest_of(planes).hex()}), expected)

    def answer_equivalent(self, inputs, expected):
        names = [self.name_of(inputs[key]) for key in ("a", "b")]
        self.compare({"equivalent": self.package.equivalent(*names, inputs["scope"])},
                     expected)

    def answer_supersedes(self, inputs, expected):
        for key in ("a", "b"):
            self.answer_decode({**inputs, "grade": inputs[key]}, {
                "decoded": expected["decoded"],
                "digest": reference.digest(planes_of(inputs["planes"])).hex()})
        for scope in ("decode", "full"):
            self.answer_equivalent({**inputs, "scope": scope},
                                   {"equivalent": expected[scope + "_scope"]})
