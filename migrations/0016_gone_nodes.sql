-- SPDX-License-Identifier: MIT
-- What stays known of nodes that are gone. machine: on which the node was; NULL: it was a local one, or the row is older than
-- this column.

ALTER TABLE usage ADD COLUMN machine TEXT;
-- Whose end a run waited for is found by the names of its nodes.
CREATE INDEX allocation_name ON allocation (node_name);
