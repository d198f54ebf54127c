"""Opens files of grit with the public package safetensors.

check-safetensors.py SOURCE QUANTIZED DECODED
"""
import json
import struct
import sys

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file

source, quantized, decoded = (load_file(path) for path in sys.argv[1:])
with safe_open(sys.argv[2], "numpy") as file:
    metadata = file.metadata()
records = json.loads(metadata["__grit__"])
assert records["version"] == 1
assert metadata["format"] == "pt"
for name, values in source.items():
    if name not in records["tensors"]:
        assert np.array_equal(quantized[name], values), name
        assert np.array_equal(decoded[name], values), name
        continue
    record = records["tensors"][name]
    assert record["shape"] == list(values.shape), name
    assert quantized[name].dtype == np.uint8 and quantized[name].ndim == 1
    error = np.linalg.norm(decoded[name] - values) / np.linalg.norm(values)
    assert decoded[name].dtype == np.float32 and error < 0.2, (name, error)
with open(sys.argv[2], "rb") as file:
    assert struct.unpack("<Q", file.read(8))[0] % 8 == 0
print("arrays:", " ".join(sorted(records["tensors"])))
