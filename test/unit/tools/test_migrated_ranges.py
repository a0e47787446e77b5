# SPDX-License-Identifier: MIT
"""Migration 0041 makes intervals of the numbers that are done."""

import sqlite3
from pathlib import Path

MIGRATIONS = sorted((Path(__file__).resolve().parents[3] / "migrations").glob("*.sql"))


def test_numbers_become_intervals():
    db = sqlite3.connect(":memory:")
    for path in MIGRATIONS:
        if path.name.startswith("0041"):
            db.executemany("INSERT INTO batch_number VALUES (?, ?)", [(1, n) for n in (0, 1, 2, 5, 7, 8)] + [(2, 3), (2, 1)])
            db.execute("INSERT INTO batch_wait (job_id, task_id, low, high, left) VALUES (1, 1, 3, 8, 3)")
        db.executescript(path.read_text())
    assert sorted(db.execute("SELECT * FROM batch_done")) == [(1, 0, 2), (1, 5, 5), (1, 7, 8), (2, 1, 1), (2, 3, 3)]
    assert list(db.execute("SELECT job_id, low, high FROM batch_wait")) == [(1, 3, 8)]
