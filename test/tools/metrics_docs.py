#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Keeps the tables of docs/metrics.md, which are made of those of metrics (api/metrics/).

    metrics_docs.py            lists whether docs/metrics.md is stale; exit code 1 if it is
    metrics_docs.py --write    brings it up to date
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE, FOLDER = "docs/metrics.md", "api/metrics"
SUFFIXES = {"GAUGE": "", "COUNTER": "_total", "INFO": "_info", "HISTOGRAM": ""}
TABLE = re.compile(r"const struct (?:row_)?metric (\w+)\[\] = \{(.*?)\n\};", re.DOTALL)
ROW = re.compile(r'\{"(\w+)", METRIC_(\w+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+),\s*\w+\}')
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def rows(text):
    """(name of a sample, type, help) of each row."""
    for name, kind, literals in ROW.findall(text):
        said = "".join(LITERAL.findall(literals)).replace('\\"', '"')
        yield name + SUFFIXES[kind], kind.lower(), said


def tables():
    """{name of the table: its text as a table of the page}"""
    found = {}
    for path in sorted((ROOT / FOLDER).glob("*.c")):
        for name, body in TABLE.findall(path.read_text()):
            lines = ["| metric | type | what it says |", "| --- | --- | --- |"]
            lines += [f"| `{n}` | {kind} | {said} |" for n, kind, said in rows(body)]
            assert len(lines) - 2 == body.count('{"'), f"{path}: a row of {name} has another form"
            found[name] = "\n".join(lines)
    return found


def current(text):
    for name, table in tables().items():
        first, last = f"<!-- begin {name} -->\n", f"<!-- end {name} -->\n"
        assert text.count(first) == text.count(last) == 1, f"{PAGE} lacks the place of {name}"
        before, rest = text.split(first)
        text = before + first + "\n" + table + "\n\n" + last + rest.split(last)[1]
    return text


def main(write):
    page = ROOT / PAGE
    text = page.read_text()
    if current(text) == text:
        return 0
    if write:
        page.write_text(current(text))
        return 0
    print(f"stale: {PAGE}; run make docs-update")
    return 1


if __name__ == "__main__":
    sys.exit(main("--write" in sys.argv[1:]))
