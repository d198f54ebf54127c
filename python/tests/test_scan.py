# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""grit scan, check and explain as programs: exit codes, JSON, pages."""

import html.parser
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess

import pytest

from conftest import ROOT

BUILD = os.environ.get("GRIT_BUILD")
PROGRAM = pathlib.Path(BUILD, "bin", "grit") if BUILD else None
pytestmark = pytest.mark.skipif(not PROGRAM or not PROGRAM.exists(),
                                reason="GRIT_BUILD names no build with the program grit")


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)


def write(path, tensors, metadata=None):
    """A safetensors file of (dtype, shape, bytes) by name."""
    header, data = {}, b""
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def quantize(path, weights, contract, names=("w.weight",), plain=()):
    """A file that the program wrote."""
    source = path.with_suffix(".source")
    content = ("F32", list(weights.shape), weights.tobytes())
    write(source, {name: content for name in (*names, *plain)})
    done = run("quantize", source, "--to", contract, "-o", path)
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture
def files(tmp_path):
    """A file for each exit code of the graded policy."""
    write(tmp_path / "clean.safetensors", {"w": ("F32", [4], bytes(16))})
    clean = (tmp_path / "clean.safetensors").read_bytes()
    (tmp_path / "violation.safetensors").write_bytes(clean + bytes(7))
    (tmp_path / "disagreement").mkdir()
    write(tmp_path / "disagreement/m.safetensors",
          {"m.weight_packed": ("I32", [4, 16], bytes(256)),
           "m.weight_scale": ("F16", [4, 1], b"\0\x3c" * 4)})
    (tmp_path / "disagreement/config.json").write_text(json.dumps(
        {"quantization_config": {"quant_method": "compressed-tensors", "config_groups": {
            "g": {"weights": {"num_bits": 4, "symmetric": False, "strategy": "channel"}}}}}))
    write(tmp_path / "warning.safetensors", {"w": ("F8_E4M3FNUZ", [4], bytes(4))})
    (tmp_path / "unreadable.safetensors").write_bytes(b"PK\3\4")
    return tmp_path


@pytest.mark.parametrize("name, graded, simple", [
    ("clean.safetensors", 0, 0), ("violation.safetensors", 1, 1), ("disagreement", 2, 1),
    ("warning.safetensors", 3, 1), ("unreadable.safetensors", 4, 2)])
def test_exit_codes(files, name, graded, simple):
    assert run("scan", files / name).returncode == graded
    assert run("scan", "--exit-policy", "simple", files / name).returncode == simple
    report = json.loads(run("scan", "--json", files / name).stdout)
    assert (report["version"], report["exit_code"]) == (1, graded)
    assert (report["exit_code_graded"], report["exit_code_simple"]) == (graded, simple)


@pytest.mark.parametrize("arguments", [
    ["scan"], ["scan", "--exit-policy", "odd", "x"], ["scan", "--json", "--sarif", "x"],
    ["check"], ["check", "--level", "9", "x"], ["explain", "mxfp4"]])
def test_usage_errors(arguments):
    assert run(*arguments).returncode == 64


def test_the_report_is_the_same_under_both_policies(files):
    graded, simple = (json.loads(run("scan", "--json", "--exit-policy", policy, files).stdout)
                      for policy in ("graded", "simple"))
    for report in (graded, simple):
        del report["exit_code"], report["exit_policy"]
    assert graded == simple


def test_sarif(files):
    report = json.loads(run("scan", "--sarif", files).stdout)
    known = {rule["id"] for rule in report["runs"][0]["tool"]["driver"]["rules"]}
    results = report["runs"][0]["results"]
    assert results
    for result in results:
        assert result["ruleId"] in known
        assert result["level"] in ("error", "warning", "note")


class Page(html.parser.HTMLParser):
    """The texts of a page and the elements that are open when it ends."""

    VOID = {"meta", "input"}

    def __init__(self):
        super().__init__()
        self.open, self.texts, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "script" not in self.open and "style" not in self.open:
            self.texts.append(data)


def test_the_page_is_complete_without_scripts(files):
    done = run("scan", "--html", files / "page.html", files)
    assert done.returncode == 1
    page = Page()
    page.feed((files / "page.html").read_text())
    assert page.open == []
    text = " ".join(page.texts)
    report = json.loads(run("scan", "--json", files).stdout)
    for finding in report["findings"]:
        assert finding["id"] in text and finding["message"] in text
    for tensor in report["tensors"]:
        assert tensor["name"] in text
    assert not [name for name, _ in page.attributes if name in ("src", "href")]


def test_the_page_appears_whole_or_not_at_all(files):
    done = run("scan", "--html", files / "no/such/page.html", files / "clean.safetensors")
    assert done.returncode == 74
    assert "error" in done.stderr


def test_the_page_replaces_no_input(files, tmp_path):
    source = files / "clean.safetensors"
    before = source.read_bytes()
    link = tmp_path / "page.html"
    link.symlink_to(source)
    for page in (source, link):
        done = run("scan", "--html", page, source)
        assert done.returncode == 74
        assert "would replace the input" in done.stderr
    assert source.read_bytes() == before


def test_deep_reads_digests(tmp_path, weights):
    path = quantize(tmp_path / "a.safetensors", weights, "mxfp4")
    assert run("scan", "--deep", path).returncode == 0
    assert run("check", "--level", "2", path).returncode == 0
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert run("scan", path).returncode == 0
    done = run("scan", "--deep", "--json", path)
    assert done.returncode == 1
    assert json.loads(done.stdout)["findings"][0]["id"] == "GRIT-S015"
    assert run("check", path).returncode == 0
    checks = json.loads(run("check", "--level", "2", "--json", path).stdout)["checks"]
    assert [entry["status"] for entry in checks] == ["DigestMismatch"]


def test_check(tmp_path, weights):
    path = quantize(tmp_path / "a.safetensors", weights, "mxfp4",
                    names=("v.weight", "w.weight"), plain=["plain"])
    done = run("check", path)
    assert done.returncode == 0
    assert len(re.findall(r"^Ok ", done.stdout, re.MULTILINE)) == 2
    done = run("check", "--json", f"{path}::w.weight")
    assert [entry["tensor"] for entry in json.loads(done.stdout)["checks"]] == ["w.weight"]
    assert run("check", f"{path}::plain").returncode == 1
    assert run("check", f"{path}::none").returncode == 1
    assert run("check", path, tmp_path / "none").returncode == 1


def test_check_gives_the_arithmetic(tmp_path):
    metadata = {"__grit__": json.dumps(
        {"version": 1, "tensors": {"w": {"contract": "mxfp4", "shape": [8, 64]}}})}
    path = write(tmp_path / "a.safetensors", {"w": ("U8", [271], bytes(271))}, metadata)
    done = run("check", path)
    assert done.returncode == 1
    assert done.stdout.splitlines()[1].startswith("SizeMismatch")
    assert "271 bytes" in done.stderr and "272" in done.stderr


def test_explain(tmp_path, weights):
    for name, contract in (("a", "mxfp4"), ("b", "nvf4")):
        quantize(tmp_path / f"{name}.safetensors", weights, contract)
    done = run("explain", tmp_path / "a.safetensors", f"{tmp_path}/b.safetensors::w.weight")
    assert done.returncode == 0
    assert "grit1(" in done.stdout and "gritdec1(" in done.stdout
    assert "different numbers" in done.stdout.splitlines()[-1]
    same = json.loads(run("explain", "--json", "nvf4", "nvf4_rtz").stdout)
    assert same["version"] == 1 and same["same_bytes"]
    assert run("explain", "mxfp4", "no-such-name").returncode == 1


def test_descriptors_of_another_writer():
    """explain reads descriptors that grit-datatype wrote."""
    package = pytest.importorskip("grit")
    pairs = [package.desc_for_grade(name).to_hex() for name in ("GRADE_MXFP4", "GRADE_NVF4")]
    report = json.loads(run("explain", "--json", *pairs).stdout)
    fields = {difference["field"]: difference for difference in report["differences"]}
    assert (fields["k0"]["a"], fields["k0"]["b"]) == ("32", "16")
    assert "different numbers" in report["meaning"]


@pytest.mark.skipif(not shutil.which("prlimit"), reason="no prlimit to bound the memory")
def test_a_large_checkpoint_needs_little_memory(tmp_path):
    """The header alone is read: a sparse file of 10 GB under a limit on written memory."""
    count, size = 2_000, 5_000_000
    header = {f"layers.{i}.w.weight": {"dtype": "BF16", "shape": [1000, 2500],
                                       "data_offsets": [i * size, (i + 1) * size]}
              for i in range(count)}
    text = json.dumps(header).encode()
    path = tmp_path / "big.safetensors"
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + count * size)
    done = subprocess.run(["prlimit", "--data=100000000", PROGRAM, "scan", path],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{count} tensors" in done.stdout


def test_the_page_of_findings_is_that_of_the_program():
    assert run("scan", "--list-findings").stdout == (ROOT / "docs/Findings.md").read_text()


def test_the_hook_and_the_workflow_name_the_command():
    folder = ROOT / "examples/scan-in-ci"
    for name in ("scan.yml", "pre-commit-hooks.yaml"):
        assert "grit scan" in (folder / name).read_text()
