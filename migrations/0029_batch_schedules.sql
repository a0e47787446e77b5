-- Job schedules and certificates of Azure Batch. They go with their account.

-- state, was: enum batch_schedule_state; *_us: since when in each. next_us: when it makes its next job, 0: never.
-- number: of the last job that it made, 0 before the first.
CREATE TABLE batch_schedule (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES batch_account (id) ON DELETE CASCADE,
    name       TEXT    NOT NULL COLLATE NOCASE,
    doc        TEXT    NOT NULL,
    secrets    BLOB,
    created_by TEXT,
    state      INTEGER NOT NULL,
    was        INTEGER NOT NULL,
    state_us   INTEGER NOT NULL,
    was_us     INTEGER NOT NULL,
    created_us INTEGER NOT NULL,
    updated_us INTEGER NOT NULL,
    end_us     INTEGER NOT NULL,
    next_us    INTEGER NOT NULL,
    until_us   INTEGER NOT NULL,
    after_us   INTEGER NOT NULL,
    number     INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX batch_schedule_name ON batch_schedule (account_id, name);
-- Those that have something to do: 2 is completed, 3 disabled.
CREATE INDEX batch_schedule_live ON batch_schedule (state, id) WHERE state IN (1, 4, 5);

-- state, was: enum batch_certificate_state. public: its public part, in base64. secrets: what was given. error: why it
-- could not be deleted, JSON.
CREATE TABLE batch_certificate (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES batch_account (id) ON DELETE CASCADE,
    algorithm  TEXT    NOT NULL COLLATE NOCASE,
    thumbprint TEXT    NOT NULL COLLATE NOCASE,
    public     TEXT    NOT NULL,
    secrets    BLOB    NOT NULL,
    state      INTEGER NOT NULL,
    was        INTEGER NOT NULL,
    state_us   INTEGER NOT NULL,
    was_us     INTEGER NOT NULL,
    error      TEXT
) STRICT;
CREATE UNIQUE INDEX batch_certificate_name ON batch_certificate (account_id, thumbprint, algorithm);
