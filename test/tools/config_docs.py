#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Keeps the texts that are generated from the table of settings (daemon/config/config_table.c).

    config_docs.py            lists what is stale; exit code 1 if anything is
    config_docs.py --write    brings it up to date
`batchaid help config FORMAT` is asked for the text; $BATCHAID names the program.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# file, format, lines between which the text stands (None: it is the whole file)
GENERATED = [
    ("etc/batchaid.yaml.example", "yaml", None),
    ("docs/man/batchaid.yaml.5", "man", ('.\\" begin settings', '.\\" end settings')),
    ("docs/configuration.md", "markdown", ("<!-- begin settings -->", "<!-- end settings -->")),
]


def generate(format_name):
    program = os.environ.get("BATCHAID", str(ROOT / "build" / "batchaid"))
    return subprocess.run([program, "help", "config", format_name], check=True,
                          capture_output=True, text=True).stdout


def with_current(text, format_name, marks):
    if marks is None:
        return generate(format_name)
    first, last = marks
    pattern = re.compile(f"({re.escape(first)}\n).*?({re.escape(last)}\n)", re.DOTALL)
    assert len(pattern.findall(text)) == 1, f"not once: {first} ... {last}"
    return pattern.sub(lambda m: m[1] + generate(format_name) + m[2], text)


def main(write):
    stale = []
    for name, format_name, marks in GENERATED:
        path = ROOT / name
        text = path.read_text() if path.exists() else ""
        current = with_current(text, format_name, marks)
        if current == text:
            continue
        stale.append(name)
        if write:
            path.write_text(current)
    if stale and not write:
        print(f"stale: {', '.join(stale)}; run make docs-update")
    return 1 if stale and not write else 0


if __name__ == "__main__":
    sys.exit(main("--write" in sys.argv[1:]))
