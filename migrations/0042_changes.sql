-- What became of each resource, for tests; only a daemon with --testing writes it (storage/changes.c). kind, what:
-- storage/changes.h. path: as it was then, so that what is gone is named too.
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
