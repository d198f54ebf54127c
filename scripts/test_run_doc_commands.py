"""Tests of run-doc-commands.py."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).with_name("run-doc-commands.py")


class RunDocCommandsTests(unittest.TestCase):
    def run_page(self, text):
        with tempfile.TemporaryDirectory() as name:
            page = Path(name) / "page.md"
            page.write_text(text)
            return subprocess.run(
                [sys.executable, SCRIPT, page, Path(name) / "work", "--env", "WHO=me"],
                capture_output=True,
                text=True,
            )

    def test_runs_blocks_in_order_in_one_directory(self):
        done = self.run_page("```txt file=a\nhello\n```\n```sh\ncp a b\n```\n```console\n$ cat b\nhello\n```\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 commands ran", done.stdout)

    def test_passes_the_environment(self):
        done = self.run_page("```console\n$ echo $WHO\nme\n```\n")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_failing_command_fails_and_is_located(self):
        done = self.run_page("text\n```sh\nfalse\n```\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("page.md:2: the command failed with exit code 1", done.stderr)

    def test_other_output_than_the_page_says_fails(self):
        done = self.run_page("```console\n$ echo one\ntwo\n```\n")
        self.assertEqual(done.returncode, 1)

    def test_an_ellipsis_stands_for_any_lines(self):
        done = self.run_page("```console\n$ seq 5\n1\n...\n5\n```\n")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_skips_what_is_marked(self):
        done = self.run_page("<!-- not run: needs root -->\n```sh\nfalse\n```\n```sh\ntrue\n```\n")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_page_without_commands_fails(self):
        self.assertEqual(self.run_page("```c\nint x;\n```\n").returncode, 1)


if __name__ == "__main__":
    unittest.main()
