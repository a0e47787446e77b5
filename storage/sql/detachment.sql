-- SPDX-License-Identifier: MIT
--
-- Detachments (storage/detachment.h): all names in a group become free in one transaction.

-- A path or scope, and what is below it. '0' is the character behind '/'.
-- $at_or_below(column, path)
($column = $path OR $column >= $path || '/' AND $column < $path || '0');

-- private st_detach_group(i64 id) -> changed "resource group"
UPDATE resource_group SET subscription = {GROUPS_DETACHED}, name = name || '#' || id WHERE id = :id;

-- private st_detached_unmarked(int limit) -> i64*
SELECT id FROM resource_group WHERE subscription = {GROUPS_DETACHED} AND prov_state <> {PROV_DELETING}
ORDER BY id LIMIT :limit;

-- Shares are found by the names that their accounts have until then: the next two come first.
-- private st_detach_shares(i64 group_id)
UPDATE share SET account = account || '#' || account_id
WHERE account_id IN (SELECT id FROM storage_account WHERE group_id = :group_id);

-- private st_detach_deleted_shares(i64 group_id)
UPDATE share
SET account = account || '#' || (SELECT s.id FROM storage_account s WHERE s.name = share.account)
WHERE state = {SHARE_DELETED} AND account_id IS NULL
AND account IN (SELECT lower(name) FROM storage_account WHERE group_id = :group_id);

-- private st_detach_accounts(i64 group_id)
UPDATE storage_account SET name = name || '#' || id WHERE group_id = :group_id;

-- private st_detach_batch_accounts(i64 group_id)
UPDATE batch_account SET name = name || '#' || id WHERE group_id = :group_id;

-- Keys of operations are subscription$group$...; '%' is the character behind '$'.
-- private st_detach_deletions(i64 group_id, i64 now_us)
UPDATE operation SET status = {OP_SUCCEEDED}, end_us = :now_us WHERE guid IN (SELECT o.guid FROM operation o
JOIN (SELECT lower(subscription || '$' || name) AS k FROM resource_group WHERE id = :group_id)
ON o.resource_key = k OR o.resource_key >= k || '$' AND o.resource_key < k || '%'
WHERE o.status = {OP_IN_PROGRESS} AND o.is_delete = 1);

-- 1: they are purged as soon as somebody looks for what has expired.
-- $detach_vaults
UPDATE vault SET name = name || '#' || id, subscription = {GROUPS_DETACHED}, group_id = NULL,
deleted_us = :now_us, purge_us = 1 WHERE;

-- private st_detach_vaults(i64 group_id, i64 now_us)
$detach_vaults group_id = :group_id;

-- private st_detach_vault(i64 id, i64 now_us) -> changed "soft-deleted vault"
$detach_vaults id = :id AND group_id IS NULL;

-- Vaults that were deleted in a group, which may be gone itself; NULL: in all of a subscription. Only those
-- with a greater id than `after`.
-- st_vaults_detach(text subscription, text group, i64 after, i64 now_us)
$detach_vaults subscription = :subscription AND group_id IS NULL
AND (:group IS NULL OR group_name = :group) AND id > :after;

-- The greatest id of a vault; 0: there is none.
-- st_last_vault() -> i64 id
SELECT ifnull(max(id), 0) FROM vault;

-- private st_detach_roles(text scope)
DELETE FROM role_assignment WHERE $at_or_below(scope, :scope);
