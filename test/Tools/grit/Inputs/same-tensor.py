"""same-tensor.py A B NAME: fails unless both files have the same tensor."""
import sys

from safetensors.numpy import load_file

a, b = (load_file(path)[sys.argv[3]] for path in sys.argv[1:3])
assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
