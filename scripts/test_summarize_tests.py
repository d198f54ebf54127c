"""Tests of summarize-tests.py, on files as ctest, lit and pytest write them."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).with_name("summarize-tests.py")

PASS = '<testcase name="a.b" classname="a.b" status="run"/>'
FAIL = '<testcase name="a.c" classname="a.c" status="fail"><failure message="no"/></testcase>'
NOT_RUN = '<testcase name="a.d" classname="a.d" status="notrun"><skipped message="SKIP"/></testcase>'
LIT_RUN = '<testcase name="lit" classname="lit" status="run"/>'
LIT_FAIL = '<testcase name="lit" classname="lit" status="fail"><failure/></testcase>'
LIT_TWO_AND_A_SKIP = (
    '<testcase classname="grit" name="x.mlir"/><testcase classname="grit" name="y.mlir"/>'
    '<testcase classname="grit" name="z.mlir"><skipped message="UNSUPPORTED"/></testcase>'
)
LIT_ONE_FAILS = '<testcase classname="grit" name="x.mlir"><failure>f</failure></testcase>'


class SummarizeTests(unittest.TestCase):
    def run_on(self, ctest_cases, lit_cases=None, more=()):
        """The last line printed, and the exit code."""
        with tempfile.TemporaryDirectory() as name:
            directory = Path(name)
            (directory / "ctest.xml").write_text(f"<testsuite>{ctest_cases}</testsuite>")
            if lit_cases is not None:
                text = f"<testsuites><testsuite>{lit_cases}</testsuite></testsuites>"
                (directory / "lit.xml").write_text(text)
            done = subprocess.run(
                [sys.executable, SCRIPT, directory / "ctest.xml", directory, *more],
                capture_output=True,
                text=True,
            )
            return done.stdout.splitlines()[-1], done.returncode

    def test_counts_each_outcome(self):
        self.assertEqual(
            self.run_on(PASS + FAIL + NOT_RUN), ("1 passed, 1 failed, 1 skipped", 1)
        )

    def test_all_passed(self):
        self.assertEqual(self.run_on(PASS + PASS), ("2 passed, 0 failed, 0 skipped", 0))

    def test_counts_what_ran_outside(self):
        self.assertEqual(
            self.run_on(PASS, more=["a.page=passed", "b.page=failed"]),
            ("2 passed, 1 failed, 0 skipped", 1),
        )

    def test_counts_the_cases_inside_lit(self):
        self.assertEqual(
            self.run_on(PASS + LIT_RUN, LIT_TWO_AND_A_SKIP), ("3 passed, 0 failed, 1 skipped", 0)
        )

    def test_a_failure_inside_lit_counts_once(self):
        self.assertEqual(
            self.run_on(PASS + LIT_FAIL, LIT_ONE_FAILS), ("1 passed, 1 failed, 0 skipped", 1)
        )

    def test_a_crash_of_lit_is_a_failure(self):
        self.assertEqual(
            self.run_on(LIT_FAIL, LIT_TWO_AND_A_SKIP), ("2 passed, 1 failed, 1 skipped", 1)
        )

    def test_no_test_passed_is_a_failure(self):
        self.assertEqual(self.run_on(NOT_RUN), ("0 passed, 0 failed, 1 skipped", 1))


if __name__ == "__main__":
    unittest.main()
