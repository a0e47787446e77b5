# SPDX-License-Identifier: MIT
"""A backup that finds no room, is killed, or is made beside a long transaction: a copy under its name is whole, and what was
not completed is replaced by the next backup."""

import os
import resource
import signal
import sqlite3
import subprocess

import pytest
from support.daemon import BATCHAID
from support.small_disk import fill

ROWS = 16  # of 64 KiB each, so that the copy has several pieces


@pytest.fixture
def state(own_daemon):
    """The state directory of a daemon that was killed, with a write-ahead log; it has a table more."""
    d = own_daemon()
    d.kill9()
    with sqlite3.connect(d.state_dir / "batchaid.db") as db:
        db.execute("PRAGMA wal_autocheckpoint = 0")
        db.execute("CREATE TABLE big (b BLOB)")
        db.executemany("INSERT INTO big VALUES (zeroblob(65536))", [()] * ROWS)
    yield d.state_dir


def back_up(state, copy, most=resource.RLIM_INFINITY):
    """`most`: the size of a file at which the system kills the process."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    tool = [BATCHAID, "backup", "--state-dir", state, copy]
    return subprocess.run(tool, capture_output=True, text=True, preexec_fn=limit)


def must_be_whole(copy, rows=ROWS):
    assert [p.name for p in copy.parent.iterdir() if p.name.startswith(copy.name)] == [copy.name]
    db = sqlite3.connect(copy)
    assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert db.execute("SELECT count(*), min(length(b)) FROM big").fetchall() == [(rows, 65536)]
    db.close()


@pytest.mark.parametrize("room", [0, 1 << 16, 1 << 20])
def test_a_full_disk_is_named_and_nothing_is_left_there(state, small_disk, room):
    disk = small_disk / "state"
    assert disk.is_mount(), "or the machine's own disk would be filled"
    copy = disk / "copy.db"
    gap = disk / "gap"
    gap.write_bytes(b"x" * room)
    fill(disk / "filler")
    gap.unlink()
    failed = back_up(state, copy)
    assert failed.returncode == 1 and "disk is full" in failed.stderr and str(copy) in failed.stderr, failed.stderr
    assert os.listdir(disk) == ["filler"]
    (disk / "filler").unlink()
    made = back_up(state, copy)
    assert made.returncode == 0, made.stderr
    must_be_whole(copy)


@pytest.mark.parametrize("size", [0, 4096, 1 << 16, 1 << 20])
def test_a_backup_that_was_killed_leaves_no_copy_and_the_next_is_whole(state, tmp_path, size):
    copy = tmp_path / "copy.db"
    killed = back_up(state, copy, most=size)
    assert killed.returncode == -signal.SIGXFSZ, killed
    assert not copy.exists()
    made = back_up(state, copy)
    assert made.returncode == 0, made.stderr
    must_be_whole(copy)


def test_a_transaction_that_takes_long_holds_no_backup_up_and_is_not_in_it(state, tmp_path):
    copy = tmp_path / "copy.db"
    writer = sqlite3.connect(state / "batchaid.db", isolation_level=None)
    writer.execute("PRAGMA cache_size = 10")  # pages: the others are in the log before the end
    writer.execute("BEGIN IMMEDIATE")
    writer.executemany("INSERT INTO big VALUES (zeroblob(65536))", [()] * ROWS)
    made = back_up(state, copy)
    assert made.returncode == 0, made.stderr
    must_be_whole(copy)
    writer.execute("COMMIT")
    copy.unlink()
    assert back_up(state, copy).returncode == 0
    must_be_whole(copy, 2 * ROWS)
    writer.close()
