-- The schema of 1.0.0. This file is never edited: a change is the next migration.
--
-- Names of resources compare without regard to case, as in Azure. Instants (*_us) are microseconds since 1970; 0: not
-- yet. Enums are the numbers of model/enums.h and model/batch/*.h, which are never renumbered. Texts called doc, errors,
-- tags, metadata, failure are JSON. Columns called secrets, keys, value and password are sealed (storage/seal.c).
-- created_by: the object id of the maker; NULL: unknown.
--
-- Partial indexes and triggers repeat the literal conditions of the statements that use them (storage/sql/):
-- prov_state 1 = creating, 5 = deleting; run.phase 1 = waiting, 2 = allocated, 3 = releasing, 4 = over; run.stop 0 = not
-- asked to; run.held 1 = by nothing; allocation.state 1 = held; node.wish 6 = it is being wiped; operation.status 1 = in
-- progress.
--
-- AUTOINCREMENT: an id is never given out twice, so that an operation, a task or a page mark of a removed row cannot hit
-- its successor.

-- --- the database and its daemon ----------------------------------------------------------------------------------

-- key_check: a sealed constant, by which a wrong key file is noticed. clean_close: enum close_mark (storage_priv.h).
CREATE TABLE meta (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    key_check   BLOB,
    clean_close INTEGER NOT NULL
) STRICT;
INSERT INTO meta (id, key_check, clean_close) VALUES (1, NULL, 0);

-- One row, written anew with each start of the daemon (storage/db.c).
CREATE TABLE epoch (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    term       INTEGER NOT NULL,
    random     TEXT    NOT NULL,
    started_us INTEGER NOT NULL
) STRICT;
INSERT INTO epoch (id, term, random, started_us) VALUES (1, 0, '', 0);

-- --- people -------------------------------------------------------------------------------------------------------

-- Who may log in. kind 1: a user, 2: a service principal, 3: an application, which has the secrets of its service
-- principal. app_id: the name by which a service principal logs in; NULL: a user. name: that of a user is user@domain.
CREATE TABLE identity (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    object_id  TEXT    NOT NULL COLLATE NOCASE UNIQUE,
    app_id     TEXT    COLLATE NOCASE,
    kind       INTEGER NOT NULL,
    name       TEXT    NOT NULL COLLATE NOCASE,
    display    TEXT    NOT NULL,
    created_us INTEGER NOT NULL,
    created_by TEXT
) STRICT;
CREATE UNIQUE INDEX identity_app ON identity (kind, app_id) WHERE app_id IS NOT NULL;
CREATE UNIQUE INDEX identity_user ON identity (name) WHERE kind = 1;
CREATE INDEX identity_list ON identity (kind, id);

-- Batch AI's own principal of the public cloud, to which scripts give roles. It has no secret.
INSERT INTO identity (object_id, app_id, kind, name, display, created_us)
    VALUES ('9fcb3732-5f52-4135-8c08-9d4bbaf203ea', '9fcb3732-5f52-4135-8c08-9d4bbaf203ea', 2, 'Azure Batch AI',
            'Azure Batch AI', 0);

-- Passwords and secrets. hash: of libsodium's crypto_pwhash_str. hint: the first characters of a secret that the daemon
-- made; NULL: a password. ends_us 0: never.
CREATE TABLE credential (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    identity_id INTEGER NOT NULL REFERENCES identity (id) ON DELETE RESTRICT,
    key_id      TEXT    NOT NULL COLLATE NOCASE,
    hint        TEXT,
    hash        TEXT    NOT NULL,
    display     TEXT,
    starts_us   INTEGER NOT NULL,
    ends_us     INTEGER NOT NULL,
    UNIQUE (identity_id, key_id)
) STRICT;

-- Who may do what. scope: a path without a slash at its end. role: a role definition of the program's table. principal:
-- an object id, perhaps that of the daemon's own principal, which has no row.
CREATE TABLE role_assignment (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    guid       TEXT    NOT NULL COLLATE NOCASE UNIQUE,
    scope      TEXT    NOT NULL COLLATE NOCASE,
    role       TEXT    NOT NULL COLLATE NOCASE,
    principal  TEXT    NOT NULL COLLATE NOCASE,
    created_us INTEGER NOT NULL,
    created_by TEXT,
    UNIQUE (principal, scope, role)
) STRICT;

-- --- the resource manager -----------------------------------------------------------------------------------------

-- Subscriptions in addition to the configured one. guid: in lower case.
CREATE TABLE subscription (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    guid       TEXT    NOT NULL UNIQUE,
    name       TEXT    NOT NULL,
    created_us INTEGER NOT NULL,
    created_by TEXT    NOT NULL
) STRICT;

-- A group that is creating is one that a seed has not finished.
CREATE TABLE resource_group (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    subscription TEXT    NOT NULL COLLATE NOCASE,
    name         TEXT    NOT NULL COLLATE NOCASE,
    location     TEXT    NOT NULL,
    prov_state   INTEGER NOT NULL,
    created_us   INTEGER NOT NULL,
    updated_us   INTEGER NOT NULL,
    tags         TEXT,
    created_by   TEXT,
    UNIQUE (subscription, name)
) STRICT;
CREATE INDEX resource_group_list ON resource_group (subscription, id);
CREATE INDEX resource_group_deleting ON resource_group (id) WHERE prov_state = 5;
CREATE INDEX resource_group_creating ON resource_group (id) WHERE prov_state = 1;

-- Long-running operations. resource_id is no foreign key: an operation outlives the resource that it removed.
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

-- Changes of state, in the order in which they were committed. kind, resource_id: of the resource, with which they are
-- removed; of each resource the latest are kept (storage/st_event.c).
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

-- --- pools and nodes ----------------------------------------------------------------------------------------------

-- What the scheduler knows of a cluster or of a pool of Azure Batch. kind: of that resource. vm_priority, scale_target:
-- the class of nodes that the pool is for, and how many are wanted; scale_low: how many low-priority nodes in addition.
-- slots: of each node; 0: the node's own number. spread 1: parts of nodes are given from the node with the most free
-- slots. is_new: 1 until its first nodes were asked for. going: 1 once its resource was marked as deleting.
CREATE TABLE pool (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    kind          INTEGER NOT NULL,
    vm_size       TEXT    NOT NULL,
    vm_priority   INTEGER NOT NULL,
    scale_kind    INTEGER NOT NULL,
    scale_target  INTEGER NOT NULL,
    scale_low     INTEGER NOT NULL,
    scale_dealloc INTEGER NOT NULL,
    scale_minimum INTEGER NOT NULL,
    scale_maximum INTEGER NOT NULL,
    scale_initial INTEGER NOT NULL,
    auto_target   INTEGER NOT NULL,
    slots         INTEGER NOT NULL,
    spread        INTEGER NOT NULL,
    alloc_state   INTEGER NOT NULL,
    alloc_us      INTEGER NOT NULL,
    is_new        INTEGER NOT NULL,
    going         INTEGER NOT NULL,
    errors        TEXT
) STRICT;

-- Machines of the inventory: the part that must outlive the daemon. The inventory itself is configuration. facts: as the
-- node protocol has them, opaque here. contact_us: of the last contact; 0: never.
CREATE TABLE machine (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL COLLATE NOCASE UNIQUE,
    drained    INTEGER NOT NULL,
    contact_us INTEGER NOT NULL,
    reason     TEXT,
    facts      TEXT
) STRICT;

-- A node that runs something is idle (2) and has a live allocation. machine_id: the machine that the node is; NULL: a
-- local node. idle_us: since when it is idle and holds nothing; 0: it is not. slots, gpus, cores, memory: its capacity;
-- 0: not known yet. aside: how many runs hold a part of it that has no slots. off: 0: it may get runs; else the fate of
-- the runs there, as scale_dealloc of pools. wish: the future of the node, and how: the fate of its runs then (enums of
-- model/enums.h). reclaimed: 1: its machine was taken back for a pool with a right to it, so that the runs there are
-- queued again. devices: as the node protocol has them. epoch: of the daemon that decided on the node's state, as
-- TERM.RANDOM. failure: why it is unusable (model/failure_table.h); 0: it is usable. why: the message of the last entry
-- of errors.
CREATE TABLE node (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    pool_id     INTEGER NOT NULL REFERENCES pool (id) ON DELETE RESTRICT,
    machine_id  INTEGER REFERENCES machine (id) ON DELETE RESTRICT,
    name        TEXT    NOT NULL,
    ordinal     INTEGER NOT NULL,
    vm_priority INTEGER NOT NULL,
    state       INTEGER NOT NULL,
    state_us    INTEGER NOT NULL,
    created_us  INTEGER NOT NULL,
    booted_us   INTEGER NOT NULL,
    idle_us     INTEGER NOT NULL,
    slots       INTEGER NOT NULL,
    gpus        INTEGER NOT NULL,
    cores       INTEGER NOT NULL,
    memory      INTEGER NOT NULL,
    aside       INTEGER NOT NULL DEFAULT 0,
    off         INTEGER NOT NULL,
    wish        INTEGER NOT NULL,
    how         INTEGER NOT NULL,
    reclaimed   INTEGER NOT NULL,
    epoch       TEXT    NOT NULL,
    failure     INTEGER NOT NULL,
    incarnation TEXT,
    devices     TEXT,
    why         TEXT,
    errors      TEXT,
    UNIQUE (pool_id, ordinal)
) STRICT;
CREATE INDEX node_count ON node (pool_id, state);
-- At most one node is a machine.
CREATE UNIQUE INDEX node_machine ON node (machine_id) WHERE machine_id IS NOT NULL;

-- The set-up task of a node's last preparation. runs: 1: it runs. failure: model/failure_table.h; 0: it succeeded, or
-- runs. beside: the id of a task that continues while its node gets runs; NULL: none. container_id: of its container,
-- once that has started; container_error: the runtime's message if it could not be started.
CREATE TABLE node_setup (
    node_id         INTEGER PRIMARY KEY REFERENCES node (id) ON DELETE CASCADE,
    runs            INTEGER NOT NULL,
    start_us        INTEGER NOT NULL,
    end_us          INTEGER NOT NULL,
    exit_code       INTEGER,
    failure         INTEGER NOT NULL,
    retries         INTEGER NOT NULL,
    retry_us        INTEGER NOT NULL,
    why             TEXT,
    beside          TEXT,
    container_id    TEXT,
    container_error TEXT
) STRICT;

-- --- runs and allocations -----------------------------------------------------------------------------------------

-- A run: work for some nodes of a pool. owner: the resource of a service that the run is for; no foreign key, as services
-- have tables of their own. pool_id: likewise, as an ended run outlives its pool. idx: of the run among the `runs` of its
-- owner; number: the user's own number of it, the index of an array. group_id: of runs that belong together, as their
-- front says; NULL: none. need_*: its part of each node; need_whole 1: the whole node. near_id: the node that it would
-- rather have. own_class 1: it gets no low-priority node. held: 1: by nothing; 2: it waits for others; 3: one of those
-- ended otherwise than wanted, so that it will fail; 4: it waits for others of its owner, as only so many may run at
-- once. stop: 1: end it; 2: and then remove it. attempt counts its allocations; retried: how often it was tried again
-- after a failure of its own or of a node. failure: model/failure_table.h; 0: none.
CREATE TABLE run (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    pool_id      INTEGER NOT NULL,
    owner_kind   INTEGER NOT NULL,
    owner_id     INTEGER NOT NULL,
    idx          INTEGER NOT NULL,
    runs         INTEGER NOT NULL,
    number       INTEGER NOT NULL,
    group_id     INTEGER,
    guid         TEXT    NOT NULL,
    priority     INTEGER NOT NULL,
    nodes        INTEGER NOT NULL,
    need_whole   INTEGER NOT NULL,
    need_slots   INTEGER NOT NULL,
    need_gpus    INTEGER NOT NULL,
    need_cores   INTEGER NOT NULL,
    need_memory  INTEGER NOT NULL,
    near_id      INTEGER,
    own_class    INTEGER NOT NULL,
    max_wall_us  INTEGER NOT NULL,
    phase        INTEGER NOT NULL,
    held         INTEGER NOT NULL,
    stop         INTEGER NOT NULL,
    attempt      INTEGER NOT NULL,
    retried      INTEGER NOT NULL,
    start_us     INTEGER NOT NULL,
    end_us       INTEGER NOT NULL,
    failure      INTEGER NOT NULL,
    UNIQUE (owner_kind, owner_id, idx)
) STRICT;
CREATE INDEX run_live ON run (id) WHERE phase IN (2, 3);
-- The last column lets the sum of waiting nodes be read from the index alone.
CREATE INDEX run_queue ON run (pool_id, priority DESC, id, nodes) WHERE phase = 1 AND stop = 0 AND held = 1;
CREATE INDEX run_held ON run (pool_id, held, id) WHERE phase = 1 AND stop = 0 AND held > 1;
-- Runs that want parts of nodes: automatic scaling asks how many nodes they need; and each is looked at once, in the
-- order in which they came, to name those that no node of their pool could hold.
CREATE INDEX run_parts ON run (pool_id, priority DESC, id, nodes)
    WHERE phase = 1 AND stop = 0 AND held = 1 AND need_whole = 0;
CREATE INDEX run_parts_age ON run (pool_id, id) WHERE phase = 1 AND stop = 0 AND held = 1 AND need_whole = 0;

-- The part of a node that a run has: held (1) until it is released (3) or lost (4). node_id: NULL once the node is gone;
-- its name stays as long as the run. kept: the place of the run's directory in the order in which the node came to keep
-- directories, the newest the highest; 0: not kept. (Instants would not do: they may go back with the clock.) term: of
-- the epoch in which it was made. task_prefix: begins the ids of its tasks on the node.
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
-- The ranks of a run are on distinct nodes.
CREATE UNIQUE INDEX allocation_live ON allocation (node_id, run_id) WHERE state = 1;
CREATE INDEX allocation_node ON allocation (node_id, kept) WHERE node_id IS NOT NULL;
-- A live allocation keeps its run and its node.
CREATE TRIGGER node_holds BEFORE DELETE ON node
WHEN EXISTS (SELECT 1 FROM allocation WHERE node_id = OLD.id AND state = 1)
BEGIN
    SELECT RAISE(ABORT, 'the node holds a run');
END;
CREATE TRIGGER run_holds BEFORE DELETE ON run
WHEN EXISTS (SELECT 1 FROM allocation WHERE run_id = OLD.id AND state = 1)
BEGIN
    SELECT RAISE(ABORT, 'the run holds nodes');
END;

-- Copies of the secrets of vaults that a run refers to, for as long as it has nodes: after a restart of the daemon it
-- continues with the same, whatever became of them in their vault. url: as the reference has it.
CREATE TABLE run_secret (
    run_id  INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    url     TEXT    NOT NULL,
    value   BLOB    NOT NULL,
    PRIMARY KEY (run_id, attempt, url)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER run_done AFTER UPDATE OF phase ON run WHEN NEW.phase IN (1, 4) AND OLD.phase NOT IN (1, 4)
BEGIN
    DELETE FROM run_secret WHERE run_id = NEW.id;
END;

-- The ends of other resources for which a resource waits before its runs may begin. owner, awaited: resources of
-- services. name: the user's name of the awaited one. wanted 1: success, 2: failure, 3: any end. state 1: open, 2: met,
-- 3: it ended otherwise. ended 0: not yet, 1: well, 2: badly, 3: it was removed before its end.
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

-- Nodes on which the runs of a group may not begin yet.
CREATE TABLE node_bar (
    group_id INTEGER NOT NULL,
    node_id  INTEGER NOT NULL REFERENCES node (id) ON DELETE CASCADE,
    PRIMARY KEY (group_id, node_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX node_bar_node ON node_bar (node_id);
CREATE TRIGGER node_bar_wiped AFTER UPDATE OF wish ON node WHEN NEW.wish = 6
BEGIN
    DELETE FROM node_bar WHERE node_id = NEW.id;
END;

-- --- Batch AI -----------------------------------------------------------------------------------------------------

CREATE TABLE workspace (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    group_id   INTEGER NOT NULL REFERENCES resource_group (id) ON DELETE RESTRICT,
    name       TEXT    NOT NULL COLLATE NOCASE,
    location   TEXT    NOT NULL,
    prov_state INTEGER NOT NULL,
    prov_us    INTEGER NOT NULL,
    created_us INTEGER NOT NULL,
    updated_us INTEGER NOT NULL,
    tags       TEXT,
    created_by TEXT,
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
    created_by   TEXT,
    UNIQUE (workspace_id, name)
) STRICT;
CREATE INDEX experiment_list ON experiment (workspace_id, id);
CREATE INDEX experiment_deleting ON experiment (id) WHERE prov_state = 5;

-- A file server that is creating is one whose machine is being prepared to export it.
CREATE TABLE file_server (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace_id INTEGER NOT NULL REFERENCES workspace (id) ON DELETE RESTRICT,
    name         TEXT    NOT NULL COLLATE NOCASE,
    guid         TEXT    NOT NULL,
    prov_state   INTEGER NOT NULL,
    prov_us      INTEGER NOT NULL,
    created_us   INTEGER NOT NULL,
    updated_us   INTEGER NOT NULL,
    created_by   TEXT,
    doc          TEXT    NOT NULL,
    secrets      BLOB,
    UNIQUE (workspace_id, name)
) STRICT;
CREATE INDEX file_server_list ON file_server (workspace_id, id);
CREATE INDEX file_server_deleting ON file_server (id) WHERE prov_state = 5;
CREATE INDEX file_server_creating ON file_server (id) WHERE prov_state = 1;

-- A cluster has the id of its pool.
CREATE TABLE cluster (
    id           INTEGER PRIMARY KEY REFERENCES pool (id) ON DELETE RESTRICT,
    workspace_id INTEGER NOT NULL REFERENCES workspace (id) ON DELETE RESTRICT,
    name         TEXT    NOT NULL COLLATE NOCASE,
    guid         TEXT    NOT NULL,
    prov_state   INTEGER NOT NULL,
    prov_us      INTEGER NOT NULL,
    created_us   INTEGER NOT NULL,
    updated_us   INTEGER NOT NULL,
    created_by   TEXT,
    doc          TEXT    NOT NULL,
    secrets      BLOB,
    UNIQUE (workspace_id, name)
) STRICT;
CREATE INDEX cluster_list ON cluster (workspace_id, id);
CREATE INDEX cluster_deleting ON cluster (id) WHERE prov_state = 5;
-- Whatever marks a cluster marks its pool.
CREATE TRIGGER cluster_marked AFTER UPDATE OF prov_state ON cluster WHEN NEW.prov_state = 5
BEGIN
    UPDATE pool SET going = 1 WHERE id = NEW.id;
END;

-- cluster_ref: the cluster's id as the job's maker gave it; it stays when the cluster is gone.
CREATE TABLE job (
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
    created_by    TEXT,
    errors        TEXT,
    doc           TEXT    NOT NULL,
    secrets       BLOB,
    UNIQUE (experiment_id, name)
) STRICT;
CREATE INDEX job_list ON job (experiment_id, id);
CREATE INDEX job_cluster ON job (cluster_id, exec_state);
CREATE INDEX job_deleting ON job (id) WHERE prov_state = 5;
-- Whatever marks a job takes its runs out of the queue; 6 is its kind.
CREATE TRIGGER job_marked AFTER UPDATE OF prov_state ON job WHEN NEW.prov_state = 5
BEGIN
    UPDATE run SET stop = 2 WHERE owner_kind = 6 AND owner_id = NEW.id;
END;

-- --- storage accounts, shares and blobs ---------------------------------------------------------------------------

-- name: unique over all subscriptions. keys: both. implicit 1: it was made because a mount named it. blob_service,
-- file_service: the settings of the account's services, as JSON objects; NULL: nothing was set.
CREATE TABLE storage_account (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    group_id     INTEGER NOT NULL REFERENCES resource_group (id) ON DELETE RESTRICT,
    name         TEXT    NOT NULL COLLATE NOCASE UNIQUE,
    location     TEXT    NOT NULL,
    sku          TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    implicit     INTEGER NOT NULL,
    prov_state   INTEGER NOT NULL,
    created_us   INTEGER NOT NULL,
    updated_us   INTEGER NOT NULL,
    key1_us      INTEGER NOT NULL,
    key2_us      INTEGER NOT NULL,
    created_by   TEXT,
    tags         TEXT,
    keys         BLOB    NOT NULL,
    doc          TEXT    NOT NULL,
    blob_service TEXT,
    file_service TEXT
) STRICT;
CREATE INDEX storage_account_list ON storage_account (group_id, id);
CREATE INDEX storage_account_deleting ON storage_account (id) WHERE prov_state = 5;

-- Shares of files (kind 1) and containers of blobs (2): what is in them is in folders. state 1: the folder is being
-- made, 2: it is there, 3: it is being moved away, 4: the share is deleted, and can be restored while its row exists.
-- account: the account's name, which a deleted share keeps: its account_id is NULL, as the account may be gone. Names
-- are in the order of their bytes.
CREATE TABLE share (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id       INTEGER REFERENCES storage_account (id) ON DELETE RESTRICT,
    account          TEXT    NOT NULL,
    name             TEXT    NOT NULL,
    kind             INTEGER NOT NULL,
    state            INTEGER NOT NULL,
    quota            INTEGER NOT NULL,
    metadata         TEXT,
    acl              TEXT,
    public_access    INTEGER NOT NULL,
    access_tier      TEXT,
    lease_state      INTEGER NOT NULL,
    lease_id         TEXT,
    lease_duration_s INTEGER NOT NULL,
    lease_until_us   INTEGER NOT NULL,
    etag             INTEGER NOT NULL,
    created_us       INTEGER NOT NULL,
    updated_us       INTEGER NOT NULL,
    deleted_us       INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX share_name ON share (account_id, kind, name) WHERE account_id IS NOT NULL;
CREATE INDEX share_deleted ON share (deleted_us, id) WHERE state = 4;
CREATE INDEX share_unsettled ON share (id) WHERE state IN (1, 3);

-- What files and directories of shares, and blobs, have in addition to their bytes. A file without a row is one of which
-- nobody has said anything. path: below the share's folder. aside: the name of the daemon's own file that holds a blob
-- whose name no file can have; else NULL. type 0: no blob, 1: block blob, 2: append blob. inode, size, mtime_ns: the
-- file as it was when md5 and blocks were noted. properties, metadata, tags, copy: JSON objects; blocks: a JSON array.
CREATE TABLE share_item (
    id               INTEGER PRIMARY KEY,
    share_id         INTEGER NOT NULL REFERENCES share (id) ON DELETE CASCADE,
    path             TEXT    NOT NULL,
    aside            TEXT,
    type             INTEGER NOT NULL,
    inode            INTEGER NOT NULL,
    size             INTEGER NOT NULL,
    mtime_ns         INTEGER NOT NULL,
    revision         INTEGER NOT NULL,
    properties       TEXT,
    metadata         TEXT,
    tags             TEXT,
    copy             TEXT,
    blocks           TEXT,
    md5              TEXT,
    lease_state      INTEGER NOT NULL,
    lease_id         TEXT,
    lease_duration_s INTEGER NOT NULL,
    lease_until_us   INTEGER NOT NULL,
    created_us       INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX share_item_path ON share_item (share_id, path);
CREATE UNIQUE INDEX share_item_aside ON share_item (share_id, path) WHERE aside IS NOT NULL;

-- Snapshots of blobs: the state of a blob at an instant. They stay when the blob changes, and also when a job removes
-- its file. aside: the name of the daemon's own file that holds the snapshot's bytes. inode, size, mtime_ns: of the
-- blob's own file at that instant, from which come ETag and time. The other columns are those of share_item.
CREATE TABLE blob_snapshot (
    id         INTEGER PRIMARY KEY,
    share_id   INTEGER NOT NULL REFERENCES share (id) ON DELETE CASCADE,
    path       TEXT    NOT NULL,
    taken_us   INTEGER NOT NULL,
    aside      TEXT    NOT NULL,
    type       INTEGER NOT NULL,
    inode      INTEGER NOT NULL,
    size       INTEGER NOT NULL,
    mtime_ns   INTEGER NOT NULL,
    revision   INTEGER NOT NULL,
    properties TEXT,
    metadata   TEXT,
    tags       TEXT,
    copy       TEXT,
    blocks     TEXT,
    md5        TEXT,
    created_us INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX blob_snapshot_taken ON blob_snapshot (share_id, path, taken_us);

-- Blobs of which blocks were put and that do not exist yet: the name of their blocks' folder does not say whose it is.
-- A row whose folder is gone means nothing.
CREATE TABLE uncommitted_blob (
    id       INTEGER PRIMARY KEY,
    share_id INTEGER NOT NULL REFERENCES share (id) ON DELETE CASCADE,
    path     TEXT    NOT NULL,
    since_us INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX uncommitted_blob_path ON uncommitted_blob (share_id, path);

-- The bytes of small blobs, and bytes appended to blobs, whose files the disk may not have yet: one sync of the database
-- serves many puts, and the files are synced together a moment later (storage/shares/journal.h). A row is removed once
-- its file is on disk. path, aside: as in share_item. inode, mtime_ns: of the file; was_inode, was_mtime_ns: of the file
-- that was there before a put, 0: none. grows_from: where in the file the bytes begin; -1: they are the whole file.
-- boot: of the kernel (/proc/sys/kernel/random/boot_id) that wrote the file.
CREATE TABLE kept_put (
    id           INTEGER PRIMARY KEY,
    share_id     INTEGER NOT NULL REFERENCES share (id) ON DELETE CASCADE,
    path         TEXT    NOT NULL,
    aside        TEXT,
    inode        INTEGER NOT NULL,
    mtime_ns     INTEGER NOT NULL,
    was_inode    INTEGER NOT NULL,
    was_mtime_ns INTEGER NOT NULL,
    grows_from   INTEGER NOT NULL,
    boot         TEXT    NOT NULL,
    bytes        BLOB    NOT NULL
) STRICT;
CREATE UNIQUE INDEX kept_put_path ON kept_put (share_id, path, grows_from);

-- Changes of files and blobs that are under way: the state before them, so that a daemon that was killed in the middle
-- can find how far the change came, and undo or finish all of it (storage/shares/journal.h). A row is removed a moment
-- after the end of its change. kind 1: another file takes the place, 2: the file is removed, 3: bytes are added at its
-- end. place: where the file is, if not at `path`, as share_item.aside. now_*: the file that it becomes. was_there,
-- was_*: the file that is there. was_noted 1: the columns from `aside` on are those of its row in share_item; 0: it has
-- no row. share_id is no foreign key: a row exists for a moment, and an index would cost more than the rest of it.
CREATE TABLE item_change (
    id               INTEGER PRIMARY KEY,
    share_id         INTEGER NOT NULL,
    path             TEXT    NOT NULL,
    kind             INTEGER NOT NULL,
    place            TEXT,
    now_inode        INTEGER NOT NULL,
    now_mtime_ns     INTEGER NOT NULL,
    was_there        INTEGER NOT NULL,
    was_inode        INTEGER NOT NULL,
    was_size         INTEGER NOT NULL,
    was_mtime_ns     INTEGER NOT NULL,
    was_noted        INTEGER NOT NULL,
    aside            TEXT,
    type             INTEGER NOT NULL,
    inode            INTEGER NOT NULL,
    size             INTEGER NOT NULL,
    mtime_ns         INTEGER NOT NULL,
    revision         INTEGER NOT NULL,
    properties       TEXT,
    metadata         TEXT,
    tags             TEXT,
    copy             TEXT,
    blocks           TEXT,
    md5              TEXT,
    lease_state      INTEGER NOT NULL,
    lease_id         TEXT,
    lease_duration_s INTEGER NOT NULL,
    lease_until_us   INTEGER NOT NULL,
    created_us       INTEGER NOT NULL
) STRICT;

-- --- vaults -------------------------------------------------------------------------------------------------------

-- A name is unique over all subscriptions, soft-deleted vaults included. group_id NULL: the vault is soft-deleted, until
-- purge_us; its group may be gone then, or be another of the same name, so that the group's name has a column.
CREATE TABLE vault (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    group_id     INTEGER REFERENCES resource_group (id) ON DELETE RESTRICT,
    subscription TEXT    NOT NULL COLLATE NOCASE,
    group_name   TEXT    NOT NULL COLLATE NOCASE,
    name         TEXT    NOT NULL COLLATE NOCASE UNIQUE,
    location     TEXT    NOT NULL,
    retention_us INTEGER NOT NULL,
    created_us   INTEGER NOT NULL,
    updated_us   INTEGER NOT NULL,
    deleted_us   INTEGER NOT NULL,
    purge_us     INTEGER NOT NULL,
    created_by   TEXT,
    tags         TEXT,
    doc          TEXT    NOT NULL
) STRICT;
CREATE INDEX vault_group ON vault (group_id, id);
CREATE INDEX vault_subscription ON vault (subscription, id);
CREATE INDEX vault_deleted ON vault (subscription, id) WHERE group_id IS NULL;
CREATE INDEX vault_expiring ON vault (purge_us) WHERE purge_us > 0;

-- deleted_us 0: it is not soft-deleted.
CREATE TABLE secret (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    vault_id   INTEGER NOT NULL REFERENCES vault (id) ON DELETE CASCADE,
    name       TEXT    NOT NULL COLLATE NOCASE,
    deleted_us INTEGER NOT NULL,
    purge_us   INTEGER NOT NULL,
    UNIQUE (vault_id, name)
) STRICT;
CREATE INDEX secret_list ON secret (vault_id, id);
CREATE INDEX secret_deleted ON secret (vault_id, id) WHERE deleted_us > 0;
CREATE INDEX secret_expiring ON secret (purge_us) WHERE deleted_us > 0;

-- The newest version of a secret has the highest id. not_before_s, expires_s: seconds since 1970; NULL: not given.
CREATE TABLE secret_version (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    secret_id    INTEGER NOT NULL REFERENCES secret (id) ON DELETE CASCADE,
    version      TEXT    NOT NULL COLLATE NOCASE,
    value        BLOB    NOT NULL,
    enabled      INTEGER NOT NULL,
    not_before_s INTEGER,
    expires_s    INTEGER,
    content_type TEXT,
    tags         TEXT,
    created_us   INTEGER NOT NULL,
    updated_us   INTEGER NOT NULL,
    UNIQUE (secret_id, version)
) STRICT;
CREATE INDEX secret_version_list ON secret_version (secret_id, id);

-- --- Azure Batch: accounts, applications, certificates ------------------------------------------------------------

-- name: unique over all subscriptions and regions. keys: both.
CREATE TABLE batch_account (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    group_id   INTEGER NOT NULL REFERENCES resource_group (id) ON DELETE RESTRICT,
    name       TEXT    NOT NULL COLLATE NOCASE UNIQUE,
    location   TEXT    NOT NULL,
    prov_state INTEGER NOT NULL,
    created_us INTEGER NOT NULL,
    updated_us INTEGER NOT NULL,
    created_by TEXT,
    tags       TEXT,
    keys       BLOB    NOT NULL,
    doc        TEXT    NOT NULL
) STRICT;
CREATE INDEX batch_account_list ON batch_account (group_id, id);
CREATE INDEX batch_account_deleting ON batch_account (id) WHERE prov_state = 5;

CREATE TABLE batch_application (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id      INTEGER NOT NULL REFERENCES batch_account (id) ON DELETE CASCADE,
    name            TEXT    NOT NULL COLLATE NOCASE,
    display_name    TEXT,
    default_version TEXT,
    allow_updates   INTEGER NOT NULL,
    created_us      INTEGER NOT NULL,
    updated_us      INTEGER NOT NULL,
    tags            TEXT,
    UNIQUE (account_id, name)
) STRICT;
CREATE INDEX batch_application_list ON batch_application (account_id, id);

-- hash: of the package's archive, by which the daemon keeps a copy; NULL: the package is not active.
CREATE TABLE batch_package (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    application_id INTEGER NOT NULL REFERENCES batch_application (id) ON DELETE CASCADE,
    name           TEXT    NOT NULL COLLATE NOCASE,
    format         TEXT,
    hash           TEXT,
    size           INTEGER NOT NULL,
    activated_us   INTEGER NOT NULL,
    created_us     INTEGER NOT NULL,
    updated_us     INTEGER NOT NULL,
    tags           TEXT,
    UNIQUE (application_id, name)
) STRICT;
CREATE INDEX batch_package_list ON batch_package (application_id, id);
CREATE INDEX batch_package_hash ON batch_package (hash) WHERE hash IS NOT NULL;

-- state, was: enum batch_certificate_state, now and before; *_us: since when in each. public: the public part, in
-- base64. secrets: the certificate as it was given. error: why it could not be deleted, JSON.
CREATE TABLE batch_certificate (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES batch_account (id) ON DELETE CASCADE,
    algorithm  TEXT    NOT NULL COLLATE NOCASE,
    thumbprint TEXT    NOT NULL COLLATE NOCASE,
    state      INTEGER NOT NULL,
    was        INTEGER NOT NULL,
    state_us   INTEGER NOT NULL,
    was_us     INTEGER NOT NULL,
    error      TEXT,
    tags       TEXT,
    public     TEXT    NOT NULL,
    secrets    BLOB    NOT NULL
) STRICT;
CREATE UNIQUE INDEX batch_certificate_name ON batch_certificate (account_id, thumbprint, algorithm);

-- --- Azure Batch: pools -------------------------------------------------------------------------------------------

-- id: of the pool; both rows are made and removed together. state 1: active, 2: deleting. alloc_state 1: steady, 2:
-- resizing, 3: stopping. dedicated, low, timeout_us: the size that was asked for last; the row of pool has the size that
-- the scheduler works towards. began_us: of the last resize. auto_*: automatic scaling by a formula. resize_errors,
-- auto_run: JSON.
CREATE TABLE batch_pool (
    id               INTEGER PRIMARY KEY REFERENCES pool (id) ON DELETE RESTRICT,
    account_id       INTEGER NOT NULL REFERENCES batch_account (id) ON DELETE RESTRICT,
    name             TEXT    NOT NULL COLLATE NOCASE,
    state            INTEGER NOT NULL,
    state_us         INTEGER NOT NULL,
    created_us       INTEGER NOT NULL,
    updated_us       INTEGER NOT NULL,
    created_by       TEXT,
    dedicated        INTEGER NOT NULL,
    low              INTEGER NOT NULL,
    timeout_us       INTEGER NOT NULL,
    alloc_state      INTEGER NOT NULL,
    alloc_us         INTEGER NOT NULL,
    began_us         INTEGER NOT NULL,
    resize_errors    TEXT,
    auto_enabled     INTEGER NOT NULL,
    auto_formula     TEXT,
    auto_interval_us INTEGER NOT NULL,
    auto_us          INTEGER NOT NULL,
    auto_run         TEXT,
    doc              TEXT    NOT NULL,
    secrets          BLOB,
    UNIQUE (account_id, name)
) STRICT;
CREATE INDEX batch_pool_unsettled ON batch_pool (id) WHERE alloc_state <> 1;
CREATE INDEX batch_pool_deleting ON batch_pool (id) WHERE state = 2;
CREATE INDEX batch_pool_scaled ON batch_pool (id) WHERE auto_enabled = 1;
-- Whatever marks a pool of Azure Batch marks the scheduler's pool.
CREATE TRIGGER batch_pool_marked AFTER UPDATE OF state ON batch_pool WHEN NEW.state = 2
BEGIN
    UPDATE pool SET going = 1 WHERE id = NEW.id;
END;

-- Samples of the metrics that formulas ask for. vals: the numbers of model/batch/sample.h, in its order; nothing between
-- two commas: not taken.
CREATE TABLE batch_sample (
    pool_id INTEGER NOT NULL REFERENCES pool (id) ON DELETE CASCADE,
    at_us   INTEGER NOT NULL,
    vals    TEXT    NOT NULL,
    PRIMARY KEY (pool_id, at_us)
) STRICT, WITHOUT ROWID;

-- Users who may log in on a node, in addition to its pool's user accounts. expiry_us: until when.
CREATE TABLE batch_node_user (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    node_id    INTEGER NOT NULL REFERENCES node (id) ON DELETE CASCADE,
    name       TEXT    NOT NULL COLLATE NOCASE,
    is_admin   INTEGER NOT NULL,
    expiry_us  INTEGER NOT NULL,
    ssh_key    TEXT,
    password   BLOB,
    UNIQUE (node_id, name)
) STRICT;

-- Directories of tasks and jobs that are still to be removed from a node. due_us: when; 0: at once.
CREATE TABLE batch_litter (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    node_id INTEGER NOT NULL REFERENCES node (id) ON DELETE CASCADE,
    due_us  INTEGER NOT NULL DEFAULT 0,
    path    TEXT    NOT NULL
) STRICT;
CREATE INDEX batch_litter_node ON batch_litter (node_id, id);
CREATE INDEX batch_litter_due ON batch_litter (due_us) WHERE due_us > 0;

-- How many tasks ended on each node, and how many of them well.
CREATE TABLE batch_node_total (
    node_name TEXT    PRIMARY KEY,
    ended     INTEGER NOT NULL,
    succeeded INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER batch_node_total_gone AFTER DELETE ON node
BEGIN
    DELETE FROM batch_node_total WHERE node_name = OLD.name;
END;

-- --- Azure Batch: schedules and jobs ------------------------------------------------------------------------------

-- state, was: enum batch_schedule_state, now and before; *_us: since when in each. next_us: when it makes its next job;
-- 0: never. number: of the last job that it made; 0 before the first. auto_pool: the pool that was made for all its
-- jobs; NULL: none yet.
CREATE TABLE batch_schedule (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES batch_account (id) ON DELETE CASCADE,
    name       TEXT    NOT NULL COLLATE NOCASE,
    state      INTEGER NOT NULL,
    was        INTEGER NOT NULL,
    state_us   INTEGER NOT NULL,
    was_us     INTEGER NOT NULL,
    created_us INTEGER NOT NULL,
    updated_us INTEGER NOT NULL,
    created_by TEXT,
    end_us     INTEGER NOT NULL,
    next_us    INTEGER NOT NULL,
    until_us   INTEGER NOT NULL,
    after_us   INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    auto_pool  TEXT,
    doc        TEXT    NOT NULL,
    secrets    BLOB
) STRICT;
CREATE UNIQUE INDEX batch_schedule_name ON batch_schedule (account_id, name);
-- Schedules that have something to do: 2 is completed, 3 disabled.
CREATE INDEX batch_schedule_live ON batch_schedule (state, id) WHERE state IN (1, 4, 5);

-- Every list and every count of jobs and tasks comes out of an index: a job may have 100,000 tasks, and a database a
-- million. state, was: enum batch_job_state, now and before; *_us: since when in each. limit_us: its maxWallClockTime;
-- 0: none. schedule_id, number: the schedule that made it, and its number there. prepares 1: it has a preparation task.
-- auto_life: enum batch_auto_life: whose life its pool has, if one is made for it.
CREATE TABLE batch_job (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id   INTEGER NOT NULL,
    name         TEXT    NOT NULL COLLATE NOCASE,
    state        INTEGER NOT NULL,
    was          INTEGER NOT NULL DEFAULT 0,
    state_us     INTEGER NOT NULL,
    was_us       INTEGER NOT NULL DEFAULT 0,
    created_us   INTEGER NOT NULL,
    updated_us   INTEGER NOT NULL,
    created_by   TEXT,
    start_us     INTEGER NOT NULL DEFAULT 0,
    end_us       INTEGER NOT NULL DEFAULT 0,
    limit_us     INTEGER NOT NULL DEFAULT 0,
    pool_name    TEXT    NOT NULL COLLATE NOCASE,
    auto_life    INTEGER NOT NULL DEFAULT 0,
    priority     INTEGER NOT NULL,
    max_parallel INTEGER NOT NULL,
    depends      INTEGER NOT NULL,
    on_all       INTEGER NOT NULL,
    on_failure   INTEGER NOT NULL,
    disable      INTEGER NOT NULL DEFAULT 0,
    prepares     INTEGER NOT NULL DEFAULT 0,
    schedule_id  INTEGER NOT NULL DEFAULT 0,
    number       INTEGER NOT NULL DEFAULT 1,
    reason       TEXT,
    failure      TEXT,
    doc          TEXT    NOT NULL,
    secrets      BLOB
) STRICT;
CREATE UNIQUE INDEX batch_job_name ON batch_job (account_id, name);
-- The job whose tasks a pool takes next; 1 is active.
CREATE INDEX batch_job_turn ON batch_job (account_id, pool_name, priority DESC, id) WHERE state = 1;
-- Jobs that are on their way to another state, and jobs that have a time limit.
CREATE INDEX batch_job_moving ON batch_job (state, id) WHERE state IN (2, 4, 5, 7);
CREATE INDEX batch_job_limited ON batch_job (start_us) WHERE limit_us > 0 AND state < 5;
CREATE INDEX batch_job_schedule ON batch_job (schedule_id, number) WHERE schedule_id > 0;
CREATE INDEX batch_job_pool ON batch_job (account_id, pool_name);
-- The group of a task's run is its job.
CREATE TRIGGER batch_job_unbarred AFTER DELETE ON batch_job
BEGIN
    DELETE FROM node_bar WHERE group_id = OLD.id;
END;

-- What jobs do on a node before their first task there (preparation) and after their last task (release). kind: enum
-- batch_chore_kind. state 1: it runs, or will run; 2: it is completed. up_us: since when the node had been up
-- (node.state_us) when it ran; 0: the node was wiped since. result and the columns after it: as of tasks.
CREATE TABLE batch_chore (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id          INTEGER NOT NULL REFERENCES batch_job (id) ON DELETE CASCADE,
    kind            INTEGER NOT NULL,
    pool_name       TEXT    NOT NULL,
    node_name       TEXT    NOT NULL,
    node_id         INTEGER REFERENCES node (id) ON DELETE SET NULL,
    up_us           INTEGER NOT NULL,
    state           INTEGER NOT NULL,
    start_us        INTEGER NOT NULL,
    end_us          INTEGER NOT NULL DEFAULT 0,
    exit_code       INTEGER,
    result          INTEGER NOT NULL DEFAULT 0,
    retries         INTEGER NOT NULL DEFAULT 0,
    retry_us        INTEGER NOT NULL DEFAULT 0,
    failure         TEXT,
    container_id    TEXT,
    container_error TEXT
) STRICT;
CREATE UNIQUE INDEX batch_chore_of ON batch_chore (job_id, node_name, kind);
CREATE INDEX batch_chore_node ON batch_chore (node_id) WHERE node_id IS NOT NULL;
CREATE TRIGGER batch_chore_wiped AFTER UPDATE OF wish ON node WHEN NEW.wish = 6
BEGIN
    UPDATE batch_chore SET up_us = 0 WHERE node_id = NEW.id;
END;

-- --- Azure Batch: tasks -------------------------------------------------------------------------------------------

-- state, was: enum batch_task_state, now and before (2: it is being prepared, 3: it runs, 4: it is completed); *_us:
-- since when in each. instances: of a task that runs on several nodes. manager: enum batch_manager of the task that
-- manages its job; 0: of all others. waits: open rows of batch_wait. fed: 1 while it has a run. result 1: success.
-- satisfies: 1 once it is completed as the tasks that depend on it want. fate: what becomes of it when its run ends.
-- files, files_until_us: whether its node has its files, and until when. container_id, container_error: as of
-- node_setup.
CREATE TABLE batch_task (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id          INTEGER NOT NULL REFERENCES batch_job (id),
    name            TEXT    NOT NULL COLLATE NOCASE,
    state           INTEGER NOT NULL,
    was             INTEGER NOT NULL DEFAULT 0,
    state_us        INTEGER NOT NULL,
    was_us          INTEGER NOT NULL DEFAULT 0,
    created_us      INTEGER NOT NULL,
    updated_us      INTEGER NOT NULL,
    slots           INTEGER NOT NULL,
    instances       INTEGER NOT NULL,
    manager         INTEGER NOT NULL DEFAULT 0,
    start_us        INTEGER NOT NULL DEFAULT 0,
    end_us          INTEGER NOT NULL DEFAULT 0,
    exit_code       INTEGER,
    result          INTEGER NOT NULL DEFAULT 0,
    retries         INTEGER NOT NULL DEFAULT 0,
    requeues        INTEGER NOT NULL DEFAULT 0,
    retry_us        INTEGER NOT NULL DEFAULT 0,
    requeue_us      INTEGER NOT NULL DEFAULT 0,
    pool_name       TEXT,
    node_name       TEXT,
    fed             INTEGER NOT NULL DEFAULT 0,
    waits           INTEGER NOT NULL DEFAULT 0,
    satisfies       INTEGER NOT NULL DEFAULT 0,
    fate            INTEGER NOT NULL DEFAULT 0,
    files           INTEGER NOT NULL DEFAULT 0,
    files_until_us  INTEGER NOT NULL DEFAULT 0,
    failure         TEXT,
    container_id    TEXT,
    container_error TEXT,
    doc             TEXT    NOT NULL,
    secrets         BLOB
) STRICT;
CREATE UNIQUE INDEX batch_task_name ON batch_task (job_id, name);
-- Tasks that may have a run next, and tasks that have one.
CREATE INDEX batch_task_ready ON batch_task (job_id, id) WHERE state = 1 AND waits = 0 AND fed = 0;
CREATE INDEX batch_task_fed ON batch_task (job_id, id) WHERE fed = 1;
CREATE INDEX batch_task_node ON batch_task (node_name, id) WHERE node_name IS NOT NULL;
CREATE INDEX batch_task_files ON batch_task (files_until_us) WHERE files = 1 AND files_until_us > 0;

-- The parts of a task that runs on several nodes, except the first node's, which is the task itself. number: of its
-- node, from 1. The other columns: as in batch_task.
CREATE TABLE batch_subtask (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id         INTEGER NOT NULL REFERENCES batch_task (id) ON DELETE CASCADE,
    number          INTEGER NOT NULL,
    node_name       TEXT    NOT NULL,
    state           INTEGER NOT NULL,
    was             INTEGER NOT NULL DEFAULT 0,
    state_us        INTEGER NOT NULL,
    was_us          INTEGER NOT NULL DEFAULT 0,
    start_us        INTEGER NOT NULL,
    end_us          INTEGER NOT NULL DEFAULT 0,
    exit_code       INTEGER,
    result          INTEGER NOT NULL DEFAULT 0,
    failure         TEXT,
    container_id    TEXT,
    container_error TEXT,
    UNIQUE (task_id, number)
) STRICT;
CREATE INDEX batch_subtask_node ON batch_subtask (node_name, id);

-- What a task waits for: the task called `name`, or all whose names are the numbers from low to high.
CREATE TABLE batch_wait (
    id      INTEGER PRIMARY KEY,
    job_id  INTEGER NOT NULL,
    task_id INTEGER NOT NULL REFERENCES batch_task (id) ON DELETE CASCADE,
    name    TEXT    COLLATE NOCASE,
    low     INTEGER,
    high    INTEGER
) STRICT;
CREATE UNIQUE INDEX batch_wait_task ON batch_wait (task_id, name) WHERE name IS NOT NULL;
CREATE INDEX batch_wait_of ON batch_wait (task_id);
CREATE INDEX batch_wait_name ON batch_wait (job_id, name) WHERE name IS NOT NULL;
CREATE INDEX batch_wait_low ON batch_wait (job_id, low, high) WHERE low IS NOT NULL;
CREATE INDEX batch_wait_high ON batch_wait (job_id, high, low) WHERE high IS NOT NULL;

-- The numbers among the names of the tasks of a job whose completion satisfies (4 and 04 are one number), as intervals:
-- between two of a job a number is missing. A range is met when one interval has all of it, so nothing is counted.
CREATE TABLE batch_done (
    job_id INTEGER NOT NULL,
    low    INTEGER NOT NULL,
    high   INTEGER NOT NULL,
    PRIMARY KEY (job_id, low)
) STRICT, WITHOUT ROWID;

-- Files of tasks that a seed gave, and that no node has. Files of tasks that have run are on nodes.
CREATE TABLE batch_seeded_file (
    id       INTEGER PRIMARY KEY,
    task_id  INTEGER NOT NULL REFERENCES batch_task (id) ON DELETE CASCADE,
    path     TEXT    NOT NULL,
    mtime_us INTEGER NOT NULL,
    bytes    BLOB    NOT NULL
) STRICT;
CREATE UNIQUE INDEX batch_seeded_file_path ON batch_seeded_file (task_id, path);

-- How many tasks of a job are in which state, kept by triggers. off: what is to be added to `active` for the tasks that
-- are ready: a task that waits for others is not ready, and a task with several instances counts as many times. Of other
-- tasks off is 0, and its triggers do not run for them. wall_us, wait_us, retries: of the ended tasks, how long they ran,
-- how long they had waited, and how often they were tried again.
CREATE TABLE batch_count (
    job_id          INTEGER PRIMARY KEY REFERENCES batch_job (id) ON DELETE CASCADE,
    active          INTEGER NOT NULL DEFAULT 0,
    running         INTEGER NOT NULL DEFAULT 0,
    succeeded       INTEGER NOT NULL DEFAULT 0,
    failed          INTEGER NOT NULL DEFAULT 0,
    active_slots    INTEGER NOT NULL DEFAULT 0,
    running_slots   INTEGER NOT NULL DEFAULT 0,
    succeeded_slots INTEGER NOT NULL DEFAULT 0,
    failed_slots    INTEGER NOT NULL DEFAULT 0,
    off             INTEGER NOT NULL DEFAULT 0,
    wall_us         INTEGER NOT NULL DEFAULT 0,
    wait_us         INTEGER NOT NULL DEFAULT 0,
    retries         INTEGER NOT NULL DEFAULT 0
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
CREATE TRIGGER batch_task_off AFTER INSERT ON batch_task
    WHEN NEW.state = 1 AND (NEW.waits > 0 OR NEW.instances > 1)
BEGIN
    UPDATE batch_count SET off = off + iif(NEW.waits > 0, -1, NEW.instances - 1) WHERE job_id = NEW.job_id;
END;
CREATE TRIGGER batch_task_off_moved AFTER UPDATE OF state, waits ON batch_task
    WHEN (NEW.waits > 0 OR OLD.waits > 0 OR NEW.instances > 1) AND (NEW.state = 1 OR OLD.state = 1)
BEGIN
    UPDATE batch_count SET off = off
        + iif(NEW.state = 1, iif(NEW.waits > 0, -1, max(NEW.instances, 1) - 1), 0)
        - iif(OLD.state = 1, iif(OLD.waits > 0, -1, max(OLD.instances, 1) - 1), 0)
    WHERE job_id = NEW.job_id;
END;
CREATE TRIGGER batch_task_off_gone AFTER DELETE ON batch_task
    WHEN OLD.state = 1 AND (OLD.waits > 0 OR OLD.instances > 1)
BEGIN
    UPDATE batch_count SET off = off - iif(OLD.waits > 0, -1, OLD.instances - 1) WHERE job_id = OLD.job_id;
END;
CREATE TRIGGER batch_task_totals AFTER UPDATE OF state ON batch_task WHEN NEW.state = 4 AND OLD.state = 3
BEGIN
    UPDATE batch_count SET
        wall_us = wall_us + max(NEW.end_us - NEW.start_us, 0),
        wait_us = wait_us + max(NEW.start_us - NEW.created_us, 0),
        retries = retries + NEW.retries
    WHERE job_id = NEW.job_id;
    INSERT INTO batch_node_total (node_name, ended, succeeded)
        SELECT NEW.node_name, 1, NEW.result = 1 WHERE NEW.node_name IS NOT NULL
        ON CONFLICT (node_name) DO UPDATE SET ended = ended + 1, succeeded = succeeded + (NEW.result = 1);
END;

-- --- the cloud for tests ------------------------------------------------------------------------------------------

-- The history of each resource, for tests; only a daemon with --testing writes it (storage/changes.c). kind, what:
-- storage/changes.h. path: as it was then, so that removed resources are named too.
CREATE TABLE change (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    at_us       INTEGER NOT NULL,
    kind        INTEGER NOT NULL,
    resource_id INTEGER NOT NULL,
    path        TEXT    NOT NULL COLLATE NOCASE,
    what        INTEGER NOT NULL,
    from_state  INTEGER NOT NULL,
    to_state    INTEGER NOT NULL,
    reason      TEXT
) STRICT;
CREATE INDEX change_of ON change (kind, resource_id, seq);
CREATE INDEX change_path ON change (path);

-- Changes that a reset forgot and that are still to be removed: those with numbers up to up_to, of path and of all below
-- it.
CREATE TABLE change_forgotten (
    id    INTEGER PRIMARY KEY,
    path  TEXT    NOT NULL COLLATE NOCASE UNIQUE,
    up_to INTEGER NOT NULL
) STRICT;
