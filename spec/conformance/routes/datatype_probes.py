# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Questions to grit-datatype about constraints that no vector can ask. Each probe
returns "" where the package does what the constraint says, else what it does instead."""

import contextlib
import json
import os
from fractions import Fraction

from . import reference

PROBES = {}


def probe(function):
    """The probe of the constraint that its name ends with."""
    PROBES[function.__name__.removeprefix("probe_").upper()] = function
    return function


def view_of(package, **fields):
    desc = package.desc_for_grade("GRADE_MXFP4").replace(**fields)
    return package.GritView(desc=desc, shape=(32,), planes=(bytes(16), b"\x7f", b"", b""))


def assume(package, view, word=None, reason="a probe", role="data"):
    word = package.P_ROW_MAJOR if word is None else word
    return package.assume_placement(view, word, reason, role)


def refuses(package, call):
    try:
        call()
    except (package.GritAuditError, package.GritError, ValueError):
        return True
    return False


def is_assumed(package, view):
    return bool(view.desc.note & package.NOTE_ASSUMED)


@contextlib.contextmanager
def ceiling(text):
    os.environ["GRIT_AUDIT_MAX_RATE"] = text
    try:
        yield
    finally:
        del os.environ["GRIT_AUDIT_MAX_RATE"]


@probe
def probe_a1(package):
    good = all(refuses(package, lambda: assume(package, view_of(package), reason=text))
               for text in ("", " \t", None))
    return "" if good else "it takes an assumption without a reason"


@probe
def probe_a2(package):
    word = package.P_COL_MAJOR
    moved = assume(package, view_of(package), word)
    good = (moved.desc.placement_data == word and moved.planes == view_of(package).planes
            and refuses(package, lambda: assume(package, view_of(package), 0x2000000000000001)))
    return "" if good else "it assumes words that are no placements"


@probe
def probe_a3(package):
    return "" if is_assumed(package, assume(package, view_of(package))) else "no bit is set"


@probe
def probe_a5(package):
    """The planes are too short for any placement."""
    view = package.GritView(desc=view_of(package).desc, shape=(32,),
                            planes=(b"", b"", b"", b""))
    claimed = assume(package, view)
    if refuses(package, lambda: package.verify_placement(claimed, package.P_ROW_MAJOR)):
        return ""
    return "verify_placement reads no byte"


@probe
def probe_a6(package):
    view = assume(package, assume(package, view_of(package)), role="scale")
    verified = package.verify_placement(view, package.P_ROW_MAJOR, "data")
    return "" if is_assumed(package, verified) else "one verified role clears the bit for all"


@probe
def probe_a7(package):
    before = len(package.audit.entries())
    assume(package, view_of(package))
    return "" if len(package.audit.entries()) == before + 1 else "no record is added"


@probe
def probe_a8(package):
    assume(package, view_of(package))
    record = json.loads(package.audit.to_jsonl().splitlines()[-1])
    wanted = {"gid_after", "gid_before", "placement_from", "placement_to", "plane_role",
              "reason", "source_location", "timestamp"}
    good = list(record) == sorted(record) and wanted <= set(record)
    return "" if good else f"the keys are {', '.join(record)}"


@probe
def probe_a9(package):
    """Records and no crossing; the counter is the only way to have none."""
    crossings = package.check._CROSSINGS[0]
    package.check._CROSSINGS[0] = 0
    try:
        assume(package, view_of(package))
        return "" if package.audit.rate() >= 1 else "without crossings the rate is 0"
    finally:
        package.check._CROSSINGS[0] = crossings


@probe
def probe_a10(package):
    with ceiling("0"):
        good = refuses(package, lambda: assume(package, view_of(package)))
    return "" if good else "the ceiling is ignored"


@probe
def probe_a11(package):
    texts = ("none", "-1", "nan", "")
    taken = []
    for text in texts:
        with ceiling(text):
            if not refuses(package, lambda: assume(package, view_of(package))):
                taken.append(repr(text))
    return "" if not taken else f"a ceiling of {' or '.join(taken)} refuses nothing"


@probe
def probe_a12(package):
    view = view_of(package)
    same = assume(package, view)
    other = assume(package, view, package.P_COL_MAJOR)
    gid = view.compute_gid()
    return "" if same.compute_gid() == gid != other.compute_gid() else "the bit is hashed"


@probe
def probe_c1(package):
    raw = bytes(64)
    return "" if refuses(package, lambda: package.grit_check(raw, [32], [16, 1, 0, 0])) \
        else "a failure can be dropped"


@probe
def probe_c29(package):
    a = package.desc_for_grade("GRADE_MXFP4")
    text = package.explain(a, a.replace(k0=64))
    differing = [line for line in text.splitlines()[1:] if line.strip()]
    good = (len(differing) == 1 and "k0" in differing[0] and "32" in differing[0]
            and "64" in differing[0] and "identical" in package.explain(a, a))
    return "" if good else "the fields that differ are not one line each"


@probe
def probe_g11(package):
    try:
        package.canonicalize("grit1(e=e2m2,k0=32,s0=e8m0,esr=floor)")
    except package.GradeError as error:
        said = str(error)
        return "" if "e2m2" in said and "e2m1" in said else "the nearest word is not named"
    return "the text is taken"


@probe
def probe_g12(package):
    for text in ("", "grit1(", "\x00", "grit1(e=e2m1,k0=\u00b2,s0=e8m0,esr=floor)"):
        try:
            package.canonicalize(text)
        except package.GradeError:
            pass
        except Exception as error:
            return f"it raises {type(error).__name__} for a superscript digit"
    return ""


@probe
def probe_e1(package):
    values = [1 + i / 7 for i in range(32)]
    rounded = [reference.f32(Fraction(value)) for value in values]
    found = package.encode("GRADE_I8S24", values)
    return "" if found == package.encode("GRADE_I8S24", rounded) else "doubles are not rounded"


@probe
def probe_l9(package):
    """What level 1 finds, level 2 finds."""
    for sizes in ([16, 1, 0, 0], [15, 1, 0, 0], [16, 1, 0, 1]):
        raw = package.desc_for_grade("GRADE_MXFP4").pack()
        planes = [bytes(size) for size in sizes]
        one = package.grit_check_status(raw, [32], sizes, 1).status
        two = package.grit_check_status(raw, [32], sizes, 2, None, planes).status
        if one != two:
            return f"level 1 says {one.spec_name}, level 2 {two.spec_name}"
    return ""
