-- SPDX-License-Identifier: MIT
--
-- Blobs that have blocks alone.

-- private st_uncommitted_since(i64 share_id, text path) -> i64? since_us
SELECT since_us FROM uncommitted_blob WHERE share_id = :share_id AND path = :path;

-- The row gets the highest id, so that the rows with the lowest ids are the oldest.
-- private st_uncommitted_put(i64 share_id, text path, i64 now_us)
INSERT OR REPLACE INTO uncommitted_blob (share_id, path, since_us) VALUES (:share_id, :path, :now_us);

-- Forgets such rows among the oldest `limit` ones.
-- st_uncommitted_forget_old(i64 before_us, int limit) -> count gone
DELETE FROM uncommitted_blob WHERE id IN (SELECT id FROM uncommitted_blob WHERE id > 0 ORDER BY id LIMIT :limit)
AND since_us < :before_us;

-- st_uncommitted_remove(i64 share_id, text path)
DELETE FROM uncommitted_blob WHERE share_id = :share_id AND path = :path;

-- As st_item_list(); of each only the path, and as its times when its row was last written.
-- st_uncommitted_list(i64 share_id, st_paths page) -> uncommitted*
SELECT {uncommitted} FROM uncommitted_blob ub
WHERE ub.share_id = :share_id AND ub.path >= :page.from AND ub.path < :page.to
ORDER BY ub.path LIMIT :page.limit;
