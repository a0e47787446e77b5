-- The first schema. Names compare without regard to case, as in Azure. Instants are microseconds
-- since 1970, 0 = not yet. Enums are the numbers of model/enums.h: never renumber.
-- Partial indexes repeat the literal condition of the statements that use them
-- (storage/sql/): exec_state 1 = queued, 2 = running, 3 = terminating; prov_state 5 =
-- deleting; status 1 = in progress.
-- AUTOINCREMENT: an id is never given out twice, so that an operation, a task or a page mark of a
-- removed row cannot hit its successor.

-- key_check: a sealed constant, tells a wrong key file. clean_close: 1 after an orderly close.
CREATE TABLE meta (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    key_check   BLOB,
    clean_close INTEGER NOT NULL
) STRICT;
INSERT INTO meta (id, key_check, clean_close) VALUES (1, NULL, 0);

CREATE TABLE resource_group (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    subscription TEXT    NOT NULL COLLATE NOCASE,
    name         TEXT    NOT NULL COLLATE NOCASE,
    location     TEXT    NOT NULL,
    tags         TEXT,
    prov_state   INTEGER NOT NULL,
    created_us   INTEGER NOT NULL,
    updated_us   INTEGER NOT NULL,
    UNIQUE (subscription, name)
) STRICT;
CREATE INDEX resource_group_list ON resource_group (subscription, id);
CREATE INDEX resource_group_deleting ON resource_group (id) WHERE prov_state = 5;

CREATE TABLE workspace (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    group_id   INTEGER NOT NULL REFERENCES resource_group (id) ON DELETE RESTRICT,
    name       TEXT    NOT NULL COLLATE NOCASE,
    location   TEXT    NOT NULL,
    tags       TEXT,
    prov_state INTEGER NOT NULL,
    prov_us    INTEGER NOT NULL,
    created_us INTEGER NOT NULL,
    updated_us INTEGER NOT NULL,
    UNIQUE (group_id, name)
) STRICT;
CREATE INDEX workspace_list ON workspace (group_id, id);
CREATE INDEX workspace_deleting ON workspace (id) WHERE prov_state = 5;

CREATE TABLE experiment (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace_id INTEGER NOT NULL REFERENCES workspace (id) ON DELETE RESTRICT,
    name         TEXT    NOT NULL COLLATE NOCASE,
    prov_state   INTEGER NOT NULL,
    prov_us      INTEGER NOT NULL,
    created_us   INTEGER NOT NULL,
    updated_us   INTEGER NOT NULL,
    UNIQUE (workspace_id, name)
) STRICT;
CREATE INDEX experiment_list ON experiment (workspace_id, id);
CREATE INDEX experiment_deleting ON experiment (id) WHERE prov_state = 5;

CREATE TABLE file_server (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace_id INTEGER NOT NULL REFERENCES workspace (id) ON DELETE RESTRICT,
    name         TEXT    NOT NULL COLLATE NOCASE,
    guid         TEXT    NOT NULL,
    prov_state   INTEGER NOT NULL,
    prov_us      INTEGER NOT NULL,
    created_us   INTEGER NOT NULL,
    updated_us   INTEGER NOT NULL,
    doc          TEXT    NOT NULL,
    secrets      BLOB,
    UNIQUE (workspace_id, name)
) STRICT;
CREATE INDEX file_server_list ON file_server (workspace_id, id);
CREATE INDEX file_server_deleting ON file_server (id) WHERE prov_state = 5;

CREATE TABLE cluster (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace_id  INTEGER NOT NULL REFERENCES workspace (id) ON DELETE RESTRICT,
    name          TEXT    NOT NULL COLLATE NOCASE,
    guid          TEXT    NOT NULL,
    vm_size       TEXT    NOT NULL,
    vm_priority   INTEGER NOT NULL,
    scale_kind    INTEGER NOT NULL,
    scale_target  INTEGER NOT NULL,
    scale_dealloc INTEGER NOT NULL,
    scale_minimum INTEGER NOT NULL,
    scale_maximum INTEGER NOT NULL,
    scale_initial INTEGER NOT NULL,
    auto_target   INTEGER NOT NULL,
    prov_state    INTEGER NOT NULL,
    alloc_state   INTEGER NOT NULL,
    prov_us       INTEGER NOT NULL,
    alloc_us      INTEGER NOT NULL,
    created_us    INTEGER NOT NULL,
    updated_us    INTEGER NOT NULL,
    errors        TEXT,
    doc           TEXT    NOT NULL,
    secrets       BLOB,
    UNIQUE (workspace_id, name)
) STRICT;
CREATE INDEX cluster_list ON cluster (workspace_id, id);
CREATE INDEX cluster_deleting ON cluster (id) WHERE prov_state = 5;

CREATE TABLE job (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    experiment_id INTEGER NOT NULL REFERENCES experiment (id) ON DELETE RESTRICT,
    cluster_id    INTEGER REFERENCES cluster (id) ON DELETE SET NULL,
    name          TEXT    NOT NULL COLLATE NOCASE,
    guid          TEXT    NOT NULL,
    cluster_ref   TEXT    NOT NULL,
    priority      INTEGER NOT NULL,
    node_count    INTEGER NOT NULL,
    max_wall_us   INTEGER NOT NULL,
    prov_state    INTEGER NOT NULL,
    exec_state    INTEGER NOT NULL,
    prov_us       INTEGER NOT NULL,
    exec_us       INTEGER NOT NULL,
    created_us    INTEGER NOT NULL,
    updated_us    INTEGER NOT NULL,
    start_us      INTEGER NOT NULL,
    end_us        INTEGER NOT NULL,
    exit_code     INTEGER,
    attempt       INTEGER NOT NULL,
    errors        TEXT,
    doc           TEXT    NOT NULL,
    secrets       BLOB,
    UNIQUE (experiment_id, name)
) STRICT;
CREATE INDEX job_list ON job (experiment_id, id);
CREATE INDEX job_cluster ON job (cluster_id, exec_state);
-- The last columns let the sum of queued node_counts be read from the index alone.
CREATE INDEX job_queue ON job (cluster_id, priority DESC, id, node_count, exec_state, prov_state)
    WHERE exec_state = 1 AND prov_state <> 5;
CREATE INDEX job_active ON job (id) WHERE exec_state IN (2, 3) OR prov_state = 5;
CREATE INDEX job_deleting ON job (id) WHERE prov_state = 5;

-- job_id: restrict, so a job that still holds a node cannot be removed.
CREATE TABLE node (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    cluster_id  INTEGER NOT NULL REFERENCES cluster (id) ON DELETE RESTRICT,
    name        TEXT    NOT NULL,
    ordinal     INTEGER NOT NULL,
    state       INTEGER NOT NULL,
    state_us    INTEGER NOT NULL,
    created_us  INTEGER NOT NULL,
    job_id      INTEGER REFERENCES job (id) ON DELETE RESTRICT,
    rank        INTEGER NOT NULL,
    incarnation TEXT,
    errors      TEXT,
    UNIQUE (cluster_id, ordinal)
) STRICT;
CREATE INDEX node_count ON node (cluster_id, state);
CREATE INDEX node_job ON node (job_id, rank);

-- resource_id is no foreign key: an operation outlives the resource it removed.
CREATE TABLE operation (
    guid          TEXT    NOT NULL PRIMARY KEY COLLATE NOCASE,
    subscription  TEXT    NOT NULL,
    location      TEXT    NOT NULL,
    resource_key  TEXT    NOT NULL,
    api_version   TEXT    NOT NULL,
    kind          INTEGER NOT NULL,
    resource_id   INTEGER NOT NULL,
    is_delete     INTEGER NOT NULL,
    status        INTEGER NOT NULL,
    start_us      INTEGER NOT NULL,
    end_us        INTEGER NOT NULL,
    error_code    TEXT,
    error_message TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX operation_open ON operation (kind, resource_id, is_delete) WHERE status = 1;
CREATE INDEX operation_ended ON operation (end_us) WHERE status <> 1;
