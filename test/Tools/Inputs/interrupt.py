"""Stops a command once its temporary file exists; nothing of it may remain.

interrupt.py DIRECTORY SIGNAL COMMAND...
"""
import os
import signal
import subprocess
import sys
import time

directory, number, command = sys.argv[1], getattr(signal, sys.argv[2]), sys.argv[3:]
before = set(os.listdir(directory))
process = subprocess.Popen(command)
deadline = time.time() + 60
while set(os.listdir(directory)) == before and process.poll() is None:
    assert time.time() < deadline, "no temporary file appeared"
    time.sleep(0.001)
process.send_signal(number)
process.wait(60)
assert process.returncode == -number, process.returncode
assert set(os.listdir(directory)) == before, os.listdir(directory)
print("nothing left")
