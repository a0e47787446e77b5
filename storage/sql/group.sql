-- SPDX-License-Identifier: MIT
--
-- Resource groups.

-- $group_select
SELECT {group} FROM resource_group g;

-- $busy_machine
n.machine_id IS NOT NULL AND EXISTS (SELECT 1 $live_of_node(n.id));

-- st_group_insert(resource_group g) -> new id
INSERT INTO {+group};

-- st_group_update(i64 id, text tags, i64 now_us) -> changed "resource group"
UPDATE resource_group SET tags = :tags, updated_us = :now_us WHERE id = :id;

-- A group that a seed makes is creating until all in it is there. ERR_RESOURCE_NOT_FOUND: it is in another
-- state.
-- st_group_making(i64 id) -> changed "resource group"
UPDATE resource_group SET prov_state = {PROV_CREATING} WHERE id = :id AND prov_state = {PROV_SUCCEEDED};

-- st_group_made(i64 id) -> changed "resource group"
UPDATE resource_group SET prov_state = {PROV_SUCCEEDED} WHERE id = :id AND prov_state = {PROV_CREATING};

-- Those that are creating.
-- st_group_unmade() -> group*
$group_select WHERE g.prov_state = {PROV_CREATING} AND g.subscription <> {GROUPS_DETACHED} ORDER BY g.id;

-- How many machines of the inventory have work of its clusters and pools.
-- st_group_busy_machines(i64 id) -> i64 n
SELECT (SELECT count(*) FROM workspace w CROSS JOIN cluster c ON c.workspace_id = w.id
CROSS JOIN node n ON n.pool_id = c.id WHERE w.group_id = :id AND $busy_machine) +
(SELECT count(*) FROM batch_account ba CROSS JOIN batch_pool bp ON bp.account_id = ba.id
CROSS JOIN node n ON n.pool_id = bp.id WHERE ba.group_id = :id AND $busy_machine);

-- st_group_get(text subscription, text name) -> group?
$group_select WHERE g.subscription = :subscription AND g.name = :name;

-- st_group_by_id(i64 id) -> group?
$group_select WHERE g.id = :id;

-- `after`: id of the last row of the page before, 0 for the first; ordered by id.
-- st_group_list(text subscription, st_page page) -> group*
$group_select WHERE g.subscription = :subscription AND g.id > :page.after ORDER BY g.id LIMIT :page.limit;
