#!/usr/bin/env python3
"""Print docs/Conformance.md: every constraint of the specification, its tests, and how
the implementations of this repository and grit-datatype answer its vectors.

Usage: conformance-page.py --build DIR

The answers are observed: the runner of spec/conformance puts every vector to every
route, and routes/datatype_probes.py asks grit-datatype what no vector can ask.
"""

import argparse
import importlib.util
import re
import sys
from collections import Counter, defaultdict
from importlib.machinery import SourceFileLoader
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "spec/conformance"))
import run  # noqa: E402
from routes import DIFFERENT, KNOWN, OK  # noqa: E402
from routes.datatype_probes import PROBES  # noqa: E402

SECTIONS = {"F": "Format words", "B": "Descriptor, planes and fingerprints", "G": "Grades",
            "D": "Arithmetic and decode", "E": "Encode", "P": "Placements", "L": "Laws",
            "C": "The check", "A": "Assumptions"}
NAMES = {"cpp": "C++", "c": "C", "python": "Python", "mlir": "MLIR",
         "datatype": "grit-datatype"}
INTRODUCTION = """\
# Conformance

Every constraint of [the specification](../spec/grit-v1.md), the tests that name it, and what came out when the
{vectors} vectors of [the conformance suite](../spec/conformance/README.md) were put to each implementation: the C++ library,
the C interface, the Python package and compiled MLIR of this repository, and the package grit-datatype {version} in the
same run. Nothing in the tables is written by hand.

A cell counts the vectors of the constraint that the implementation was asked and answers right, and how many it answers
otherwise; "-" means that it has nothing to ask. One vector may test several constraints. "Other tests" are files under
`unittests`, `python/tests`, `test` and `scripts` that name the constraint; they are about this repository alone. Where
no vector exists, grit-datatype was asked by a probe, which says "pass" or what it does instead.

`spec/conformance/run.py` prints which vectors an implementation was not asked, and why.
"""


def check_labels():
    loader = SourceFileLoader("check_labels", str(ROOT / "scripts/check-labels"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(
        "check_labels", loader))
    loader.exec_module(module)
    return module


def first_words(text, limit=90):
    """The beginning of a constraint, up to the end of a sentence or of a word."""
    text = " ".join(text.split())
    sentence = re.split(r"(?<=[^.])[.:;](?: |$)", text)[0]
    if len(sentence) > limit:
        sentence = sentence[:limit].rsplit(" ", 1)[0].rstrip(",") + " ..."
    if sentence.count("`") % 2:
        sentence = sentence.replace("`", "")
    return sentence.replace("|", "\\|")


def constraints_of(text):
    """Label to the whole paragraph."""
    found = re.findall(r"^\*\*([A-Z]\d+)\*\* (.+?)(?=\n\n|\n\*\*|\n\||\Z)", text, re.M | re.S)
    return dict(found)


def observe(build):
    """Route to vector id to outcome and text."""
    vectors = run.load()
    outcomes = {}
    for name in NAMES:
        ids = [vector["id"] for vector in vectors]
        outcomes[name] = dict(zip(ids, run.ask(name, build, vectors)))
        bad = [key for key, (outcome, _) in outcomes[name].items() if outcome == DIFFERENT]
        if bad:
            sys.exit(f"{name} answers otherwise than it is known to: {', '.join(bad)}")
    return vectors, outcomes


def cell(outcomes, ids):
    counts = Counter(outcomes[name][0] for name in ids)
    if not counts[OK] + counts[KNOWN]:
        return "-"
    return f"{counts[OK]}" + (f", {counts[KNOWN]} differ" if counts[KNOWN] else "")


def files_of(uses):
    """The names of the test files, without the vectors."""
    return ", ".join(sorted({Path(name).name for name in uses
                             if not name.endswith("vectors.json")})) or "-"


def table_of_letter(letter, constraints, uses, by_label, outcomes, probed):
    yield f"\n## {letter}: {SECTIONS[letter]}\n"
    yield ("| | What it says | Vectors | " + " | ".join(NAMES.values()) + " | Other tests |")
    yield "|---|---|---|" + "---|" * (len(NAMES) + 1)
    for label, text in constraints.items():
        if label[0] != letter:
            continue
        ids = by_label.get(label, [])
        cells = [cell(outcomes[name], ids) for name in NAMES]
        if label in probed:
            cells[-1] = probed[label] or "pass"
        yield (f"| {label} | {first_words(text)} | {len(ids) or '-'} | " + " | ".join(cells)
               + f" | {files_of(uses.get(label, ()))} |")


def table_of_differences(title, route, vectors, outcomes):
    reasons, labels = Counter(), defaultdict(set)
    for vector in vectors:
        outcome, text = outcomes[route][vector["id"]]
        if outcome == KNOWN:
            reasons[text] += 1
            labels[text] |= set(vector["clause"].split())
    if not reasons:
        return
    yield f"\n## {title}\n"
    yield "| Difference | Vectors | Constraints |"
    yield "|---|---|---|"
    for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        yield f"| {reason} | {count} | {', '.join(sorted(labels[reason]))} |"


def page(build):
    checker = check_labels()
    vectors, outcomes = observe(build)
    import grit
    probed = {label: function(grit) for label, function in PROBES.items()}
    uses, _ = checker.find_uses(ROOT)
    constraints = constraints_of((ROOT / "spec/grit-v1.md").read_text())
    by_label = defaultdict(list)
    for vector in vectors:
        for label in vector["clause"].split():
            by_label[label].append(vector["id"])
    yield INTRODUCTION.format(vectors=len(vectors), version=grit.__version__)
    for letter in SECTIONS:
        yield from table_of_letter(letter, constraints, uses, by_label, outcomes, probed)
    for name in NAMES:
        title = ("What grit-datatype answers otherwise" if name == "datatype"
                 else f"What {NAMES[name]} answers otherwise")
        yield from table_of_differences(title, name, vectors, outcomes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    arguments = parser.parse_args()
    print("\n".join(page(arguments.build)))


if __name__ == "__main__":
    main()
