# SPDX-License-Identifier: MIT
"""Stored state directories of releases are upgraded: every resource is shown as before, and running work continues. The
daemon is batchaid-next, which has a migration more than the released one (test/fixtures/next_migration.c)."""

import os
import pty
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest
from support import old_state
from support.batch import Plane
from support.batch_jobs import Job
from support.batch_rm import BatchAccounts
from support.daemon import BUILD, ROOT
from support.waiting import wait_for
from support.world import Place

# What the journeys below may say; a machine that refuses connections is part of the fixture.
MACHINE = r"127\.0\.0\.[12]:1\b"
TAKEN = sorted(p.name for p in old_state.FIXTURES.iterdir() if (p / "state.sql").exists())
NEXT = BUILD / "batchaid-next"
NEXT_SCHEMA = 1999


@pytest.fixture(params=TAKEN)
def old(request, own_daemon):
    """(daemon that was not started yet, stored replies) on the state directory of an older build."""
    d = own_daemon(start=False, config=old_state.CONFIG, program=NEXT)
    replies = old_state.restore(request.param, d.state_dir)
    d.tool("keygen")
    d.expect_log(MACHINE)
    return d, replies


def same(before, now):
    """The first differences, as texts."""
    found = [f"{key}: gone" for key in before if key not in now]
    found += [f"{key}: new" for key in now if key not in before]
    found += [f"{key}:\n{before[key]}\n{now[key]}" for key in before if key in now and before[key] != now[key]]
    return found[:3]


def of_nodes(replies):
    """Without the machines that nobody has: what is wrong with them is in memory only."""
    nodes = {k: v for k, v in replies["nodes"]["json"].items() if v["node"]}
    return {**replies, "nodes": nodes}


def query(d, sql):
    connection = sqlite3.connect(d.state_dir / "batchaid.db")
    rows = connection.execute(sql).fetchall()
    connection.close()
    return rows


def test_every_resource_is_shown_as_before(old):
    """The agents never answer, so that the scheduler cannot take a step before the replies are in."""
    d, before = old
    old_state.mute_agents(d)
    d.start()
    now = old_state.replies_again(d, before)
    d.kill9()
    assert same(of_nodes(before), of_nodes(now)) == []


def test_the_migration_ran_once_and_kept_all_rows(old):
    """The stored database has the schema of its release; the daemon's has the next one, and no row was lost."""
    d, _ = old
    tables = [name for (name,) in query(d, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")]
    lasting = [t for t in tables if t not in ("meta", "epoch", "event", "operation")]
    before = {t: query(d, f"SELECT count(*) FROM {t}") for t in lasting}
    jobs = query(d, "SELECT id, cluster_id FROM job ORDER BY id")
    clusters = query(d, "SELECT id, name FROM cluster ORDER BY id")
    assert query(d, "PRAGMA user_version") < [(NEXT_SCHEMA,)]
    old_state.mute_agents(d)
    for _ in range(2):
        d.start()
        d.kill9()
    newer = len(list((ROOT / "migrations").glob("*.sql"))) - 1  # than the stored database, and that of NEXT_SCHEMA
    assert sum("db.migrated" in line for line in d.log()) == newer + 1
    assert query(d, "PRAGMA user_version") == [(NEXT_SCHEMA,)]
    assert {t: query(d, f"SELECT count(*) FROM {t}") for t in lasting} == before
    assert query(d, "SELECT id, cluster_id FROM job ORDER BY id") == jobs  # dropping the old table let go of none
    assert query(d, "SELECT id, substr(title, 5) FROM cluster ORDER BY id") == clusters
    assert query(d, "SELECT count(*) FROM run WHERE weight <> nodes + priority") == [(0,)]
    assert query(d, "PRAGMA foreign_key_check") == []


LARGE = 20_000
# Of the schema before 0015: rows of each kind that the later migrations touch. Copies of the stored tasks, each with a
# subtask, an allocation of theirs that is over, and its use; blobs of which some are archived.
GROW = (
    "UPDATE batch_task SET files = 1, files_until_us = 9e15 WHERE state = 4",
    "INSERT INTO batch_task ({t}) SELECT {copied} FROM n CROSS JOIN (SELECT * FROM batch_task WHERE state = 4 LIMIT 1) b",
    "UPDATE batch_task SET state = 4 WHERE name LIKE 'c%'",  # as the triggers that count want it
    "INSERT INTO batch_subtask (task_id, number, node_name, state, state_us, start_us) SELECT id, 1, 'tvm-1', 4, 5, 6 FROM batch_task",
    "INSERT INTO allocation (run_id, attempt, rank, node_id, node_name, slots, gpus, cores, memory, devices, state, kept, term,"
    " task_prefix, created_us, released_us) SELECT r.id, 1000 + i, 0, NULL, 'tvm-' || (i % 50), 1, 0, 0, 0, NULL, 2, 0, 1, 'x', i, i + 1"
    " FROM n CROSS JOIN (SELECT min(id) AS id FROM run) r",
    "INSERT INTO usage ({u}) SELECT {numbers} FROM n",
    "INSERT INTO share_item (share_id, path, type, inode, size, mtime_ns, revision, properties, lease_state, lease_duration_s,"
    " lease_until_us, created_us) SELECT s.id, 'b' || i, 1, i, i, i, 1, CASE i % 3 WHEN 0 THEN '{{\"tier\":\"Archive\"}}' END, 0, 0, 0, 1"
    " FROM n CROSS JOIN (SELECT min(id) AS id FROM share) s",
    "INSERT INTO batch_litter (node_id, path) SELECT (SELECT min(id) FROM node), 'workitems/x' || i FROM n",
)
GROWN = ("batch_task", "batch_subtask", "allocation", "usage", "share_item", "batch_litter", "batch_count", "batch_chore", "run")


def grow(db):
    """Brings the stored database to the schema before 0015, and makes it large."""
    for file in sorted((ROOT / "migrations").glob("*.sql"))[1:14]:
        db.executescript(file.read_text())
    db.execute("PRAGMA user_version = 1014")
    db.execute(f"CREATE TEMP VIEW n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {LARGE}) SELECT i FROM n")
    columns = {t: [c[1] for c in db.execute(f"PRAGMA table_info({t})") if c[1] != "id"] for t in ("batch_task", "usage")}
    texts = {"name", "node_name"}
    filled = {
        "t": ", ".join(columns["batch_task"]),
        "copied": ", ".join({"name": "'c' || i", "state": "1"}.get(c, c) for c in columns["batch_task"]),
        "u": ", ".join(columns["usage"]),
        "numbers": ", ".join(f"'{c}' || i" if c in texts else "i" for c in columns["usage"]),
    }
    for sql in GROW:
        db.execute(sql.format(**filled))


def rows_of(db, columns):
    return {t: db.execute(f"SELECT {', '.join(c)} FROM {t} ORDER BY 1, 2, 3").fetchall() for t, c in columns.items()}


def test_a_large_database_keeps_each_row_and_each_value(old):
    d, _ = old
    old_state.mute_agents(d)
    db = sqlite3.connect(d.state_dir / "batchaid.db")
    grow(db)
    columns = {t: [c[1] for c in db.execute(f"PRAGMA table_info({t})")] for t in GROWN}
    before = rows_of(db, columns)
    db.commit()
    db.close()
    assert all(len(before[t]) >= LARGE for t in GROWN[:6])
    d.start()
    d.kill9()
    db = sqlite3.connect(d.state_dir / "batchaid.db")
    now = rows_of(db, columns)
    assert [t for t in GROWN if now[t] != before[t]] == []
    one = lambda sql: db.execute(sql).fetchall()[0]  # noqa: E731
    assert one("SELECT count(*) FROM usage WHERE machine IS NOT NULL") == (0,)
    for table in ("node", "batch_task", "batch_subtask"):
        assert one(f"SELECT count(*) FROM {table} WHERE emptied <> 0") == (0,)
    counted = "SELECT sum(active), sum(running), sum(succeeded), sum(failed) FROM batch_count"
    told = "SELECT sum(state = 1), sum(state IN (2, 3)), sum(state = 4 AND result = 1), sum(state = 4 AND result <> 1) FROM batch_task"
    assert one(counted) == one(told)
    assert one("SELECT count(*) FROM share_item INDEXED BY share_item_archived WHERE instr(properties, '\"Archive\"') > 0") == (LARGE // 3,)
    assert one("SELECT count(*) FROM allocation INDEXED BY allocation_name WHERE node_name = 'tvm-7'") == (LARGE // 50,)
    assert one("PRAGMA integrity_check") == ("ok",) and db.execute("PRAGMA foreign_key_check").fetchall() == []
    db.close()


def test_what_was_begun_continues(old):
    d, _ = old
    tasks = old_state.revive(d.state_dir)
    assert len(tasks) >= 10
    d.start()
    place = Place(d, "Demo", "Work")
    # What was asked for before: the stop of one job, the end of another, of a cluster and of a group.
    assert place.job_at("terminating").fail()["executionInfo"]["errors"][0]["code"] == "JobTerminated"
    wait_for(place.job_at("deleting").gone, 30, "the job that was being deleted to be gone")
    wait_for(place.cluster_at("gone").gone, 30, "the cluster that was being deleted to be gone")
    wait_for(lambda: d.call("HEAD", Place(d, "doomed").group_path).status == 404, 30, "the group to be gone")
    assert place.job_at("orphan").state == place.job_at("behind").state == "failed"
    # What ran runs on, each under the name that it was started by.
    for name in ("one", "two", "scaled"):
        assert place.job_at(name).state == "running"
    keys = BatchAccounts(d, "batch").keys(old_state.BATCH_ACCOUNT)
    work = Job.of(Plane(d, old_state.BATCH_ACCOUNT, keys[0]), "work")
    assert work.states() == {"done": "completed", "failed": "completed", "runs": "running", "waits": "active"}
    (place.share() / "go").touch()
    assert [task["executionInfo"]["exitCode"] for task in work.wait("runs", "waits", limit=30)] == [0, 0]
    assert work.task("failed")["executionInfo"]["exitCode"] == 3
    assert place.job_at("requeued").state == "queued"  # of two nodes, one of which left
    place.cluster_at("shrink").resize(2)
    for name in ("one", "two", "scaled", "requeued", "sooner", "soon", "later"):
        assert place.job_at(name).succeed()["executionInfo"]["exitCode"] == 0
    for process in tasks.values():
        process.wait(30)
    for name, nodes in {"run": 3, "shrink": 2, "stop": 1, "ends": 2}.items():
        place.cluster_at(name).wait_steady(nodes)


def test_no_task_is_started_again(old):
    """The command of each stored task writes to standard error once; the job's own would too."""
    d, _ = old
    tasks = old_state.revive(d.state_dir)
    d.start()
    place = Place(d, "Demo", "Work")
    (place.share() / "go").touch()
    assert place.job_at("one").succeed()
    assert "went on" in place.job_at("one").read("stderr.txt")
    assert "one went on" not in place.job_at("one").read("stdout.txt")
    for process in tasks.values():
        process.wait(30)


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_a_terminal_sees_a_migration_that_takes_long(old, log_format):
    """Somebody else writes to the database for longer than a second, so that the migration waits. Programs that read the log see no line."""
    d, _ = old
    ours, theirs = pty.openpty()
    writer = sqlite3.connect(d.state_dir / "batchaid.db", isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("BEGIN IMMEDIATE")
    p = subprocess.Popen([NEXT, "serve", "--state-dir", d.state_dir, "--listen", "localhost:0", "--log-format", log_format],
                         stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    wait_for(lambda: any(os.readlink(f).endswith("/batchaid.db") for f in Path(f"/proc/{p.pid}/fd").iterdir()), what="the daemon's database")
    opened = time.monotonic()
    wait_for(lambda: time.monotonic() - opened > 1, what="a second")
    writer.execute("ROLLBACK")
    writer.close()
    seen = ""
    try:
        while "ready https://" not in seen:
            seen += os.read(ours, 65536).decode()
    finally:
        p.terminate()
        assert p.wait(60) == 0, seen
        os.close(ours)
    line, _, rest = seen.rpartition("\r\x1b[K")
    assert "0999_of_tests" in rest and ("the database, " in line) == (log_format == "text"), seen
