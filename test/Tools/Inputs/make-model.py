"""Writes a small model with the public packages: make-model.py KIND OUT."""
import sys

import numpy as np


def tensors():
    random = np.random.default_rng(7)
    return {
        "layer.0.weight": random.standard_normal((8, 512), dtype=np.float32),
        "layer.1.weight": random.standard_normal((4, 96)).astype(np.float16),
        "layer.0.bias": np.linspace(-1, 1, 8, dtype=np.float32),
        "ids": np.arange(5, dtype=np.int64),
    }


def safetensors(path):
    from safetensors.numpy import save_file

    save_file(tensors(), path, metadata={"format": "pt"})


def gguf(path):
    from gguf import GGMLQuantizationType, GGUFWriter
    from gguf.quants import quantize

    writer = GGUFWriter(path, "test")
    writer.add_string("general.name", "small")
    writer.add_file_type(0)
    for name, values in tensors().items():
        writer.add_tensor(name, values)
    kind = GGMLQuantizationType.Q8_0
    blocks = quantize(tensors()["layer.0.weight"], kind)
    writer.add_tensor("layer.2.weight", blocks, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def large(path):
    from safetensors.numpy import save_file

    save_file({"w.weight": np.ones((4096, 8192), dtype=np.float32)}, path)


{"safetensors": safetensors, "gguf": gguf, "large": large}[sys.argv[1]](sys.argv[2])
