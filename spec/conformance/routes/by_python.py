# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package grit_mlir."""

import math
import sys
from pathlib import Path

from . import (NotApplicable, Route, Unavailable, UNUSABLE, axis_of, descriptor_of,
               floats_of, hex_of_floats, planes_of, reference, refuses, same, unusable)


class PythonRoute(Route):
    name = "python"
    not_offered = {kind: reason for reason, kinds in {
        "no Python function takes a format word apart": ("format_word", "format_space"),
        "no Python function encodes one number": ("fmt_encode",),
        "no Python function takes a descriptor apart": ("descriptor_fields",),
        "no Python function hashes bytes; ids, gids and digests are compared":
            ("fingerprint",),
        "placement maps are seen through decode alone": ("placement_map",),
        "layout expressions are not part of the package": ("layout", "layout_map"),
        "relayout is not part of the package": ("relayout",),
        "supersedes edges are not part of the package": ("edge", "equivalent"),
        "the order of grades is not part of the package":
            ("refines", "token_order", "join", "relax"),
    }.items() for kind in kinds}

    def __init__(self, build):
        package = Path(build) / "python"
        if package.exists():
            sys.path.insert(0, str(package))
        try:
            import grit_mlir
            import numpy
            from grit_mlir import _core
        except ImportError as error:
            raise Unavailable(f"the package does not load: {error}") from None
        self.grit, self.numpy, self.core = grit_mlir, numpy, _core
        self.answers = {name.removeprefix("answer_"): getattr(self, name)
                        for name in dir(self) if name.startswith("answer_")}

    def contract(self, name):
        return self.grit.Contract(reference.REGISTERED.get(name, name))

    def status(self, call):
        """The name of the status that `call` raises, or Ok, and what it returns."""
        try:
            return "Ok", call()
        except self.grit.CheckError as error:
            return error.status.name, error

    def hex_of(self, values):
        return hex_of_floats(self.numpy.ascontiguousarray(values, "<f4").tobytes())

    def empty_array(self, contract, shape, axis, placements=None):
        """An array whose planes are zeros, for what does not depend on them."""
        spec = self.core.Spec(contract, shape, axis, placements)
        slots = [b""] * 4
        for slot, size in zip(spec.plane_slots, spec.plane_sizes()):
            slots[slot] = bytes(size)
        return self.grit.Array(contract, shape, slots, axis, placements)

    # --- Numbers and identities --------------------------------------------------------

    def answer_fmt_decode(self, inputs, expected):
        word, codes = int(inputs["word"], 16), inputs["codes"]
        if codes == "all":
            codes = range(2 ** ((word & 31) + 1))
        found = self.hex_of([self.core.decode_code(word, code) for code in codes])
        if "values" in expected:
            same("values", found, expected["values"])
        else:
            same("fnv1a64", f"{reference.fnv1a64(floats_of(found)):016x}",
                 expected["fnv1a64"])

    def answer_base32(self, inputs, expected):
        try:
            found = {"bytes": self.core.from_base32(inputs["text"]).hex()}
        except ValueError:
            found = {"refused": "bad-base32"}
        same("bytes", found, expected)

    def answer_digest(self, inputs, expected):
        planes = [self.numpy.frombuffer(plane or b"", self.numpy.uint8)
                  for plane in planes_of(inputs["planes"])]
        same("digest", self.core.digest(planes).hex(), expected["digest"])

    def answer_grade(self, inputs, expected):
        status, contract = self.status(lambda: self.grit.Contract(inputs["text"]))
        if "refused" in expected:
            return refuses(status, expected)
        if status == "GradeUnknown" and unusable(inputs["text"]):
            raise NotApplicable(UNUSABLE)
        same("status", status, "Ok")
        same("canonical", contract.canonical, expected["canonical"])
        same("grade_id", f"{contract.grade_id:016x}", expected["grade_id"])

    def answer_descriptor(self, inputs, expected):
        axis = inputs.get("group_axis", 0)
        status, contract = self.status(lambda: self.contract(inputs["grade"]))
        if "refused" in expected:
            return refuses(status, expected)
        extent = math.lcm(contract.axis_multiple, contract.array_multiple)
        array = self.empty_array(contract, [1] * axis + [extent], axis,
                                 inputs.get("placements"))
        raw = bytearray(array.descriptor)
        raw[28:32] = inputs.get("note", 0).to_bytes(4, "little")  # the package writes 0
        same("descriptor", raw.hex(), expected["desc_hex"])

    def answer_gid(self, inputs, expected):
        array = self.empty_array(self.contract(inputs["grade"]), inputs["shape"],
                                 inputs.get("group_axis", 0), inputs.get("placements"))
        same("gid", array.gid.hex(), expected["gid"])
        same("base32", self.core.from_base32(expected["gid_base32"]), array.gid)

    # --- Checks ------------------------------------------------------------------------

    def answer_sizes(self, inputs, expected):
        shape, axis = inputs["shape"], axis_of(inputs)
        if inputs["grade"] in reference.REGISTERED:  # a negative axis is refused there
            status, spec = self.status(lambda: self.core.spec_from_descriptor(
                descriptor_of(inputs), shape))
        else:
            status, spec = self.status(lambda: self.core.Spec(
                self.contract(inputs["grade"]), shape, axis))
        same("status", status, expected["status"])
        if status == "Ok":
            sizes = [0] * 4
            for slot, size in zip(spec.plane_slots, spec.plane_sizes()):
                sizes[slot] = size
            same("sizes", sizes, expected["plane_bytes"])

    def check(self, inputs):
        digest = inputs.get("expected_digest")
        return self.status(lambda: self.grit.check(
            bytes.fromhex(inputs["desc_hex"]), inputs["shape"], inputs["plane_bytes"],
            inputs["level"], planes_of(inputs.get("planes", [])),
            None if digest is None else bytes.fromhex(digest)))

    def answer_check(self, inputs, expected):
        """Warnings are not part of the package."""
        for text in inputs.get("grades", ()):
            self.grit.register_grade(f"vector-{self.grit.Contract(text).grade_id:016x}", text)
        status, error = self.check(inputs)
        same("status", status, expected["status"])
        if "plane" in expected:
            same("plane", error.detail["plane"], expected["plane"])
        if "likely_k0" in expected:
            same("names the likely k0", f"k0={expected['likely_k0']}" in str(error), True)

    def answer_placement(self, inputs, expected):
        """As the data placement of an array that is otherwise right."""
        words = [inputs["word"], "0x1000000000000001", "0x0000000000000000"]
        raw = descriptor_of({"grade": "GRADE_MXFP4", "shape": [32]}, words)
        status, _ = self.check({"desc_hex": raw.hex(), "shape": [32],
                                "plane_bytes": [16, 1, 0, 0], "level": 1})
        same("status", status, "Ok" if expected["acceptable"] else "PlacementUnknown")

    # --- Arrays ------------------------------------------------------------------------

    def answer_array(self, inputs, expected):
        values = self.numpy.frombuffer(floats_of(inputs["values"]), "<f4")
        status, array = self.status(lambda: self.grit.quantize(
            values.reshape(inputs["shape"]), self.contract(inputs["grade"]),
            inputs.get("group_axis", -1)))
        if "refused" in expected:
            return refuses(status, expected)
        same("status", status, "Ok")
        same("planes", [plane.tobytes().hex() for plane in array.planes], expected["planes"])
        same("descriptor", array.descriptor.hex(), expected["desc_hex"])
        same("gid", array.gid.hex(), expected["gid"])
        same("digest", array.digest.hex(), expected["digest"])
        same("decoded", self.hex_of(array.dequantize()), expected["decoded"])

    def answer_decode(self, inputs, expected):
        def decoded():
            array = self.grit.Array(self.contract(inputs["grade"]), inputs["shape"],
                                    planes_of(inputs["planes"]),
                                    inputs.get("group_axis", -1), inputs.get("placements"))
            return array, self.hex_of(array.dequantize())

        status, found = self.status(decoded)
        if "refused" in expected:
            return refuses(status, expected)
        same("status", status, "Ok")
        same("gid", found[0].gid.hex(), expected["gid"])
        same("digest", found[0].digest.hex(), expected["digest"])
        same("decoded", found[1], expected["decoded"])

    def answer_supersedes(self, inputs, expected):
        for name, gid in zip((inputs["a"], inputs["b"]), expected["gid"]):
            self.answer_decode({**inputs, "grade": name}, {
                "gid": gid, "decoded": expected["decoded"],
                "digest": reference.digest(planes_of(inputs["planes"])).hex()})
