-- The parts of a task of Azure Batch that runs on several nodes, except the first node's, which is the task itself.
-- number: of its node, from 1. state, was, result: as in batch_task.
CREATE TABLE batch_subtask (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id   INTEGER NOT NULL REFERENCES batch_task (id) ON DELETE CASCADE,
    number    INTEGER NOT NULL,
    node_name TEXT    NOT NULL,
    state     INTEGER NOT NULL,
    was       INTEGER NOT NULL DEFAULT 0,
    state_us  INTEGER NOT NULL,
    was_us    INTEGER NOT NULL DEFAULT 0,
    start_us  INTEGER NOT NULL,
    end_us    INTEGER NOT NULL DEFAULT 0,
    exit_code INTEGER,
    result    INTEGER NOT NULL DEFAULT 0,
    failure   TEXT,
    UNIQUE (task_id, number)
) STRICT;
