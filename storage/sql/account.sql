-- SPDX-License-Identifier: MIT
--
-- Storage accounts.

-- $account_select
SELECT {account} FROM storage_account s JOIN resource_group g ON g.id = s.group_id;

-- private st_account_insert_row(storage_account s, sealed keys) -> new id
INSERT INTO {+account};

-- Kept for those who ask again, as each request for what is in an account does; so are its keys and
-- st_share_by_name().
-- st_account_by_name(text name) -> known account?
$account_select WHERE s.name = :name;

-- st_account_by_id(i64 id) -> account?
$account_select WHERE s.id = :id;

-- private st_account_sealed_keys(i64 id) -> sealed? keys
SELECT keys FROM storage_account WHERE id = :id;

-- private st_account_write_keys(i64 id, sealed keys, id key1_us, id key2_us) -> changed "storage account"
UPDATE storage_account
SET keys = :keys, key1_us = coalesce(:key1_us, key1_us), key2_us = coalesce(:key2_us, key2_us)
WHERE id = :id;

-- Everything but name, id and keys.
-- st_account_update(storage_account s) -> changed "storage account"
UPDATE storage_account
SET group_id = :s.group_id, location = :s.scope.location, sku = :s.sku, kind = :s.kind, tags = :s.tags,
doc = :s.doc, created_by = :s.created_by, prov_state = :s.prov_state, created_us = :s.created_us,
updated_us = :s.updated_us, implicit = :s.implicit, blob_service = :s.blob_service,
file_service = :s.file_service
WHERE id = :s.id;

-- private st_account_list_group(i64 group_id, st_page page) -> account*
$account_select WHERE s.group_id = :group_id AND s.id > :page.after ORDER BY s.id LIMIT :page.limit;

-- private st_account_list_subscription(text subscription, st_page page) -> account*
$account_select WHERE g.subscription = :subscription AND s.id > :page.after ORDER BY s.id LIMIT :page.limit;

-- Those of all subscriptions.
-- st_account_list_all(st_page page) -> account*
SELECT {account} FROM storage_account s CROSS JOIN resource_group g ON g.id = s.group_id
WHERE s.id > :page.after ORDER BY s.id LIMIT :page.limit;

-- st_account_count(text subscription) -> i64 n
SELECT count(*) FROM resource_group g JOIN storage_account s ON s.group_id = g.id
WHERE g.subscription = :subscription;
