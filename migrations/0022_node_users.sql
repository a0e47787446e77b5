-- SPDX-License-Identifier: MIT
-- Whether a node has the accounts of its users is written down, so that a later link can do what an earlier one did not.

-- How often the user was added or changed since the node last had everything; 0: it has everything.
ALTER TABLE batch_node_user ADD COLUMN pending INTEGER NOT NULL DEFAULT 1;
CREATE INDEX batch_node_user_pending ON batch_node_user (node_id) WHERE pending > 0;
CREATE INDEX batch_node_user_expiry ON batch_node_user (expiry_us);

-- Former users of a node, whose accounts it may still have.
CREATE TABLE batch_user_gone (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    node_id INTEGER NOT NULL REFERENCES node (id) ON DELETE CASCADE,
    name    TEXT    NOT NULL COLLATE NOCASE
) STRICT;
CREATE INDEX batch_user_gone_node ON batch_user_gone (node_id);
