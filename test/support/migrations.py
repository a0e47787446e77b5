# SPDX-License-Identifier: MIT
"""Databases of earlier schemas, for tests of what a migration does with rows."""

import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "migrations"
MADE = re.compile(r"CREATE (?:UNIQUE )?(?P<kind>TABLE|TRIGGER|INDEX) (?P<name>\w+)|ALTER TABLE (?P<table>\w+) ADD COLUMN (?P<column>\w+)")


REMADE = re.compile(r"DROP INDEX (\w+)")


def undo(db, down_to):
    """Takes back what the migrations after `down_to` have made, and makes the indexes again that they have made anew."""
    files = sorted(FOLDER.glob("*.sql"))
    before = "".join(f.read_text() for f in files if int(f.name[:4]) <= down_to)
    after = [f.read_text() for f in files if int(f.name[:4]) > down_to]
    for m in reversed([m for text in after for m in MADE.finditer(text)]):
        if m["kind"]:
            db.execute(f"DROP {m['kind']} IF EXISTS {m['name']}")
        else:
            db.execute(f"ALTER TABLE {m['table']} DROP COLUMN {m['column']}")
    for name in REMADE.findall("".join(after)):
        db.execute(re.search(rf"CREATE (?:UNIQUE )?INDEX {name}\b[^;]*;", before)[0])
    db.execute(f"PRAGMA user_version = {1000 + down_to}")
