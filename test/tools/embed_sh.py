#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Turns NAME.sh into a C string called NAME_program, without its comment lines."""
import json
import pathlib
import sys

for name in sys.argv[1:]:
    path = pathlib.Path(name)
    code = [line for line in path.read_text("ascii").splitlines() if line and not line.startswith("#")]
    lines = "\n".join(json.dumps(line + "\n") for line in code)
    print(f"static const char {path.stem}_program[] =\n{lines};")
