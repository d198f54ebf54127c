#!/usr/bin/env python3
"""Prints the code that a gpu.binary holds.

    grit-opt model.mlir --grit-to-nvvm="chip=sm_90a format=isa" | scripts/extract-ptx.py

Reads IR with the output of gpu-module-to-binary on standard input and writes
the code of the objects (PTX text for format=isa, LLVM bitcode for format=llvm,
a cubin for format=bin) to standard output.
"""

import re
import sys

OBJECT = re.compile(rb'(?:assembly = |offload = |bin = |, )"((?:[^"\\]|\\.)*)">\s*[,\]]')
ESCAPE = re.compile(rb'\\([0-9A-Fa-f]{2}|[\\"])')


def unescape(match):
    """The byte that an escape in an MLIR string stands for."""
    code = match.group(1)
    return code if code in (b"\\", b'"') else bytes([int(code, 16)])


def main():
    text = sys.stdin.buffer.read()
    found = [m.group(1) for m in OBJECT.finditer(text)]
    if not found:
        sys.exit("extract-ptx.py: no #gpu.object in the input; was format=isa given?")
    for code in found:
        sys.stdout.buffer.write(ESCAPE.sub(unescape, code))


if __name__ == "__main__":
    main()
