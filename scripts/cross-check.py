#!/usr/bin/env python3
"""Compare every format with implementations that were not written here, and print
how many values were compared.

Usage: cross-check.py [--build DIR] [--blocks N] [--seeds N] [--only GLOB]

Runs the oracle tests of the package with N random blocks of every GGUF type and N
arrays of every kind for the encoders, then every code under every scale of at most
8 bits through the compiler for this processor, for others and for devices (in the
emulator). `./dev check` runs the same tests on samples. The exit code is 1 when one
of them failed.
"""

import argparse
import fnmatch
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMPILED = {
    "linalg": ("GritCompilerTests", "EveryCode.ThroughLinalg"),
    "CPU": ("GritCompilerTests", "EveryCode.With*"),
    "NVVM": ("GritDeviceKernelsTests", "DeviceKernels*.Decode*"),
}


def run_oracles(arguments, out):
    environment = {**os.environ, "GRIT_ORACLE_BLOCKS": str(arguments.blocks),
                   "GRIT_ORACLE_SEEDS": str(arguments.seeds),
                   "GRIT_BUILD": str(arguments.build),
                   "PYTHONPATH": str(arguments.build / "python")}
    # Layers of checkpoints are compared with the equations of their homes.
    tests = sorted(map(str, [*(ROOT / "python/tests").glob("test_*_oracle.py"),
                             ROOT / "python/tests/test_checkpoint_layers.py"]))
    subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o",
                    "junit_family=xunit1", f"--junitxml={out}", *tests], env=environment)


def run_compiled(arguments, program, pattern, out):
    return subprocess.run([arguments.build / "bin" / program, f"--gtest_filter=*{pattern}*",
                           f"--gtest_output=xml:{out}", "--gtest_brief=1"]).returncode


def cases(path):
    """Yields (name, outcome, properties) of a file of results."""
    for case in ET.parse(path).iter("testcase"):
        failed = any(case.find(kind) is not None for kind in ("failure", "error"))
        skipped = case.find("skipped") is not None or case.get("result") == "skipped"
        outcome = "failed" if failed else "skipped" if skipped else "passed"
        properties = [(p.get("name"), p.get("value")) for p in case.iter("property")]
        yield case.get("name"), outcome, properties


def count_oracles(path, failures):
    """(kind, format) -> values of passed tests."""
    values = Counter()
    for name, outcome, properties in cases(path):
        if outcome == "failed":
            failures.append(name)
        for kind, text in properties if outcome == "passed" else ():
            one, count = text.split()
            values[kind, one] += int(count)
    return values


def count_compiled(path, failures):
    """Format (with _ for its dots) -> passed tests."""
    passed = Counter()
    for name, outcome, _ in cases(path):
        match = re.search(r"/(\w+)$", name)
        if outcome == "failed":
            failures.append(name)
        elif outcome == "passed" and match:
            passed[match[1]] += 1
    return passed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--blocks", type=int, default=10_000_000)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only", default="*", help="print formats that match")
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    failures, compiled = [], {}
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory) / "results.xml"
        run_oracles(arguments, out)
        values = count_oracles(out, failures)
        for column, (program, pattern) in COMPILED.items():
            out.unlink()
            run_compiled(arguments, program, pattern, out)
            compiled[column] = count_compiled(out, failures)
    listed = subprocess.run([arguments.build / "bin/grit", "formats", "--json"], check=True,
                            capture_output=True, text=True).stdout
    row = "{:24} {:>16} {:>16} {:>7} {:>5} {:>5}"
    print(row.format("format", "values decoded", "values encoded", *COMPILED))
    for name in (one["name"] for one in json.loads(listed)["formats"]):
        if fnmatch.fnmatch(name, arguments.only):
            key = name.split("(")[0].replace(".", "_")
            print(row.format(name, values["decoded", name], values["encoded", name],
                             *(compiled[column][key] for column in COMPILED)))
    total = {kind: sum(n for (k, _), n in values.items() if k == kind)
             for kind in ("decoded", "encoded")}
    for name in failures:
        print(f"FAILED: {name}")
    print(f"{total['decoded']} values decoded and {total['encoded']} encoded like other "
          f"implementations, {len(failures)} tests failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
