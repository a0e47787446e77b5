# SPDX-License-Identifier: MIT
"""Migrations are numbered without a gap, and those that were ever committed are never edited."""

import hashlib
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FIRST = ROOT / "migrations" / "0001_schema.sql"
SUMS = FIRST.with_name("sums.txt")
BASE = 1000


def schema(*scripts):
    """Whose schema these scripts make, by kind and name."""
    db = sqlite3.connect(":memory:")
    db.execute("PRAGMA foreign_keys = OFF")
    for script in scripts:
        db.executescript(script.read_text())
    return {(kind, name): sql for kind, name, sql in db.execute("SELECT type, name, sql FROM sqlite_schema")}


def test_the_first_migration_makes_the_schema_of_1_0_0():
    """The stored state directory is the witness."""
    stored = ROOT / "test" / "fixtures" / "1.0.0" / "state.sql"
    assert f"PRAGMA user_version = {BASE + 1};" in stored.read_text()
    then, now = schema(stored), schema(FIRST)
    assert now and {k: v for k, v in now.items() if then.get(k) != v} == {}
    assert then.keys() == now.keys()


def test_each_migration_has_its_sum():
    """A daemon goes by a database's number: one number must mean one schema. A new migration adds a line, by sha256sum."""
    there = [f"{hashlib.sha256(f.read_bytes()).hexdigest()}  {f.name}" for f in sorted(SUMS.parent.glob("*.sql"))]
    assert SUMS.read_text().splitlines() == there


def test_no_sum_was_ever_changed():
    def git(*arguments):
        return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)

    if not shutil.which("git") or git("rev-parse", "HEAD").returncode != 0:
        pytest.skip("the tree has no history")
    now = SUMS.read_text().splitlines()
    for commit in git("log", "--format=%h", "--", SUMS).stdout.split():
        then = git("show", f"{commit}:migrations/sums.txt").stdout.splitlines()
        assert now[: len(then)] == then, f"a migration of commit {commit} was edited"


def test_a_gap_in_the_numbers_is_refused(tmp_path):
    third = tmp_path / "0003_third.sql"
    third.write_text("SELECT 1;\n")
    tool = [sys.executable, ROOT / "test" / "tools" / "embed_sql.py", FIRST]
    done = subprocess.run([*tool, third], capture_output=True, text=True)
    assert done.returncode != 0 and "should be number 2" in done.stderr
    assert subprocess.run(tool, capture_output=True, text=True).stdout.startswith('{ST_SCHEMA_BASE + 1, "0001_schema",')
