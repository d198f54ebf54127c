# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled MLIR: functions with grit.decode, grit.encode and grit.relayout, and the
checks at their entries; grades, placements and sizes by parsing types with grit-opt."""

import ctypes
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from . import (NotApplicable, Route, Unavailable, UNUSABLE, axis_of,
               canonical, descriptor_of, floats_of, hex_of_floats, planes_of, reference,
               refuses, same, unusable)
from .by_c import ArrayView, filled

# Refusals of the dialect and the compiler that are decisions about what has a type or
# a kernel; what the compiler says, and the class of the reason.
DECIDED = {
    "counts groups along the row-major index":
        "the dialect has no type with a group axis that is not the last (1.4)",
    "no kernel is generated for this contract":
        "the compiler generates no kernel for such a contract",
    "encode of this contract has no lowering":
        "the compiler generates no encoder for such a contract",
}


def decided(said):
    """Raises NotApplicable for a refusal of DECIDED."""
    for words, reason in DECIDED.items():
        if words in said:
            raise NotApplicable(reason)


def quoted(text):
    """A string of MLIR."""
    return '"' + "".join(f"\\{byte:02X}" if byte < 32 or byte > 126 or byte in b'"\\'
                         else chr(byte) for byte in text.encode()) + '"'


def array_type(grade, shape, axis, placements=None):
    parts = ["x".join("?" if n is None else str(n) for n in shape)
             + f"x#grit.grade<{quoted(grade)}>"]
    if axis != len(shape) - 1:
        parts.append(f"axis = {axis}")
    for role, word, own in zip(("data", "scale", "meta"), placements or (),
                               reference.canonical_placements(reference.Grade.parse(grade))):
        if word != own:
            parts.append(f"{role} = 0x{word:016x}")
    return f"!grit.array<{', '.join(parts)}>"


def attribute(text):
    return f"func.func private @v() attributes {{v = {text}}}"


def tensor_type(shape):
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}f32>"


def decode_text(array, tensor):
    return (f"func.func @decode(%w: {array}, %y: {tensor}) -> {tensor} {{\n"
            f"  %r = grit.decode ins(%w : {array}) outs(%y : {tensor}) -> {tensor}\n"
            f"  return %r : {tensor}\n}}\n")


def encode_text(array, tensor):
    return (f"func.func @encode(%x: {tensor}) -> {array} {{\n"
            f"  %r = grit.encode %x : {tensor} -> {array}\n  return %r : {array}\n}}\n")


def relayout_text(old, new):
    return (f"func.func @relayout(%a: {old}) -> {new} {{\n"
            f"  %r = grit.relayout %a : {old} -> {new}\n  return %r : {new}\n}}\n")


class TensorView(ctypes.Structure):
    """grit_tensor_view_t"""
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int32),
                ("rank", ctypes.c_int32), ("shape", ctypes.c_int64 * 8)]


class MlirRoute(Route):
    name = "mlir"
    not_offered = {kind: reason for reason, kinds in {
        "no operation takes a number or a word apart": ("format_space", "fmt_decode",
                                                        "fmt_encode"),
        "no operation makes a descriptor; those of views are checked":
            ("descriptor", "descriptor_fields"),
        "no operation computes an identity": ("fingerprint", "gid", "digest", "base32"),
        "no operation of this build speaks of the order of grades":
            ("refines", "token_order", "join", "relax", "edge", "equivalent"),
    }.items() for kind in kinds}

    def __init__(self, build):
        self.opt = Path(build) / "bin/grit-opt"
        if not self.opt.exists():
            raise Unavailable(f"{self.opt} is not built: grit was built without MLIR")
        sys.path.insert(0, str(Path(build) / "python"))
        try:
            from grit_mlir import _library, compiler, contracts
            compiler.library_path()
        except (ImportError, FileNotFoundError) as error:
            raise Unavailable(f"the compiler does not load: {error}") from None
        self.compiler, self.library = compiler, _library
        # Grades are printed by their names, of which grit has more than the spec.
        self.names = {contract.name: contract.canonical for contract in contracts()}
        self.answers = {name.removeprefix("answer_"): getattr(self, name)
                        for name in dir(self) if name.startswith("answer_")}
        self.parsed = {}

    # --- Types, all parsed by one process --------------------------------------------

    def run(self, vectors):
        self.parse([text for vector in vectors for text in self.texts_of(vector)])
        yield from super().run(vectors)

    def texts_of(self, vector):
        """The attributes that a vector asks for, by the methods below."""
        texts = getattr(self, "texts_" + vector["kind"], None)
        try:
            return texts(vector["inputs"], vector["expected"]) if texts else []
        except NotApplicable:
            return []

    def parse(self, texts):
        """Parses functions @v: `parsed` maps each to (True, the attribute v, with its
        aliases put in) or to (False, the refusal)."""
        texts = list(dict.fromkeys(texts))
        lines, marks = [], {}
        for index, text in enumerate(texts):
            marks[len(lines) + 1] = index
            lines += [text.replace("@v", f"@v{index}"), "// -----"]
        done = subprocess.run([self.opt, "--split-input-file", "-"],
                              input="\n".join(lines), capture_output=True, text=True)
        printed = {}
        for chunk in done.stdout.split("// -----"):
            if function := re.search(r"@v(\d+)\(", chunk):
                aliases = dict(re.findall(r"^(#\w+) = (.*)$", chunk, re.MULTILINE))
                value = re.search(r" attributes \{v = (.*)\}$", chunk, re.MULTILINE)
                value = value[1] if value else ""
                printed[int(function[1])] = aliases.get(value, value)
        errors = {}
        for line, message in re.findall(r"^<stdin>:(\d+):\d+: error: (.*)$", done.stderr,
                                        re.MULTILINE):
            errors.setdefault(marks[int(line)], message)
        for index, text in enumerate(texts):
            if (index in printed) == (index in errors):
                raise AssertionError(f"grit-opt gave no clear answer to {text}")
            self.parsed[text] = ((True, printed[index]) if index in printed
                                 else (False, errors[index]))

    def accepts(self, texts):
        return self.parsed[texts[0]]

    def texts_grade(self, inputs, expected):
        return [attribute(f"#grit.grade<{quoted(inputs['text'])}>")]

    def answer_grade(self, inputs, expected):
        good, said = self.accepts(self.texts_grade(inputs, expected))
        if "refused" in expected:
            return same("refused", good, False)
        if not good and unusable(inputs["text"]):
            raise NotApplicable(UNUSABLE)
        name = re.fullmatch(r'#grit\.grade<"?(.*?)"?>', said)
        same("accepted", good and bool(name), True)
        same("canonical", self.names.get(name[1], name[1]), expected["canonical"])

    def texts_format_word(self, inputs, expected):
        return [attribute(f"#grit.word<{inputs['word']}>")]

    def answer_format_word(self, inputs, expected):
        good, _ = self.accepts(self.texts_format_word(inputs, expected))
        same("accepted", good, "refused" not in expected)

    def texts_placement(self, inputs, expected):
        words = [int(inputs["word"], 16), 0x1000000000000001, 0]
        return [attribute(array_type(canonical("GRADE_MXFP4"), [1, 32], 1, words))]

    def answer_placement(self, inputs, expected):
        """As the data placement of an array that is otherwise right."""
        good, _ = self.accepts(self.texts_placement(inputs, expected))
        same("accepted", good, expected["acceptable"])

    def texts_layout(self, inputs, expected):
        """The expression, and beside it the word that stands for it."""
        text = f"#grit.placement<layout({quoted(inputs['text'])})>"
        if "word" in expected:
            text = f"[{text}, #grit.placement<{expected['word']}>]"
        return [attribute(text)]

    def answer_layout(self, inputs, expected):
        good, said = self.accepts(self.texts_layout(inputs, expected))
        same(f"accepted ({said})", good, "refused" not in expected)
        if good:  # the word prints as the expression
            printed = re.findall(r"#grit\.placement<(.*?)>(?=[\],])", said)
            same("printed", printed, [f"layout({quoted(inputs['text'])})"] * 2)

    def texts_sizes(self, inputs, expected):
        shape = inputs["shape"]
        if not 1 <= len(shape) <= 8 or any(not 0 <= n < 2**63 for n in shape):
            raise NotApplicable("MLIR cannot spell the shape")
        grade = reference.grade_named(inputs["grade"])
        there = [True, True, grade.levels == 2, bool(grade["zp"] or grade["sp"])]
        array = array_type(grade.canonical(), shape, axis_of(inputs))
        if "plane_bytes" in expected:
            planes = ", ".join(f"tensor<{size}xi8>" for size, here
                               in zip(expected["plane_bytes"], there) if here)
            return [f"func.func @v(%a: {array}) {{ %p:{sum(there)} = grit.planes %a : {array} "
                    f"-> {planes} return }}"]
        planes = ", ".join(["tensor<?xi8>"] * sum(there))
        return [f"func.func @v(%p: tensor<?xi8>) {{ %a = grit.bundle "
                f"{', '.join(['%p'] * sum(there))} : {planes} -> {array} return }}"]

    def answer_sizes(self, inputs, expected):
        """The planes that are expected out of an array; for a refusal, an array out of
        planes of unknown size."""
        good, said = self.accepts(self.texts_sizes(inputs, expected))
        if not good and expected["status"] == "Ok":
            decided(said)
        same(f"accepted ({said})", good, expected["status"] == "Ok")

    # --- Functions ----------------------------------------------------------------------

    @lru_cache(maxsize=None)
    def module(self, text, level=1):
        """A compiled module, or the diagnostics."""
        try:
            return self.compiler.compile(text, check_level=level, name="vector.mlir"), ""
        except self.compiler.CompileError as error:
            return None, str(error)

    def call(self, text, name, views, level=1):
        """Calls a function over views: the name of the status and the message."""
        module, said = self.module(text, level)
        if module is None:
            return "Refused", said
        addresses = (ctypes.c_void_p * len(views))(*map(ctypes.addressof, views))
        self.library.failure.detail = None
        status = module[name]._function(addresses)
        detail = self.library.failure.detail
        return (list(reference.STATUSES)[status],
                detail.message.decode(errors="replace") if detail else "")

    def register(self, grade):
        """Makes a grade known to the library that compiled functions call."""
        with self.library.shared_compiler().turn() as library:
            function = library.grit_register_grade
            name = f"vector-{reference.fnv1a64(grade.encode()):016x}".encode()
            same("register", function(name, grade.encode(), None, None), 0)

    @staticmethod
    def array(descriptor, shape, planes):
        view = ArrayView()
        kept = filled(view.grade, descriptor, shape, [len(plane or b"") for plane in planes],
                      [plane or b"" for plane in planes])
        return view, kept

    @staticmethod
    def tensor(shape, content):
        view = TensorView()
        view.dtype, view.rank = 1, len(shape)
        view.shape[:len(shape)] = shape
        memory = ctypes.create_string_buffer(content, max(4, len(content)))
        view.data = ctypes.addressof(memory)
        return view, memory

    def decoded(self, inputs, planes, text, level=1):
        if self.module(text, level)[0] is None:
            return self.call(text, "decode", [])
        words = inputs.get("placements")
        view, kept = self.array(descriptor_of(inputs, words), inputs["shape"], planes)
        count = 1
        for extent in inputs["shape"]:
            count *= extent
        out, memory = self.tensor(inputs["shape"], bytes(4 * count))
        status, said = self.call(text, "decode", [view, out], level)
        del kept
        return status, hex_of_floats(memory.raw[:4 * count]) if status == "Ok" else said

    def at_other_levels(self, inputs, planes, text, expected):
        """L9: at every level the same values, or a refusal at a higher one."""
        for level in (0, 2):
            status, found = self.decoded(inputs, planes, text, level)
            if level == 0 or status == "Ok":
                same(f"decoded at level {level}", (status, found), ("Ok", expected))

    def type_of(self, inputs, words=None):
        grade = canonical(inputs["grade"])
        if grade not in reference.REGISTERED.values() and not unusable(grade):
            self.register(grade)
        return array_type(grade, inputs["shape"], axis_of(inputs),
                          reference.words_of(words or inputs.get("placements")))

    def answer_decode(self, inputs, expected):
        text = decode_text(self.type_of(inputs), tensor_type(inputs["shape"]))
        status, found = self.decoded(inputs, planes_of(inputs["planes"]), text)
        if "refused" in expected:
            if status != "Refused":
                refuses(status, expected)
            return
        if status == "Refused":
            decided(found)
        same("decoded", (status, found), ("Ok", expected["decoded"]))
        self.at_other_levels(inputs, planes_of(inputs["planes"]), text, expected["decoded"])

    def answer_supersedes(self, inputs, expected):
        for name in (inputs["a"], inputs["b"]):
            self.answer_decode({**inputs, "grade": name}, expected)

    def answer_array(self, inputs, expected):
        array, tensor = self.type_of(inputs), tensor_type(inputs["shape"])
        text = encode_text(array, tensor) + decode_text(array, tensor)
        if "refused" in expected and self.module(text)[0] is None:
            return
        if "refused" in expected:
            raise NotApplicable("encoding is refused for a value, which no kernel does")
        decided(self.module(text)[1])
        grade = reference.grade_named(inputs["grade"])
        sizes = reference.array_sizes(grade, inputs["shape"], axis_of(inputs))["bytes"]
        view, kept = self.array(descriptor_of(inputs), inputs["shape"],
                                [bytes(size) for size in sizes])
        values, memory = self.tensor(inputs["shape"], floats_of(inputs["values"]))
        same("encode", self.call(text, "encode", [values, view]), ("Ok", ""))
        planes = [plane.raw[:size] for plane, size in zip(kept, sizes)]
        same("planes", [plane.hex() for plane in planes], expected["planes"])
        same("decoded", self.decoded(inputs, planes, text), ("Ok", expected["decoded"]))
        self.at_other_levels(inputs, planes, text, expected["decoded"])
        del memory

    def answer_relayout(self, inputs, expected):
        text = relayout_text(self.type_of(inputs, inputs["old"]),
                             self.type_of(inputs, inputs["new"]))
        planes = planes_of(inputs["planes"])
        source, kept = self.array(descriptor_of(inputs, inputs["old"]), inputs["shape"], planes)
        target, moved = self.array(descriptor_of(inputs, inputs["new"]), inputs["shape"],
                                   [bytes(len(plane or b"")) for plane in planes])
        status, said = self.call(text, "relayout", [source, target])
        del kept
        if "refused" in expected:
            if status != "Refused":
                refuses(status, expected)
            return
        decided(said if status == "Refused" else "")
        same("relayout", (status, said), ("Ok", ""))
        same("planes", [plane.raw[:len(content or b"")].hex()
                        for plane, content in zip(moved, planes)], expected["planes"])

    def moved(self, inputs, placement, expected):
        """Relayout of codes that are their own row-major index: where they end up."""
        rows, cols = inputs["rows"], inputs["cols"]
        if "columns" in expected and expected["columns"] != cols:
            raise NotApplicable("planes have no padding (P16)")
        text = "grit1(e=binary16,k0=1,s0=u8,esr=ratiomaxabs)"
        self.register(text)
        old = array_type(text, [rows, cols], 1)
        new = f"{old[:-1]}, data = {placement}>"
        word = (reference.layout_word(inputs["text"]) if "text" in inputs
                else int(inputs["word"], 16))
        codes = b"".join(index.to_bytes(2, "little") for index in range(rows * cols))
        views = []
        for words in (None, [word, reference.ROW_MAJOR, 0]):
            raw = reference.pack_descriptor(
                reference.descriptor_of(reference.Grade.parse(text), 1, words))
            views.append(self.array(raw, [rows, cols], [codes, bytes(rows * cols), b"", b""]))
        (source, kept), (target, planes) = views
        status, said = self.call(relayout_text(old, new), "relayout", [source, target])
        del kept
        if "refused" in expected:
            if status != "Refused":
                refuses(status, expected)
            return
        same("relayout", (status, said), ("Ok", ""))
        found = planes[0].raw[:len(codes)]
        order = [int.from_bytes(found[i:i + 2], "little") for i in range(0, len(found), 2)]
        same("slots", [order.index(index) for index in range(rows * cols)],
             expected["slots"])

    def answer_placement_map(self, inputs, expected):
        self.moved(inputs, inputs["word"], expected)

    def answer_layout_map(self, inputs, expected):
        self.moved(inputs, f"layout({quoted(inputs['text'])})", expected)

    # --- The check at the entry of a function ---------------------------------------------

    def answer_check(self, inputs, expected):
        """A function that takes the array of the descriptor's grade, of any extents."""
        if inputs.get("expected_digest") is not None:
            raise NotApplicable("a function does not compare digests")
        if inputs["level"] < 1:
            raise NotApplicable("a function that is compiled with level 0 checks nothing")
        level = min(inputs["level"], 2)  # what level 3 adds are warnings (C29)
        rank = len(inputs["shape"])
        if not 1 <= rank <= 8:
            raise NotApplicable("no type has this rank")
        for text in inputs.get("grades", ()):
            self.register(text)
        raw = bytes.fromhex(inputs["desc_hex"])
        planes = planes_of(inputs.get("planes", []))
        view = ArrayView()
        sizes = inputs["plane_bytes"]
        if len(sizes) == 4:
            planes += [bytes(min(max(size, 0), 1 << 16)) for size in sizes[len(planes):]]
        kept = filled(view.grade, raw, inputs["shape"], sizes, planes)
        d = reference.unpack_descriptor(raw)
        known = {reference.Grade.parse(text).grade_id(): text
                 for text in (*reference.REGISTERED.values(), *inputs.get("grades", ()))}
        grade = known.get(d["grade_id"], reference.REGISTERED["GRADE_MXFP4"])
        if expected["status"] == "Ok":
            words = [d["placement_data"], d["placement_scale"], d["placement_meta"]]
            array = array_type(grade, inputs["shape"], d["group_axis"], words)
        else:
            array = array_type(grade, [None] * rank, rank - 1)
        text = f"func.func @take(%w: {array}) {{\n  return\n}}\n"
        status, said = self.call(text, "take", [view], level)
        del kept
        decided(said if status == "Refused" else "")
        same(f"status ({said})", status, expected["status"])
