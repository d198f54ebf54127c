# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small files and texts that must be refused, by the parser that they are for.

`python hostile.py DIRECTORY` writes the files."""

import json
import pathlib
import struct
import sys

BOM = b"\xef\xbb\xbf"


def deep(text):
    return text * 5000


# --- safetensors -----------------------------------------------------------------


def safetensors(header, data=b"", length=None):
    """`header` is JSON, or bytes that stand for it."""
    if not isinstance(header, bytes):
        header = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def entry(dtype, shape, *offsets, **more):
    return {"dtype": dtype, "shape": shape, "data_offsets": list(offsets), **more}


def one(dtype, shape, begin, end, data=None, **more):
    return safetensors({"w": entry(dtype, shape, begin, end, **more)},
                       bytes(end - begin if data is None else data))


def array(record, nbytes=16 + 1, shape=None, **more):
    text = json.dumps({"version": 1, "tensors": {"w": record}, **more})
    return safetensors({"__metadata__": {"__grit__": text},
                        "w": entry("U8", [nbytes] if shape is None else shape, 0, nbytes)},
                       bytes(nbytes))


MXFP4 = {"contract": "mxfp4", "shape": [32]}
TWICE = b'{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},' \
        b'"w":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}'

SAFETENSORS = {
    "empty": b"",
    "seven-bytes": bytes(7),
    "length-only": struct.pack("<Q", 2),
    "length-past-the-end": safetensors(b"{}", length=3),
    "length-2-to-63": safetensors(b"{}", length=1 << 63),
    "length-above-the-limit": safetensors(b"{}", length=100_000_001),
    "length-zero": safetensors(b"{}", length=0),
    "bom": safetensors(BOM + b'{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', b"x"),
    "not-json": safetensors(b"{w: 1}"),
    "cut-json": safetensors(b'{"w":{"dtype":"U8"'),
    "trailing-comma": safetensors(b'{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1],}}', b"x"),
    "an-array": safetensors(b"[]"),
    "deep": safetensors(b'{"__metadata__":' + deep(b"[")),
    "name-not-utf-8": safetensors(
        b'{"w\xff":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', b"x"),
    "name-half-a-surrogate": safetensors(
        b'{"\\ud800":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', b"x"),
    "name-empty": safetensors({"": entry("U8", [1], 0, 1)}, b"x"),
    "name-nul": safetensors({"a\0b": entry("U8", [1], 0, 1)}, b"x"),
    "name-long": safetensors({"n" * 65537: entry("U8", [1], 0, 1)}, b"x"),
    "name-twice": safetensors(TWICE, b"xy"),
    "entry-not-an-object": safetensors({"w": [1]}),
    "entry-without-dtype": safetensors({"w": {"shape": [1], "data_offsets": [0, 1]}}, b"x"),
    "entry-without-shape": safetensors({"w": {"dtype": "U8", "data_offsets": [0, 1]}}, b"x"),
    "entry-without-offsets": safetensors({"w": {"dtype": "U8", "shape": [1]}}, b"x"),
    "dtype-unknown": one("F7", [8], 0, 7),
    "dtype-number": one(7, [8], 0, 7),
    "dtype-lower-case": one("f32", [1], 0, 4),
    "shape-negative": one("U8", [-1], 0, 1),
    "shape-fraction": one("U8", [1.5], 0, 1),
    "shape-text": one("U8", "1", 0, 1),
    "shape-2-to-64": one("U8", [1 << 64], 0, 1),
    "shape-overflow": one("F32", [1 << 40, 1 << 40], 0, 4),
    "shape-overflow-beside-zero": one("F32", [1 << 40, 1 << 40, 0], 0, 0),
    "shape-bits-overflow": one("F64", [1 << 61], 0, 8),
    "shape-nine-axes": one("U8", [1] * 9, 0, 1),
    "zero-extent-with-bytes": one("F32", [0, 4], 0, 4),
    "size-too-small": one("F32", [3], 0, 8),
    "offsets-reversed": one("U8", [1], 1, 0, data=1),
    "offsets-negative": one("U8", [1], -1, 0, data=1),
    "offsets-three": safetensors({"w": entry("U8", [1], 0, 1, 2)}, b"xy"),
    "offsets-fraction": one("U8", [1], 0, 1.0, data=1),
    "offsets-2-to-63": one("U8", [1 << 63], 0, 1 << 63, data=1),
    "past-the-end": one("U8", [8], 0, 8, data=7),
    "gap-at-the-start": one("U8", [1], 4, 5, data=5),
    "gap": safetensors({"a": entry("U8", [1], 0, 1), "w": entry("U8", [1], 2, 3)}, bytes(3)),
    "overlap": safetensors({"a": entry("U8", [4], 0, 4), "w": entry("U8", [2], 2, 4)}, bytes(4)),
    "same-bytes": safetensors({"a": entry("U8", [4], 0, 4), "w": entry("U8", [4], 0, 4)}, bytes(4)),
    "trailing-bytes": one("U8", [1], 0, 1, data=9),
    "f4-odd-row": one("F4", [3, 3], 0, 5),
    "f4-scalar": one("F4", [], 0, 1),
    "f6-row-of-two": one("F6_E2M3", [2], 0, 2),
    "f6-row-of-six": one("F6_E3M2", [3, 6], 0, 14),
    "metadata-not-an-object": safetensors({"__metadata__": "x"}),
    "metadata-number": safetensors({"__metadata__": {"k": 1}}),
    "metadata-twice": safetensors(b'{"__metadata__":{"k":"1","k":"2"}}'),
    "grit-not-json": safetensors({"__metadata__": {"__grit__": "{"}}),
    "grit-bom": safetensors({"__metadata__": {"__grit__": '\ufeff{"version":1,"tensors":{}}'}}),
    "grit-version": array(MXFP4, version=2),
    "grit-version-text": array(MXFP4, version="1"),
    "grit-unknown-key": array(MXFP4, more=1),
    "grit-orphan": safetensors({"__metadata__": {"__grit__": json.dumps(
        {"version": 1, "tensors": {"v": MXFP4}})}}),
    "array-without-contract": array({"shape": [32]}),
    "array-without-shape": array({"contract": "mxfp4"}),
    "array-unknown-key": array({**MXFP4, "zero": 1}),
    "array-unknown-contract": array({**MXFP4, "contract": "mxfp5"}),
    "array-part-of-a-group": array({**MXFP4, "shape": [33]}),
    "array-shape-overflow": array({**MXFP4, "shape": [1 << 40, 1 << 40]}),
    "array-shape-negative": array({**MXFP4, "shape": [-32]}),
    "array-scalar": array({**MXFP4, "shape": []}),
    "array-nine-axes": array({**MXFP4, "shape": [1] * 8 + [32]}),
    "array-axis": array({**MXFP4, "axis": 1}),
    "array-size": array(MXFP4, 18),
    "array-dtype": safetensors({
        "__metadata__": {"__grit__": json.dumps({"version": 1, "tensors": {"w": MXFP4}})},
        "w": entry("F32", [4], 0, 16)}, bytes(16)),
    "array-tensor-shape": array(MXFP4, 17, [17, 1]),
    "array-placement": array({**MXFP4, "placements": {"data": "sideways"}}),
    "array-placement-key": array({**MXFP4, "placements": {"codes": "row_major"}}),
    "array-desc-short": array({**MXFP4, "desc": "47"}),
    "array-digest-short": array({**MXFP4, "digest": "0"}),
}

# --- GGUF ------------------------------------------------------------------------

F32, F16, Q4_0, Q4_K, I8 = 0, 1, 2, 12, 24


class Gguf:
    """Writes a file in one order and version."""

    def __init__(self, order, version=3):
        self.e = {"little": "<", "big": ">"}[order]
        self.version = version

    def number(self, kind, value):
        return struct.pack(self.e + kind, value)

    def length(self, value):
        return self.number("I" if self.version == 1 else "Q", value)

    def text(self, value):
        value = value if isinstance(value, bytes) else value.encode()
        return self.length(len(value)) + value

    def pair(self, key, kind, value):
        return self.text(key) + self.number("I", kind) + value

    def u32(self, key, value):
        return self.pair(key, 4, self.number("I", value))

    def tensor(self, name, dims, kind, offset):
        return (self.text(name) + self.number("I", len(dims))
                + b"".join(self.length(d) for d in dims)
                + self.number("I", kind) + self.number("Q", offset))

    def file(self, tensors=(), pairs=(), data=0, align=32, counts=None, version=None):
        counts = counts or (len(tensors), len(pairs))
        head = (b"GGUF" + self.number("I", self.version if version is None else version)
                + self.length(counts[0]) + self.length(counts[1])
                + b"".join(pairs) + b"".join(tensors))
        return head + bytes(-len(head) % align) + bytes(data)

    def one(self, dims, kind=F32, offset=0, data=4, name="w", **more):
        return self.file([self.tensor(name, dims, kind, offset)], data=data, **more)


def nested(g, levels):
    return b"".join(g.number("I", 9) + g.length(1) for _ in range(levels))


def gguf_cases(order):
    g = Gguf(order)
    whole = g.one([1])
    return {
        "magic-only": whole[:4],
        "cut-version": whole[:6],
        "cut-counts": whole[:20],
        "cut-entry": whole[:40],
        "cut-data": whole[:-1],
        "version-0": g.file(version=0),
        "version-4": g.file(version=4),
        "huge-tensor-count": g.file(counts=(2**64 - 1, 0)),
        "tensor-count-past-the-end": g.file(counts=(1 << 22, 0)),
        "huge-pair-count": g.file(counts=(0, (1 << 22) + 1)),
        "pair-count-past-the-end": g.file(counts=(0, 7)),
        "key-length": g.file(pairs=[g.length(2**64 - 1)]),
        "key-length-past-the-end": g.file(pairs=[g.length(1000)]),
        "key-twice": g.file(pairs=[g.u32("k", 1), g.u32("k", 2)]),
        "value-type": g.file(pairs=[g.pair("k", 13, b"")]),
        "string-past-the-end": g.file(pairs=[g.pair("k", 8, g.length(1 << 20))]),
        "string-too-long": g.file(pairs=[g.pair("k", 8, g.length(1 << 40))]),
        "array-type": g.file(pairs=[g.pair("k", 9, g.number("I", 99) + g.length(0))]),
        "array-count": g.file(pairs=[g.pair("k", 9, g.number("I", 4) + g.length(2**63))]),
        "array-past-the-end": g.file(pairs=[g.pair("k", 9, g.number("I", 10) + g.length(9))]),
        "array-nested": g.file(pairs=[g.pair("k", 9, nested(g, 1000))]),
        "alignment-0": g.file(pairs=[g.u32("general.alignment", 0)]),
        "alignment-3": g.file(pairs=[g.u32("general.alignment", 3)]),
        "alignment-u64": g.file(pairs=[g.pair("general.alignment", 10, g.number("Q", 32))]),
        "name-empty": g.one([1], name=""),
        "name-nul": g.one([1], name="a\0b"),
        "name-not-utf-8": g.one([1], name=b"\xff"),
        "name-long": g.one([1], name="n" * 65537),
        "name-twice": g.file([g.tensor("w", [1], F32, 0), g.tensor("w", [1], F32, 32)], data=36),
        "nine-dimensions": g.one([1] * 9),
        "rank-2-to-32": g.file([g.text("w") + g.number("I", 2**32 - 1)]),
        "dimension-2-to-63": g.one([1 << 63]),
        "dimensions-overflow": g.one([1 << 40, 1 << 40]),
        "bytes-overflow": g.one([1 << 62]),
        "overflow-beside-zero": g.one([1 << 40, 1 << 40, 0], data=0),
        "type-retired": g.one([32], kind=4, data=18),
        "type-unknown": g.one([32], kind=77, data=18),
        "part-of-a-block": g.one([33], kind=Q4_0, data=36),
        "part-of-a-super-block": g.one([32, 8], kind=Q4_K, data=144),
        "data-short": g.one([64], kind=Q4_0, data=35),
        "not-aligned": g.one([1], offset=4, data=8),
        "offset-2-to-64": g.one([1], offset=2**64 - 32),
        "gap": g.one([1], offset=64, data=68),
        "overlap": g.file([g.tensor("a", [16], F32, 0), g.tensor("w", [1], F32, 32)], data=64),
        "same-bytes": g.file([g.tensor("a", [4], F32, 0), g.tensor("w", [4], F32, 0)], data=16),
        "trailing-bytes": g.one([1], data=64),
    }


GGUF = {f"{order}-{name}": content for order in ("little", "big")
        for name, content in gguf_cases(order).items()}
GGUF |= {f"{order}-version-1-cut": Gguf(order, 1).one([1])[:30] for order in ("little", "big")}
GGUF["swapped-version-only"] = b"GGUF" + struct.pack(">I", 3) + Gguf("little").one([1])[8:]
GGUF["swapped-magic"] = b"FUGG" + Gguf("big").one([1])[4:]
GGUF["big-grid"] = Gguf("big").one([256], kind=17, data=74)

# --- Indexes of shards -----------------------------------------------------------

SHARD = safetensors({"a": entry("U8", [1], 0, 1)}, b"x")


def index(entries):
    return json.dumps({"metadata": {}, "weight_map": entries}).encode()


# The index, and the other files of its directory.
INDEX = {
    "empty": (b"", {}),
    "not-json": (b"{weight_map}", {}),
    "bom": (BOM + index({"a": "s"}), {"s": SHARD}),
    "utf-16": (index({"a": "s"}).decode().encode("utf-16"), {"s": SHARD}),
    "not-utf-8": (b'{"weight_map":{"\xff":"s"}}', {"s": SHARD}),
    "deep": (b'{"weight_map":' + deep(b"{\"a\":"), {}),
    "an-array": (b"[]", {}),
    "no-map": (b"{}", {}),
    "map-is-text": (b'{"weight_map":"s"}', {}),
    "map-empty": (index({}), {}),
    "file-is-a-number": (index({"a": 1}), {}),
    "file-is-empty": (index({"a": ""}), {}),
    "file-above": (index({"a": "../s"}), {"s": SHARD}),
    "file-absolute": (index({"a": "/etc/passwd"}), {}),
    "file-missing": (index({"a": "none"}), {}),
    "file-is-a-directory": (index({"a": "."}), {}),
    "file-is-the-index": (index({"a": "x.index.json"}), {}),
    "file-is-hostile": (index({"a": "s"}), {"s": SAFETENSORS["overlap"]}),
    "tensor-twice": (index({"a": "s", "b": "t"}), {
        "s": SHARD, "t": safetensors({"a": entry("U8", [1], 0, 1)}, b"x")}),
}


# --- Texts of formats, grades and layouts ----------------------------------------


def text_of(**parts):
    """A format of four-bit codes under a binary16 scale for each 32, with other parts."""
    usual = {"name": "hostile", "planes": "[4/1@0,16/32@1]", "codes": "p0:4@0+i*4",
             "level": "u4-8", "scales": "[(binary16,lin/32,p1:16@0+i*16)]", "axis": "32"}
    usual.update(parts)
    return "gritfmt1(" + ",".join(f"{k}={v}" for k, v in usual.items() if v is not None) + ")"


FORMAT = {
    "empty": "",
    "only-a-comment": "# nothing",
    "bom": "\ufeff" + text_of(),
    "nul": text_of() + "\0",
    "not-ascii": text_of(name="härte"),
    "another-word": text_of().replace("gritfmt1", "gritfmt2"),
    "cut": text_of()[:-1],
    "trailing": text_of() + "x",
    "two": text_of() + text_of(),
    "too-long": text_of().ljust(65537),
    "key-unknown": text_of(colour="1"),
    "key-twice": text_of(axis="32,axis=32"),
    "no-planes": text_of(planes=None),
    "no-codes": text_of(codes=None),
    "no-level": text_of(level=None),
    "no-scales": text_of(scales=None),
    "planes-empty": text_of(planes="[]"),
    "planes-deep": text_of(planes=deep("[")),
    "plane-of-no-bits": text_of(planes="[0/1@0,16/32@1]"),
    "plane-bits-huge": text_of(planes="[99999999999999999999/1@0,16/32@1]"),
    "plane-elements-negative": text_of(planes="[4/-1@0,16/32@1]"),
    "plane-placement-3": text_of(planes="[4/1@3,16/32@1]"),
    "codes-in-no-plane": text_of(codes="p7:4@0+i*4"),
    "codes-in-a-name": text_of(codes="blocks:4@0+i*4"),
    "codes-out-of-the-plane": text_of(codes="p0:4@2+i*4"),
    "codes-overlap": text_of(codes="p0:4@0+i*2"),
    "codes-width-0": text_of(codes="p0:0@0+i*4"),
    "codes-width-64": text_of(codes="p0:64@0+i*64"),
    "codes-divide-by-0": text_of(codes="p0:4@0+i/0*4"),
    "codes-modulo-0": text_of(codes="p0:4@0+i%0*4"),
    "codes-stride-huge": text_of(codes="p0:4@0+i*9223372036854775807"),
    "level-word-unknown": text_of(level="q4"),
    "level-word-of-5-bits": text_of(level="u5"),
    "level-short-table": text_of(level="[0,1,2]"),
    "level-table-not-a-number": text_of(level="[" + "x," * 15 + "x]"),
    "level-table-inexact": text_of(level="[0.1," + "0," * 14 + "0]"),
    "scale-group-0": text_of(scales="[(binary16,lin/0,p1:16@0+i*16)]"),
    "scale-group-not-whole": text_of(scales="[(binary16,lin/24,p1:16@0+i*16)]"),
    "scale-wide": text_of(scales="[(binary32,lin/32,p1:16@0+i*16)]"),
    "scale-over-codes": text_of(scales="[(binary16,lin/32,p0:16@0+i*128)]"),
    "axis-0": text_of(axis="0"),
    "axis-less-than-a-group": text_of(axis="16"),
    "name-of-another": text_of(name="gguf.q4_0"),
    "name-a-digit": text_of(name="4bits"),
    "encode-unknown": text_of(encode="best"),
    "parameter-outside": text_of(param=None).replace(
        "gritfmt1(", "gritfmt1(param g = 8 in 16..32,", 1),
}

LAYOUT = {
    "empty": "",
    "bom": "\ufeffRowMajor",
    "unknown": "Diagonal",
    "lower-case": "rowmajor",
    "cut": "Tile(RowMajor,[2,2]",
    "trailing": "RowMajor)",
    "no-argument": "Tile()",
    "tile-negative": "Tile(RowMajor,[-1,2])",
    "tile-huge": "Tile(RowMajor,[99999999999999999999,2])",
    "tile-of-three": "Tile(RowMajor,[2,2,2])",
    "perm-empty": "Compose(Perm([]),RowMajor)",
    "deep": deep("Tile("),
}

# Well-formed expressions that map no matrix of 64 x 64.
LAYOUT_WITHOUT_MAP = {
    "tile-0": "Tile(RowMajor,[0,2])",
    "tile-of-part": "Tile(RowMajor,[3,5])",
    "perm-twice": "Compose(Perm([0,0]),RowMajor)",
    "perm-gap": "Compose(Perm([0,2]),RowMajor)",
    "interleave-0": "Interleave(RowMajor,0)",
}

# What no other field of a descriptor contradicts: how the bytes came about.
NOTE = range(28, 32)
# Changes of the 64 bytes of the descriptor of mxfp4 [32].
DESCRIPTOR = {
    "empty": lambda d: b"",
    "short": lambda d: d[:63],
    "long": lambda d: d + b"\0",
    "magic": lambda d: b"GRIX" + d[4:],
    "zero": lambda d: bytes(64),
    "ones": lambda d: b"\xff" * 64,
    **{f"byte-{i}": (lambda i: lambda d: d[:i] + bytes([d[i] ^ 0xFF]) + d[i + 1:])(i)
       for i in range(64) if i not in NOTE},
}


def with_layout(text):
    """A file with an array in this layout."""
    return array({"contract": "mxfp4", "shape": [64, 64],
                  "placements": {"data": f"layout({text})"}}, 64 * 64 // 2 + 64 * 64 // 32)


def with_descriptor(data):
    """The flat form: a descriptor for each tensor."""
    return safetensors({"__metadata__": {"__grit__": json.dumps({"w": data.hex()})},
                        "w": entry("U8", [32], 0, 32)}, bytes(32))


def write(directory):
    """All files, one folder for each parser."""
    root = pathlib.Path(directory)
    for kind, cases in (("safetensors", SAFETENSORS), ("gguf", GGUF),
                        ("format", FORMAT), ("layout", LAYOUT)):
        (root / kind).mkdir(parents=True, exist_ok=True)
        for name, content in cases.items():
            data = content.encode() if isinstance(content, str) else content
            (root / kind / name).write_bytes(data)
    for name, (content, others) in INDEX.items():
        write_index(root / "index" / name, content, others)


def write_index(folder, content, others):
    folder.mkdir(parents=True, exist_ok=True)
    for other, data in others.items():
        (folder / other).write_bytes(data)
    (folder / "x.index.json").write_bytes(content)
    return folder / "x.index.json"


if __name__ == "__main__":
    write(sys.argv[1])
