-- Files of tasks that a seed told of, which no node has; tasks that have run have theirs on nodes.
CREATE TABLE batch_seeded_file (
    id       INTEGER PRIMARY KEY,
    task_id  INTEGER NOT NULL REFERENCES batch_task (id) ON DELETE CASCADE,
    path     TEXT    NOT NULL,
    mtime_us INTEGER NOT NULL,
    bytes    BLOB    NOT NULL
) STRICT;
CREATE UNIQUE INDEX batch_seeded_file_path ON batch_seeded_file (task_id, path);
-- Groups that a seed had not finished: 1 is creating.
CREATE INDEX resource_group_creating ON resource_group (id) WHERE prov_state = 1;
