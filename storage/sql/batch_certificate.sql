-- SPDX-License-Identifier: MIT
--
-- Azure Batch's certificates. What was given of each is one sealed text.

-- $batch_certificate_select
SELECT {batch_certificate} FROM batch_certificate bc;

-- ERR_CONFLICT if the account has it.
-- st_batch_certificate_insert(batch_certificate c, sealed secrets)
INSERT INTO {+batch_certificate};

-- st_batch_certificate_get(i64 account_id, text algorithm, text thumbprint) -> batch_certificate?
$batch_certificate_select
WHERE bc.account_id = :account_id AND bc.thumbprint = :thumbprint AND bc.algorithm = :algorithm;

-- st_batch_certificate_secrets(i64 id) -> sealed? secrets
SELECT secrets FROM batch_certificate WHERE id = :id;

-- filter batch_certificate[ST_CERTIFICATE_PROPERTIES]: what a filter may compare
ST_CERTIFICATE_STATE = bc.state,
ST_CERTIFICATE_STATE_TIME = bc.state_us;

-- st_batch_certificate_list(i64 account_id, filter filter, st_names page) -> batch_certificate*
$batch_certificate_select
WHERE bc.account_id = :account_id AND bc.thumbprint > :page.after AND {?batch_certificate}
ORDER BY bc.thumbprint LIMIT :page.limit;

-- `error` NULL: there is none any more.
-- st_batch_certificate_set_state(batch_certificate c, batch_certificate_state to, i64 now_us, text error)
--     -> moved "certificate" batch_certificate_state by st_batch_certificate_state
UPDATE batch_certificate SET was = state, was_us = state_us, state = :to, state_us = :now_us, error = :error
WHERE id = :c.id AND state = :c.state;

-- private st_batch_certificate_state(i64 id) -> state
SELECT state FROM batch_certificate WHERE id = :id;

-- Of the resource manager: JSON text.
-- st_batch_certificate_set_tags(i64 id, text tags) -> changed "certificate"
UPDATE batch_certificate SET tags = :tags WHERE id = :id;

-- private st_batch_certificate_remove_row(i64 id) -> changed "certificate"
DELETE FROM batch_certificate WHERE id = :id;
