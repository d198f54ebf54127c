# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every contract in the files of its container, by way of other packages."""

import numpy as np
import pytest

import grit_mlir as grit

NAMES = [contract.name for contract in grit.contracts()]
GGUF = [name for name in NAMES if name.startswith("gguf.")]
# The package has no size, or another one, for these.
NOT_OF_THE_PACKAGE = {"gguf.q8_1", "gguf.q1_0", "gguf.q2_0"}
SHAPE = (2, 16384)  # whole groups of groups for all of them


def random_array(name):
    """Any bytes: containers do not look into planes."""
    spec = grit._core.Spec(grit.Contract(name), list(SHAPE), -1, None)
    rng = np.random.default_rng(len(name))
    slots = spec.plane_slots if spec.contract.is_grade else range(len(spec.plane_sizes()))
    planes = [np.zeros(0, np.uint8)] * (max(slots) + 1)
    for slot, size in zip(slots, spec.plane_sizes()):
        planes[slot] = rng.integers(0, 256, size, np.uint8)
    return grit.Array(name, SHAPE, planes)


@pytest.mark.parametrize("name", NAMES)
def test_safetensors_keep_every_contract(tmp_path, name):
    package = pytest.importorskip("safetensors.numpy")
    array, path = random_array(name), tmp_path / "x.safetensors"
    grit.save(path, {"w": array})
    stored = b"".join(np.asarray(plane).tobytes() for plane in array.planes)
    assert package.load_file(path)["w"].tobytes() == stored
    with grit.open(path) as file:
        assert file["w"].contract == array.contract and file["w"].shape == SHAPE
        assert [p.tobytes() for p in file["w"].planes] == [p.tobytes() for p in array.planes]


@pytest.mark.parametrize("name", GGUF)
def test_gguf_keeps_every_type(tmp_path, name):
    package = pytest.importorskip("gguf")
    array, path = random_array(name), tmp_path / "x.gguf"
    grit.save(path, {"w": array})
    if name not in NOT_OF_THE_PACKAGE:
        (tensor,) = package.GGUFReader(path).tensors
        assert tensor.tensor_type.name == name.removeprefix("gguf.").upper()
        assert tensor.data.tobytes() == array.planes[0].tobytes()
    with grit.open(path) as file:
        read = file["w"]
        assert read.shape == SHAPE
        if isinstance(read, grit.Array):
            assert read.contract == array.contract
            read = read.planes[0]
        # Types of plain numbers come back as such.
        assert read.tobytes() == array.planes[0].tobytes()
