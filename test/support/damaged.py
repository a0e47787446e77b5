# SPDX-License-Identifier: MIT
"""Databases whose rows somebody has edited: numbers in them that cannot be. The daemon may refuse such a row, and does
not die of it. A stopped daemon `d` has a copy of its database in d.kept."""

import os
import shutil
import signal
import sqlite3
import subprocess

import requests

from .daemon import PATIENCE, SANITIZER
from .deep import some

# No count and no instant; a count, but no state; more than an int holds.
NUMBERS = (-1, 99, 1 << 31)

# Tables of Azure Batch.
BATCH_TABLES = (
    "batch_account", "batch_application", "batch_certificate", "batch_chore", "batch_count",
    "batch_done", "batch_job", "batch_litter", "batch_node_total", "batch_node_user",
    "batch_package", "batch_pool", "batch_sample", "batch_schedule", "batch_seeded_file",
    "batch_subtask", "batch_task", "batch_user_gone", "batch_wait", "node_bar", "node_setup",
)  # fmt: skip


def tables(database):
    with sqlite3.connect(database) as db:
        names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        return {t for (t,) in db.execute(names)}


def numbers(database, table):
    """Its columns with whole numbers; it has a row."""
    with sqlite3.connect(database) as db:
        assert db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] > 0, f"no row in {table}"
        columns = [c[1:3] for c in db.execute(f"PRAGMA table_info({table})")]
    return [name for name, kind in columns if kind == "INTEGER"]


def edit(d, table, column, number):
    """In as many rows as can have it."""
    database = d.state_dir / "batchaid.db"
    for left in d.state_dir.glob("batchaid.db*"):
        left.unlink()
    shutil.copy(d.kept, database)
    with sqlite3.connect(database) as db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        db.execute(f"UPDATE OR IGNORE {table} SET {column} = ?", (number,))
    db.close()


def outcome(d, ask):
    """Starts it, asks it for everything and stops it; or it refuses to start. What was wrong; None: nothing."""
    with open(d.stderr_path, "wb") as stderr:
        environment = {**os.environ, **d.environment}
        d.process = subprocess.Popen(d.command(), stdout=subprocess.PIPE, stderr=stderr, env=environment)
    ready = d.process.stdout.readline().startswith(b"ready")
    try:
        if ready:
            ask(d)
            d.process.send_signal(signal.SIGTERM)
    except requests.ConnectionError:
        pass  # it has died, and its exit code says so
    code = d.process.wait(30 * PATIENCE)
    d.process.stdout.close()
    d.process = None
    said = d.stderr_path.read_text(errors="replace")
    if code < 0 or SANITIZER.search(said):
        return f"exit code {code}: {said[-500:]}"
    if not ready and not (code > 0 and ("damaged" in said or "cannot" in said)):
        return f"it did not start, with exit code {code}, and does not say why: {said[-500:]}"
    return None


def wrongs(d, table, ask):
    """What became of it with each number in each column (in the check: with one number, another in the next column),
    where it ended the daemon."""
    wrong = []
    for turn, column in enumerate(numbers(d.kept, table)):
        for number in some(NUMBERS, first=turn, step=len(NUMBERS)):
            edit(d, table, column, number)
            what = outcome(d, ask)
            wrong += [f"{table}.{column} = {number}: {what}"] if what else []
    return wrong
