-- Key Vaults and their secrets.

-- A name is unique over all subscriptions, soft-deleted vaults included. group_id: null: it is soft-deleted, until
-- purge_us; its group may be gone then, or be another of the same name, so the name of the group stays beside it.
CREATE TABLE vault (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    group_id     INTEGER REFERENCES resource_group (id) ON DELETE RESTRICT,
    subscription TEXT    NOT NULL COLLATE NOCASE,
    group_name   TEXT    NOT NULL COLLATE NOCASE,
    name         TEXT    NOT NULL COLLATE NOCASE UNIQUE,
    location     TEXT    NOT NULL,
    tags         TEXT,
    doc          TEXT    NOT NULL,
    retention_us INTEGER NOT NULL,
    created_us   INTEGER NOT NULL,
    updated_us   INTEGER NOT NULL,
    created_by   TEXT,
    deleted_us   INTEGER NOT NULL,
    purge_us     INTEGER NOT NULL
) STRICT;
CREATE INDEX vault_group ON vault (group_id, id);
CREATE INDEX vault_subscription ON vault (subscription, id);
CREATE INDEX vault_deleted ON vault (subscription, id) WHERE group_id IS NULL;
CREATE INDEX vault_expiring ON vault (purge_us) WHERE purge_us > 0;

-- deleted_us: 0: it is not soft-deleted.
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

-- value: sealed (storage/seal.c). not_before_s, expires_s: seconds since 1970; null: not given. Of a secret, the
-- version with the highest id is the newest.
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
