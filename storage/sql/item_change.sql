-- SPDX-License-Identifier: MIT
--
-- Changes of files and blobs that are under way (storage/item_changes.h).

-- Adds it, with the id that it has; a whole one in place of an earlier whole one of the blob.
-- st_kept_put_add(kept_put p)
INSERT OR REPLACE INTO kept_put
(id, share_id, path, aside, inode, mtime_ns, boot, bytes, was_inode, was_mtime_ns, grows_from)
VALUES (:p.id, :p.share_id, :p.path, :p.aside, :p.inode, :p.mtime_ns, :p.boot, :p.bytes, :p.was_inode,
:p.was_mtime_ns, CASE WHEN :p.grows THEN :p.grows_from ELSE -1 END);

-- st_kept_put_remove(i64 id)
DELETE FROM kept_put WHERE id = :id;

-- private st_kept_put_forget_at(i64 share_id, text path)
DELETE FROM kept_put WHERE share_id = :share_id AND path = :path;

-- In the order of their ids, which is that in which they were added; of shares that are there.
-- st_kept_put_ids() -> i64*
SELECT k.id FROM kept_put k JOIN share h ON h.id = k.share_id WHERE h.state = {SHARE_THERE} ORDER BY k.id;

-- st_kept_put_get(i64 id) -> kept_put?
SELECT {kept_put} FROM kept_put k WHERE k.id = :id;

-- The highest id that there is of these and of changes, or 0.
-- st_kept_put_last() -> i64 id
SELECT max(coalesce((SELECT max(id) FROM kept_put), 0), coalesce((SELECT max(id) FROM item_change), 0));

-- The blob has other bytes since this change: forgets what was kept before it.
-- st_kept_put_forget_before(item_change c)
DELETE FROM kept_put WHERE share_id = :c.was.share_id AND path = :c.was.path AND id < :c.id;

-- Adds it, with the id that it has.
-- st_item_change_add(item_change c)
INSERT INTO {+item_change};

-- st_item_change_remove(i64 id)
DELETE FROM item_change WHERE id = :id;

-- In the order of their ids.
-- st_item_change_ids() -> i64*
SELECT id FROM item_change ORDER BY id;

-- st_item_change_get(i64 id) -> item_change?
SELECT {item_change} FROM item_change ic WHERE ic.id = :id;

-- A file that a small blob's put was restored to has another inode now.
-- st_item_change_follow(kept_put p, i64 inode)
UPDATE item_change SET was_inode = :inode, inode = CASE inode WHEN :p.inode THEN :inode ELSE inode END
WHERE share_id = :p.share_id AND path = :p.path AND was_there AND was_inode = :p.inode
AND was_mtime_ns = :p.mtime_ns;
