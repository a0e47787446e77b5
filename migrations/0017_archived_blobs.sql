-- SPDX-License-Identifier: MIT
-- The archived blobs of a container are found without its other blobs: each start of a task that is given blobs asks for them.

CREATE INDEX share_item_archived ON share_item (share_id, path) WHERE instr(properties, '"Archive"') > 0;
