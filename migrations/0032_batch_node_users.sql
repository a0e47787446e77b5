-- Those who may log in on a node of a pool of Azure Batch, besides its pool's user accounts. expiry_us: until when.
CREATE TABLE batch_node_user (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    node_id    INTEGER NOT NULL REFERENCES node (id) ON DELETE CASCADE,
    name       TEXT    NOT NULL COLLATE NOCASE,
    is_admin   INTEGER NOT NULL,
    expiry_us  INTEGER NOT NULL,
    ssh_key    TEXT,
    password   BLOB,
    UNIQUE (node_id, name)
) STRICT;
