-- SPDX-License-Identifier: MIT
--
-- What files, directories and blobs have beside their bytes.

-- $item_select
SELECT {item} FROM share_item i;

-- st_item_get(i64 share_id, text path) -> item?
$item_select WHERE i.share_id = :share_id AND i.path = :path;

-- Makes the row of this share and path, or replaces it. The id does not matter.
-- st_item_put(share_item i)
INSERT OR REPLACE INTO {+item};

-- private st_item_remove_row(i64 share_id, text path)
DELETE FROM share_item WHERE share_id = :share_id AND path = :path;

-- private st_item_remove_below(i64 share_id, text path)
DELETE FROM share_item WHERE share_id = :share_id AND path >= :path || '/' AND path < :path || '0';

-- private st_item_move_row(i64 share_id, text from, text to)
UPDATE OR REPLACE share_item SET path = :to || substr(path, length(:from) + 1), revision = revision + 1
WHERE share_id = :share_id AND path = :from;

-- private st_item_move_below(i64 share_id, text from, text to)
UPDATE OR REPLACE share_item SET path = :to || substr(path, length(:from) + 1)
WHERE share_id = :share_id AND path >= :from || '/' AND path < :from || '0';

-- private st_item_list_aside(i64 share_id, st_paths page) -> item*
$item_select
WHERE i.share_id = :share_id AND i.aside IS NOT NULL AND i.path >= :page.from AND i.path < :page.to
ORDER BY i.path LIMIT :page.limit;

-- private st_item_list_all(i64 share_id, st_paths page) -> item*
$item_select WHERE i.share_id = :share_id AND i.path >= :page.from AND i.path < :page.to ORDER BY i.path LIMIT :page.limit;
