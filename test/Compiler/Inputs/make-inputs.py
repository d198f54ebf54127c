"""make-inputs.py X.safetensors ROWS COLUMNS W.safetensors ROWS COLUMNS: files
with one F32 tensor each, x and w, of numbers that are the same in every run."""
import json
import struct
import sys


def write(path, name, rows, columns):
    state, values = 1, []
    for _ in range(rows * columns):
        state = (state * 1664525 + 1013904223) % 2**32
        values.append((state >> 8) / 2**23 - 1)
    data = struct.pack(f"<{len(values)}f", *values)
    header = {name: {"dtype": "F32", "shape": [rows, columns], "data_offsets": [0, len(data)]}}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


for start, name in ((1, "x"), (4, "w")):
    write(sys.argv[start], name, int(sys.argv[start + 1]), int(sys.argv[start + 2]))
