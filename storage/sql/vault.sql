-- SPDX-License-Identifier: MIT
--
-- Key Vaults and secrets. Both are soft-deleted first and keep their names until they are purged.

-- $vault_select
SELECT {vault} FROM vault v;

-- The vault's columns once it is soft-deleted.
-- $soft_deleted
group_id = NULL, deleted_us = :now_us, purge_us = :now_us + retention_us;

-- The version kv of a secret k. CROSS JOIN: SQLite keeps this order.
-- $version_select
SELECT {secret_version} FROM secret k CROSS JOIN secret_version kv ON kv.secret_id = k.id;

-- $is_newest
kv.id = (SELECT max(z.id) FROM secret_version z WHERE z.secret_id = k.id);

-- ERR_CONFLICT if the name is taken, be it by a soft-deleted vault.
-- st_vault_insert(vault v) -> new id
INSERT INTO {+vault};

-- By its name alone, soft-deleted or not.
-- st_vault_get(text name) -> vault?
$vault_select WHERE v.name = :name;

-- private st_vault_list_group(i64 group_id, st_page page) -> vault*
$vault_select WHERE v.group_id = :group_id AND v.id > :page.after ORDER BY v.id LIMIT :page.limit;

-- private st_vault_list_subscription(text subscription, st_page page) -> vault*
$vault_select
WHERE v.subscription = :subscription AND v.group_id IS NOT NULL AND v.id > :page.after
ORDER BY v.id LIMIT :page.limit;

-- st_vault_list_deleted(text subscription, st_page page) -> vault*
$vault_select
WHERE v.subscription = :subscription AND v.group_id IS NULL AND v.id > :page.after
ORDER BY v.id LIMIT :page.limit;

-- Those with an access policy for the principal, also soft-deleted ones.
-- st_vault_list_open_to(text object_id) -> vault*
$vault_select
WHERE EXISTS (SELECT 1 FROM json_each(v.doc, '$.properties.accessPolicies') p
WHERE json_extract(p.value, '$.objectId') = :object_id COLLATE NOCASE)
ORDER BY v.id;

-- st_vault_update(i64 id, text tags, text doc, i64 now_us) -> changed "vault"
UPDATE vault SET tags = :tags, doc = :doc, updated_us = :now_us WHERE id = :id;

-- Soft-deletes it; likewise st_mark_deleting() with the vaults of a group. ERR_RESOURCE_NOT_FOUND if it is
-- soft-deleted.
-- st_vault_delete(i64 id, i64 now_us) -> changed "vault"
UPDATE vault SET $soft_deleted WHERE id = :id AND group_id IS NOT NULL;

-- ERR_RESOURCE_NOT_FOUND if the vault is not soft-deleted.
-- st_vault_recover(i64 id, i64 group_id, i64 now_us) -> changed "soft-deleted vault"
UPDATE vault SET group_id = :group_id, deleted_us = 0, purge_us = 0, updated_us = :now_us
WHERE id = :id AND group_id IS NULL;

-- private st_vault_remove(i64 id) -> changed "soft-deleted vault"
DELETE FROM vault WHERE id = :id AND group_id IS NULL;

-- st_secret_insert(secret s) -> new id
INSERT INTO {+secret};

-- st_secret_get(i64 vault_id, text name) -> secret?
SELECT {secret} FROM secret k WHERE k.vault_id = :vault_id AND k.name = :name;

-- Guarded as those of vaults are.
-- st_secret_delete(i64 id, i64 now_us, i64 purge_us) -> changed "secret"
UPDATE secret SET deleted_us = :now_us, purge_us = :purge_us WHERE id = :id AND deleted_us = 0;

-- st_secret_recover(i64 id) -> changed "soft-deleted secret"
UPDATE secret SET deleted_us = 0, purge_us = 0 WHERE id = :id AND deleted_us > 0;

-- private st_secret_purge_row(i64 id) -> changed "soft-deleted secret"
DELETE FROM secret WHERE id = :id AND deleted_us > 0;

-- The text `value` is sealed.
-- st_secret_version_insert(secret_version x, sealed value) -> new id
INSERT INTO {+secret_version};

-- private st_secret_version_named(i64 vault_id, text name, text version) -> secret_version?
$version_select WHERE k.vault_id = :vault_id AND k.name = :name AND kv.version = :version;

-- private st_secret_version_newest(i64 vault_id, text name) -> secret_version?
$version_select WHERE k.vault_id = :vault_id AND k.name = :name AND $is_newest;

-- All versions of a secret, by id.
-- st_secret_version_list(i64 secret_id, st_page page) -> secret_version*
$version_select WHERE k.id = :secret_id AND kv.id > :page.after ORDER BY kv.id LIMIT :page.limit;

-- All versions of a secret, the newest first; `before` is an id, 0: from the newest on.
-- st_secret_version_list_down(i64 secret_id, st_page page) -> secret_version*
$version_select
WHERE k.id = :secret_id AND kv.id < iif(:page.after > 0, :page.after, 9223372036854775807)
ORDER BY kv.id DESC LIMIT :page.limit;

-- private st_secret_list_deleted(i64 vault_id, st_page page) -> secret_version*
$version_select
WHERE k.vault_id = :vault_id AND k.deleted_us > 0 AND k.id > :page.after AND $is_newest
ORDER BY k.id LIMIT :page.limit;

-- private st_secret_list_live(i64 vault_id, st_page page) -> secret_version*
$version_select
WHERE k.vault_id = :vault_id AND k.deleted_us = 0 AND k.id > :page.after AND $is_newest
ORDER BY k.id LIMIT :page.limit;

-- Attributes, content type, tags and updated_us.
-- st_secret_version_update(secret_version x) -> changed "version of a secret"
UPDATE secret_version
SET enabled = :x.enabled, not_before_s = nullif(:x.not_before_s, 0), expires_s = nullif(:x.expires_s, 0),
content_type = :x.content_type, tags = :x.tags, updated_us = :x.updated_us
WHERE id = :x.id;

-- A version of a secret is called so from now on. ERR_CONFLICT: another one is.
-- st_secret_version_name(i64 id, text version) -> changed "version of a secret"
UPDATE secret_version SET version = :version WHERE id = :id;

-- A getter.
-- st_secret_value(i64 version_id) -> sealed? value
SELECT value FROM secret_version WHERE id = :version_id;

-- What an attempt of a run has got of secrets that it refers to. It is forgotten when the run waits again
-- or is over. A value that was put before stays.
-- st_run_secret_put(run_secret s, sealed value)
INSERT INTO {+run_secret} ON CONFLICT DO NOTHING;

-- A getter of what st_run_secret_put() has put.
-- st_run_secret_get(run_secret s) -> sealed? value
SELECT value FROM run_secret WHERE run_id = :s.run_id AND attempt = :s.attempt AND url = :s.url;

-- private st_secret_remove_of(i64 vault_id, int limit) -> count gone
DELETE FROM secret WHERE id IN (SELECT id FROM secret WHERE vault_id = :vault_id LIMIT :limit);

-- private st_vault_expired(i64 now_us, int limit) -> i64*
SELECT id FROM vault WHERE purge_us > 0 AND purge_us < :now_us ORDER BY purge_us LIMIT :limit;

-- private st_secret_expired(i64 now_us, int limit) -> i64*
SELECT id FROM secret WHERE deleted_us > 0 AND purge_us < :now_us ORDER BY purge_us LIMIT :limit;
