-- Accounts of Azure Batch. What is in them is in tables of its own.

-- name: lower-case, and unique over all subscriptions and regions. keys: both, sealed.
CREATE TABLE batch_account (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    group_id   INTEGER NOT NULL REFERENCES resource_group (id) ON DELETE RESTRICT,
    name       TEXT    NOT NULL COLLATE NOCASE UNIQUE,
    location   TEXT    NOT NULL,
    tags       TEXT,
    doc        TEXT    NOT NULL,
    created_by TEXT,
    prov_state INTEGER NOT NULL,
    created_us INTEGER NOT NULL,
    updated_us INTEGER NOT NULL,
    keys       BLOB    NOT NULL
) STRICT;
CREATE INDEX batch_account_list ON batch_account (group_id, id);
CREATE INDEX batch_account_deleting ON batch_account (id) WHERE prov_state = 5;
