-- Applications of Batch accounts, and their packages.

CREATE TABLE batch_application (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id      INTEGER NOT NULL REFERENCES batch_account (id) ON DELETE CASCADE,
    name            TEXT    NOT NULL COLLATE NOCASE,
    display_name    TEXT,
    default_version TEXT,
    allow_updates   INTEGER NOT NULL,
    created_us      INTEGER NOT NULL,
    updated_us      INTEGER NOT NULL,
    UNIQUE (account_id, name)
) STRICT;
CREATE INDEX batch_application_list ON batch_application (account_id, id);

-- hash: of its archive, by which the daemon keeps a copy; null: it is not active.
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
    UNIQUE (application_id, name)
) STRICT;
CREATE INDEX batch_package_list ON batch_package (application_id, id);
CREATE INDEX batch_package_hash ON batch_package (hash) WHERE hash IS NOT NULL;
