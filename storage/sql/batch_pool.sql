-- SPDX-License-Identifier: MIT
--
-- Pools of Azure Batch.

-- $batch_pool_select
SELECT {batch_pool} FROM batch_pool bp CROSS JOIN pool p ON p.id = bp.id
CROSS JOIN batch_account ba ON ba.id = bp.account_id;

-- $delete_batch_pool(which)
UPDATE batch_pool SET state = {BATCH_POOL_DELETING}, state_us = :now_us, updated_us = :now_us
WHERE state = {BATCH_POOL_ACTIVE} AND $which;

-- private st_batch_pool_insert_row(batch_pool p, sealed secrets) -> new id
INSERT INTO {+batch_pool};

-- By name, in any case; also one that is being deleted.
-- st_batch_pool_get(i64 account_id, text name) -> batch_pool?
$batch_pool_select WHERE bp.account_id = :account_id AND bp.name = :name;

-- st_batch_pool_by_id(i64 id) -> known batch_pool?
$batch_pool_select WHERE bp.id = :id;

-- filter batch_pool[BATCH_POOL_PROPERTIES]: what a filter may compare
BATCH_POOL_ID = bp.name,
BATCH_POOL_STATE = bp.state,
BATCH_POOL_STATE_TIME = bp.state_us,
BATCH_POOL_ALLOCATION = bp.alloc_state,
BATCH_POOL_ALLOCATION_TIME = bp.alloc_us,
BATCH_POOL_CREATED = bp.created_us,
BATCH_POOL_MODIFIED = bp.updated_us,
BATCH_POOL_AUTO_SCALE = bp.auto_enabled,
BATCH_POOL_INTERNODE = json_extract(bp.doc, '$.enableInterNodeCommunication'),
BATCH_POOL_VM_SIZE = p.vm_size COLLATE NOCASE;

-- st_batch_pool_list(i64 account_id, filter f, st_names page) -> batch_pool*
$batch_pool_select
WHERE bp.account_id = :account_id AND bp.name > :page.after AND {?batch_pool}
ORDER BY bp.name LIMIT :page.limit;

-- `leaving`: also those that are being deleted.
-- st_batch_pool_count(i64 account_id, bool leaving) -> i64 n
SELECT count(*) FROM batch_pool WHERE account_id = :account_id AND (:leaving = 1 OR state <> {BATCH_POOL_DELETING});

-- st_batch_pool_secrets(i64 id) -> sealed? secrets
SELECT secrets FROM batch_pool WHERE id = :id;

-- private st_batch_pool_write_doc(batch_pool p, sealed secrets) -> changed "pool"
UPDATE batch_pool SET doc = :p.doc, secrets = :secrets, updated_us = :p.updated_us WHERE id = :p.id;

-- private st_pool_set_shape(batch_pool p) -> changed "pool"
UPDATE pool SET vm_size = :p.vm_size, slots = :p.slots, spread = :p.spread WHERE id = :p.id;

-- The nodes of the pool get this number of slots: waiting managers that want a node for themselves take them all.
-- private st_batch_runs_alone(i64 pool_id, int slots) -> count changed
UPDATE run SET need_slots = :slots
WHERE pool_id = :pool_id AND phase = {RUN_WAITING} AND stop = {STOP_NOT} AND held = {HOLD_NOT}
AND owner_kind = {RES_BATCH_TASK} AND need_slots <> :slots
AND EXISTS (SELECT 1 FROM batch_task t WHERE t.id = run.owner_id AND t.manager & {BATCH_MANAGER_ALONE} <> 0);

-- st_batch_pool_set_size(i64 id, batch_size size, i64 updated_us) -> changed "pool"
UPDATE batch_pool
SET dedicated = :size.dedicated, low = :size.low, timeout_us = :size.timeout_us, alloc_state = :size.state,
alloc_us = :size.state_us, began_us = :size.began_us, resize_errors = :size.errors, updated_us = :updated_us
WHERE id = :id;

-- st_batch_pool_set_scaling(i64 id, batch_auto_scale s, i64 updated_us) -> changed "pool"
UPDATE batch_pool
SET auto_enabled = :s.enabled, auto_formula = :s.formula, auto_interval_us = :s.interval_us,
auto_us = :s.evaluated_us, auto_run = :s.run, updated_us = :updated_us
WHERE id = :id;

-- private st_batch_pool_delete(i64 id, i64 now_us)
$delete_batch_pool(id = :id);

-- Those whose size is not settled.
-- st_batch_pool_unsettled_ids() -> i64*
SELECT id FROM batch_pool WHERE alloc_state <> {BATCH_ALLOCATION_STEADY} ORDER BY id;

-- Those that are being deleted.
-- st_batch_pool_deleting_ids() -> i64*
SELECT id FROM batch_pool WHERE state = {BATCH_POOL_DELETING} ORDER BY id;

-- Those that are being deleted and have no nodes.
-- st_batch_pool_removable_ids() -> i64*
SELECT bp.id FROM batch_pool bp
WHERE bp.state = {BATCH_POOL_DELETING} AND NOT EXISTS (SELECT 1 FROM node n WHERE n.pool_id = bp.id)
ORDER BY bp.id;

-- Those that are scaled by a formula.
-- st_batch_pool_scaled_ids() -> i64*
SELECT id FROM batch_pool WHERE auto_enabled = 1 ORDER BY id;

-- private st_batch_pool_remove_row(i64 id) -> changed "pool"
DELETE FROM batch_pool WHERE id = :id;
