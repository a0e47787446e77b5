-- SPDX-License-Identifier: MIT
--
-- What files, directories and blobs have beside their bytes.

-- $item_select
SELECT {item} FROM share_item i;

-- st_item_get(i64 share_id, text path) -> item?
$item_select WHERE i.share_id = :share_id AND i.path = :path;

-- private st_item_put_row(share_item i)
INSERT OR REPLACE INTO {+item};

-- The tags of the row that was put last.
-- private st_item_put_tags(share_item i)
INSERT INTO blob_tag (item_id, key, share_id, value, path)
SELECT last_insert_rowid(), t.key, :i.share_id, t.value, :i.path FROM json_each(:i.tags) t;

-- Blobs of a container with this tag, in the order of its values, and of their paths for a value: those after
-- (after_value, page.from) and before (to_value, page.to).
-- st_item_list_tagged(i64 share_id, text key, text after_value, text to_value, st_paths page) -> item*
SELECT {item} FROM blob_tag t JOIN share_item i ON i.id = t.item_id
WHERE t.share_id = :share_id AND t.key = :key AND (t.value, t.path) > (:after_value, :page.from)
AND (t.value, t.path) < (:to_value, :page.to)
ORDER BY t.value, t.path LIMIT :page.limit;

-- private st_item_remove_row(i64 share_id, text path)
DELETE FROM share_item WHERE share_id = :share_id AND path = :path;

-- private st_item_remove_below(i64 share_id, text path)
DELETE FROM share_item WHERE share_id = :share_id AND path >= :path || '/' AND path < :path || '0';

-- private st_item_move_row(i64 share_id, text from, text to)
UPDATE OR REPLACE share_item SET path = :to || substr(path, length(:from) + 1), revision = revision + 1
WHERE share_id = :share_id AND path = :from;

-- A row that is there already is newer, and stays; then the old one stays where it was.
-- private st_item_move_below(i64 share_id, text from, text to)
UPDATE OR IGNORE share_item SET path = :to || substr(path, length(:from) + 1)
WHERE share_id = :share_id AND path >= :from || '/' AND path < :from || '0';

-- private st_item_list_aside(i64 share_id, st_paths page) -> item*
$item_select
WHERE i.share_id = :share_id AND i.aside IS NOT NULL AND i.path >= :page.from AND i.path < :page.to
ORDER BY i.path LIMIT :page.limit;

-- Whether a row names this file aside: of a blob or snapshot, or of a change of one that is under way.
-- st_aside_is_named(text aside) -> bool named
SELECT EXISTS (SELECT 1 FROM share_item WHERE aside = :aside
UNION ALL SELECT 1 FROM blob_snapshot WHERE aside = :aside
UNION ALL SELECT 1 FROM item_change WHERE :aside IN (place, aside)
UNION ALL SELECT 1 FROM kept_put WHERE aside = :aside);

-- Rows that may be of archived blobs: their properties say so somewhere.
-- st_item_list_archived(i64 share_id, st_paths page) -> item*
$item_select
WHERE i.share_id = :share_id AND i.path >= :page.from AND i.path < :page.to AND instr(i.properties, '"Archive"') > 0
ORDER BY i.path LIMIT :page.limit;

-- private st_item_list_all(i64 share_id, st_paths page) -> item*
$item_select WHERE i.share_id = :share_id AND i.path >= :page.from AND i.path < :page.to ORDER BY i.path LIMIT :page.limit;
