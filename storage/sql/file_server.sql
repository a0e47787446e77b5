-- SPDX-License-Identifier: MIT
--
-- File servers.

-- $file_server_select
SELECT {file_server} FROM file_server r $of_workspace;

-- `secrets`: JSON text to seal, or NULL.
-- st_file_server_insert(file_server f, sealed secrets) -> new id
INSERT INTO {+file_server};

-- st_file_server_get(i64 workspace_id, text name) -> file_server?
$file_server_select WHERE r.workspace_id = :workspace_id AND r.name = :name;

-- st_file_server_by_id(i64 id) -> file_server?
$file_server_select WHERE r.id = :id;

-- A getter. *secrets is the unsealed JSON text, NULL if there is none.
-- st_file_server_secrets(i64 id) -> sealed? secrets
SELECT secrets FROM file_server WHERE id = :id;

-- private st_file_server_move_row(i64 id, prov_state from, prov_state to, i64 now_us)
--     -> moved "File server" prov_state by st_file_server_state
UPDATE file_server SET prov_state = :to, prov_us = :now_us WHERE id = :id AND prov_state = :from;

-- private st_file_server_state(i64 id) -> state
SELECT prov_state FROM file_server WHERE id = :id;

-- st_file_server_creating_ids() -> i64*
SELECT id FROM file_server WHERE prov_state = {PROV_CREATING} ORDER BY id;

-- Those that are said to be served; nearly all that there are.
-- st_file_server_served_ids() -> i64*
SELECT id FROM file_server WHERE prov_state = {PROV_SUCCEEDED} ORDER BY id;

-- private st_file_server_list_subscription(text subscription, st_page page) -> file_server*
$file_server_select WHERE g.subscription = :subscription AND r.id > :page.after ORDER BY r.id LIMIT :page.limit;

-- private st_file_server_list_group(i64 group_id, st_page page) -> file_server*
$file_server_select WHERE w.group_id = :group_id AND r.id > :page.after ORDER BY r.id LIMIT :page.limit;

-- private st_file_server_list_workspace(i64 workspace_id, st_page page) -> file_server*
$file_server_select WHERE r.workspace_id = :workspace_id AND r.id > :page.after ORDER BY r.id LIMIT :page.limit;

-- private st_file_server_list_named(text subscription, text workspace, st_page page) -> file_server*
$file_server_select
WHERE g.subscription = :subscription AND w.name = :workspace AND r.id > :page.after
ORDER BY r.id LIMIT :page.limit;
