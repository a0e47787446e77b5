-- Runs that wait for others, before they wait for nodes; and runs that are tried again.

-- held: 1 = by nothing; 2 = it waits for others; 3 = one of these ended otherwise than wanted, so it is to fail.
-- retried: how often it was tried again after a failure of its own or of a node.
ALTER TABLE run ADD COLUMN held INTEGER NOT NULL DEFAULT 1;
ALTER TABLE run ADD COLUMN retried INTEGER NOT NULL DEFAULT 0;
-- What is held is in no queue. Literal conditions: phase 1 = waiting; stop 0 = not asked to.
DROP INDEX run_queue;
CREATE INDEX run_queue ON run (pool_id, priority DESC, id, nodes) WHERE phase = 1 AND stop = 0 AND held = 1;
CREATE INDEX run_held ON run (pool_id, held, id) WHERE phase = 1 AND stop = 0 AND held > 1;

-- What a resource waits for before its runs may begin: the end of another. owner, awaited: resources of services, by
-- kind and id; ids are never given out again. name: what its user called it. wanted: 1 = success, 2 = failure, 3 = any
-- end. state: 1 = open, 2 = met, 3 = it ended otherwise. ended: how: 0 = not yet, 1 = well, 2 = badly, 3 = it was removed
-- before its end.
CREATE TABLE dependency (
    owner_kind   INTEGER NOT NULL,
    owner_id     INTEGER NOT NULL,
    awaited_kind INTEGER NOT NULL,
    awaited_id   INTEGER NOT NULL,
    name         TEXT    NOT NULL,
    wanted       INTEGER NOT NULL,
    state        INTEGER NOT NULL,
    ended        INTEGER NOT NULL,
    PRIMARY KEY (owner_kind, owner_id, awaited_kind, awaited_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX dependency_open ON dependency (awaited_kind, awaited_id) WHERE state = 1;
