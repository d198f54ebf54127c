#!/usr/bin/env python3
# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Put vectors.json to every implementation of GRIT v1 in this repository.

Usage: run.py [--build DIR] [--route NAME]... [--every N] [--kind KIND]... [--list]

Prints for each route how many vectors it answered, the differences, and how many it
could not be asked, by reason. Differences that the route knows of are counted apart,
with their reason. The exit code is 1 when there is another one, or one that a route
knows of is gone, and 2 when a route that was asked for is not built.

  --build DIR   where grit was built (default: $GRIT_BUILD, else build/)
  --route NAME  reference, cpp, c, python or mlir (default: all that are built), or
                datatype, the package grit-datatype
  --every N     only every Nth vector of a kind, and at least one of each
  --kind KIND   only vectors of this kind
  --list        also list the vectors that could not be asked
"""

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

CONFORMANCE = Path(__file__).resolve().parent
sys.path.insert(0, str(CONFORMANCE))
from routes import DIFFERENT, KNOWN, OK, SKIPPED, Unavailable  # noqa: E402
from routes.by_c import CRoute  # noqa: E402
from routes.by_cpp import CppRoute  # noqa: E402
from routes.by_datatype import DatatypeRoute  # noqa: E402
from routes.by_mlir import MlirRoute  # noqa: E402
from routes.by_python import PythonRoute  # noqa: E402
from routes.by_reference import ReferenceRoute  # noqa: E402

ROUTES = {route.name: route
          for route in (ReferenceRoute, CppRoute, CRoute, PythonRoute, MlirRoute,
                        DatatypeRoute)}
OURS = [name for name in ROUTES if name != DatatypeRoute.name]


def load(kinds=None, every=1):
    vectors = json.loads((CONFORMANCE / "vectors.json").read_text())["vectors"]
    seen, chosen = Counter(), []
    for vector in vectors:
        if kinds and vector["kind"] not in kinds:
            continue
        if seen[vector["kind"]] % every == 0:
            chosen.append(vector)
        seen[vector["kind"]] += 1
    return chosen


def answers(name, build, vectors):
    """(outcome, text) of each vector, in their order, or Unavailable."""
    try:
        found = {vector["id"]: (outcome, text)
                 for vector, outcome, text in ROUTES[name](build).run(vectors)}
    except Unavailable as reason:
        return reason
    return [found[vector["id"]] for vector in vectors]


def ask(name, build, vectors):
    """The same from a process of its own, as routes register grades and share
    libraries."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(answers, (name, str(build), vectors))
    if isinstance(found, Unavailable):
        raise found
    return found


def report(name, build, vectors, listed):
    """Asks a route and prints what came of it; the number of differences."""
    begin, counts, reasons = time.monotonic(), Counter(), defaultdict(list)
    for vector, (outcome, text) in zip(vectors, ask(name, build, vectors)):
        counts[outcome] += 1
        if outcome == DIFFERENT:
            print(f"{name}: {vector['id']}: {text}")
        elif outcome != OK:
            reasons[outcome, text].append(vector["id"])
    known = f" and {counts[KNOWN]} known ones" if counts[KNOWN] else ""
    print(f"{name}: {len(vectors) - counts[SKIPPED]} vectors run, "
          f"{counts[DIFFERENT]} differences{known}, {counts[SKIPPED]} not applicable "
          f"({time.monotonic() - begin:.1f} s)")
    for (outcome, reason), ids in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"  {len(ids):4} {outcome}: {reason}")
        if listed:
            print("".join(f"         {name}\n" for name in ids), end="")
    return counts[DIFFERENT]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.environ.get(
        "GRIT_BUILD", CONFORMANCE.parents[1] / "build"))
    parser.add_argument("--route", action="append", choices=ROUTES)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--kind", action="append")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()

    vectors = load(arguments.kind, arguments.every)
    differences, missing = 0, 0
    for name in arguments.route or OURS:
        try:
            differences += report(name, arguments.build, vectors, arguments.list)
        except Unavailable as reason:
            print(f"{name}: not run: {reason}")
            missing += bool(arguments.route)
    print(f"{len(vectors)} vectors, {differences} differences")
    return 1 if differences else 2 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
