-- Subscriptions besides the one of the configuration; ids in lower case.
CREATE TABLE subscription (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    guid       TEXT    NOT NULL UNIQUE,
    name       TEXT    NOT NULL,
    created_us INTEGER NOT NULL,
    created_by TEXT    NOT NULL
) STRICT;
