-- SPDX-License-Identifier: MIT
-- emptied_us: when the files of tasks on the node were last lost, because the node was wiped or its root directory is a new
-- one; 0: never. What was to be removed there is gone then, and jobs must prepare the node again.

ALTER TABLE node ADD COLUMN emptied_us INTEGER NOT NULL DEFAULT 0;

DROP TRIGGER batch_chore_wiped;
CREATE TRIGGER batch_node_emptied AFTER UPDATE OF emptied_us ON node WHEN NEW.emptied_us <> OLD.emptied_us
BEGIN
    UPDATE batch_chore SET up_us = 0 WHERE node_id = NEW.id;
    DELETE FROM batch_litter WHERE node_id = NEW.id;
END;
