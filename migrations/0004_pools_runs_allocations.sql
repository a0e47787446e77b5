-- Who runs where becomes rows of its own, below the services: pools have nodes, runs are what is to be
-- done on a pool, allocations say which run has what of which node. A cluster is a pool with a document,
-- a job is one run with a document; what only the scheduler needs of them moves to pool and run.
-- Foreign keys are off while a migration runs and are checked before it is committed (storage/migrate.c),
-- so that tables can be made anew without their children.
-- Literal conditions of the partial indexes: phase 1 = waiting, 2 = allocated, 3 = releasing; stop 0 =
-- not asked to; allocation.state 1 = held, 2 = begun.
-- created_by: who made it; null: made before that was kept.

-- One row, written anew with each start of the daemon (storage/st_epoch.c).
CREATE TABLE epoch (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    term       INTEGER NOT NULL,
    random     TEXT    NOT NULL,
    started_us INTEGER NOT NULL
) STRICT;
INSERT INTO epoch (id, term, random, started_us) VALUES (1, 0, '', 0);

-- --- pools ------------------------------------------------------------------------------------------
-- is_new: 1 until its first nodes were asked for. A cluster has the id of its pool.
CREATE TABLE pool (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    vm_size       TEXT    NOT NULL,
    vm_priority   INTEGER NOT NULL,
    scale_kind    INTEGER NOT NULL,
    scale_target  INTEGER NOT NULL,
    scale_dealloc INTEGER NOT NULL,
    scale_minimum INTEGER NOT NULL,
    scale_maximum INTEGER NOT NULL,
    scale_initial INTEGER NOT NULL,
    auto_target   INTEGER NOT NULL,
    alloc_state   INTEGER NOT NULL,
    alloc_us      INTEGER NOT NULL,
    is_new        INTEGER NOT NULL,
    errors        TEXT
) STRICT;
INSERT INTO pool
    SELECT id, vm_size, vm_priority, scale_kind, scale_target, scale_dealloc, scale_minimum, scale_maximum,
           scale_initial, auto_target, alloc_state, alloc_us, alloc_us = created_us, errors FROM cluster;
DELETE FROM sqlite_sequence WHERE name = 'pool';
INSERT INTO sqlite_sequence (name, seq) SELECT 'pool', seq FROM sqlite_sequence WHERE name = 'cluster';

CREATE TABLE cluster_new (
    id           INTEGER PRIMARY KEY REFERENCES pool (id) ON DELETE RESTRICT,
    workspace_id INTEGER NOT NULL REFERENCES workspace (id) ON DELETE RESTRICT,
    name         TEXT    NOT NULL COLLATE NOCASE,
    guid         TEXT    NOT NULL,
    prov_state   INTEGER NOT NULL,
    prov_us      INTEGER NOT NULL,
    created_us   INTEGER NOT NULL,
    updated_us   INTEGER NOT NULL,
    doc          TEXT    NOT NULL,
    secrets      BLOB,
    created_by   TEXT,
    UNIQUE (workspace_id, name)
) STRICT;
INSERT INTO cluster_new
    SELECT id, workspace_id, name, guid, prov_state, prov_us, created_us, updated_us, doc, secrets, NULL
    FROM cluster;
DROP TABLE cluster;
ALTER TABLE cluster_new RENAME TO cluster;
CREATE INDEX cluster_list ON cluster (workspace_id, id);
CREATE INDEX cluster_deleting ON cluster (id) WHERE prov_state = 5;

-- --- runs -------------------------------------------------------------------------------------------
-- owner: the resource of a service that it is for; no foreign key, as services have tables of their own.
-- pool_id: neither, as an ended run outlives its pool; ids are never given out again.
-- need: what it takes of each node; need_whole 1: all of it. attempt counts its allocations.
-- stop: 1: end it; 2: and then forget it. failure: model/failure_table.h, 0: none.
CREATE TABLE run (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    pool_id      INTEGER NOT NULL,
    owner_kind   INTEGER NOT NULL,
    owner_id     INTEGER NOT NULL,
    idx          INTEGER NOT NULL,
    guid         TEXT    NOT NULL,
    priority     INTEGER NOT NULL,
    nodes        INTEGER NOT NULL,
    need_whole   INTEGER NOT NULL,
    need_slots   INTEGER NOT NULL,
    need_gpus    INTEGER NOT NULL,
    need_cores   INTEGER NOT NULL,
    need_memory  INTEGER NOT NULL,
    max_wall_us  INTEGER NOT NULL,
    phase        INTEGER NOT NULL,
    stop         INTEGER NOT NULL,
    attempt      INTEGER NOT NULL,
    start_us     INTEGER NOT NULL,
    end_us       INTEGER NOT NULL,
    failure      INTEGER NOT NULL,
    UNIQUE (owner_kind, owner_id, idx)
) STRICT;
INSERT INTO run
    SELECT id, coalesce(cluster_id, 0), 6, id, 0, guid, priority, node_count, 1, 0, 0, 0, 0, max_wall_us,
           CASE WHEN exec_state = 1 THEN 1 WHEN exec_state IN (2, 3) THEN 2
                WHEN EXISTS (SELECT 1 FROM node WHERE job_id = job.id) THEN 3 ELSE 4 END,
           CASE WHEN prov_state = 5 THEN 2 WHEN exec_state = 3 THEN 1 ELSE 0 END,
           attempt, start_us, end_us, 0
    FROM job;
DELETE FROM sqlite_sequence WHERE name = 'run';
INSERT INTO sqlite_sequence (name, seq) SELECT 'run', seq FROM sqlite_sequence WHERE name = 'job';
-- The last column lets the sum of waiting nodes be read from the index alone.
CREATE INDEX run_queue ON run (pool_id, priority DESC, id, nodes) WHERE phase = 1 AND stop = 0;
CREATE INDEX run_live ON run (id) WHERE phase IN (2, 3);

-- --- allocations ------------------------------------------------------------------------------------
-- A run's part of a node; what is live is held or begun. node_id: null once the node is gone; its name
-- stays for as long as the run does. kept: 1 while the node keeps the run's directory. term: of the
-- epoch in which it was made. task_prefix: begins the ids of its tasks on the node.
CREATE TABLE allocation (
    run_id      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    attempt     INTEGER NOT NULL,
    rank        INTEGER NOT NULL,
    node_id     INTEGER REFERENCES node (id) ON DELETE SET NULL,
    node_name   TEXT    NOT NULL,
    slots       INTEGER NOT NULL,
    gpus        INTEGER NOT NULL,
    cores       INTEGER NOT NULL,
    memory      INTEGER NOT NULL,
    devices     TEXT,
    state       INTEGER NOT NULL,
    kept        INTEGER NOT NULL,
    term        INTEGER NOT NULL,
    task_prefix TEXT    NOT NULL,
    created_us  INTEGER NOT NULL,
    released_us INTEGER NOT NULL,
    PRIMARY KEY (run_id, attempt, rank)
) STRICT, WITHOUT ROWID;
INSERT INTO allocation
    SELECT j.id, j.attempt, n.rank, n.id, n.name, 1, 0, 0, 0, NULL, 2, 0, 0,
           'j' || j.id || '-a' || j.attempt || '-r' || n.rank || '-', j.start_us, 0
    FROM node n JOIN job j ON j.id = n.job_id;
INSERT OR IGNORE INTO allocation
    SELECT j.id, j.attempt, p.rank, n.id, n.name, 1, 0, 0, 0, NULL, 3, p.kept, 0,
           'j' || j.id || '-a' || j.attempt || '-r' || p.rank || '-', j.start_us, p.released_us
    FROM job_place p JOIN job j ON j.id = p.job_id JOIN node n ON n.id = p.node_id;
-- The ranks of a run are on distinct nodes.
CREATE UNIQUE INDEX allocation_live ON allocation (node_id, run_id) WHERE state IN (1, 2);
CREATE INDEX allocation_node ON allocation (node_id, kept, released_us) WHERE node_id IS NOT NULL;
DROP TABLE job_place;

CREATE TABLE job_new (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    experiment_id INTEGER NOT NULL REFERENCES experiment (id) ON DELETE RESTRICT,
    cluster_id    INTEGER REFERENCES cluster (id) ON DELETE SET NULL,
    name          TEXT    NOT NULL COLLATE NOCASE,
    guid          TEXT    NOT NULL,
    cluster_ref   TEXT    NOT NULL,
    prov_state    INTEGER NOT NULL,
    exec_state    INTEGER NOT NULL,
    prov_us       INTEGER NOT NULL,
    exec_us       INTEGER NOT NULL,
    created_us    INTEGER NOT NULL,
    updated_us    INTEGER NOT NULL,
    start_us      INTEGER NOT NULL,
    end_us        INTEGER NOT NULL,
    exit_code     INTEGER,
    errors        TEXT,
    doc           TEXT    NOT NULL,
    secrets       BLOB,
    created_by    TEXT,
    UNIQUE (experiment_id, name)
) STRICT;
INSERT INTO job_new
    SELECT id, experiment_id, cluster_id, name, guid, cluster_ref, prov_state, exec_state, prov_us, exec_us,
           created_us, updated_us, start_us, end_us, exit_code, errors, doc, secrets, NULL
    FROM job;
DELETE FROM sqlite_sequence WHERE name = 'job_new';
INSERT INTO sqlite_sequence (name, seq) SELECT 'job_new', seq FROM sqlite_sequence WHERE name = 'job';
DROP TABLE job;
ALTER TABLE job_new RENAME TO job;
CREATE INDEX job_list ON job (experiment_id, id);
CREATE INDEX job_cluster ON job (cluster_id, exec_state);
CREATE INDEX job_active ON job (id) WHERE exec_state IN (2, 3) OR prov_state = 5;
CREATE INDEX job_deleting ON job (id) WHERE prov_state = 5;
-- Whatever marks a job takes its run out of the queue.
CREATE TRIGGER job_marked AFTER UPDATE OF prov_state ON job WHEN NEW.prov_state = 5
BEGIN
    UPDATE run SET stop = 2 WHERE owner_kind = 6 AND owner_id = NEW.id;
END;

-- --- nodes ------------------------------------------------------------------------------------------
-- A node that runs something is idle (2) with a live allocation; 3, which said so, is not used again.
-- Its capacity: slots as its pool says, the rest as the node says (0: not known yet). devices: as the
-- node protocol has them. idle_us: since when it is idle and holds nothing; 0: it is not.
-- failure: why it is unusable (model/failure_table.h), 0: it is not, or for a reason without a number.
CREATE TABLE node_new (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    pool_id     INTEGER NOT NULL REFERENCES pool (id) ON DELETE RESTRICT,
    name        TEXT    NOT NULL,
    ordinal     INTEGER NOT NULL,
    state       INTEGER NOT NULL,
    state_us    INTEGER NOT NULL,
    created_us  INTEGER NOT NULL,
    idle_us     INTEGER NOT NULL,
    slots       INTEGER NOT NULL,
    gpus        INTEGER NOT NULL,
    cores       INTEGER NOT NULL,
    memory      INTEGER NOT NULL,
    devices     TEXT,
    incarnation TEXT,
    failure     INTEGER NOT NULL,
    errors      TEXT,
    machine_id  INTEGER REFERENCES machine (id) ON DELETE RESTRICT,
    UNIQUE (pool_id, ordinal)
) STRICT;
INSERT INTO node_new
    SELECT id, cluster_id, name, ordinal, CASE state WHEN 3 THEN 2 ELSE state END, state_us, created_us,
           CASE WHEN state = 2 AND job_id IS NULL THEN state_us ELSE 0 END, 1, 0, 0, 0, NULL, incarnation,
           CASE json_extract(errors, '$[#-1].code')
               WHEN 'NodeLost' THEN 1 WHEN 'NodeUnreachable' THEN 2 WHEN 'NodeRefused' THEN 3
               WHEN 'NodeRebooted' THEN 4 WHEN 'NodeRebooting' THEN 5 WHEN 'NodeRootReplaced' THEN 6
               WHEN 'NodeNotInInventory' THEN 7 WHEN 'NodePreparationFailed' THEN 11
               WHEN 'NodeSetupFailed' THEN 12 WHEN 'NodeHasNoRoot' THEN 13 WHEN 'TaskNotKilled' THEN 15
               ELSE 0 END,
           errors, machine_id
    FROM node;
DELETE FROM sqlite_sequence WHERE name = 'node_new';
INSERT INTO sqlite_sequence (name, seq) SELECT 'node_new', seq FROM sqlite_sequence WHERE name = 'node';
DROP TABLE node;
ALTER TABLE node_new RENAME TO node;
CREATE INDEX node_count ON node (pool_id, state);
CREATE UNIQUE INDEX node_machine ON node (machine_id) WHERE machine_id IS NOT NULL;

-- What is live keeps its run and its node.
CREATE TRIGGER node_holds BEFORE DELETE ON node
WHEN EXISTS (SELECT 1 FROM allocation WHERE node_id = OLD.id AND state IN (1, 2))
BEGIN
    SELECT RAISE(ABORT, 'the node holds a run');
END;
CREATE TRIGGER run_holds BEFORE DELETE ON run
WHEN EXISTS (SELECT 1 FROM allocation WHERE run_id = OLD.id AND state IN (1, 2))
BEGIN
    SELECT RAISE(ABORT, 'the run holds nodes');
END;

-- --- events -----------------------------------------------------------------------------------------
-- Changes of state, in the order in which they were committed. kind, resource_id: model/enums.h. They go
-- with their resource; of each, the latest are kept (storage/st_event.c).
CREATE TABLE event (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    at_us       INTEGER NOT NULL,
    kind        INTEGER NOT NULL,
    resource_id INTEGER NOT NULL,
    from_state  INTEGER NOT NULL,
    to_state    INTEGER NOT NULL,
    reason      TEXT
) STRICT;
CREATE INDEX event_resource ON event (kind, resource_id, seq);

ALTER TABLE resource_group ADD COLUMN created_by TEXT;
ALTER TABLE workspace ADD COLUMN created_by TEXT;
ALTER TABLE experiment ADD COLUMN created_by TEXT;
ALTER TABLE file_server ADD COLUMN created_by TEXT;
