-- SPDX-License-Identifier: MIT
--
-- Azure Batch's job schedules.

-- $batch_schedule_select
SELECT {batch_schedule} FROM batch_schedule bs;

-- ERR_CONFLICT if the account has one of this name.
-- st_batch_schedule_insert(batch_schedule s, sealed secrets) -> new id
INSERT INTO {+batch_schedule};

-- st_batch_schedule_get(i64 account_id, text name) -> batch_schedule?
$batch_schedule_select WHERE bs.account_id = :account_id AND bs.name = :name;

-- st_batch_schedule_by_id(i64 id) -> batch_schedule?
$batch_schedule_select WHERE bs.id = :id;

-- st_batch_schedule_secrets(i64 id) -> sealed? secrets
SELECT secrets FROM batch_schedule WHERE id = :id;

-- filter batch_schedule[ST_SCHEDULE_PROPERTIES]: what a filter may compare
ST_SCHEDULE_ID = bs.name,
ST_SCHEDULE_STATE = bs.state,
ST_SCHEDULE_STATE_TIME = bs.state_us,
ST_SCHEDULE_CREATED = bs.created_us,
ST_SCHEDULE_MODIFIED = bs.updated_us,
ST_SCHEDULE_ENDED = nullif(bs.end_us, 0),
ST_SCHEDULE_UNTIL = nullif(bs.until_us, 0),
ST_SCHEDULE_AFTER = nullif(bs.after_us, 0);

-- st_batch_schedule_list(i64 account_id, filter filter, st_names page) -> batch_schedule*
$batch_schedule_select
WHERE bs.account_id = :account_id AND bs.name > :page.after AND {?batch_schedule}
ORDER BY bs.name LIMIT :page.limit;

-- Those that have something to do: active, terminating or deleting.
-- st_batch_schedule_live_ids() -> i64*
SELECT id FROM batch_schedule
WHERE state IN ({BATCH_SCHEDULE_ACTIVE}, {BATCH_SCHEDULE_TERMINATING}, {BATCH_SCHEDULE_DELETING})
ORDER BY id;

-- How many of an account are not completed.
-- st_batch_schedule_unfinished(i64 account_id) -> i64 n
SELECT count(*) FROM batch_schedule WHERE account_id = :account_id AND state <> {BATCH_SCHEDULE_COMPLETED};

-- A user has changed it: document, secrets, and when it makes its next job.
-- st_batch_schedule_update(batch_schedule s, sealed secrets) -> changed "job schedule"
UPDATE batch_schedule
SET doc = :s.doc, secrets = :secrets, updated_us = :s.updated_us, next_us = :s.next_us,
until_us = :s.until_us, after_us = :s.after_us
WHERE id = :s.id;

-- It has made its job `number`, or none, and makes the next one then.
-- st_batch_schedule_set_next(i64 id, int number, i64 next_us) -> changed "job schedule"
UPDATE batch_schedule SET number = :number, next_us = :next_us WHERE id = :id;

-- A pool was made for its jobs; NULL: it is not theirs any more.
-- st_batch_schedule_set_pool(i64 id, text name) -> changed "job schedule"
UPDATE batch_schedule SET auto_pool = :name WHERE id = :id;

-- st_batch_schedule_move(st_schedule_move m)
--     -> moved "job schedule" batch_schedule_state by st_batch_schedule_state
UPDATE batch_schedule
SET was = state, was_us = state_us, state = :m.to, state_us = :m.now_us,
updated_us = CASE :m.by_user WHEN 1 THEN :m.now_us ELSE updated_us END,
end_us = CASE :m.ends WHEN 1 THEN :m.now_us ELSE end_us END
WHERE id = :m.id AND state = :m.from;

-- private st_batch_schedule_state(i64 id) -> state
SELECT state FROM batch_schedule WHERE id = :id;

-- st_batch_schedule_remove(i64 id) -> changed "job schedule"
DELETE FROM batch_schedule WHERE id = :id;
