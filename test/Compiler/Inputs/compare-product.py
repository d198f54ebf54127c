"""compare-product.py X W Y: the one tensor of Y is that of X times that of W
transposed, within the bound of binary32 sums in any order."""
import json
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    (info,) = (value for key, value in header.items() if key != "__metadata__")
    begin, end = info["data_offsets"]
    rows, columns = info["shape"]
    values = struct.unpack(f"<{rows * columns}f", data[begin:end])
    return [values[i * columns : (i + 1) * columns] for i in range(rows)]


x, w, y = map(read, sys.argv[1:4])
assert len(y) == len(x) and len(y[0]) == len(w)
for i, row in enumerate(x):
    for j, column in enumerate(w):
        terms = [a * b for a, b in zip(row, column)]
        bound = (len(terms) + 1) * 2**-23 * sum(map(abs, terms))
        assert abs(y[i][j] - sum(terms)) <= bound, (i, j)
