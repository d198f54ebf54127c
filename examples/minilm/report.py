# Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tables and the picture of the demo."""


def table(rows, columns):
    """Text of a table; a column is (title, function of a row)."""
    cells = [[title for title, _ in columns]]
    cells += [[str(value(row)) for _, value in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = ["  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                       for i, (cell, width) in enumerate(zip(line, widths)))
             for line in cells]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def exactness(row, what):
    """'identical (1,234)' or how much differs."""
    found = [c for c in row["comparisons"] if c["what"].startswith(what)]
    if not found:
        return "-"
    total, wrong = sum(c["compared"] for c in found), sum(c["different"] for c in found)
    return f"{total:,} same" if wrong == 0 else f"{wrong:,} of {total:,} DIFFER"


def speed(row, rows, threads, key="milliseconds"):
    return next(t[key] for t in row["times"] if (t["rows"], t["threads"]) == (rows, threads))


def accuracy_table(result):
    return table(result["contracts"], [
        ("contract", lambda r: r["label"]),
        ("bytes/weight", lambda r: f"{r['bytes_per_weight']:.4f}"),
        ("weights, error", lambda r: f"{r['weight_error']:.2%}"),
        ("matmul, error", lambda r: f"{r['matmul_error']:.2%}"),
        ("kernel, error", lambda r: f"{r['kernel_error']:.1e}"),
        ("decoded values", lambda r: exactness(r, "decode")),
        ("encoded bytes", lambda r: exactness(r, "encode")),
        ("compiled", lambda r: exactness(r, "compiled")),
    ])


def speed_table(result):
    columns = [("contract", lambda r: r["label"])]
    for rows in result["rows"]:
        for threads in result["threads"]:
            columns += [
                (f"{rows} row{'s' * (rows > 1)} x {threads} thr, ms",
                 lambda r, a=(rows, threads): f"{speed(r, *a):.2f}"),
                ("roof", lambda r, a=(rows, threads): f"{speed(r, *a, 'roof'):.1%}")]
    return table(result["contracts"] + [result["float32"]], columns)


def plot(result, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    contracts = result["contracts"]
    places = range(len(contracts))
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
    for i, (key, label) in enumerate([("weight_error", "of the weights"),
                                      ("matmul_error", "of the layers' outputs")]):
        left.bar([x + 0.4 * i - 0.2 for x in places], [row[key] * 100 for row in contracts],
                 0.4, label=label)
    left.set_xticks(places, [f"{row['label']}\n{row['bytes_per_weight'] * 8:.2f} bits"
                             for row in contracts])
    left.set_ylabel("relative error, %")
    left.set_title("all-MiniLM-L6-v2, every linear layer")
    left.legend()
    settings = [(rows, threads) for rows in result["rows"] for threads in result["threads"]]
    width = 0.8 / len(settings)
    for i, (rows, threads) in enumerate(settings):
        right.bar([x + (i + 0.5) * width - 0.4 for x in places],
                  [speed(row, rows, threads, "roof") * 100 for row in contracts], width,
                  label=f"{rows} row{'s' * (rows > 1)}, {threads} thread{'s' * (threads > 1)}")
    right.set_xticks(places, [row["label"] for row in contracts])
    right.set_ylabel("of the machine's roof, %")
    right.set_title("grit.matmul")
    right.legend()
    figure.savefig(path, dpi=120)
    plt.close(figure)
