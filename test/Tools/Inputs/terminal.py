"""Runs a command whose standard error is a terminal, and prints what it showed there."""
import os
import pty
import subprocess
import sys

ours, theirs = pty.openpty()
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=theirs, check=False)
os.close(theirs)
shown = b""
try:
    while piece := os.read(ours, 4096):
        shown += piece
except OSError:  # the other end is closed
    pass
sys.stdout.write(ascii(shown.decode()))
sys.exit(done.returncode)
