-- SPDX-License-Identifier: MIT
-- The last allocation of a node is found without sorting all that the node ever had.

DROP INDEX allocation_name;
CREATE INDEX allocation_name ON allocation (node_name, released_us);
