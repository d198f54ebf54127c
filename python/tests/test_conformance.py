# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spec/conformance: every vector against this package, and the runner itself, which
puts the vectors to the other implementations."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "spec/conformance"))
import run  # noqa: E402
from routes import DIFFERENT, OK, Unavailable  # noqa: E402

BUILD = os.environ.get("GRIT_BUILD", str(ROOT / "build"))
VECTORS = run.load()
KINDS = {vector["kind"] for vector in VECTORS}


@pytest.fixture(scope="module", params=["python", "c", "mlir", "datatype"])
def route(request):
    try:
        return run.ROUTES[request.param](BUILD)
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def package():
    return run.ROUTES["python"](BUILD)


@pytest.mark.parametrize("vector", [
    pytest.param(vector, id=vector["id"]) for vector in VECTORS
    if vector["kind"] not in run.ROUTES["python"].not_offered])
def test_vector(package, vector):
    outcome, text = package.outcome(vector)
    assert outcome != DIFFERENT, text


def test_every_kind_has_an_answer_or_a_reason(route):
    assert set(route.answers) | set(route.not_offered) == KINDS
    assert not set(route.answers) & set(route.not_offered)
    assert set(route.known) <= {vector["id"] for vector in VECTORS}


def altered(value):
    """Another answer of the same form."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return value[:-1] + ("1" if value[-1:] != "1" else "2")
    if isinstance(value, list):
        return [altered(value[0]), *value[1:]] if value else ["1"]
    assert value is None
    return "1"


def wrong_answers(route, kind, expected):
    """What a route must not take for the answer to a vector of this kind."""
    refusals = any(vector["kind"] == kind and "refused" in vector["expected"]
                   for vector in VECTORS)
    if refusals:
        yield {"refused": "GradeUnknown"}
    if kind in ("check", "sizes"):
        yield {"status": "PlacementUnknown"}
    elif (route.name, kind) != ("mlir", "format_word"):  # where words are only accepted
        yield {key: altered(value) for key, value in expected.items()}


def test_a_route_notices_wrong_answers(route):
    for kind in sorted(route.answers):
        vectors = [vector for vector in VECTORS if vector["kind"] == kind
                   and vector["id"] not in route.known and "refused" not in vector["expected"]
                   and vector["expected"].get("status", "Ok") == "Ok"]
        good = next(vector for vector in vectors if next(route.run([vector]))[1] == OK)
        for wrong in wrong_answers(route, kind, good["expected"]):
            assert next(route.run([{**good, "expected": wrong}]))[1] != OK, (kind, wrong)


def test_the_faults_of_grit_datatype_are_as_listed():
    """Each vector that it is said to answer otherwise, and no other one."""
    try:
        datatype = run.ROUTES["datatype"](BUILD)
    except Unavailable as reason:
        pytest.skip(str(reason))
    differences = [text for _, outcome, text in datatype.run(VECTORS) if outcome == DIFFERENT]
    assert not differences


def test_the_runner_counts_what_it_skips():
    done = subprocess.run(
        [sys.executable, ROOT / "spec/conformance/run.py", "--build", BUILD, "--route",
         "python", "--kind", "layout", "--kind", "base32", "--list"],
        capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "python: 13 vectors run, 0 differences, 28 not applicable" in done.stdout
    assert "  28 not applicable: layout expressions are not part of the package" in done.stdout
    assert done.stdout.count("         layout/") == 28


def test_the_runner_says_what_is_not_built(tmp_path):
    done = subprocess.run(
        [sys.executable, ROOT / "spec/conformance/run.py", "--build", tmp_path,
         "--route", "cpp"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "cpp: not run:" in done.stdout
