-- SPDX-License-Identifier: MIT
--
-- Deletion: marks of a resource and of everything in it, and removal from the leaves up.
--
-- All marks have the same parameters: `allowed` is the set of provisioning states, as bits, that may be left.

-- $may_go
(:allowed >> prov_state) & 1;

-- $mark(table, which)
UPDATE $table SET prov_us = CASE prov_state WHEN {PROV_DELETING} THEN prov_us ELSE :now_us END,
prov_state = {PROV_DELETING} WHERE $which AND $may_go;

-- Jobs that hold nodes, with the experiment x of each: their ids.
-- $held_jobs
SELECT h.id FROM allocation a CROSS JOIN run u ON u.id = a.run_id AND u.owner_kind = {RES_JOB}
CROSS JOIN job h ON h.id = u.owner_id CROSS JOIN experiment x ON x.id = h.experiment_id;

-- $not_held
NOT EXISTS (SELECT 1 FROM run u JOIN allocation a ON a.run_id = u.id
WHERE u.owner_kind = {RES_JOB} AND u.owner_id = j.id AND $is_live);

-- $mark_account(which)
UPDATE storage_account SET prov_state = {PROV_DELETING}, updated_us = :now_us WHERE $which AND $may_go;

-- A share that was being restored stays where it was.
-- $mark_share(which)
UPDATE share SET state = {SHARE_DELETING},
deleted_us = CASE deleted_us WHEN 0 THEN :now_us ELSE deleted_us END
WHERE $which AND state <> {SHARE_DELETING};

-- $mark_batch_account(which)
UPDATE batch_account SET prov_state = {PROV_DELETING}, updated_us = :now_us WHERE $which AND $may_go;

-- private st_mark_group(i64 id, unused i64 now_us, i64 allowed)
UPDATE resource_group SET prov_state = {PROV_DELETING} WHERE id = :id AND $may_go;

-- private st_mark_workspace(i64 id, i64 now_us, i64 allowed)
$mark(workspace, id = :id);

-- private st_mark_experiment(i64 id, i64 now_us, i64 allowed)
$mark(experiment, id = :id);

-- private st_mark_cluster(i64 id, i64 now_us, i64 allowed)
$mark(cluster, id = :id);

-- private st_mark_file_server(i64 id, i64 now_us, i64 allowed)
$mark(file_server, id = :id);

-- private st_mark_job(i64 id, i64 now_us, i64 allowed)
$mark(job, id = :id);

-- private st_mark_workspaces_of_group(i64 id, i64 now_us, i64 allowed)
$mark(workspace, group_id = :id);

-- private st_mark_experiments_of_group(i64 id, i64 now_us, i64 allowed)
$mark(experiment, workspace_id IN (SELECT id FROM workspace WHERE group_id = :id));

-- private st_mark_clusters_of_group(i64 id, i64 now_us, i64 allowed)
$mark(cluster, workspace_id IN (SELECT id FROM workspace WHERE group_id = :id));

-- private st_mark_file_servers_of_group(i64 id, i64 now_us, i64 allowed)
$mark(file_server, workspace_id IN (SELECT id FROM workspace WHERE group_id = :id));

-- private st_mark_held_of_group(i64 id, i64 now_us, i64 allowed)
$mark(job, id IN ($held_jobs CROSS JOIN workspace w ON w.id = x.workspace_id
WHERE w.group_id = :id AND $is_live));

-- private st_mark_experiments_of_workspace(i64 id, i64 now_us, i64 allowed)
$mark(experiment, workspace_id = :id);

-- private st_mark_clusters_of_workspace(i64 id, i64 now_us, i64 allowed)
$mark(cluster, workspace_id = :id);

-- private st_mark_file_servers_of_workspace(i64 id, i64 now_us, i64 allowed)
$mark(file_server, workspace_id = :id);

-- private st_mark_held_of_workspace(i64 id, i64 now_us, i64 allowed)
$mark(job, id IN ($held_jobs WHERE x.workspace_id = :id AND $is_live));

-- private st_mark_held_of_experiment(i64 id, i64 now_us, i64 allowed)
$mark(job, id IN ($held_jobs WHERE x.id = :id AND $is_live));

-- private st_vaults_leave_group(i64 id, i64 now_us)
UPDATE vault SET $soft_deleted WHERE group_id = :id;

-- private st_mark_account(i64 id, i64 now_us, i64 allowed)
$mark_account(id = :id);

-- private st_mark_accounts_of_group(i64 id, i64 now_us, i64 allowed)
$mark_account(group_id = :id);

-- private st_mark_shares_of_account(i64 id, i64 now_us, unused i64 allowed)
$mark_share(account_id = :id);

-- private st_mark_shares_of_group(i64 id, i64 now_us, unused i64 allowed)
$mark_share(account_id IN (SELECT id FROM storage_account WHERE group_id = :id));

-- private st_mark_batch_pools_of_account(i64 id, i64 now_us, unused i64 allowed)
$delete_batch_pool(account_id = :id);

-- private st_mark_batch_pools_of_group(i64 id, i64 now_us, unused i64 allowed)
$delete_batch_pool(account_id IN (SELECT id FROM batch_account WHERE group_id = :id));

-- private st_mark_batch_account(i64 id, i64 now_us, i64 allowed)
$mark_batch_account(id = :id);

-- private st_mark_batch_accounts_of_group(i64 id, i64 now_us, i64 allowed)
$mark_batch_account(group_id = :id);

-- Role assignments end with their scope. `rows`: the resource; `path`, and `short_path` in versions without
-- workspaces, or NULL.
-- $end_roles(path, short_path, rows)
DELETE FROM role_assignment WHERE id IN (SELECT ra.id FROM (SELECT $path AS path, $short_path AS short_path FROM $rows) p
CROSS JOIN role_assignment ra WHERE $at_or_below(ra.scope, p.path) OR $at_or_below(ra.scope, p.short_path));

-- $group_path
'/subscriptions/' || g.subscription || '/resourceGroups/' || g.name;

-- $batchai_path
$group_path || '/providers/Microsoft.BatchAI/';

-- $end_roles_in_group(table, type)
$end_roles($group_path || '/providers/$type/' || t.name, NULL,
$table t JOIN resource_group g ON g.id = t.group_id WHERE t.id = :id);

-- $end_roles_in_workspace(table, type)
$end_roles($batchai_path || 'workspaces/' || w.name || '/$type/' || t.name,
CASE w.name WHEN {HOME_WORKSPACE} THEN $batchai_path || '$type/' || t.name END,
$table t JOIN workspace w ON w.id = t.workspace_id JOIN resource_group g ON g.id = w.group_id WHERE t.id = :id);

-- private st_end_roles_of_group(i64 id)
$end_roles($group_path, NULL, resource_group g WHERE g.id = :id);

-- private st_end_roles_of_workspace(i64 id)
$end_roles_in_group(workspace, Microsoft.BatchAI/workspaces);

-- private st_end_roles_of_account(i64 id)
$end_roles_in_group(storage_account, Microsoft.Storage/storageAccounts);

-- private st_end_roles_of_batch_account(i64 id)
$end_roles_in_group(batch_account, Microsoft.Batch/batchAccounts);

-- $account_path
$group_path || '/providers/Microsoft.Storage/storageAccounts/' || s.name;

-- Shares of files have a second name in paths.
-- private st_end_roles_of_share(i64 id)
$end_roles($account_path || CASE h.kind WHEN {SHARE_FILES} THEN '/fileServices/default/shares/'
ELSE '/blobServices/default/containers/' END || h.name,
CASE h.kind WHEN {SHARE_FILES} THEN $account_path || '/fileServices/default/fileshares/' || h.name END,
share h JOIN storage_account s ON s.id = h.account_id JOIN resource_group g ON g.id = s.group_id WHERE h.id = :id);

-- $batch_path
$group_path || '/providers/Microsoft.Batch/batchAccounts/' || b.name;

-- $end_roles_in_batch_account(table, type)
$end_roles($batch_path || '/$type/' || t.name, NULL, $table t JOIN batch_account b ON b.id = t.account_id
JOIN resource_group g ON g.id = b.group_id WHERE t.id = :id);

-- private st_end_roles_of_batch_pool(i64 id)
$end_roles_in_batch_account(batch_pool, pools);

-- private st_end_roles_of_application(i64 id)
$end_roles_in_batch_account(batch_application, applications);

-- private st_end_roles_of_package(i64 id)
$end_roles($batch_path || '/applications/' || a.name || '/versions/' || t.name, NULL,
batch_package t JOIN batch_application a ON a.id = t.application_id JOIN batch_account b ON b.id = a.account_id
JOIN resource_group g ON g.id = b.group_id WHERE t.id = :id);

-- private st_end_roles_of_certificate(i64 id)
$end_roles($batch_path || '/certificates/' || t.algorithm || '-' || t.thumbprint, NULL,
batch_certificate t JOIN batch_account b ON b.id = t.account_id JOIN resource_group g ON g.id = b.group_id
WHERE t.id = :id);

-- private st_end_roles_of_experiment(i64 id)
$end_roles_in_workspace(experiment, experiments);

-- private st_end_roles_of_cluster(i64 id)
$end_roles_in_workspace(cluster, clusters);

-- private st_end_roles_of_file_server(i64 id)
$end_roles_in_workspace(file_server, fileServers);

-- A job that goes with its experiment needs no statement of its own, unless it has a short path.
-- private st_end_roles_of_job(i64 id)
$end_roles($batchai_path || 'workspaces/' || w.name || '/experiments/' || x.name || '/jobs/' || j.name,
CASE WHEN w.name = {HOME_WORKSPACE} AND x.name = {HOME_EXPERIMENT} THEN $batchai_path || 'jobs/' || j.name END,
job j JOIN experiment x ON x.id = j.experiment_id JOIN workspace w ON w.id = x.workspace_id
JOIN resource_group g ON g.id = w.group_id
WHERE j.id = :id AND (x.prov_state <> {PROV_DELETING} OR x.name = {HOME_EXPERIMENT}));

-- $vault_path
'/subscriptions/' || v.subscription || '/resourceGroups/' || v.group_name || '/providers/Microsoft.KeyVault/vaults/' || v.name;

-- private st_end_roles_of_vault(i64 id)
$end_roles($vault_path, NULL, vault v WHERE v.id = :id);

-- private st_end_roles_of_secret(i64 id)
$end_roles($vault_path || '/secrets/' || k.name, NULL, secret k JOIN vault v ON v.id = k.vault_id WHERE k.id = :id);

-- private st_end_roles_of_subscription(i64 id)
$end_roles('/subscriptions/' || u.guid, NULL, subscription u WHERE u.id = :id);

-- private st_remove_account(i64 id)
DELETE FROM storage_account WHERE id = :id;

-- private st_remove_group(i64 id)
DELETE FROM resource_group WHERE id = :id;

-- private st_remove_workspace(i64 id)
DELETE FROM workspace WHERE id = :id;

-- private st_remove_experiment(i64 id)
DELETE FROM experiment WHERE id = :id;

-- Ended jobs that ran in a cluster forget the cluster before its row goes: all at once could take long.
-- st_cluster_leave_jobs(i64 cluster_id, int limit) -> count left
UPDATE job SET cluster_id = NULL
WHERE id IN (SELECT id FROM job WHERE cluster_id = :cluster_id LIMIT :limit);

-- private st_remove_cluster(i64 id)
DELETE FROM cluster WHERE id = :id;

-- private st_remove_file_server(i64 id)
DELETE FROM file_server WHERE id = :id;

-- private st_remove_job(i64 id)
DELETE FROM job WHERE id = :id;

-- private st_remove_batch_account(i64 id)
DELETE FROM batch_account WHERE id = :id;

-- private st_removable_accounts() -> i64*
SELECT s.id FROM storage_account s
WHERE s.prov_state = {PROV_DELETING} AND NOT EXISTS (SELECT 1 FROM share h WHERE h.account_id = s.id)
ORDER BY s.id;

-- private st_removable_groups() -> i64*
SELECT g.id FROM resource_group g
WHERE g.prov_state = {PROV_DELETING} AND NOT EXISTS (SELECT 1 FROM workspace WHERE group_id = g.id)
AND NOT EXISTS (SELECT 1 FROM vault WHERE group_id = g.id)
AND NOT EXISTS (SELECT 1 FROM batch_account WHERE group_id = g.id)
AND NOT EXISTS (SELECT 1 FROM storage_account WHERE group_id = g.id)
ORDER BY g.id;

-- private st_removable_workspaces() -> i64*
SELECT w.id FROM workspace w
WHERE w.prov_state = {PROV_DELETING} AND NOT EXISTS (SELECT 1 FROM experiment WHERE workspace_id = w.id)
AND NOT EXISTS (SELECT 1 FROM cluster WHERE workspace_id = w.id)
AND NOT EXISTS (SELECT 1 FROM file_server WHERE workspace_id = w.id)
ORDER BY w.id;

-- private st_removable_experiments() -> i64*
SELECT x.id FROM experiment x
WHERE x.prov_state = {PROV_DELETING} AND NOT EXISTS (SELECT 1 FROM job WHERE experiment_id = x.id)
ORDER BY x.id;

-- private st_removable_clusters() -> i64*
SELECT c.id FROM cluster c
WHERE c.prov_state = {PROV_DELETING} AND NOT EXISTS (SELECT 1 FROM node WHERE pool_id = c.id)
ORDER BY c.id;

-- private st_removable_file_servers() -> i64*
SELECT id FROM file_server WHERE prov_state = {PROV_DELETING} ORDER BY id;

-- The first marked account from `at` on; 0: there is none.
-- st_batch_account_deleting(i64 at) -> i64 id
SELECT coalesce(min(id), 0) FROM batch_account WHERE prov_state = {PROV_DELETING} AND id >= :at;

-- private st_removable_batch_accounts() -> i64*
SELECT ba.id FROM batch_account ba
WHERE ba.prov_state = {PROV_DELETING}
AND NOT EXISTS (SELECT 1 FROM batch_pool bp WHERE bp.account_id = ba.id)
AND NOT EXISTS (SELECT 1 FROM batch_job bj WHERE bj.account_id = ba.id)
ORDER BY ba.id;

-- st_deleting_cluster_ids() -> i64*
SELECT id FROM cluster WHERE prov_state = {PROV_DELETING} ORDER BY id;

-- st_deleting_account_ids() -> i64*
SELECT id FROM storage_account WHERE prov_state = {PROV_DELETING} ORDER BY id;

-- Jobs that are to be removed and hold no node: marked ones, then those of marked experiments.
-- st_doomed_jobs(int limit) -> doomed_job*
SELECT {doomed_job} FROM job j
WHERE j.prov_state = {PROV_DELETING} AND $not_held
UNION ALL SELECT {doomed_job} FROM experiment x JOIN job j ON j.experiment_id = x.id
WHERE x.prov_state = {PROV_DELETING} AND j.prov_state <> {PROV_DELETING} AND $not_held
LIMIT :limit;

-- The first marked experiment from `at` on; *id stays if there is none.
-- private st_deleting_experiment(i64 at) -> i64 id
SELECT id FROM experiment WHERE prov_state = {PROV_DELETING} AND id >= :at ORDER BY id LIMIT 1;

-- The id of the last of the next jobs that have `limit` runs, the last one perhaps more; 0: there are no more.
-- private st_doom_up_to(i64 experiment_id, i64 after, int limit) -> i64 last
SELECT coalesce(max(j.id), 0)
FROM (SELECT j.id, sum(ifnull($runs_of_job, 1)) OVER (ORDER BY j.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
AS before FROM (SELECT id FROM job WHERE experiment_id = :experiment_id AND id > :after ORDER BY id LIMIT :limit) j) j
WHERE ifnull(j.before, 0) < :limit;

-- private st_doom_runs_of(i64 experiment_id, i64 after, i64 upto)
UPDATE run SET stop = {STOP_AND_FORGET}
WHERE stop < {STOP_AND_FORGET} AND phase <> {RUN_OVER} AND owner_kind = {RES_JOB}
AND owner_id IN (SELECT id FROM job WHERE experiment_id = :experiment_id AND id > :after AND id <= :upto);
