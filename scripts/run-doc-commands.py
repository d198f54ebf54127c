#!/usr/bin/env python3
"""Run the commands of a Markdown page, so that the page cannot go stale.

Usage: run-doc-commands.py PAGE WORKDIR [--path DIR]... [--env NAME=VALUE]...

Every fenced block marked ```sh is run by bash, in order, in one shell session in
WORKDIR, which is emptied first; it stops at the first command that fails. Lines of
a block ```console start with "$ " when they are commands; the other lines are what
the command must print (a line "..." stands for any number of lines). A block
```python is run by `python` on PATH. A block ```<language> file=NAME is written to
NAME. Blocks in any other language are left alone, as is a block after the comment
<!-- not run: REASON -->.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

FENCE = re.compile(
    r"(?P<skip><!-- not run: [^\n]+ -->\n+)?^```(?P<info>\w[^\n]*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def blocks(page):
    """Yield (line, language, file name or None, text) of the blocks to run."""
    text = page.read_text()
    for match in FENCE.finditer(text):
        if match["skip"]:
            continue
        language, _, rest = match["info"].partition(" ")
        name = re.fullmatch(r"file=(\S+)", rest.strip())
        line = text.count("\n", 0, match.start("info")) + 1
        yield line, language, name and name[1], match["body"]


def matches(expected, printed):
    """Whether the printed lines are the expected ones, "..." standing for any."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in expected
    )
    lines = "".join(line.rstrip() + "\n" for line in printed.splitlines())
    return re.fullmatch(pattern, lines) is not None


def console_steps(body):
    """Split a console block into (command, expected lines)."""
    steps = []
    for line in body.splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], []))
        elif steps:
            steps[-1][1].append(line)
    return steps


class Runner:
    def __init__(self, page, workdir, environment):
        self.page, self.workdir, self.environment = page, workdir, environment
        self.count = 0

    def run(self, line, command):
        """Run one command and return what it printed; exit when it fails."""
        self.count += 1
        where = f"{self.page}:{line}"
        print(f"--- {where}\n{command if isinstance(command, str) else command[-1]}", flush=True)
        arguments = ["bash", "-euo", "pipefail", "-c", command] if isinstance(command, str) else command
        done = subprocess.run(
            arguments,
            cwd=self.workdir,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        print(done.stdout, end="", flush=True)
        if done.returncode != 0:
            sys.exit(f"{where}: the command failed with exit code {done.returncode}")
        return done.stdout

    def block(self, line, language, name, body):
        if name:
            (self.workdir / name).write_text(body)
        elif language == "sh":
            self.run(line, body)
        elif language == "python":
            self.run(line, ["python", "-c", body])
        elif language == "console":
            for command, expected in console_steps(body):
                printed = self.run(line, command)
                if not matches(expected, printed):
                    sys.exit(f"{self.page}:{line}: the page says that `{command}` prints\n" + "\n".join(expected))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=Path)
    parser.add_argument("workdir", type=Path)
    parser.add_argument("--path", action="append", default=[], help="a directory to put on PATH")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    arguments = parser.parse_args()

    shutil.rmtree(arguments.workdir, ignore_errors=True)
    arguments.workdir.mkdir(parents=True)
    environment = dict(os.environ)
    environment["PATH"] = os.pathsep.join([*map(os.path.abspath, arguments.path), environment["PATH"]])
    environment.update(item.split("=", 1) for item in arguments.env)

    runner = Runner(arguments.page, arguments.workdir, environment)
    for block in blocks(arguments.page):
        runner.block(*block)
    if runner.count == 0:
        sys.exit(f"{arguments.page}: no command found")
    print(f"{runner.count} commands ran")


if __name__ == "__main__":
    main()
