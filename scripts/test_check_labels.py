"""Tests of check-labels, on a small invented tree."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).with_name("check-labels")

SPEC = """# Text

**F1** A word has bits.

**F2** Every word decodes; as **F1** says it
has bits.

A paragraph with **F9** inside.

**L3** There is no way out.
"""

GTEST = """// Of words (F2).
TEST(FormatWord, F1_HasBits) {
  const char *text = "// constraint L3";
}
"""


class CheckLabelsTests(unittest.TestCase):
    def run_on(self, files, *options, spec=SPEC):
        """The lines printed, and the exit code."""
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            for path, text in {"spec/grit-v1.md": spec, **files}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            done = subprocess.run(
                [sys.executable, SCRIPT, "--root", root, *options],
                capture_output=True,
                text=True,
            )
            self.assertEqual(done.stderr, "")
            return done.stdout.splitlines(), done.returncode

    def labels_in(self, path, text):
        """The labels that a file tests."""
        lines, code = self.run_on({path: text}, "--list")
        self.assertEqual(code, 0)
        return [line.split()[0] for line in lines if line.split()[1] == path]

    def test_lists_what_has_no_test(self):
        lines, code = self.run_on({"unittests/WordTest.cpp": GTEST})
        self.assertEqual(
            lines,
            [
                "3 constraints, 1 without a test",
                "spec/grit-v1.md:10: L3 has no test: There is no way out.",
            ],
        )
        self.assertEqual(code, 1)

    def test_passes_when_all_have_one(self):
        files = {"unittests/WordTest.cpp": GTEST, "test/L3.mlir": "module {}\n"}
        lines, code = self.run_on(files)
        self.assertEqual(lines, ["3 constraints, 0 without a test"])
        self.assertEqual(code, 0)

    def test_list_gives_the_files(self):
        files = {"unittests/WordTest.cpp": GTEST, "python/tests/test_f.py": "# (F2)\n"}
        lines, code = self.run_on(files, "--list")
        self.assertEqual(
            lines,
            [
                "F1   unittests/WordTest.cpp",
                "F2   unittests/WordTest.cpp, python/tests/test_f.py",
                "L3   -",
            ],
        )
        self.assertEqual(code, 0)

    def test_names_of_python(self):
        source = 'class TestWords:\n    """Of (L3)."""\n    def test_F1_bits(self):\n        "F2"\n'
        self.assertEqual(self.labels_in("python/tests/test_w.py", source), ["F1", "L3"])

    def test_names_of_mlir(self):
        source = "func.func @opaque_L3(%F1: i32) { return } // constraints F1 and F2\n"
        self.assertEqual(self.labels_in("test/a.mlir", source), ["F1", "F2", "L3"])

    def test_names_of_c_and_of_files(self):
        source = "/* Bits (F1,\n   F2). */ static void test_L3(void) {}\n"
        self.assertEqual(self.labels_in("unittests/a.c", source), ["F1", "F2", "L3"])
        self.assertEqual(self.labels_in("test/F2-tool.test", "// RUN: true\n"), ["F2"])
        self.assertEqual(self.labels_in("test/tool.test", "# F1, (F2)\n"), ["F2"])

    def test_scripts(self):
        self.assertEqual(self.labels_in("scripts/test_a.py", "# constraint F1\n"), ["F1"])
        self.assertEqual(self.labels_in("scripts/a.py", "# constraint F1\n"), [])

    def test_vectors(self):
        vectors = {
            "vectors": [
                {"id": "F2", "clause": "2.1 F1", "inputs": {"planes": ["F2"]}},
                {"id": "a", "clause": "L3", "inputs": {}},
            ]
        }
        path = "spec/conformance/vectors.json"
        self.assertEqual(self.labels_in(path, json.dumps(vectors)), ["F1", "L3"])

    def test_other_words_are_no_labels(self):
        source = '// F1 alone, (f1), (F12), F2) and (xF1)\nTEST(F1x, F12_f1) { f("(F1)"); }\n'
        self.assertEqual(self.labels_in("unittests/ATest.cpp", source), [])
        self.assertEqual(self.labels_in("unittests/corpus.bin", "// (F1)\n"), [])

    def test_a_constraint_that_does_not_exist(self):
        lines, code = self.run_on({"test/a.mlir": "// constraint F7, and (F8)\n"}, "--list")
        self.assertEqual(lines[-1], "test/a.mlir: there is no constraint F7")
        self.assertEqual(code, 1)

    def test_a_label_given_twice(self):
        lines, code = self.run_on({}, "--list", spec="**F1** One.\n\n**F1** Two.\n")
        self.assertEqual(lines[-1], "spec/grit-v1.md: F1 labels two constraints")
        self.assertEqual(code, 1)

    def test_a_text_without_constraints(self):
        lines, code = self.run_on({}, spec="# Text\n")
        self.assertEqual((lines, code), (["spec/grit-v1.md: no constraint found"], 1))


if __name__ == "__main__":
    unittest.main()
