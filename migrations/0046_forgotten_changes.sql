-- Changes that a reset forgot and that are still to be removed: those with numbers up to up_to, of path and of what
-- is below it.
CREATE TABLE change_forgotten (
    id    INTEGER PRIMARY KEY,
    path  TEXT    NOT NULL COLLATE NOCASE UNIQUE,
    up_to INTEGER NOT NULL
) STRICT;
