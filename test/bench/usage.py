# SPDX-License-Identifier: MIT
"""Reports over the record of use: of all time, and of a time that begins and ends within a day.

Rows and sums of days are written into the database of a stopped daemon, as many as years of use would leave."""

import sqlite3
import time
from contextlib import closing

from . import stage
from .figures import Figure
from .size import size

ROUNDS, RUNS = size(5), size(1_000_000, 1000)
USERS, GPUS, DAYS = 20, 5, 365
DAY_MS, MINUTE_MS = 86_400_000, 60_000
FIRST_DAY = 20_000  # 2024-10-04
AIM_MS = 1000

FILL = f"""
INSERT INTO usage_subject (id, owner, subscription, group_name, home, experiment, pool, vm_size, gpu)
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {USERS * GPUS})
SELECT i + 1, 'user' || i / {GPUS}, 's', 'g', 'w', 'x' || i, 'p', 'v', 'gpu' || i % {GPUS} FROM n;
INSERT INTO usage (subject_id, run_id, attempt, rank, owner_kind, owner_id, idx, name, node_name, begin_ms, end_ms, gpus,
slots, cores, memory, again, wait_ms, busy_ms, idle_ms, measured, user_us, kernel_us, memory_peak, memory_used,
read_bytes, write_bytes, read_ops, write_ops)
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {RUNS}),
at (i, ms) AS (SELECT i, {FIRST_DAY * DAY_MS} + i % {DAYS} * {DAY_MS} + (i * 7919) % {DAY_MS - 60 * MINUTE_MS} FROM n)
SELECT i % {USERS * GPUS} + 1, 1000000 + i, 1, 0, 6, 1000000 + i, 0, 'job' || i, 'tvm', ms, ms + i % 60 * {MINUTE_MS},
4000, 4, 8, 0, i % 50 = 0, i % 1000, 0, 0, 1, i % 1000000, i % 1000, i, i, i, i, 1, 1 FROM at;
INSERT INTO usage_day
SELECT begin_ms / {DAY_MS}, subject_id, sum(not again), count(*), sum(end_ms - begin_ms), sum((end_ms - begin_ms) * cores),
sum((end_ms - begin_ms) * gpus / 1000), 0, 0, sum(again * (end_ms - begin_ms) * gpus / 1000), sum(wait_ms), sum(user_us),
sum(kernel_us), sum(read_bytes), sum(write_bytes), 0, max(memory_peak) FROM usage GROUP BY 1, 2;
"""


def report(daemon, **params):
    """Its time in ms, and the reply."""
    start = time.monotonic()
    reply = daemon.call("GET", "/batchaid/usage", api_version=None, params=params, expect=200, validate=False).json
    return (time.monotonic() - start) * 1000, reply


def measure():
    with stage.running_daemon() as daemon:
        daemon.stop()
        with closing(sqlite3.connect(f"{daemon.state_dir}/batchaid.db")) as db:
            db.executescript(f"BEGIN; {FILL} COMMIT;")
        daemon.start()
        whole = [report(daemon, by="user") for _ in range(ROUNDS)]
        cut = {"from": "2024-11-01T11:30:00Z", "to": "2025-02-01T15:45:00Z"}
        parts = [report(daemon, by="gpu", **cut)[0] for _ in range(ROUNDS)]
        assert whole[0][1]["total"]["attempts"] == RUNS, whole[0][1]["total"]
        return [
            Figure(f"report, {RUNS:,} runs", "ms", [ms for ms, _ in whole], AIM_MS),
            Figure(f"report, 3 months and two parts of days of {RUNS:,} runs", "ms", parts, AIM_MS),
        ]
