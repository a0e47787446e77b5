# SPDX-License-Identifier: MIT
"""Databases of earlier schemas, for tests of what a migration does with rows."""

import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "migrations"
MADE = re.compile(r"CREATE (?:UNIQUE )?(?P<kind>TABLE|TRIGGER|INDEX) (?P<name>\w+)|ALTER TABLE (?P<table>\w+) ADD COLUMN (?P<column>\w+)")
REMADE = re.compile(r"DROP (INDEX|TRIGGER) (\w+)")
GONE = re.compile(r"ALTER TABLE (\w+) DROP COLUMN (\w+)")
ENDS = {"INDEX": r"[^;]*;", "TRIGGER": r".*?\nEND;"}


def undo(db, down_to):
    """Takes back what the migrations after `down_to` have made, and makes the indexes and triggers again that they dropped."""
    files = sorted(FOLDER.glob("*.sql"))
    before = "".join(f.read_text() for f in files if int(f.name[:4]) <= down_to)
    after = [f.read_text() for f in files if int(f.name[:4]) > down_to]
    for m in reversed([m for text in after for m in MADE.finditer(text)]):
        if (m["table"], m["column"]) in GONE.findall("".join(after)):
            continue  # a later migration has taken it back
        if m["kind"]:
            db.execute(f"DROP {m['kind']} IF EXISTS {m['name']}")
        else:
            db.execute(f"ALTER TABLE {m['table']} DROP COLUMN {m['column']}")
    for kind, name in REMADE.findall("".join(after)):
        if made := re.search(rf"CREATE (?:UNIQUE )?{kind} {name}\b{ENDS[kind]}", before, re.DOTALL):
            db.execute(made[0])
    db.execute(f"PRAGMA user_version = {1000 + down_to}")
