-- SPDX-License-Identifier: MIT
--
-- Applications of Azure Batch and their packages.

-- $application_select
SELECT {batch_application} FROM batch_application bn;

-- CROSS JOIN: SQLite keeps this order.
-- $package_select
SELECT {batch_package} FROM batch_application bn CROSS JOIN batch_package bg ON bg.application_id = bn.id;

-- ERR_CONFLICT if the account has one of this name. They go with their account.
-- st_batch_application_insert(batch_application x) -> new id
INSERT INTO {+batch_application};

-- st_batch_application_get(i64 account_id, text name) -> batch_application?
$application_select WHERE bn.account_id = :account_id AND bn.name = :name;

-- st_batch_application_list(i64 account_id, st_page page) -> batch_application*
$application_select WHERE bn.account_id = :account_id AND bn.id > :page.after ORDER BY bn.id LIMIT :page.limit;

-- Those that have an active package, in the order of their names, behind the name `after`.
-- st_batch_application_list_usable(i64 account_id, st_names page) -> batch_application*
$application_select
WHERE bn.account_id = :account_id AND bn.name > :page.after
AND EXISTS (SELECT 1 FROM batch_package bg WHERE bg.application_id = bn.id AND bg.hash IS NOT NULL)
ORDER BY bn.name LIMIT :page.limit;

-- Display name, default version, whether it may be updated, and when it was.
-- st_batch_application_update(batch_application x) -> changed "application"
UPDATE batch_application
SET display_name = :x.display_name, default_version = :x.default_version, allow_updates = :x.allow_updates,
updated_us = :x.updated_us, tags = :x.tags
WHERE id = :x.id;

-- private st_batch_application_remove_row(i64 id) -> changed "application"
DELETE FROM batch_application WHERE id = :id;

-- ERR_CONFLICT if the application has one of this name.
-- st_batch_package_insert(batch_package x) -> new id
INSERT INTO {+batch_package};

-- st_batch_package_get(i64 application_id, text name) -> batch_package?
$package_select WHERE bn.id = :application_id AND bg.name = :name;

-- st_batch_package_list(i64 application_id, st_page page) -> batch_package*
$package_select WHERE bn.id = :application_id AND bg.id > :page.after ORDER BY bg.id LIMIT :page.limit;

-- Format, hash, size and both instants.
-- st_batch_package_update(batch_package x) -> changed "package"
UPDATE batch_package
SET format = :x.format, hash = :x.hash, size = :x.size, activated_us = :x.activated_us,
updated_us = :x.updated_us, tags = :x.tags
WHERE id = :x.id;

-- private st_batch_package_remove_row(i64 id) -> changed "package"
DELETE FROM batch_package WHERE id = :id;

-- How many packages, of whatever account, have an archive with this hash.
-- st_batch_package_of_hash(text hash) -> i64 n
SELECT count(*) FROM batch_package WHERE hash = :hash;
