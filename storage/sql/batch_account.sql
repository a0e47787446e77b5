-- SPDX-License-Identifier: MIT
--
-- Accounts of Azure Batch.

-- $batch_account_select
SELECT {batch_account} FROM batch_account ba JOIN resource_group g ON g.id = ba.group_id;

-- private st_batch_account_insert_row(batch_account b, sealed keys) -> new id
INSERT INTO {+batch_account};

-- Also one that is being deleted: look at its state. Kept for those who ask again, as each request for what
-- is in an account does; so are its keys.
-- st_batch_account_by_name(text name) -> known batch_account?
$batch_account_select WHERE ba.name = :name;

-- st_batch_account_by_id(i64 id) -> batch_account?
$batch_account_select WHERE ba.id = :id;

-- private st_batch_account_sealed_keys(i64 id) -> sealed? keys
SELECT keys FROM batch_account WHERE id = :id;

-- private st_batch_account_write_keys(i64 id, sealed keys) -> changed "Batch account"
UPDATE batch_account SET keys = :keys WHERE id = :id;

-- tags, doc and updated_us of one that is not being deleted.
-- st_batch_account_update(batch_account b) -> changed "Batch account"
UPDATE batch_account SET tags = :b.tags, doc = :b.doc, updated_us = :b.updated_us
WHERE id = :b.id AND prov_state <> {PROV_DELETING};

-- private st_batch_account_list_group(i64 group_id, st_page page) -> batch_account*
$batch_account_select WHERE ba.group_id = :group_id AND ba.id > :page.after ORDER BY ba.id LIMIT :page.limit;

-- private st_batch_account_list_subscription(text subscription, st_page page) -> batch_account*
$batch_account_select WHERE g.subscription = :subscription AND ba.id > :page.after ORDER BY ba.id LIMIT :page.limit;

-- Those of all subscriptions, by name.
-- st_batch_account_list_all(st_names page) -> batch_account*
SELECT {batch_account} FROM batch_account ba CROSS JOIN resource_group g ON g.id = ba.group_id
WHERE ba.name > :page.after ORDER BY ba.name LIMIT :page.limit;

-- Those of all subscriptions that have a task of this name in a job of this name.
-- st_batch_account_with_task(text job, text task) -> batch_account*
$batch_account_select
WHERE EXISTS (SELECT 1 FROM batch_job bj JOIN batch_task bt ON bt.job_id = bj.id AND bt.name = :task
WHERE bj.account_id = ba.id AND bj.name = :job)
ORDER BY ba.name;

-- st_batch_account_count(text subscription) -> i64 n
SELECT count(*) FROM resource_group g JOIN batch_account ba ON ba.group_id = g.id
WHERE g.subscription = :subscription;
