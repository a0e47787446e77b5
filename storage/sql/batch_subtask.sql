-- SPDX-License-Identifier: MIT
--
-- The parts of Azure Batch's tasks that run on several nodes.

-- st_batch_subtask_begin(batch_subtask s)
INSERT INTO {+batch_subtask};

-- One that has not ended ends (task_id, number, and what is known of its end); 0: all of the task.
-- st_batch_subtask_end(batch_subtask s)
UPDATE batch_subtask
SET was = state, was_us = state_us, state = {BATCH_TASK_COMPLETED}, state_us = :s.end_us,
end_us = :s.end_us, exit_code = :s.exit_code, result = :s.result, failure = :s.failure
WHERE task_id = :s.task_id AND state <> {BATCH_TASK_COMPLETED} AND (:s.number = 0 OR number = :s.number);

-- Its container has started.
-- st_batch_subtask_contain(i64 task_id, int number, text container_id)
UPDATE batch_subtask SET container_id = :container_id WHERE task_id = :task_id AND number = :number;

-- st_batch_subtask_clear(i64 task_id)
DELETE FROM batch_subtask WHERE task_id = :task_id;

-- By number, behind `after`.
-- st_batch_subtask_list(i64 task_id, st_page page) -> batch_subtask*
SELECT {batch_subtask} FROM batch_subtask bu
WHERE bu.task_id = :task_id AND bu.number > :page.after
ORDER BY bu.number LIMIT :page.limit;

-- The parts of tasks that ran last on a node, the latest first.
-- st_batch_subtask_of_node(text node_name, int limit) -> batch_subtask*
SELECT {batch_subtask} FROM batch_subtask bu
WHERE bu.node_name = :node_name
ORDER BY bu.id DESC LIMIT :limit;
