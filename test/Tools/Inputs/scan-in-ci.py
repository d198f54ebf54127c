"""Runs the commands of examples/scan-in-ci: scan-in-ci.py EXAMPLES FOLDER."""
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import textwrap

examples, folder = map(pathlib.Path, sys.argv[1:])
hook = (examples / "pre-commit-hooks.yaml").read_text()
workflow = (examples / "scan.yml").read_text()


def field(text, name):
    return re.search(rf"^ *{name}: (.*)$", text, re.M)[1]


def tensors(entries):
    header, offset = {}, 0
    for name, (dtype, shape, size) in entries.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(offset)


PACKED = {"m.weight": ("U8", [4, 16], 64), "m.weight_scale": ("F8_E4M3", [4, 2], 8),
          "m.weight_scale_2": ("F32", [], 4)}
CASES = {
    "clean": {"a.safetensors": tensors({"w": ("F32", [4], 16)})},
    "warnings only": {"a.safetensors": tensors(PACKED)},
    "disagreement": {"a.safetensors": tensors(PACKED), "config.json":
                     b'{"quantization_config": {"quant_method": "gptq"}}'},
    "violation": {"a.safetensors": tensors({"w": ("F32", [4], 16)}) + b"1234567"},
}

# What starts them: every file that a scan reads.
pattern = field(hook, "files")
globs = re.findall(r'^ +- "\*\*/(.*)"$', workflow, re.M)
for name in ("model.safetensors", "a/model.gguf", "a/model.safetensors.index.json",
             "config.json", "a/config.json", "hf_quant_config.json", "quantize_config.json",
             "a/quant_config.json", "manifest.json", "a/w.manifest.json"):
    assert re.search(pattern, name), name
    assert any(pathlib.PurePath(name).match(glob) for glob in globs), name
for name in ("README.md", "tokenizer_config.json", "package.json"):
    assert not re.search(pattern, name), name
    assert not any(pathlib.PurePath(name).match(glob) for glob in globs), name
assert field(hook, "pass_filenames") == "false"

command = field(hook, "entry").split() + json.loads(field(hook, "args"))
step = textwrap.dedent(re.search(r"^ +run: \|\n((?: {10}.*\n)+)", workflow, re.M)[1])
same = 0
for case, files in CASES.items():
    directory = folder / case
    directory.mkdir()
    for name, content in files.items():
        (directory / name).write_bytes(content)
    quiet = {"cwd": directory, "stdout": subprocess.DEVNULL}
    code = subprocess.run(command, check=False, **quiet).returncode
    print(f"{case}: {code}", flush=True)
    same += subprocess.run(["bash", "-c", step], check=False, **quiet).returncode == code
    assert (directory / "scan.html").stat().st_size > 0
    log = json.loads((directory / "scan.sarif").read_text())
    for result in log["runs"][0]["results"]:
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert os.path.exists(directory / uri), uri
print(f"workflow: {same} times as the hook")
