-- SPDX-License-Identifier: MIT
--
-- Pools of nodes: of each cluster and of each pool of Azure Batch.

-- A cluster has the id of its pool; st_cluster_insert() and st_remove() make and remove both.
-- st_pool_insert(pool p) -> new id
INSERT INTO {+pool};

-- st_pool_by_id(i64 id) -> pool?
SELECT {pool} FROM pool p WHERE p.id = :id;

-- st_pool_place(i64 id) -> pool_place?
SELECT {pool_place}
FROM pool p LEFT JOIN cluster c ON c.id = p.id LEFT JOIN workspace w ON w.id = c.workspace_id
LEFT JOIN resource_group g ON g.id = w.group_id LEFT JOIN batch_pool bp ON bp.id = p.id
LEFT JOIN batch_account ba ON ba.id = bp.account_id LEFT JOIN resource_group bg ON bg.id = ba.group_id
WHERE p.id = :id;

-- 1, 0 (it is gone) or -1.
-- st_pool_kind(i64 id) -> resource_kind? kind
SELECT kind FROM pool WHERE id = :id;

-- st_pool_set_scale(i64 id, scale s) -> changed "pool"
UPDATE pool
SET scale_kind = :s.kind, scale_target = :s.target, scale_dealloc = :s.dealloc, scale_minimum = :s.minimum,
scale_maximum = :s.maximum, scale_initial = :s.initial, scale_low = :s.low
WHERE id = :id;

-- private st_pool_move_row(st_pool_move m) -> moved "Cluster" alloc_state by st_pool_alloc_state
UPDATE pool SET alloc_state = :m.to, alloc_us = :m.now_us, is_new = 0
WHERE id = :m.id AND alloc_state = :m.from;

-- private st_pool_alloc_state(i64 id) -> state
SELECT alloc_state FROM pool WHERE id = :id;

-- st_pool_set_auto_target(i64 id, int target) -> changed "pool"
UPDATE pool SET auto_target = :target WHERE id = :id;

-- st_pool_set_errors(i64 id, text errors) -> changed "pool"
UPDATE pool SET errors = :errors WHERE id = :id;

-- st_pool_remove(i64 id) -> changed "pool"
DELETE FROM pool WHERE id = :id;

-- st_pool_ids() -> i64*
SELECT id FROM pool ORDER BY id;

-- st_pool_held(i64 pool_id) -> held_part*
SELECT {held_part}
FROM node n CROSS JOIN $live_allocation ON a.node_id = n.id AND $is_live CROSS JOIN run u ON u.id = a.run_id
WHERE n.pool_id = :pool_id
ORDER BY n.ordinal;

-- Whether the group of a cluster or of a pool of Azure Batch is creating.
-- st_pool_is_unmade(i64 pool_id) -> bool unmade
SELECT EXISTS (SELECT 1 FROM resource_group g WHERE g.prov_state = {PROV_CREATING} AND g.id IN (
SELECT w.group_id FROM cluster c JOIN workspace w ON w.id = c.workspace_id WHERE c.id = :pool_id UNION ALL
SELECT a.group_id FROM batch_pool p JOIN batch_account a ON a.id = p.account_id WHERE p.id = :pool_id));
