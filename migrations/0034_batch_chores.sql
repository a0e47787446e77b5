-- What jobs of Azure Batch do on a node before their first task there (preparation) and after their last one
-- (release); the tasks that manage them.

-- kind: enum batch_chore_kind. state 1: it runs, or is to; 2: it is completed. up_us: since when the node had been up
-- (node.state_us) when it ran; 0: the node was wiped since. result and what follows: as of tasks.
CREATE TABLE batch_chore (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id    INTEGER NOT NULL REFERENCES batch_job (id) ON DELETE CASCADE,
    kind      INTEGER NOT NULL,
    pool_name TEXT    NOT NULL,
    node_name TEXT    NOT NULL,
    node_id   INTEGER REFERENCES node (id) ON DELETE SET NULL,
    up_us     INTEGER NOT NULL,
    state     INTEGER NOT NULL,
    start_us  INTEGER NOT NULL,
    end_us    INTEGER NOT NULL DEFAULT 0,
    exit_code INTEGER,
    result    INTEGER NOT NULL DEFAULT 0,
    retries   INTEGER NOT NULL DEFAULT 0,
    retry_us  INTEGER NOT NULL DEFAULT 0,
    failure   TEXT
) STRICT;
CREATE UNIQUE INDEX batch_chore_of ON batch_chore (job_id, node_name, kind);
CREATE INDEX batch_chore_node ON batch_chore (node_id) WHERE node_id IS NOT NULL;
CREATE TRIGGER batch_chore_wiped AFTER UPDATE OF wish ON node WHEN NEW.wish = 6
BEGIN
    UPDATE batch_chore SET up_us = 0 WHERE node_id = NEW.id;
END;
-- The group of a task's run is its job.
CREATE TRIGGER batch_job_unbarred AFTER DELETE ON batch_job
BEGIN
    DELETE FROM node_bar WHERE group_id = OLD.id;
END;
-- prepares: it has a preparation task.
ALTER TABLE batch_job ADD COLUMN prepares INTEGER NOT NULL DEFAULT 0;
UPDATE batch_job SET prepares = json_extract(doc, '$.jobPreparationTask') IS NOT NULL;
-- manager: enum batch_manager of the task that manages its job; 0 of all others.
ALTER TABLE batch_task ADD COLUMN manager INTEGER NOT NULL DEFAULT 0;
