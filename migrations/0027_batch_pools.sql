-- Pools of Azure Batch.

-- id: the pool's; both rows are made and removed together. Names in any case. state 1: active, 2: deleting.
-- alloc_state 1: steady, 2: resizing, 3: stopping. dedicated, low, timeout_us: the size that was asked for last; what the
-- core tries to have is in the row of pool. began_us: of the last resize. resize_errors, auto_run: JSON.
CREATE TABLE batch_pool (
    id               INTEGER PRIMARY KEY REFERENCES pool (id) ON DELETE RESTRICT,
    account_id       INTEGER NOT NULL REFERENCES batch_account (id) ON DELETE RESTRICT,
    name             TEXT    NOT NULL COLLATE NOCASE,
    doc              TEXT    NOT NULL,
    created_by       TEXT,
    state            INTEGER NOT NULL,
    state_us         INTEGER NOT NULL,
    created_us       INTEGER NOT NULL,
    updated_us       INTEGER NOT NULL,
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
    secrets          BLOB,
    UNIQUE (account_id, name)
) STRICT;
CREATE INDEX batch_pool_unsettled ON batch_pool (id) WHERE alloc_state <> 1;
CREATE INDEX batch_pool_deleting ON batch_pool (id) WHERE state = 2;
CREATE INDEX batch_pool_scaled ON batch_pool (id) WHERE auto_enabled = 1;
-- Whatever marks it tells the core.
CREATE TRIGGER batch_pool_marked AFTER UPDATE OF state ON batch_pool WHEN NEW.state = 2
BEGIN
    UPDATE pool SET going = 1 WHERE id = NEW.id;
END;
