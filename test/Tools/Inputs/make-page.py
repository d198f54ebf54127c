"""Writes checkpoints whose page shows everything it can: make-page.py FOLDER [TENSORS].

With a number, one checkpoint of so many tensors instead.
"""
import json
import pathlib
import struct
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1])


def save(path, tensors):
    header, offset = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, _, data in tensors.values():
            file.write(data)


def nvfp4(name, random):
    return {f"{name}.weight": ("U8", [8, 32], random.bytes(256)),
            f"{name}.weight_scale": (
                "F8_E4M3", [8, 4], random.integers(32, 96, 32, dtype=np.uint8).tobytes()),
            f"{name}.weight_scale_2": ("F32", [], struct.pack("<f", 1e-3))}


generator = np.random.default_rng(3)
if len(sys.argv) > 2:
    many = {}
    for layer in range(int(sys.argv[2]) // 3):
        many |= nvfp4(f"model.layers.{layer}.mlp.down_proj", generator)
    save(folder / "many.safetensors", many)
else:
    from safetensors.numpy import save_file

    weights = generator.standard_normal((8, 512), dtype=np.float32)
    save_file({"a.weight": weights, "b.weight": 100 * weights}, folder / "plain.safetensors")
    save(folder / "nvfp4.safetensors", nvfp4("<b>bold</b>.proj", generator))
    save(folder / "packed.safetensors", {"<img src=x>.weight_packed": ("U8", [4, 16], bytes(64))})
