-- SPDX-License-Identifier: MIT
--
-- Asynchronous operations. They outlive the resource they were about.

-- st_op_insert(operation op)
INSERT INTO {+operation};

-- st_op_get(text guid) -> operation?
SELECT {operation} FROM operation o WHERE o.guid = :guid;

-- A getter: the first operation in progress on a resource. is_delete: as of st_op_finish().
-- st_op_under_way(resource_kind kind, i64 resource_id, bool is_delete) -> operation?
SELECT {operation} FROM operation o
WHERE o.kind = :kind AND o.resource_id = :resource_id AND o.is_delete = :is_delete
AND o.status = {OP_IN_PROGRESS}
ORDER BY o.start_us LIMIT 1;

-- Finishes the in-progress operations on a resource. error_code NULL: succeeded. is_delete picks delete
-- operations or the others.
-- st_op_finish(resource_kind kind, i64 resource_id, bool is_delete, text error_code, text error_message,
--     i64 now_us)
UPDATE operation
SET status = CASE WHEN :error_code IS NULL THEN {OP_SUCCEEDED} ELSE {OP_FAILED} END, end_us = :now_us,
error_code = :error_code, error_message = CASE WHEN :error_code IS NOT NULL THEN :error_message END
WHERE kind = :kind AND resource_id = :resource_id AND is_delete = :is_delete AND status = {OP_IN_PROGRESS};

-- A getter: when the nth newest of those ended that ended before `before`.
-- st_op_ended_nth(i64 before, int nth) -> i64? at
SELECT end_us FROM operation WHERE status <> {OP_IN_PROGRESS} AND end_us < :before
ORDER BY end_us DESC LIMIT 1 OFFSET :nth - 1;

-- Forgets operations that ended before `before_us`, the oldest first, at most `limit` of them; *gone is how
-- many.
-- st_op_expire(i64 before_us, int limit) -> count gone
DELETE FROM operation
WHERE guid IN (SELECT guid FROM operation WHERE status <> {OP_IN_PROGRESS} AND end_us < :before_us
ORDER BY end_us LIMIT :limit);
