"""Opens a GGUF file of grit with the public package gguf, decodes it with that
package, and compares with grit's own decoding: check-gguf.py QUANTIZED DECODED.
"""
import sys

import numpy as np
from gguf import GGMLQuantizationType, GGUFReader
from gguf.quants import dequantize
from safetensors.numpy import load_file

reader = GGUFReader(sys.argv[1])
decoded = load_file(sys.argv[2])
print("keys:", " ".join(key for key in reader.fields if not key.startswith("GGUF.")))
for tensor in reader.tensors:
    values = tensor.data
    if tensor.tensor_type != GGMLQuantizationType.I64:
        values = dequantize(tensor.data, tensor.tensor_type)
    ours = decoded[tensor.name]
    assert ours.size == values.size, tensor.name
    assert np.array_equal(ours.ravel(), values.ravel().astype(ours.dtype)), tensor.name
    print(tensor.name, tensor.tensor_type.name, list(reversed(tensor.shape.tolist())))
