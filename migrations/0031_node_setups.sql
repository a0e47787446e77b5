-- The set-up task of a node's last preparation. runs: 1: it does. failure: model/failure_table.h; 0: it succeeded, or runs.
CREATE TABLE node_setup (
    node_id   INTEGER PRIMARY KEY REFERENCES node (id) ON DELETE CASCADE,
    runs      INTEGER NOT NULL,
    start_us  INTEGER NOT NULL,
    end_us    INTEGER NOT NULL,
    exit_code INTEGER,
    failure   INTEGER NOT NULL,
    retries   INTEGER NOT NULL,
    retry_us  INTEGER NOT NULL,
    why       TEXT
) STRICT;
