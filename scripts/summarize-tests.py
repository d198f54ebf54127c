#!/usr/bin/env python3
"""Sum JUnit files and print "N passed, N failed, N skipped" as the last line.

Usage: summarize-tests.py CTEST_XML [RESULTS_DIR...] [NAME=passed|NAME=failed...]

CTEST_XML is what `ctest --output-junit` wrote. An entry of it that wraps another
runner (lit, pytest) has a file <entry>.xml in one of the RESULTS_DIRs; the cases
in that file are counted instead of the entry. An entry that failed although its
file knows of no failure (a crash of the runner) counts as one failure more.
NAME=RESULT counts one more, which ran outside ctest.
The exit code is 1 when a test failed or none passed.
"""

import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path


def outcome(case):
    """The outcome of one <testcase>: "passed", "failed" or "skipped"."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    status = case.get("status")
    if status == "fail":
        return "failed"
    if case.find("skipped") is not None or status in ("notrun", "disabled"):
        return "skipped"
    return "passed"


def summarize(ctest_xml, results_dirs):
    """Return the counts and the names of the failed tests."""
    counts, failures = Counter(), []

    def count(name, result):
        counts[result] += 1
        if result == "failed":
            failures.append(name)

    for entry in ET.parse(ctest_xml).iter("testcase"):
        name, result = entry.get("name"), outcome(entry)
        inner = [d / f"{name}.xml" for d in results_dirs]
        inner = [path for path in inner if path.exists()]
        if not inner:
            count(name, result)
            continue
        failed_before = counts["failed"]
        for path in inner:
            for case in ET.parse(path).iter("testcase"):
                count(f"{case.get('classname')}.{case.get('name')}", outcome(case))
        if result == "failed" and counts["failed"] == failed_before:
            count(name, "failed")
    return counts, failures


def main(args):
    if not args:
        sys.exit(__doc__)
    outside = [arg.rsplit("=", 1) for arg in args if arg.endswith(("=passed", "=failed"))]
    results = [Path(arg) for arg in args[1:] if not arg.endswith(("=passed", "=failed"))]
    counts, failures = summarize(args[0], results)
    for name, result in outside:
        counts[result] += 1
        failures += [name] if result == "failed" else []
    for name in failures:
        print(f"FAILED: {name}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
