# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C++ library, by the tests of unittests/Format that read vectors.json. They
write down which vectors they were given; a vector fails with its test's trace."""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from . import DIFFERENT, OK, SKIPPED, Route, Unavailable


class CppRoute(Route):
    name = "cpp"

    def __init__(self, build):
        self.program = Path(build) / "bin/GritSpecVectorTests"
        if not self.program.exists():
            raise Unavailable(f"{self.program} is not built")

    def _run_tests(self, folder):
        """The lines of the log, and the failures."""
        log, results = folder / "log", folder / "results.json"
        log.touch()
        done = subprocess.run(
            [self.program, "--gtest_brief=1", f"--gtest_output=json:{results}"],
            env={**os.environ, "GRIT_VECTOR_LOG": str(log)}, capture_output=True, text=True)
        if not results.exists():
            raise Unavailable(f"{self.program} ended with {done.returncode} and wrote no "
                              f"results: {done.stdout[-300:]}{done.stderr[-300:]}")
        failures = [failure["failure"] for suite in json.loads(results.read_text())["testsuites"]
                    for test in suite["testsuite"] for failure in test.get("failures", ())]
        lines = [line.split("\t", 1) for line in log.read_text().splitlines()]
        if not lines:
            raise AssertionError(f"{self.program} wrote no log: build it again")
        return lines, failures

    def run(self, vectors):
        with tempfile.TemporaryDirectory() as folder:
            lines, failures = self._run_tests(Path(folder))
        reasons = dict(lines) | {name: reason for name, reason in lines if reason}
        differences = {}
        for failure in failures:
            traces = re.findall(r"^\S+:\d+: (.+)$", failure, re.MULTILINE)
            ids = [trace for trace in traces if trace in reasons]
            if not ids:
                raise AssertionError(f"a test failed outside of the vectors: {failure}")
            differences[ids[-1]] = failure.replace("\n", " ")
        for vector in vectors:
            name = vector["id"]
            if name in differences:
                yield vector, DIFFERENT, differences[name]
            elif name not in reasons:
                yield vector, SKIPPED, "no C++ test asks this"
            elif reasons[name]:
                yield vector, SKIPPED, reasons[name]
            else:
                yield vector, OK, ""
