"""Reads x86 assembly and says what the loops of functions do per element.

Usage: inspect-loops.py [FUNCTION...] < kernels.s

Without names: every decode and matmul, numbered from 0. A loop is what a branch back closes in the graph of basic blocks. For each
function, and those of the file that it calls (but for what looks at sparse indices
before the kernel and repairs them), prints the innermost loops: how
many instructions work on packed lanes and how many on single numbers. Fails
when there is no loop at all, when an innermost loop has no packed instruction
(a scalar loop over elements), or when one calls something (a call per element).
"""

import re
import sys

PACKED = re.compile(r"\t(v?p[a-z0-9]+|v?[a-z0-9]+p[sd]|v?movdq[au]?\d*)\t.*%[xyz]mm")
SINGLE = re.compile(r"\tv?[a-z0-9]+s[sd]\t")
BRANCH = re.compile(r"\tj([a-z]+)\t(\.L\w+)")
BESIDES = ("sparse_runs_are_full", "sparse_order_survivors")
LEAVES = re.compile(r"\t(ret|ud2|jmp\tq?\*)")


def functions(text):
    """The lines of each function, by name."""
    name = None
    result = {}
    for line in text.splitlines():
        start = re.match(r"(\w+):", line)
        if start:
            name = start.group(1)
            result[name] = []
        elif line.startswith("\t.size"):
            name = None
        elif name:
            result[name].append(line)
    return result


class Graph:
    """The basic blocks of a function; block 0 is the entry."""

    def __init__(self, lines):
        self.blocks = [[]]
        self.labels = {}
        for line in lines:
            if line.startswith(".L"):
                self.blocks.append([])
                self.labels[line.split(":")[0]] = len(self.blocks) - 1
            else:
                self.blocks[-1].append(line)
                if BRANCH.match(line) or LEAVES.match(line):
                    self.blocks.append([])
        self.successors = [self.targets(i) for i in range(len(self.blocks))]

    def targets(self, index):
        last = self.blocks[index][-1] if self.blocks[index] else ""
        branch = BRANCH.match(last)
        result = [self.labels[branch.group(2)]] if branch else []
        falls_through = not LEAVES.match(last) and not (branch and branch.group(1) == "mp")
        if falls_through and index + 1 < len(self.blocks):
            result.append(index + 1)
        return result

    def reachable(self, start, without=None):
        seen, stack = set(), [start]
        while stack:
            block = stack.pop()
            if block not in seen and block != without:
                seen.add(block)
                stack += self.successors[block]
        return seen

    def loops(self):
        """Header to blocks: a header dominates a block that branches back to it."""
        result = {}
        alive = self.reachable(0)
        for header in alive:
            dominated = alive - self.reachable(0, without=header)
            back = {block for block in dominated if header in self.successors[block]}
            if back:
                result[header] = {header} | {
                    block
                    for block in dominated
                    if back & self.reachable(block, without=header)
                }
        return result

    def innermost_loops(self):
        loops = self.loops()
        return [
            body
            for header, body in loops.items()
            if not any(other != header and other in body for other in loops)
        ]


def inspect(name, lines):
    """Prints the innermost loops; how many there are, and how many are bad."""
    loops = bad = 0
    graph = Graph(lines)
    for loop in graph.innermost_loops():
        body = [line for block in sorted(loop) for line in graph.blocks[block]]
        packed = sum(bool(PACKED.match(line)) for line in body)
        single = sum(bool(SINGLE.match(line)) for line in body)
        calls = sum(line.startswith("\tcall") for line in body)
        print(f"{name}: innermost loop: {packed} packed, {single} single, {calls} calls")
        loops += 1
        if packed == 0 or calls:
            bad += 1
            print("  not vector code:", *body, sep="\n")
    return loops, bad


def called(name, code):
    """A function of the file and those that it calls, however deep."""
    seen, stack = set(), [name]
    while stack:
        function = stack.pop()
        if function in code and function not in seen and not function.startswith(BESIDES):
            seen.add(function)
            stack += re.findall(r"\tcallq\t(\w+)", "\n".join(code[function]))
    return sorted(seen)


def main(names):
    code = functions(sys.stdin.read())
    names = names or [name for name in code if re.fullmatch(r"(decode|matmul)\d+", name)]
    failed = not names
    for name in names:
        counts = [inspect(function, code[function]) for function in called(name, code)]
        if sum(loops for loops, _ in counts) == 0:
            print(f"{name}: no loop")
            failed = True
        failed |= any(bad for _, bad in counts)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
