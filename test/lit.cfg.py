# How lit runs the tests of this directory. What the build knows comes from
# lit.site.cfg.py, which CMake writes.
import glob
import os
import platform
import shutil

import lit.formats

config.name = "grit"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Embed", "Fuzz", "Inputs", "lib"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.grit_obj_root, "test")

# --- Tools: by name in a RUN line, replaced by the full path ------------------


def add_tool(name, directory, arguments=""):
    path = os.path.join(directory, name)
    config.substitutions.append(
        (rf"(?<![\w./%-]){name}(?![\w./-])", f"{path} {arguments}".strip())
    )


# Every run of grit-opt can also print its input, parse it again and compare.
roundtrip = "--verify-roundtrip" if os.environ.get("GRIT_VERIFY_ROUNDTRIP") else ""
add_tool("grit-opt", config.grit_tools_dir, roundtrip)
add_tool("grit-lsp-server", config.grit_tools_dir)
for tool in ("mlir-opt", "mlir-translate", "mlir-runner"):
    add_tool(tool, config.mlir_tools_dir)
for tool in ("FileCheck", "not", "split-file", "count", "llc", "opt", "llvm-objdump", "llvm-nm"):
    add_tool(tool, config.llvm_tools_dir)

# `grit` is too common a word to replace wherever it stands: it comes from PATH.
config.environment["PATH"] = os.pathsep.join(
    [config.grit_tools_dir, config.mlir_tools_dir, config.llvm_tools_dir, os.environ["PATH"]]
)
config.environment["PYTHONPATH"] = os.path.join(config.grit_obj_root, "python")

config.substitutions += [
    ("%grit_plugin", os.path.join(config.grit_lib_dir, "GritPlugin.so")),
    ("%grit_lib", config.grit_lib_dir),
    ("%grit_src", config.grit_src_root),
    ("%mlir_lib", config.mlir_lib_dir),
    ("%python", config.python),
    ("%omp", config.omp_library),
    ("%cxx", config.cxx_compiler),
    ("%cc", config.c_compiler),
]

# --- Features: what this machine can run --------------------------------------


def cpu_flags():
    """The instruction sets that the kernel reports, e.g. {"avx2", "amx_tile"}."""
    try:
        with open("/proc/cpuinfo") as info:
            for line in info:
                if line.startswith(("flags", "Features")):
                    return set(line.partition(":")[2].split())
    except OSError:
        pass
    return set()


def find_ptxas():
    """ptxas from PATH, from CUDA's own place, or from a PyPI package."""
    for candidate in ("ptxas", "/usr/local/cuda/bin/ptxas"):
        if shutil.which(candidate):
            return shutil.which(candidate)
    venv = os.path.dirname(os.path.dirname(config.python))
    found = glob.glob(f"{venv}/lib/python*/site-packages/nvidia/*/bin/ptxas")
    return found[0] if found else None


flags = cpu_flags()
config.available_features |= {f"cpu-{flag}" for flag in flags}
if platform.machine() == "x86_64":
    config.available_features.add("x86")
if "avx2" in flags and "fma" in flags and "f16c" in flags:
    config.available_features.add("avx2")
if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= flags:
    config.available_features.add("avx512")
if config.omp_library:
    config.available_features.add("openmp")
if shutil.which("chromium"):
    config.available_features.add("chromium")
ptxas = find_ptxas()
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
