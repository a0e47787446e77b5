# SPDX-License-Identifier: MIT
"""As test_damaged_rows, for the tables of Azure Batch."""

import os
import shutil
import signal
import sqlite3

import pytest
from support import old_state
from support.batch import BatchGround
from support.batch_jobs import Job, add_pool
from support.daemon import Daemon, processes_of
from support.damaged import BATCH_TABLES, wrongs
from support.waiting import wait_for

# What takes more than a request.
MORE = """
INSERT INTO batch_application VALUES (1, 1, 'app', NULL, '1.0', 1, 1, 1, NULL);
INSERT INTO batch_package VALUES (1, 1, '1.0', 'zip', '00', 1, 1, 1, 1, NULL);
INSERT INTO batch_certificate VALUES (1, 1, 'sha1', '0011', 1, 1, 1, 1, NULL, NULL, 'AA==', x'00');
INSERT INTO batch_litter SELECT 1, min(id), 0, 'batch/workitems/x' FROM node;
INSERT INTO batch_node_user SELECT 1, min(id), 'ada', 0, 1 << 52, 'ssh-ed25519 AAAA', NULL, 1 FROM node;
INSERT INTO batch_user_gone SELECT 1, min(id), 'bob' FROM node;
INSERT OR IGNORE INTO node_setup SELECT min(id), 1, 1, 1, 0, 0, 0, 0, NULL, 'x-setup', 'c0ffee', NULL FROM node;
INSERT INTO batch_chore SELECT 1, min(j.id), 1, 'pool', n.name, n.id, 1, 2, 1, 1, 0, 1, 0, 0, NULL, 'c0ffee', NULL FROM batch_job j, node n;
INSERT INTO batch_subtask SELECT 1, min(id), 1, 'node', 2, 0, 1, 0, 1, 0, NULL, 0, NULL, 'c0ffee', NULL, 0 FROM batch_task;
INSERT INTO batch_seeded_file SELECT 1, min(id), 'wd/x', 1, x'00' FROM batch_task;
INSERT OR IGNORE INTO batch_node_total SELECT name, 2, 1 FROM node;
INSERT INTO node_bar SELECT min(j.id), min(n.id) FROM batch_job j, node n;
INSERT OR IGNORE INTO batch_done SELECT min(id), 7, 8 FROM batch_job;
INSERT OR IGNORE INTO batch_sample SELECT min(id), 1, '[]' FROM batch_pool;
"""
PATHS = (
    "/pools", "/pools/pool", "/pools/pool/nodes", "/nodecounts", "/jobs", "/jobs/job1", "/jobs/job1/tasks",
    "/jobs/job1/tasks/runs", "/jobs/job1/tasks/runs/subtasksinfo", "/jobs/job1/jobpreparationandreleasetaskstatus", "/jobs/job1/tasks/waits", "/jobs/job1/taskcounts", "/jobschedules", "/jobschedules/s",
    "/applications", "/certificates",
)  # fmt: skip


@pytest.fixture(scope="module")
def stopped():
    d = Daemon({"local": {"nodes": 4}})
    d.expect_log("")
    d.start()
    plane = BatchGround(d).plane
    add_pool(plane, "pool", targetDedicatedNodes=1, startTask={"commandLine": "/bin/true"})
    job = Job(plane, "pool", id="job1", usesTaskDependencies=True)
    job.add("/bin/sleep 100", id="runs")
    job.add("/bin/true", id="waits", dependsOn={"taskIds": ["runs"], "taskIdRanges": [{"start": 1, "end": 9}]})
    job.add("/bin/true", id="3")
    body = {"id": "s", "schedule": {}, "jobSpecification": {"poolInfo": {"poolId": "none"}}}
    plane.call("POST", "/jobschedules", body, expect=201)
    wait_for(lambda: job.task("runs")["state"] == "running", what="a task that runs")
    d.plane = plane
    assert d.stop() == 0
    for pid, command in processes_of(d.state_dir / "nodes").items():
        if "sleep" in command:
            os.kill(pid, signal.SIGKILL)
    old_state.mute_agents(d)
    with sqlite3.connect(d.state_dir / "batchaid.db") as db:
        db.executescript(MORE)
    db.close()
    d.kept = d.dir / "kept.db"
    shutil.copy(d.state_dir / "batchaid.db", d.kept)
    yield d
    assert d.close() == []


def ask_everything(d):
    for path in PATHS:
        d.plane.call("GET", path, validate=False)


@pytest.mark.parametrize("table", BATCH_TABLES)
def test_no_number_in_a_row_ends_the_daemon(stopped, table):
    assert wrongs(stopped, table, ask_everything) == []
