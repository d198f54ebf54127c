# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled kernels: the bits of decode, the error of matmul, refusals."""

import gc
import os
import pathlib
import subprocess
import sys
import threading
import weakref

import ml_dtypes
import numpy as np
import pytest

import grit_mlir as grit
from bits import ALL, assert_same_bits, require_compiler
from grit_mlir import _core

require_compiler()

RNG = np.random.default_rng(11)
N, K = 24, 512


def damaged(name, shape=(N, K)):
    """Random bytes as planes: scales that are NaN or infinite, any code."""
    spec = _core.Spec(grit.Contract(name), list(shape), -1, None)
    planes = [RNG.integers(0, 256, size, dtype=np.uint8) for size in spec.plane_sizes()]
    array = grit.Array._make(spec, planes)
    if name == "i8s24":  # indices of a run rise, or the planes are not an array
        pairs = np.array([4, 8, 12, 9, 13, 14], np.uint8)
        low, high = RNG.choice(pairs, (2, array.planes[3].size))
        array.planes[3][:] = low | high << 4
    return array


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ALL)
def test_compiled_decode_gives_the_same_bits(name, threads):
    for array in (damaged(name), grit.quantize(RNG.normal(size=(N, K)), name)):
        found = grit.compiler.decode(array, threads=threads)
        assert_same_bits(found, array.dequantize(), name)


def assert_near(found, x, array):
    """Within the bound of a sum of K products rounded to binary32, in any order."""
    weights = array.dequantize().astype(np.float64)
    x = x.astype(np.float64)
    bound = array.shape[1] * 2.0**-24 * 2 * (np.abs(x) @ np.abs(weights).T) + 1e-30
    assert np.all(np.abs(found - x @ weights.T) <= bound)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", ALL)
def test_matmul(name, dtype):
    array = grit.quantize(RNG.normal(size=(N, K)), name)
    dtype = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
    for shape in ((K,), (1, K), (7, K), (2, 3, K), (0, K), (65, K)):
        x = RNG.normal(size=shape).astype(dtype)
        found = grit.matmul(x, array)
        assert found.shape == (*shape[:-1], N) and found.dtype == np.float32
        assert_near(found, x, array)


@pytest.mark.parametrize("name", ["mxfp4", "q4ks", "gguf.q4_k", "hurray.nf4"])
def test_matmul_with_threads(name):
    array = grit.quantize(RNG.normal(size=(200, K)), name)
    x = RNG.normal(size=(33, K)).astype(np.float32)
    for threads in (0, 2, 3):
        assert_near(grit.matmul(x, array, threads=threads), x, array)


def test_matmul_takes_views_of_files_and_strided_rows(tmp_path):
    made = grit.quantize(RNG.normal(size=(N, K)), "nvf4")
    path = tmp_path / "x.safetensors"
    grit.save(path, {"w": made})
    array = grit.open(path)["w"]
    x = RNG.normal(size=(5, 2 * K)).astype(np.float32)[:, ::2]
    assert_near(grit.matmul(x, array), x, made)


def test_matmul_into_a_given_array():
    array = grit.quantize(RNG.normal(size=(N, K)), "mxfp4")
    x = RNG.normal(size=(3, K)).astype(np.float32)
    out = np.full((3, N), np.nan, np.float32)
    assert grit.matmul(x, array, out=out) is out
    assert np.array_equal(out, grit.matmul(x, array))
    for wrong in (np.zeros((3, N)), np.zeros((N, 3), np.float32).T, np.zeros(N, np.float32)):
        with pytest.raises(ValueError, match="out must be"):
            grit.matmul(x, array, out=wrong)
    memory = np.zeros((3, K), np.float32)
    square = grit.quantize(RNG.normal(size=(K, K)), "mxfp4")
    with pytest.raises(ValueError, match="shares memory"):
        grit.matmul(memory, square, out=memory)


def test_matmul_refuses():
    array = grit.quantize(RNG.normal(size=(N, K)), "mxfp4")
    x = np.zeros((2, K), np.float32)
    with pytest.raises(ValueError, match="K = 512"):
        grit.matmul(x[:, :-1], array)
    with pytest.raises(TypeError, match="matmul takes float32"):
        grit.matmul(x.astype(np.float64), array)
    with pytest.raises(TypeError, match="an Array"):
        grit.matmul(x, x)
    with pytest.raises(ValueError, match="groups along K"):
        grit.matmul(x, grit.quantize(RNG.normal(size=(K, 4)), "hurray.nf4", axis=0))
    with pytest.raises(ValueError, match="groups along K"):
        grit.matmul(x, grit.quantize(RNG.normal(size=K), "mxfp4"))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_matmul_of_the_other_byte_order(dtype):
    array = grit.quantize(RNG.normal(size=(N, K)), "mxfp4")
    x = RNG.normal(size=(3, K)).astype(dtype)
    swapped = x.astype(x.dtype.newbyteorder())
    assert not swapped.dtype.isnative and swapped.tobytes() == x.byteswap().tobytes()
    expected = grit.matmul(x, array)
    assert_near(expected, x, array)
    assert np.array_equal(grit.matmul(swapped, array), expected)
    out = np.zeros((3, N), np.dtype(np.float32).newbyteorder())
    with pytest.raises(ValueError, match="byte order"):
        grit.matmul(x, array, out=out)
    with pytest.raises(ValueError, match="byte order"):
        grit.compiler.decode(array, out=np.zeros((N, K), out.dtype))
    assert not out.any()


def test_matmul_of_unaligned_numbers():
    array = grit.quantize(RNG.normal(size=(N, K)), "mxfp4")
    x = RNG.normal(size=(3, K)).astype(np.float32)
    unaligned = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float32).reshape(3, K)
    assert not unaligned.flags.aligned
    assert np.array_equal(grit.matmul(unaligned, array), grit.matmul(x, array))


@pytest.mark.parametrize("name", ALL)
def test_matmul_and_decode_without_elements(name):
    for rows in ((), (3,), (2, 0), (0,)):
        for n, k in ((16, 0), (0, K), (0, 0)):
            array = grit.quantize(np.zeros((n, k), np.float32), name)
            found = grit.matmul(np.ones((*rows, k), np.float32), array)
            assert found.shape == (*rows, n) and found.dtype == np.float32
            assert not found.any()
            out = np.full((*rows, n), 7, np.float32)
            assert grit.matmul(np.ones((*rows, k), np.float32), array, out=out) is out
            assert not out.any()
            assert grit.compiler.decode(array).shape == (n, k)
    with pytest.raises(ValueError, match="K = 0"):
        grit.matmul(np.ones((3, 1), np.float32),
                    grit.quantize(np.zeros((16, 0), np.float32), name))


def test_decode_into_a_shape_that_numpy_does_not_have():
    array = grit.Array("mxfp4", (2**62, 32, 0, 32), [b"", b""])
    with pytest.raises(ValueError, match="NumPy has no arrays of shape"):
        grit.compiler.decode(array)


def test_kernels_are_kept():
    array = grit.quantize(RNG.normal(size=(16, 96)), "mxfp4")
    other = grit.quantize(RNG.normal(size=(16, 96)), "mxfp4")
    x = np.ones((1, 96), np.float32)
    before = grit.compiler.kernel.cache_info()
    for rows in (x, np.tile(x, (5, 1))):
        for a in (array, other):
            grit.matmul(rows, a)
    after = grit.compiler.kernel.cache_info()
    assert after.misses == before.misses + 1 and after.hits == before.hits + 3
    grit.matmul(x, array, threads=2)
    assert grit.compiler.kernel.cache_info().misses == before.misses + 2


SOURCE = """
func.func @decode(%w: !grit.array<4x64x#grit.grade<mxfp4>> {grit.name = "w"},
                  %y: tensor<4x64xf32> {grit.name = "y"}) -> tensor<4x64xf32> {
  %r = grit.decode ins(%w : !grit.array<4x64x#grit.grade<mxfp4>>)
                   outs(%y : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}
"""


@pytest.fixture(scope="module")
def module():
    return grit.compiler.compile(SOURCE)


def test_a_module_and_its_function(module):
    assert list(module.signatures) == ["decode"]
    operands = module.signatures["decode"]["operands"]
    assert [(o["name"], o["kind"]) for o in operands] == [("w", "array"), ("y", "tensor")]
    array = grit.quantize(RNG.normal(size=(4, 64)), "mxfp4")
    out = np.zeros((4, 64), np.float32)
    call = module["decode"].bind(array, out)
    call()
    assert_same_bits(out, array.dequantize())
    assert module["decode"] is module["decode"]
    with pytest.raises(KeyError):
        module["absent"]


def test_artifacts(module):
    assert module.emit("object").startswith(b"\x7fELF")
    assert b"decode" in module.emit("header")
    assert b"llvm.func" in module.emit("mlir")
    assert b"define " in module.emit("llvm")
    assert b".text" in module.emit("assembly")
    with pytest.raises(ValueError, match="artifact"):
        module.emit("wasm")


def test_a_compiled_function_checks_its_operands(module):
    decode = module["decode"]
    out = np.zeros((4, 64), np.float32)
    make = lambda shape, name: grit.quantize(np.zeros(shape, np.float32), name)
    decode(make((4, 64), "mxfp4_rne"), out)  # decodes alike
    with pytest.raises(grit.GritGradeError):
        decode(make((4, 64), "gguf.mxfp4"), out)
    with pytest.raises(grit.GritSizeError) as caught:
        decode(make((8, 64), "mxfp4"), out)
    assert "'w'" in str(caught.value) or "w" in caught.value.detail["field"]
    with pytest.raises(grit.GritSizeError):
        decode(make((4, 64), "mxfp4"), np.zeros((4, 32), np.float32))
    with pytest.raises(grit.GritLayoutError):
        placed = grit.Array("mxfp4", (4, 64), make((4, 64), "mxfp4").planes,
                            placements={"scale": "col_major"})
        decode(placed, out)


def test_python_checks_what_c_cannot(module):
    decode = module["decode"]
    array = grit.quantize(np.zeros((4, 64), np.float32), "mxfp4")
    out = np.zeros((4, 64), np.float32)
    with pytest.raises(TypeError, match="takes 2 operands: w, y"):
        decode(array)
    with pytest.raises(TypeError, match="'w' is an Array"):
        decode(out, out)
    with pytest.raises(TypeError, match="'y' is an ndarray of float32"):
        decode(array, [0.0])
    with pytest.raises(ValueError, match="not contiguous"):
        decode(array, np.zeros((64, 4), np.float32).T)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        decode(array, out)
    with pytest.raises(ValueError, match="shares memory"):
        memory = np.zeros(1024, np.uint8)
        planes = memory[:128], memory[128:136]
        decode(grit.Array("mxfp4", (4, 64), planes), memory.view(np.float32).reshape(4, 64))


def test_options_of_the_wrong_kind():
    compile = grit.compiler.compile
    for source in (10, None, [10, 20], 1.5):
        with pytest.raises(TypeError, match="source is MLIR"):
            compile(source)
    for option in ("threads", "check_level"):
        for value in (2**31, 2**40, -2**40):
            with pytest.raises(ValueError, match=f"{option} does not fit 32 bits"):
                compile(SOURCE, **{option: value})
        with pytest.raises(TypeError, match=f"{option} is an int, not float"):
            compile(SOURCE, **{option: 1.0})
        with pytest.raises(grit.compiler.CompileError, match="got -1"):
            compile(SOURCE, **{option: -1})
    for option in ("name", "cpu", "features"):
        with pytest.raises(TypeError, match=f"{option} is a str, not int"):
            compile(SOURCE, **{option: 5})
        with pytest.raises(ValueError, match=f"{option} has a zero character"):
            compile(SOURCE, **{option: "a\0b"})
    for source in (SOURCE.encode(), bytearray(SOURCE.encode()), memoryview(SOURCE.encode())):
        assert list(compile(source).signatures) == ["decode"]


def test_code_lives_as_long_as_its_last_user():
    """And no longer: nothing waits for the collector of cycles."""
    gc.collect()
    gc.disable()
    try:
        module = grit.compiler.compile(SOURCE)
        code = weakref.ref(module._code)
        function = module["decode"]
        del module
        array = grit.quantize(RNG.normal(size=(4, 64)), "mxfp4")
        out = np.zeros((4, 64), np.float32)
        call = function.bind(array, out)
        del function
        assert code() is not None
        call()
        assert_same_bits(out, array.dequantize())
        del call
        assert code() is None
    finally:
        gc.enable()


DROPPING = """
import gc, sys, threading
import numpy as np
import grit_mlir as grit
SOURCE = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }"

def work(rounds):
    x, y = np.ones(2, np.float32), np.zeros(2, np.float32)
    for _ in range(rounds):
        module = grit.compiler.compile(SOURCE)
        cycle = [module, module["f"]]
        cycle.append(cycle)  # only the collector finds it
        cycle[1](x, y)
        assert y.tolist() == [1, 1]
        del module, cycle
        refused()

def refused():
    try:
        grit.compiler.compile("bad")
    except grit.compiler.CompileError:
        return
    raise AssertionError("not refused")

def collect_within(allocations):
    # A module of a cycle is found by the collector, that many allocations later.
    gc.disable()
    cycle = [grit.compiler.compile(SOURCE)]
    cycle.append(cycle)
    cycle[0]["f"]
    del cycle
    gc.set_threshold(gc.get_count()[0] + allocations, 1000, 1000)
    gc.enable()
    refused()

class Inside:
    # A cycle that drops its code and collects while it is collected.
    def __init__(self):
        self.held, self.me = grit.compiler.compile(SOURCE)["f"], self

    def __del__(self):
        del self.held
        gc.collect()

for allocations in range(60):
    collect_within(allocations)
gc.set_threshold(1, 1, 1)
work(20)
threads = [threading.Thread(target=work, args=(10,)) for _ in range(4)]
for thread in threads:
    thread.start()
for _ in range(10):
    Inside()
for thread in threads:
    thread.join()
gc.collect()
gc.disable()
compiler = grit.compiler.shared_compiler()
cycle = [grit.compiler.compile(SOURCE)]
cycle.append(cycle)
del cycle
with compiler.turn():
    gc.collect()  # what is found in a turn waits for its end
    waiting = len(compiler._unwanted)
print(waiting, len(compiler._unwanted))
"""


def test_modules_dropped_by_the_collector():
    path = str(pathlib.Path(grit.__file__).parents[1])
    done = subprocess.run([sys.executable, "-c", DROPPING], timeout=120, check=True,
                          env={**os.environ, "PYTHONPATH": path},
                          capture_output=True, text=True)
    assert done.stdout.split() == ["1", "0"], done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("source, text", [
    ("func.func @f(", "expected"),
    (SOURCE.replace("x64x", "x48x"), "whole groups"),
    (SOURCE.replace("mxfp4", "mxfp5"), "mxfp5"),
    (b"\xff\xfe", "error")])
def test_refused_sources(source, text):
    with pytest.raises(grit.compiler.CompileError, match=text) as caught:
        grit.compiler.compile(source, name="given.mlir")
    assert "given.mlir" in str(caught.value)


def test_threads_of_python():
    x = RNG.normal(size=(9, K)).astype(np.float32)
    arrays = {name: grit.quantize(RNG.normal(size=(40, K)), name) for name in ALL}
    failures = []

    def work(name):
        try:
            for _ in range(3):
                assert_near(grit.matmul(x, arrays[name]), x, arrays[name])
        except Exception as error:
            failures.append((name, error))

    threads = [threading.Thread(target=work, args=(name,)) for name in ALL]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


USERS_GRADE = "grit1(e=s8,k0=4,s0=e8m0,esr=exp2floormaxabs)"


def test_a_registered_grade_reaches_compiled_functions():
    """One that nobody registered is refused at the entry of a function."""
    array = grit.quantize(RNG.normal(size=(3, 8)), USERS_GRADE)
    with pytest.raises(grit.GritGradeError, match="is not known"):
        grit.compiler.decode(array)
    assert grit.register_grade("my-s8", USERS_GRADE) == array.contract
    assert_same_bits(grit.compiler.decode(array), array.dequantize())
    named = grit.quantize(RNG.normal(size=(3, 8)), "MY-S8")
    assert_same_bits(grit.compiler.decode(named), named.dequantize())
    grit.register_grade("my-s8", USERS_GRADE)
    x = RNG.normal(size=(2, 8)).astype(np.float32)
    assert_near(grit.matmul(x, array), x, array)


def test_a_grade_that_is_registered_before_the_compiler_is_loaded():
    script = f"""if True:
        import numpy as np, grit_mlir as grit
        grit.register_grade("my-s8", "{USERS_GRADE}")
        array = grit.quantize(np.ones((1, 8), np.float32), "my-s8")
        print(grit.compiler.decode(array).tolist())"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == f"{[[1.0] * 8]}\n", done.stderr


USERS_FORMAT = ("gritfmt1(name=my.quads,encode=ratio,planes=[data=4/1@0,scale=16/4@1],"
                "codes=data:4@0+i*4,level=s4,scales=[d=(binary16,lin/4,scale:16@0+i*16)],axis=4)")


def test_a_registered_format_reaches_compiled_functions():
    """Also one that is registered before the compiler is loaded."""
    array = grit.quantize(RNG.normal(size=(3, 8)), USERS_FORMAT)
    assert grit.register_format(USERS_FORMAT) == array.contract
    assert_same_bits(grit.compiler.decode(array), array.dequantize())
    script = f"""if True:
        import numpy as np, grit_mlir as grit
        grit.register_format("{USERS_FORMAT}")
        array = grit.quantize(np.ones((1, 8), np.float32), "my.quads")
        assert (grit.compiler.decode(array) == array.dequantize()).all()"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
