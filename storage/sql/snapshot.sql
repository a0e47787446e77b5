-- SPDX-License-Identifier: MIT
--
-- Snapshots of blobs.

-- $snapshot_select
SELECT {snapshot} FROM blob_snapshot bs;

-- st_snapshot_get(i64 share_id, text path, i64 taken_us) -> snapshot?
$snapshot_select WHERE bs.share_id = :share_id AND bs.path = :path AND bs.taken_us = :taken_us;

-- Makes the row of this share, path and instant, or replaces it. The id does not matter.
-- st_snapshot_put(blob_snapshot s)
INSERT OR REPLACE INTO {+snapshot};

-- If there is one.
-- st_snapshot_remove(i64 share_id, text path, i64 taken_us)
DELETE FROM blob_snapshot WHERE share_id = :share_id AND path = :path AND taken_us = :taken_us;

-- A getter: when the newest one of a blob was taken.
-- st_snapshot_newest(i64 share_id, text path) -> i64? taken_us
SELECT taken_us FROM blob_snapshot
WHERE share_id = :share_id AND path = :path
ORDER BY taken_us DESC LIMIT 1;

-- Those of blobs with `from` <= path < `to` in the order of bytes, of each the oldest first; at most
-- `limit`.
-- st_snapshot_list(i64 share_id, i64 after_us, st_paths page) -> snapshot*
$snapshot_select
WHERE bs.share_id = :share_id AND (bs.path, bs.taken_us) > (:page.from, :after_us) AND bs.path < :page.to
ORDER BY bs.path, bs.taken_us LIMIT :page.limit;
