-- Who may log in, and who may do what.

-- kind 1: a user, 2: a service principal, 3: an application, which has the secrets of its service principal.
-- app_id: what a service principal logs in with; null: a user. name: a user's is user@domain, and unique.
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

-- hash: libsodium's crypto_pwhash_str. hint: the first characters of a secret that was made here; null: a password.
-- ends_us 0: never.
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

-- scope: a path without a slash at its end. role: a role definition, one of a table of the program. principal: an
-- object id, perhaps that of the daemon's own principal, which has no row.
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

-- Batch AI's own principal of the public cloud, to which scripts give roles. It has no secret.
INSERT INTO identity (object_id, app_id, kind, name, display, created_us)
    VALUES ('9fcb3732-5f52-4135-8c08-9d4bbaf203ea', '9fcb3732-5f52-4135-8c08-9d4bbaf203ea', 2, 'Azure Batch AI',
            'Azure Batch AI', 0);
