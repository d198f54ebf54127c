#!/usr/bin/env python3
"""Plot what Google Benchmark wrote, and print it as a table.

Usage: plot-benchmarks.py PICTURE JSON...

A benchmark that knows the roof of its machine (measured in the same run) says what
fraction of it was reached in a counter `roof`; these are plotted as bars, one panel
per program.
"""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def measurements(path):
    """(name, milliseconds, fraction of the roof or None) of each benchmark."""
    scale = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
    for run in json.loads(path.read_text())["benchmarks"]:
        if run.get("run_type") == "aggregate":
            continue
        if run.get("error_occurred"):
            sys.exit(f"{path}: {run['name']}: {run['error_message']}")
        yield run["name"], run["real_time"] * scale[run["time_unit"]], run.get("roof")


def main(args):
    if len(args) < 2:
        sys.exit(__doc__)
    picture, programs = args[0], {Path(a).stem: list(measurements(Path(a))) for a in args[1:]}
    panels = {}
    for program, rows in programs.items():
        print(f"\n{program:<60} {'ms':>12} {'of the roof':>12}")
        for name, time, roof in rows:
            share = "" if roof is None else f"{roof:12.1%}"
            print(f"{name:<60} {time:12.4f} {share:>12}")
        bars = [(name, roof) for name, _, roof in rows if roof is not None]
        if bars:
            panels[program] = bars
    if not panels:
        sys.exit("no benchmark reports a fraction of the roof")

    heights = [len(bars) for bars in panels.values()]
    figure, axes = plt.subplots(
        len(panels), 1, squeeze=False, layout="constrained",
        figsize=(9, 1 + 0.25 * sum(heights)), height_ratios=heights,
    )
    for axis, (program, bars) in zip(axes[:, 0], panels.items()):
        axis.barh([name for name, _ in bars], [roof for _, roof in bars])
        axis.invert_yaxis()
        axis.set_title(program)
        axis.set_xlabel("fraction of the measured roof")
        axis.axvline(1, color="grey", linewidth=0.8)
    figure.savefig(picture, dpi=120)
    print(f"\nwrote {picture}")


if __name__ == "__main__":
    main(sys.argv[1:])
