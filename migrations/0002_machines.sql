-- Machines of the inventory: what must outlive the daemon. The inventory itself is configuration.
-- facts: as the node protocol keeps them, opaque here. contact_us: 0 = never.
CREATE TABLE machine (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL COLLATE NOCASE UNIQUE,
    drained    INTEGER NOT NULL,
    reason     TEXT,
    facts      TEXT,
    contact_us INTEGER NOT NULL
) STRICT;

-- The machine that a node is; null: a local node. A machine is claimed by at most one node.
ALTER TABLE node ADD COLUMN machine_id INTEGER REFERENCES machine (id) ON DELETE RESTRICT;
CREATE UNIQUE INDEX node_machine ON node (machine_id) WHERE machine_id IS NOT NULL;

-- File servers that a machine is being made export.
CREATE INDEX file_server_creating ON file_server (id) WHERE prov_state = 1;
