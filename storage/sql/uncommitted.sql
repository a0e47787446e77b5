-- SPDX-License-Identifier: MIT
--
-- Blobs that have blocks alone.

-- private st_uncommitted_id(i64 share_id, text path) -> i64? id
SELECT id FROM uncommitted_blob WHERE share_id = :share_id AND path = :path;

-- private st_uncommitted_insert(i64 share_id, text path, i64 now_us)
INSERT INTO uncommitted_blob (share_id, path, since_us) VALUES (:share_id, :path, :now_us);

-- st_uncommitted_remove(i64 share_id, text path)
DELETE FROM uncommitted_blob WHERE share_id = :share_id AND path = :path;

-- As st_item_list(); of each only the path, and as its times since when it is noted.
-- st_uncommitted_list(i64 share_id, st_paths page) -> uncommitted*
SELECT {uncommitted} FROM uncommitted_blob ub
WHERE ub.share_id = :share_id AND ub.path >= :page.from AND ub.path < :page.to
ORDER BY ub.path LIMIT :page.limit;
