-- Jobs and tasks of Azure Batch. Every list and every count comes out of an index: one job may have 100,000 tasks, and
-- a database a million.

-- account_id: the Batch account. state, was: enum batch_job_state; *_us: since when in each. limit_us: its
-- maxWallClockTime, 0 without. schedule_id, number: the schedule that made it, and its number there.
CREATE TABLE batch_job (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id   INTEGER NOT NULL,
    name         TEXT    NOT NULL COLLATE NOCASE,
    doc          TEXT    NOT NULL,
    secrets      BLOB,
    created_by   TEXT,
    state        INTEGER NOT NULL,
    was          INTEGER NOT NULL DEFAULT 0,
    state_us     INTEGER NOT NULL,
    was_us       INTEGER NOT NULL DEFAULT 0,
    created_us   INTEGER NOT NULL,
    updated_us   INTEGER NOT NULL,
    start_us     INTEGER NOT NULL DEFAULT 0,
    end_us       INTEGER NOT NULL DEFAULT 0,
    limit_us     INTEGER NOT NULL DEFAULT 0,
    pool_name    TEXT    NOT NULL COLLATE NOCASE,
    priority     INTEGER NOT NULL,
    max_parallel INTEGER NOT NULL,
    depends      INTEGER NOT NULL,
    on_all       INTEGER NOT NULL,
    on_failure   INTEGER NOT NULL,
    disable      INTEGER NOT NULL DEFAULT 0,
    reason       TEXT,
    failure      TEXT,
    schedule_id  INTEGER NOT NULL DEFAULT 0,
    number       INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE UNIQUE INDEX batch_job_name ON batch_job (account_id, name);
-- Whose tasks a pool takes next: 1 is active.
CREATE INDEX batch_job_turn ON batch_job (account_id, pool_name, priority DESC, id) WHERE state = 1;
-- Those that are on their way to another state, and those that have a time limit.
CREATE INDEX batch_job_moving ON batch_job (state, id) WHERE state IN (2, 4, 5, 7);
CREATE INDEX batch_job_limited ON batch_job (start_us) WHERE limit_us > 0 AND state < 5;
CREATE INDEX batch_job_schedule ON batch_job (schedule_id, number) WHERE schedule_id > 0;

-- was, *_us: as above. waits: open rows of batch_wait. fed: 1 while it has a run. satisfies: 1 once it is completed as
-- those who depend on it want. fate: what becomes of it when its run ends. files, files_until_us: what is on its node.
CREATE TABLE batch_task (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id     INTEGER NOT NULL REFERENCES batch_job (id),
    name       TEXT    NOT NULL COLLATE NOCASE,
    doc        TEXT    NOT NULL,
    secrets    BLOB,
    state      INTEGER NOT NULL,
    was        INTEGER NOT NULL DEFAULT 0,
    state_us   INTEGER NOT NULL,
    was_us     INTEGER NOT NULL DEFAULT 0,
    created_us INTEGER NOT NULL,
    updated_us INTEGER NOT NULL,
    slots      INTEGER NOT NULL,
    instances  INTEGER NOT NULL,
    start_us   INTEGER NOT NULL DEFAULT 0,
    end_us     INTEGER NOT NULL DEFAULT 0,
    exit_code  INTEGER,
    result     INTEGER NOT NULL DEFAULT 0,
    retries    INTEGER NOT NULL DEFAULT 0,
    requeues   INTEGER NOT NULL DEFAULT 0,
    retry_us   INTEGER NOT NULL DEFAULT 0,
    requeue_us INTEGER NOT NULL DEFAULT 0,
    failure    TEXT,
    pool_name  TEXT,
    node_name  TEXT,
    fed        INTEGER NOT NULL DEFAULT 0,
    waits      INTEGER NOT NULL DEFAULT 0,
    satisfies  INTEGER NOT NULL DEFAULT 0,
    fate       INTEGER NOT NULL DEFAULT 0,
    files      INTEGER NOT NULL DEFAULT 0,
    files_until_us INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX batch_task_name ON batch_task (job_id, name);
-- Those that may have a run next, and those that have one.
CREATE INDEX batch_task_ready ON batch_task (job_id, id) WHERE state = 1 AND waits = 0 AND fed = 0;
CREATE INDEX batch_task_fed ON batch_task (job_id, id) WHERE fed = 1;
CREATE INDEX batch_task_node ON batch_task (node_name, id) WHERE node_name IS NOT NULL;
CREATE INDEX batch_task_files ON batch_task (files_until_us) WHERE files = 1 AND files_until_us > 0;

-- What a task waits for: the task called `name`, or `left` more of those whose names are the numbers from low to high.
CREATE TABLE batch_wait (
    id      INTEGER PRIMARY KEY,
    job_id  INTEGER NOT NULL,
    task_id INTEGER NOT NULL REFERENCES batch_task (id) ON DELETE CASCADE,
    name    TEXT COLLATE NOCASE,
    low     INTEGER,
    high    INTEGER,
    left    INTEGER
) STRICT;
CREATE UNIQUE INDEX batch_wait_task ON batch_wait (task_id, name) WHERE name IS NOT NULL;
CREATE INDEX batch_wait_of ON batch_wait (task_id);
CREATE INDEX batch_wait_name ON batch_wait (job_id, name) WHERE name IS NOT NULL;
CREATE INDEX batch_wait_range ON batch_wait (job_id, low) WHERE low IS NOT NULL;

-- The numbers among the names of the tasks of a job whose completion satisfies: 4 and 04 are one.
CREATE TABLE batch_number (
    job_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (job_id, number)
) STRICT, WITHOUT ROWID;

-- How many tasks of a job are in which state.
CREATE TABLE batch_count (
    job_id          INTEGER PRIMARY KEY REFERENCES batch_job (id) ON DELETE CASCADE,
    active          INTEGER NOT NULL DEFAULT 0,
    running         INTEGER NOT NULL DEFAULT 0,
    succeeded       INTEGER NOT NULL DEFAULT 0,
    failed          INTEGER NOT NULL DEFAULT 0,
    active_slots    INTEGER NOT NULL DEFAULT 0,
    running_slots   INTEGER NOT NULL DEFAULT 0,
    succeeded_slots INTEGER NOT NULL DEFAULT 0,
    failed_slots    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TRIGGER batch_job_counted AFTER INSERT ON batch_job
BEGIN
    INSERT INTO batch_count (job_id) VALUES (NEW.id);
END;
CREATE TRIGGER batch_task_counted AFTER INSERT ON batch_task
BEGIN
    UPDATE batch_count SET active = active + 1, active_slots = active_slots + NEW.slots WHERE job_id = NEW.job_id;
END;
CREATE TRIGGER batch_task_moved AFTER UPDATE OF state ON batch_task WHEN NEW.state <> OLD.state
BEGIN
    UPDATE batch_count SET
        active = active + (NEW.state = 1) - (OLD.state = 1),
        running = running + (NEW.state IN (2, 3)) - (OLD.state IN (2, 3)),
        succeeded = succeeded + (NEW.state = 4 AND NEW.result = 1) - (OLD.state = 4 AND OLD.result = 1),
        failed = failed + (NEW.state = 4 AND NEW.result <> 1) - (OLD.state = 4 AND OLD.result <> 1),
        active_slots = active_slots + NEW.slots * ((NEW.state = 1) - (OLD.state = 1)),
        running_slots = running_slots + NEW.slots * ((NEW.state IN (2, 3)) - (OLD.state IN (2, 3))),
        succeeded_slots = succeeded_slots +
            NEW.slots * ((NEW.state = 4 AND NEW.result = 1) - (OLD.state = 4 AND OLD.result = 1)),
        failed_slots = failed_slots +
            NEW.slots * ((NEW.state = 4 AND NEW.result <> 1) - (OLD.state = 4 AND OLD.result <> 1))
    WHERE job_id = NEW.job_id;
END;
CREATE TRIGGER batch_task_uncounted AFTER DELETE ON batch_task
BEGIN
    UPDATE batch_count SET
        active = active - (OLD.state = 1),
        running = running - (OLD.state IN (2, 3)),
        succeeded = succeeded - (OLD.state = 4 AND OLD.result = 1),
        failed = failed - (OLD.state = 4 AND OLD.result <> 1),
        active_slots = active_slots - OLD.slots * (OLD.state = 1),
        running_slots = running_slots - OLD.slots * (OLD.state IN (2, 3)),
        succeeded_slots = succeeded_slots - OLD.slots * (OLD.state = 4 AND OLD.result = 1),
        failed_slots = failed_slots - OLD.slots * (OLD.state = 4 AND OLD.result <> 1)
    WHERE job_id = OLD.job_id;
END;

-- Directories of tasks and jobs that are gone, or whose time is up, still to be removed from a node.
CREATE TABLE batch_litter (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    node_id INTEGER NOT NULL REFERENCES node (id) ON DELETE CASCADE,
    path    TEXT    NOT NULL
) STRICT;
CREATE INDEX batch_litter_node ON batch_litter (node_id, id);
