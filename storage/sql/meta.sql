-- SPDX-License-Identifier: MIT
--
-- The one row of each database: its key, how it was closed, its epoch.

-- private st_meta_get() -> by hand
SELECT key_check, clean_close FROM meta WHERE id = 1;

-- private st_meta_set_key_check(sealed text)
UPDATE meta SET key_check = :text WHERE id = 1;

-- private st_meta_set_clean(int mark)
UPDATE meta SET clean_close = :mark WHERE id = 1;

-- private st_epoch_row() -> epoch?
SELECT {epoch} FROM epoch h WHERE h.id = 1;

-- Writes something that nobody reads, to see whether writes reach the disk: st_when_durable().
-- st_touch()
UPDATE epoch SET started_us = started_us + 1 - 2 * (started_us % 2) WHERE id = 1;

-- st_last_removal() -> i64 seq
SELECT removed_after FROM meta WHERE id = 1;

-- private st_meta_note_removal()
UPDATE meta SET removed_after = max(removed_after, (SELECT coalesce(max(seq), 0) FROM event)) WHERE id = 1;
