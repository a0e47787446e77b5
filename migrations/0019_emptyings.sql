-- SPDX-License-Identifier: MIT
-- node.emptied: how often the files of tasks on the node were lost, because the node was wiped or its root directory was a
-- new one. What was to be removed there is gone then, and jobs must prepare the node again. batch_task.emptied and
-- batch_subtask.emptied: that number when the task was last given its node. If the numbers differ, its files are lost. A
-- number takes the place of an instant: a task may end after its files were lost, and a clock may be set back.

DROP TRIGGER batch_node_emptied;
ALTER TABLE node DROP COLUMN emptied_us;
-- As in 0001: a node that is being wiped is prepared again.
CREATE TRIGGER batch_chore_wiped AFTER UPDATE OF wish ON node WHEN NEW.wish = 6
BEGIN
    UPDATE batch_chore SET up_us = 0 WHERE node_id = NEW.id;
END;

ALTER TABLE node ADD COLUMN emptied INTEGER NOT NULL DEFAULT 0;
ALTER TABLE batch_task ADD COLUMN emptied INTEGER NOT NULL DEFAULT 0;
ALTER TABLE batch_subtask ADD COLUMN emptied INTEGER NOT NULL DEFAULT 0;

-- The tasks whose files a node has.
CREATE INDEX batch_task_kept ON batch_task (node_name, emptied, id) WHERE files = 1;
CREATE INDEX batch_subtask_kept ON batch_subtask (node_name, emptied, id);

CREATE TRIGGER batch_node_emptied AFTER UPDATE OF emptied ON node WHEN NEW.emptied <> OLD.emptied
BEGIN
    UPDATE batch_chore SET up_us = 0 WHERE node_id = NEW.id;
    DELETE FROM batch_litter WHERE node_id = NEW.id;
END;
