-- SPDX-License-Identifier: MIT
--
-- Workspaces and experiments.

-- $workspace_select
SELECT {workspace} FROM workspace w JOIN resource_group g ON g.id = w.group_id;

-- The workspace and group that a resource `r` with a workspace_id lives in.
-- $of_workspace
JOIN workspace w ON w.id = r.workspace_id JOIN resource_group g ON g.id = w.group_id;

-- $experiment_select
SELECT {experiment} FROM experiment r $of_workspace;

-- st_workspace_insert(workspace w) -> new id
INSERT INTO {+workspace};

-- st_workspace_update_tags(i64 id, text tags, i64 now_us) -> changed "workspace"
UPDATE workspace SET tags = :tags, updated_us = :now_us WHERE id = :id;

-- st_workspace_get(i64 group_id, text name) -> workspace?
$workspace_select WHERE w.group_id = :group_id AND w.name = :name;

-- st_workspace_by_id(i64 id) -> workspace?
$workspace_select WHERE w.id = :id;

-- private st_workspace_list_group(i64 group_id, st_page page) -> workspace*
$workspace_select WHERE w.group_id = :group_id AND w.id > :page.after ORDER BY w.id LIMIT :page.limit;

-- private st_workspace_list_subscription(text subscription, st_page page) -> workspace*
$workspace_select WHERE g.subscription = :subscription AND w.id > :page.after ORDER BY w.id LIMIT :page.limit;

-- st_experiment_insert(experiment x) -> new id
INSERT INTO {+experiment};

-- st_experiment_get(i64 workspace_id, text name) -> experiment?
$experiment_select WHERE r.workspace_id = :workspace_id AND r.name = :name;

-- An experiment by the names of all levels above, in one query.
-- st_experiment_find(scope scope, text name) -> known experiment?
$experiment_select
WHERE g.subscription = :scope.subscription AND g.name = :scope.group AND w.name = :scope.workspace
AND r.name = :name;

-- st_experiment_by_id(i64 id) -> experiment?
$experiment_select WHERE r.id = :id;

-- st_experiment_list(i64 workspace_id, st_page page) -> experiment*
$experiment_select WHERE r.workspace_id = :workspace_id AND r.id > :page.after ORDER BY r.id LIMIT :page.limit;
