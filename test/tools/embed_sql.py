#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Turns migrations/NNNN_name.sql, in order, into rows of a C table: {version, name, sql}."""
import json
import pathlib
import sys

for name in sys.argv[1:]:
    path = pathlib.Path(name)
    number, _, _ = path.name.partition("_")
    lines = "\n".join(json.dumps(line + "\n") for line in path.read_text("ascii").splitlines())
    print(f'{{{int(number)}, "{path.stem}",\n{lines}}},')
