-- SPDX-License-Identifier: MIT
-- The record of use: what each allocation had and used. Its tables have no foreign keys, because the record outlives
-- runs, jobs, pools and groups. Times are milliseconds since 1970, or durations in them.

-- Who had it, where (model/usage.h). Texts; '': there is none.
CREATE TABLE usage_subject (
    id           INTEGER PRIMARY KEY,
    owner        TEXT NOT NULL COLLATE NOCASE,
    subscription TEXT NOT NULL COLLATE NOCASE,
    group_name   TEXT NOT NULL COLLATE NOCASE,
    home         TEXT NOT NULL COLLATE NOCASE,
    experiment   TEXT NOT NULL COLLATE NOCASE,
    pool         TEXT NOT NULL COLLATE NOCASE,
    vm_size      TEXT NOT NULL COLLATE NOCASE,
    gpu          TEXT NOT NULL,
    UNIQUE (owner, subscription, group_name, home, experiment, pool, vm_size, gpu)
) STRICT;

-- An ended allocation, written in the transaction that ends it. gpus: in thousandths. again 1: the run was put back into
-- its queue. measured 0: no node measured the columns behind it. memory_peak: with page cache; memory_used: the highest
-- sample without, 0: not sampled. busy_ms, idle_ms: GPU time in which samples saw the GPUs work, or not.
CREATE TABLE usage (
    id          INTEGER PRIMARY KEY,
    subject_id  INTEGER NOT NULL,
    run_id      INTEGER NOT NULL,
    attempt     INTEGER NOT NULL,
    rank        INTEGER NOT NULL,
    owner_kind  INTEGER NOT NULL,
    owner_id    INTEGER NOT NULL,
    idx         INTEGER NOT NULL,
    name        TEXT    NOT NULL,
    node_name   TEXT    NOT NULL,
    begin_ms    INTEGER NOT NULL,
    end_ms      INTEGER NOT NULL,
    gpus        INTEGER NOT NULL,
    slots       INTEGER NOT NULL,
    cores       INTEGER NOT NULL,
    memory      INTEGER NOT NULL,
    again       INTEGER NOT NULL,
    wait_ms     INTEGER NOT NULL,
    busy_ms     INTEGER NOT NULL,
    idle_ms     INTEGER NOT NULL,
    measured    INTEGER NOT NULL,
    user_us     INTEGER NOT NULL,
    kernel_us   INTEGER NOT NULL,
    memory_peak INTEGER NOT NULL,
    memory_used INTEGER NOT NULL,
    read_bytes  INTEGER NOT NULL,
    write_bytes INTEGER NOT NULL,
    read_ops    INTEGER NOT NULL,
    write_ops   INTEGER NOT NULL,
    UNIQUE (run_id, attempt, rank)
) STRICT;
CREATE INDEX usage_owner ON usage (owner_kind, owner_id, idx);
CREATE INDEX usage_end ON usage (end_ms);

-- The days (UTC, since 1970) of a row of usage except its last, which end_ms tells.
CREATE TABLE usage_over (
    day      INTEGER NOT NULL,
    usage_id INTEGER NOT NULL,
    PRIMARY KEY (day, usage_id)
) STRICT, WITHOUT ROWID;

-- Sums of the part of usage in each day, so that a report reads no row of the days that it has whole.
CREATE TABLE usage_day (
    day         INTEGER NOT NULL,
    subject_id  INTEGER NOT NULL,
    runs        INTEGER NOT NULL,
    attempts    INTEGER NOT NULL,
    node_ms     INTEGER NOT NULL,
    core_ms     INTEGER NOT NULL,
    gpu_ms      INTEGER NOT NULL,
    busy_ms     INTEGER NOT NULL,
    idle_ms     INTEGER NOT NULL,
    lost_ms     INTEGER NOT NULL,
    wait_ms     INTEGER NOT NULL,
    user_us     INTEGER NOT NULL,
    kernel_us   INTEGER NOT NULL,
    read_bytes  INTEGER NOT NULL,
    write_bytes INTEGER NOT NULL,
    unmeasured  INTEGER NOT NULL,
    memory_peak INTEGER NOT NULL,
    PRIMARY KEY (day, subject_id)
) STRICT, WITHOUT ROWID;

-- What the ended tasks of a job of Azure Batch used, also of tasks that are gone; 12: a task is the owner.
ALTER TABLE batch_count ADD COLUMN user_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE batch_count ADD COLUMN kernel_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE batch_count ADD COLUMN read_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE batch_count ADD COLUMN write_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE batch_count ADD COLUMN read_ops INTEGER NOT NULL DEFAULT 0;
ALTER TABLE batch_count ADD COLUMN write_ops INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER usage_counted AFTER INSERT ON usage WHEN NEW.measured = 1 AND NEW.owner_kind = 12
BEGIN
    UPDATE batch_count SET
        user_us = user_us + NEW.user_us,
        kernel_us = kernel_us + NEW.kernel_us,
        read_bytes = read_bytes + NEW.read_bytes,
        write_bytes = write_bytes + NEW.write_bytes,
        read_ops = read_ops + NEW.read_ops,
        write_ops = write_ops + NEW.write_ops
    WHERE job_id = (SELECT job_id FROM batch_task WHERE id = NEW.owner_id);
END;
