# SPDX-License-Identifier: MIT
"""Databases of earlier schemas, for tests of what a migration does with rows."""

import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "migrations"
MADE = re.compile(r"CREATE (?:UNIQUE )?(?P<kind>TABLE|TRIGGER|INDEX) (?P<name>\w+)|ALTER TABLE (?P<table>\w+) ADD COLUMN (?P<column>\w+)")


def undo(db, down_to):
    """Takes back what the migrations after `down_to` have made."""
    made = [m for f in sorted(FOLDER.glob("*.sql")) if int(f.name[:4]) > down_to for m in MADE.finditer(f.read_text())]
    for m in reversed(made):
        if m["kind"]:
            db.execute(f"DROP {m['kind']} {m['name']}")
        else:
            db.execute(f"ALTER TABLE {m['table']} DROP COLUMN {m['column']}")
    db.execute(f"PRAGMA user_version = {1000 + down_to}")
