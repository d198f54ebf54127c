# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libgrit.so through include/grit-c/grit.h, whose structures are read from the header."""

import ctypes
import re
from pathlib import Path

from . import (Difference, NotApplicable, Route, Unavailable, UNUSABLE, axis_of, canonical,
               floats_of, hex_of_floats, planes_of, reference, refuses, same,
               unusable)

HEADER = Path(__file__).resolve().parents[3] / "include/grit-c/grit.h"
WARNINGS = {1: "group-axis-not-innermost", 2: "minus1-without-effect",
            4: "scales-without-spread", 8: "codes-far-from-limit"}


def read_structures(text):
    """The structures of the header as classes, by name; the sizes that it asserts are
    checked."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    constants = {"GRIT_MAXRANK": 0, "GRIT_MAXPLANES": 0}
    for name in constants:
        constants[name] = int(re.search(rf"#define {name} (\d+)", text)[1])
    types = {"char": ctypes.c_char, "void *": ctypes.c_void_p, "grit_status_t": ctypes.c_int,
             "grit_fmt_t": ctypes.c_uint16}
    types |= {f"{kind}{bits}_t": getattr(ctypes, f"c_{kind}{bits}")
              for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
    for name, body in re.findall(r"typedef struct (\w+) \{\n(.*?)\n\} \1;", text, re.DOTALL):
        fields = []
        for kind, names in re.findall(r"^  (\w+ \*?)([\w\[\], ]+);", body, re.MULTILINE):
            kind = types.get(kind.strip())
            for field, extent in re.findall(r"(\w+)(?:\[(\w+)\])?", names):
                if kind and extent:
                    kind_here = kind * (constants.get(extent) or int(extent))
                else:
                    kind_here = kind
                fields.append((field, kind_here))
        if all(kind for _, kind in fields) and "union" not in body and "const" not in body:
            types[name] = type(name, (ctypes.Structure,), {"_fields_": fields})
    for name, size in re.findall(r"ASSERT\(sizeof\((\w+)\) == (\d+)\)", text):
        if name in types and ctypes.sizeof(types[name]) != int(size):
            raise AssertionError(f"{name} has {ctypes.sizeof(types[name])} bytes here")
    return types


TYPES = read_structures(HEADER.read_text())
View, Detail = TYPES["grit_view_t"], TYPES["grit_detail_t"]


class ArrayView(ctypes.Structure):
    """grit_array_view_t; the other member of its union is the smaller one."""
    _fields_ = [("tag", ctypes.c_int32), ("grade", View)]


def filled(view, descriptor, shape, plane_bytes, planes=()):
    """Fills a view; what it points to is returned, to be kept."""
    if len(descriptor) != 64:
        raise NotApplicable("a C descriptor always has 64 bytes")
    if len(plane_bytes) != 4:
        raise NotApplicable("a C view always has four planes")
    if not all(-2**63 <= number < 2**63 for number in (*shape, *plane_bytes)):
        raise NotApplicable("a C view has sizes and extents of 64 bits")
    ctypes.memmove(ctypes.addressof(view.d), descriptor, 64)
    view.rank = len(shape)
    view.shape[:min(8, len(shape))] = shape[:8]
    view.plane_bytes[:] = plane_bytes
    kept = [None if plane is None else ctypes.create_string_buffer(plane, max(1, len(plane)))
            for plane in planes]
    for slot, plane in enumerate(kept):
        view.plane[slot] = None if plane is None else ctypes.addressof(plane)
    return kept


class CRoute(Route):
    name = "c"
    not_offered = {kind: reason for reason, kinds in {
        "no C function takes a format word apart": ("format_word", "format_space"),
        "no C function converts one number": ("fmt_decode", "fmt_encode"),
        "no C function hashes bytes; ids and digests are compared": ("fingerprint",),
        "no C function prints or reads base32": ("base32",),
        "placement maps are seen through decode alone": ("placement_map",),
        "layout expressions are not part of the C interface": ("layout", "layout_map"),
        "no C function moves planes": ("relayout",),
        "no C function verifies an edge; the closure is compared": ("edge",),
    }.items() for kind in kinds}

    def __init__(self, build):
        path = Path(build) / "lib/libgrit.so"
        if not path.exists():
            raise Unavailable(f"{path} is not built")
        self.library = ctypes.CDLL(str(path))
        self.detail = Detail()
        self.answers = {name.removeprefix("answer_"): getattr(self, name)
                        for name in dir(self) if name.startswith("answer_")}

    def call(self, name, *arguments):
        """The name of the status."""
        function = getattr(self.library, name)
        status = function(*arguments, ctypes.byref(self.detail))
        return list(reference.STATUSES)[status]

    def need(self, name, *arguments):
        status = self.call(name, *arguments)
        if status != "Ok":
            raise Difference(f"{name}: {status}: {self.detail.message.decode()}")

    def register(self, text):
        """Makes a grade known to what takes a view, which has only its id."""
        name = f"vector-{reference.fnv1a64(text.encode()):016x}"
        return self.call("grit_register_grade", name.encode(), text.encode(), None)

    def view(self, inputs, planes=None):
        """A view of a vector's array, as grit_view_init makes it, with placements."""
        if canonical(inputs["grade"]) not in reference.REGISTERED.values():
            status = self.register(canonical(inputs["grade"]))
            if status != "Ok":
                return status, None, None
        view = ArrayView()
        shape = (ctypes.c_int64 * 8)(*inputs["shape"])
        status = self.call("grit_view_init", canonical(inputs["grade"]).encode(),
                           len(inputs["shape"]), shape, axis_of(inputs), ctypes.byref(view))
        if status != "Ok":
            return status, view, None
        view.grade.d.note = inputs.get("note", 0)
        if "placements" in inputs:
            words = reference.words_of(inputs["placements"])
            view.grade.d.placement_data, view.grade.d.placement_scale = words[:2]
            view.grade.d.placement_meta = words[2]
        planes = planes or [bytes(size) for size in view.grade.plane_bytes]
        kept = filled(view.grade, bytes(view.grade.d), inputs["shape"],
                      [len(plane) for plane in planes],
                      [plane if plane else None for plane in planes])
        return "Ok", view, kept

    def decoded(self, view, shape):
        count = 1
        for extent in shape:
            count *= extent
        out = ctypes.create_string_buffer(max(1, 4 * count))
        status = self.call("grit_dequantize", ctypes.byref(view), out,
                           ctypes.c_int64(count))
        return status, hex_of_floats(out.raw[:4 * count])

    def digest(self, view):
        out = (ctypes.c_uint8 * 16)()
        self.need("grit_digest", ctypes.byref(view.grade), out)
        return bytes(out).hex()

    # --- Grades and descriptors --------------------------------------------------

    def answer_grade(self, inputs, expected):
        number = ctypes.c_uint64()
        text = inputs["text"].encode()
        if b"\0" in text:
            raise NotApplicable("a C string ends at a zero byte")
        status = self.call("grit_contract_id", text, ctypes.byref(number))
        if "refused" in expected:
            refuses(status, expected)
        elif status == "GradeUnknown" and unusable(inputs["text"]):
            raise NotApplicable(UNUSABLE)
        else:  # the id is the fingerprint of the canonical string
            same("status", status, "Ok")
            same("grade_id", f"{number.value:016x}", expected["grade_id"])

    def answer_descriptor(self, inputs, expected):
        number = ctypes.c_uint64()
        status = self.call("grit_contract_id", inputs["grade"].encode(), ctypes.byref(number))
        if "refused" in expected:
            return refuses(status, expected)
        axis = inputs.get("group_axis", 0)
        d = bytes.fromhex(expected["desc_hex"])
        fields = reference.unpack_descriptor(d)
        extent = max(1, fields["k0"]) * max(1, fields["k1"]) * max(1, fields["sp_m"])
        status, view, _ = self.view({**inputs, "shape": [1] * axis + [extent],
                                     "group_axis": axis})
        same("status", status, "Ok")
        same("descriptor", bytes(view.grade.d).hex(), expected["desc_hex"])

    def answer_descriptor_fields(self, inputs, expected):
        d = TYPES["grit_desc_t"].from_buffer_copy(bytes.fromhex(inputs["desc_hex"]))
        for field, value in expected.items():
            same(field, getattr(d, field), value)

    def answer_gid(self, inputs, expected):
        _, view, _ = self.view({**inputs, "group_axis": inputs.get("group_axis", 0)})
        same("descriptor", bytes(view.grade.d).hex(), expected["desc_hex"])
        if "placements" in inputs:
            raise NotApplicable("grit_view_init identifies arrays in canonical placements")
        same("gid", bytes(view.grade.gid).hex(), expected["gid"])

    def answer_sizes(self, inputs, expected):
        sizes = (ctypes.c_int64 * 4)()
        if not all(-2**63 <= extent < 2**63 for extent in inputs["shape"]):
            raise NotApplicable("a C view has sizes and extents of 64 bits")
        shape, axis = inputs["shape"], axis_of(inputs)
        if axis < 0:
            raise NotApplicable("a negative axis counts from the end in C")
        status = self.call("grit_plane_sizes", canonical(inputs["grade"]).encode(),
                           len(shape), (ctypes.c_int64 * max(1, len(shape)))(*shape), axis,
                           sizes, None)
        same("status", status, expected["status"])
        if status == "Ok":
            same("sizes", list(sizes), expected["plane_bytes"])

    # --- Bytes --------------------------------------------------------------------

    def answer_digest(self, inputs, expected):
        planes = planes_of(inputs["planes"])
        view = ArrayView()
        kept = filled(view.grade, bytes(64), [1], [len(plane or b"") for plane in planes],
                      planes)
        same("digest", self.digest(view), expected["digest"])
        del kept

    def answer_check(self, inputs, expected):
        digest = inputs.get("expected_digest")
        if digest is not None and len(digest) != 32:
            raise NotApplicable("a C digest always has 16 bytes")
        for text in inputs.get("grades", ()):
            same("register", self.register(text), "Ok")
        view = View()
        kept = filled(view, bytes.fromhex(inputs["desc_hex"]), inputs["shape"],
                      inputs["plane_bytes"], planes_of(inputs.get("planes", [])))
        raw = None if digest is None else bytes.fromhex(digest)
        status = self.call("grit_check_digest", ctypes.byref(view), inputs["level"], raw)
        del kept
        same("status", status, expected["status"])
        if status != "Ok":
            same("plane", self.detail.plane, expected.get("plane", -1))
            for key in ("expected", "actual"):
                if expected["step"] == "4.6" and isinstance(expected.get(key), int):
                    same(key, getattr(self.detail, key), expected[key])
            if "likely_k0" in expected and f"k0={expected['likely_k0']}".encode() \
                    not in self.detail.message:
                raise Difference(f"no k0={expected['likely_k0']} in {self.detail.message}")
            return
        found = [name for flag, name in WARNINGS.items() if self.detail.actual & flag]
        same("warnings", found, sorted(expected.get("warnings", []),
                                       key=list(WARNINGS.values()).index))

    def answer_placement(self, inputs, expected):
        """As the data placement of an array that is otherwise right."""
        word, grade = int(inputs["word"], 16), reference.grade_named("GRADE_MXFP4")
        d = reference.descriptor_of(grade, 0, [word, *reference.canonical_placements(grade)[1:]])
        view = View()
        filled(view, reference.pack_descriptor(d), [32], [16, 1, 0, 0])
        status = self.call("grit_check", ctypes.byref(view), 1)
        same("status", status, "Ok" if expected["acceptable"] else "PlacementUnknown")

    def answer_array(self, inputs, expected):
        status, view, kept = self.view(inputs)
        if status == "Ok":
            values = floats_of(inputs["values"])
            status = self.call("grit_quantize", values, ctypes.c_int64(len(values) // 4),
                               ctypes.byref(view))
        if "refused" in expected:
            return refuses(status, expected)
        same("status", status, "Ok")
        planes = [b"" if plane is None else plane.raw[:size]
                  for plane, size in zip(kept, view.grade.plane_bytes)]
        same("planes", [plane.hex() for plane in planes], expected["planes"])
        same("descriptor", bytes(view.grade.d).hex(), expected["desc_hex"])
        same("gid", bytes(view.grade.gid).hex(), expected["gid"])
        same("digest", self.digest(view), expected["digest"])
        same("decoded", self.decoded(view, inputs["shape"]), ("Ok", expected["decoded"]))

    def answer_decode(self, inputs, expected):
        planes = [plane or b"" for plane in planes_of(inputs["planes"])]
        status, view, kept = self.view(inputs, planes)
        values = ""
        if status == "Ok":
            status, values = self.decoded(view, inputs["shape"])
        if "refused" in expected:
            return refuses(status, expected)
        same("decoded", (status, values), ("Ok", expected["decoded"]))
        same("digest", self.digest(view), expected["digest"])
        if "placements" not in inputs:
            same("gid", bytes(view.grade.gid).hex(), expected["gid"])
        del kept

    # --- The order of grades -------------------------------------------------------

    def relation(self, first, second):
        """Whether the first refines the second."""
        relation = ctypes.c_int(-1)
        self.need("grit_relate", first.encode(), second.encode(), ctypes.byref(relation))
        return relation.value in (0, 1)

    def joined(self, first, second):
        text = ctypes.create_string_buffer(256)
        status = self.call("grit_join", first.encode(), second.encode(), text,
                           ctypes.c_size_t(256))
        return status, text.value.decode()

    def answer_refines(self, inputs, expected):
        kernel, request = canonical(inputs["kernel"]), canonical(inputs["request"])
        same("refines", self.relation(kernel, request), expected["refines"])
        status = self.call("grit_serves", kernel.encode(), request.encode())
        same("serves", status, "Ok" if expected["refines"] else "GradeUnknown")

    def answer_token_order(self, inputs, expected):
        base = "grit1(e=u8,k0=1,s0=u8,esr=ratio,{}={})"
        grades = [base.format(inputs["key"], token) for token in inputs["tokens"]]
        same("refines", [[self.relation(a, b) for b in grades] for a in grades],
             expected["refines"])
        for a, row in zip(grades, expected["join"]):
            for b, token in zip(grades, row):
                status, text = self.joined(a, b)
                same("status", status, "GradeUnknown" if token is None else "Ok")
                if token is not None:
                    _, alone = self.joined(*[base.format(inputs["key"], token)] * 2)
                    same("join", text, alone)

    def answer_join(self, inputs, expected):
        status, text = self.joined(canonical(inputs["a"]), canonical(inputs["b"]))
        if "refused" in expected:
            return refuses(status, expected)
        same("status", status, "Ok")
        found = dict(item.split("=") for item in text.split(",") if item)
        defaults = {"ao": "unspec", "ap": "binary32", "ab": "binary32", "ai": "binary32",
                    "an": "any"}
        same("join", defaults | found, expected)

    def answer_relax(self, inputs, expected):
        text = ctypes.create_string_buffer(512)
        status = self.call("grit_relax", canonical(inputs["grade"]).encode(),
                           inputs["key"].encode(), inputs["value"].encode(), text,
                           ctypes.c_size_t(512))
        if "refused" in expected:
            return refuses(status, expected)
        same("canonical", (status, text.value.decode()), ("Ok", expected["canonical"]))

    def equivalent(self, a, b, scope):
        answer = ctypes.c_int32(-1)
        self.need("grit_equivalent", canonical(a).encode(), canonical(b).encode(),
                  ["decode", "full"].index(scope), ctypes.byref(answer))
        return answer.value == 1

    def answer_equivalent(self, inputs, expected):
        same("equivalent", self.equivalent(inputs["a"], inputs["b"], inputs["scope"]),
             expected["equivalent"])

    def answer_supersedes(self, inputs, expected):
        for name, gid in zip((inputs["a"], inputs["b"]), expected["gid"]):
            self.answer_decode({**inputs, "grade": name}, {
                "gid": gid, "decoded": expected["decoded"],
                "digest": reference.digest(planes_of(inputs["planes"])).hex()})
        for scope in ("decode", "full"):
            same(scope, self.equivalent(inputs["a"], inputs["b"], scope),
                 expected[scope + "_scope"])
