"""Random blocks of every type in a GGUF file, and their numbers as the public package
gguf reads them: gguf-blocks.py make FILE, gguf-blocks.py compare FILE DECODED."""

import sys

import numpy as np
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter
from gguf.constants import GGML_QUANT_SIZES
from gguf.quants import dequantize

TYPES = ("Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ1_S IQ1_M IQ2_XXS IQ2_XS "
         "IQ2_S IQ3_XXS IQ3_S IQ4_NL IQ4_XS TQ1_0 TQ2_0 MXFP4 NVFP4 F32").split()


def make(path):
    rng = np.random.default_rng(3)
    writer = GGUFWriter(path, "test")
    for name in TYPES:
        kind = GGMLQuantizationType[name]
        elements, size = GGML_QUANT_SIZES[kind]
        shape = (3, 512 // elements * size)
        data = rng.integers(0, 256, shape, dtype=np.uint8)
        if name == "F32":
            data = rng.normal(size=(3, 512)).astype(np.float32)
        writer.add_tensor(f"blk.{name}", data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def compare(path, decoded):
    from safetensors.numpy import load_file

    ours = load_file(decoded)
    same = 0
    for tensor in GGUFReader(path).tensors:
        with np.errstate(all="ignore"):
            expected = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        found = ours[tensor.name]
        equal = found.view(np.uint32).ravel() == expected.view(np.uint32).ravel()
        equal |= np.isnan(found).ravel() & np.isnan(expected).ravel()
        assert equal.all(), tensor.name
        same += 1
    print(same, "tensors are the same")


{"make": make, "compare": compare}[sys.argv[1]](*sys.argv[2:])
