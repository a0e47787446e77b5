-- Storage accounts, and their shares and containers. What these hold is in folders.

-- name: lower-case, and unique over all subscriptions. keys: both, sealed. implicit: 1: made by being
-- named in a mount.
CREATE TABLE storage_account (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    group_id   INTEGER NOT NULL REFERENCES resource_group (id) ON DELETE RESTRICT,
    name       TEXT    NOT NULL COLLATE NOCASE UNIQUE,
    location   TEXT    NOT NULL,
    sku        TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    tags       TEXT,
    doc        TEXT    NOT NULL,
    created_by TEXT,
    prov_state INTEGER NOT NULL,
    created_us INTEGER NOT NULL,
    updated_us INTEGER NOT NULL,
    key1_us    INTEGER NOT NULL,
    key2_us    INTEGER NOT NULL,
    implicit   INTEGER NOT NULL,
    keys       BLOB    NOT NULL
) STRICT;
CREATE INDEX storage_account_list ON storage_account (group_id, id);
CREATE INDEX storage_account_deleting ON storage_account (id) WHERE prov_state = 5;

-- kind 1: of files, 2: of blobs. state 1: its folder is being made, 2: it is there, 3: its folder is being
-- moved away, 4: it is deleted, and can be restored while its row exists. account: its account's name,
-- which a deleted share keeps (its account_id is null, as the account may be gone). Names in the order of their bytes.
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
