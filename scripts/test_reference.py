"""The executable reference of GRIT v1 derives every vector, and notices damage."""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SPEC = Path(__file__).resolve().parent.parent / "spec"


def run(reference, *arguments):
    return subprocess.run([sys.executable, "-B", reference, *arguments],
                          capture_output=True, text=True)


def damage(conformance):
    """Changes a vector, leaves one out, and changes a status and a number of the
    golden data, which it returns."""
    path = conformance / "vectors.json"
    published = "9452a02851ba1a1d793b97df51266001"  # the digest of B.1
    data = json.loads(path.read_text().replace(published, published[:-1] + "2"))
    del data["vectors"][0]
    path.write_text(json.dumps(data))
    path = conformance / "grit-golden.json"
    golden = json.loads(path.read_text())
    golden["checks"][0]["status"] = "Ok"
    decoded = golden["vectors"][0]["decoded"]
    golden["vectors"][0]["decoded"] = decoded[:-8] + "3f800000"
    path.write_text(json.dumps(golden))
    return golden


class ReferenceTests(unittest.TestCase):
    def test_verify(self):
        found = run(SPEC / "reference.py", "verify")
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)
        self.assertRegex(found.stdout, r"^\d+ vectors, .*: 0 differences\n$")

    def test_damage_is_found(self):
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            (root / "conformance").mkdir()
            shutil.copy(SPEC / "reference.py", root)
            for name in ("make_vectors.py", "vectors.json", "grit-golden.json"):
                shutil.copy(SPEC / "conformance" / name, root / "conformance")
            golden = damage(root / "conformance")
            found = run(root / "reference.py", "verify")
        self.assertEqual(found.returncode, 1, found.stderr)
        for text in ("mxfp4/tie_to_even: found", "mxfp4/tie_to_even: digest",
                     "does not list what make_vectors.py does",
                     "not formatted as gen writes it", golden["checks"][0]["name"],
                     golden["vectors"][0]["name"] + ": decoded"):
            self.assertIn(text, found.stdout)

    def test_usage(self):
        for arguments in ((), ("generate",), ("verify", "again")):
            found = run(SPEC / "reference.py", *arguments)
            self.assertEqual(found.returncode, 64)
            self.assertIn("reference.py verify", found.stderr)


if __name__ == "__main__":
    unittest.main()
