#!/usr/bin/env python3
"""Write docs/Status.md: which test shows what of which format.

Usage: status-page.py [--check] PAGE GRIT CTEST_XML [RESULTS_DIR...]

GRIT is the program `grit`, which lists the formats. CTEST_XML is what `ctest
--output-junit` wrote; an entry of it that wraps another runner has a file
<entry>.xml in one of the RESULTS_DIRs. A cell is filled when a test of its
column names the format and all such tests passed. With --check nothing is
written, and the exit code is 1 when the page says something else.
"""

import argparse
import difflib
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Column:
    """A column, and how a passed test claims a cell of it."""

    title: str
    meaning: str
    test: str = ""  # a regular expression over names, with the format as (?P<format>)
    recorded: str = ""  # or a property that tests record the format under
    module: str = ""  # of the tests that may record it, a regular expression


FORMAT = r"/(?P<format>\w+)"
COLUMNS = [
    Column("verify", "the MLIR type checks shapes and sizes, prints and parses back",
           test=r"ArrayTypeTest\.\w+" + FORMAT),
    Column("decode", "the library's numbers equal those of code that is not ours, or of the "
           "equations of its home, written in NumPy",
           recorded="decoded", module=r"_oracle$|test_checkpoint_layers$"),
    Column("encode", "the library's bytes do",
           recorded="encoded", module=r"(encode|ninfer)_oracle$"),
    Column("linalg", "`grit-to-linalg` decodes every code like the library",
           test=r"EveryCode\.ThroughLinalg" + FORMAT),
    Column("CPU", "`grit-to-cpu` does, with this processor's features, without AVX-512 and "
           "with neither", test=r"EveryCode\.With\w+" + FORMAT),
    Column("NVVM", "`grit-to-nvvm` does, in the emulator",
           test=r"DeviceKernels\w*\.Decode\w*" + FORMAT),
    Column("Python", "a test of the package decodes it", recorded="decoded", module="."),
    Column("safetensors", "a file that the package `safetensors` reads keeps it",
           test=r"test_safetensors_keep_every_contract\[(?P<format>[\w.]+)\]"),
    Column("GGUF", "a file that the package `gguf` writes or reads keeps it",
           test=r"test_gguf_keeps_every_type\[(?P<format>[\w.]+)\]"),
    Column("benchmark", "`./dev bench` times its kernels; a test shows that their results are right",
           test=r"BenchmarkCases\.\w+" + FORMAT),
]
HEAD = """# Status

What tests show of each format. `./dev check` fails when this page says more or less than
the tests that it ran; `./dev status` writes it from the last run.

A cell has a mark when a test of its column names the format and every such test passed.
"""


def cases(ctest_xml, results):
    """Yields (module, name, passed, {property: set of values}) of every case."""
    for entry in ET.parse(ctest_xml).iter("testcase"):
        inner = [d / f"{entry.get('name')}.xml" for d in results]
        inner = [path for path in inner if path.exists()]
        found = [c for path in inner for c in ET.parse(path).iter("testcase")] or [entry]
        for case in found:
            properties = {}
            for item in case.iter("property"):
                properties.setdefault(item.get("name"), set()).add(item.get("value"))
            bad = [case.find(kind) is not None for kind in ("failure", "error", "skipped")]
            passed = not any(bad) and case.get("status") not in ("fail", "notrun", "disabled")
            yield case.get("classname") or "", case.get("name"), passed, properties


def key(name):
    """Test programs cannot have dots in names; parameters have defaults."""
    return name.split("(")[0].replace(".", "_")


def evidence(all_cases):
    """(column title, format) -> whether all tests that name it passed."""
    shown = {}
    for module, name, passed, properties in all_cases:
        for column in COLUMNS:
            formats = set()
            if column.test:
                match = re.search(column.test, name)
                formats = {match["format"]} if match else set()
            elif re.search(column.module, module):
                formats = {text.split()[0] for text in properties.get(column.recorded, ())}
            for one in formats:
                cell = column.title, key(one)
                shown[cell] = shown.get(cell, True) and passed
    return shown


def has_page(name):
    return (ROOT / "spec/formats" / f"{name}.md").exists()


def page(formats, shown):
    titles = ["spec", *(c.title for c in COLUMNS)]
    lines = [HEAD, "| column | a mark means |", "|---|---|",
             "| spec | a normative page, whose examples a test decodes |"]
    lines += [f"| {c.title} | {c.meaning} |" for c in COLUMNS]
    lines += ["", "`-`: the format has no encoder, or no type of the container.", "",
              "| format | " + " | ".join(titles) + " |", "|---" * (len(titles) + 1) + "|"]
    totals = dict.fromkeys(titles, 0)
    for one in formats:
        name, row = one["name"], []
        for title in titles:
            if title == "spec":
                mark = has_page(name)
            else:
                mark = shown.get((title, key(name)), False)
            totals[title] += mark
            absent = title == "encode" and not one["encodes"] or \
                title == "GGUF" and not name.startswith("gguf.")
            row.append("✓" if mark else "-" if absent else "")
        lines.append(f"| `{name}` | " + " | ".join(row) + " |")
    lines.append(f"| **{len(formats)}** | " + " | ".join(str(totals[t]) for t in titles) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("page", type=Path)
    parser.add_argument("grit")
    parser.add_argument("ctest_xml", type=Path)
    parser.add_argument("results", type=Path, nargs="*")
    arguments = parser.parse_args()
    listed = subprocess.run([arguments.grit, "formats", "--json"], check=True,
                            capture_output=True, text=True).stdout
    shown = evidence(cases(arguments.ctest_xml, arguments.results))
    text = page(json.loads(listed)["formats"], shown)
    if not arguments.check:
        arguments.page.write_text(text, encoding="utf-8")
        return 0
    old = arguments.page.read_text(encoding="utf-8") if arguments.page.exists() else ""
    sys.stdout.writelines(difflib.unified_diff(
        old.splitlines(True), text.splitlines(True), str(arguments.page), "what the tests show"))
    return int(old != text)


if __name__ == "__main__":
    sys.exit(main())
