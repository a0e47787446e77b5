#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Turns migrations/NNNN_name.sql, in order, into rows of a C table: {version, name, sql}. Of two migrations with one
number a database that has the first would never get the second."""
import json
import pathlib
import sys

for expected, name in enumerate(sys.argv[1:], 1):
    path = pathlib.Path(name)
    number, _, _ = path.name.partition("_")
    if int(number) != expected:
        sys.exit(f"{name} should be number {expected}: migrations count 1, 2, 3, each once")
    lines = "\n".join(json.dumps(line + "\n") for line in path.read_text("ascii").splitlines())
    print(f'{{ST_SCHEMA_BASE + {int(number)}, "{path.stem}",\n{lines}}},')
