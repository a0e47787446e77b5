-- SPDX-License-Identifier: MIT
--
-- Clusters.

-- $cluster_select
SELECT {cluster} FROM cluster r JOIN pool p ON p.id = r.id $of_workspace;

-- private st_cluster_tallies(i64 id) -> node_tally*
SELECT {node_tally} FROM node n WHERE n.pool_id = :id GROUP BY 1, 2;

-- private st_cluster_insert_row(cluster c, sealed secrets) -> new id
INSERT INTO {+cluster};

-- private st_cluster_write_doc(cluster c) -> changed "cluster"
UPDATE cluster SET doc = :c.doc, updated_us = :c.updated_us WHERE id = :c.id;

-- private st_cluster_named(i64 workspace_id, text name) -> cluster?
$cluster_select WHERE r.workspace_id = :workspace_id AND r.name = :name;

-- A cluster by the names of all levels above, in one query. Its nodes are not counted: `counts` stays zero.
-- st_cluster_find(scope scope, text name) -> known cluster?
$cluster_select
WHERE g.subscription = :scope.subscription AND g.name = :scope.group AND w.name = :scope.workspace
AND r.name = :name;

-- private st_cluster_with_id(i64 id) -> cluster?
$cluster_select WHERE r.id = :id;

-- private st_cluster_list_subscription(text subscription, st_page page) -> cluster*
$cluster_select WHERE g.subscription = :subscription AND r.id > :page.after ORDER BY r.id LIMIT :page.limit;

-- private st_cluster_list_group(i64 group_id, st_page page) -> cluster*
$cluster_select WHERE w.group_id = :group_id AND r.id > :page.after ORDER BY r.id LIMIT :page.limit;

-- private st_cluster_list_workspace(i64 workspace_id, st_page page) -> cluster*
$cluster_select WHERE r.workspace_id = :workspace_id AND r.id > :page.after ORDER BY r.id LIMIT :page.limit;

-- private st_cluster_list_named(text subscription, text workspace, st_page page) -> cluster*
$cluster_select
WHERE g.subscription = :subscription AND w.name = :workspace AND r.id > :page.after
ORDER BY r.id LIMIT :page.limit;

-- A getter. *secrets is the unsealed JSON text, NULL if there is none.
-- st_cluster_secrets(i64 id) -> sealed? secrets
SELECT secrets FROM cluster WHERE id = :id;

-- The names of the cluster and of its workspace.
-- st_cluster_names(i64 id) -> (text name, text workspace)?
SELECT r.name, w.name FROM cluster r JOIN workspace w ON w.id = r.workspace_id WHERE r.id = :id;

-- st_cluster_count(text subscription) -> i64 n
SELECT count(*)
FROM resource_group g JOIN workspace w ON w.group_id = g.id JOIN cluster c ON c.workspace_id = w.id
WHERE g.subscription = :subscription;
