"""Compares with the public package grit-datatype, in both directions.

write OUT: a file whose arrays that package encoded and described, in its flat
form. compare OUT DECODED: grit's decoding of it against that package's.
digests QUANTIZED: the digests and descriptors that grit wrote.
"""
import json
import struct
import sys

import grit
import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file

GRADES = ("MXFP4", "MXFP4_RNE", "NVF4", "Q4KS", "I8S24")
SHAPE = (4, 256)


def planes(grade):
    values = np.random.default_rng(3).standard_normal(SHAPE, dtype=np.float32)
    return grit.encode("GRADE_" + grade, values.ravel().tolist())


def descriptor(grade):
    found = grit.desc_for_grade("GRADE_" + grade, group_axis=1)
    return bytes(found if isinstance(found, bytes) else found.pack())


def write(path):
    header, records, data = {}, {}, b""
    for grade in GRADES:
        payload = b"".join(planes(grade))
        span = [len(data), len(data) + len(payload)]
        header[grade] = {"dtype": "U8", "shape": SHAPE, "data_offsets": span}
        records[grade] = descriptor(grade).hex()
        data += payload
    header["__metadata__"] = {"__grit__": json.dumps(records)}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def compare(path, decoded):
    ours = load_file(decoded)
    for grade in GRADES:
        count = SHAPE[0] * SHAPE[1]
        theirs = grit.decode("GRADE_" + grade, planes(grade), count)
        theirs = np.array(theirs, np.float32).reshape(SHAPE)
        assert np.array_equal(theirs.view(np.uint32), ours[grade].view(np.uint32)), grade
    print("equal:", *GRADES)


def digests(path):
    with safe_open(path, "numpy") as file:
        records = json.loads(file.metadata()["__grit__"])["tensors"]
    stored = load_file(path)
    for name, record in records.items():
        assert bytes.fromhex(record["desc"]) == descriptor(record["contract"].upper())
        data, offset, parts = stored[name].tobytes(), 0, []
        sizes = grit.expected_plane_bytes(
            grit.desc_for_grade("GRADE_" + record["contract"].upper(), group_axis=1),
            record["shape"],
        )
        for size in sizes["bytes"]:
            parts.append(data[offset : offset + size])
            offset += size
        digest = grit.crockford32(grit.digest_of(parts))
        assert record["digest"] == digest, (name, record["digest"], digest)
    print("digests:", len(records))


{"write": write, "compare": compare, "digests": digests}[sys.argv[1]](*sys.argv[2:])
