-- The bytes of small blobs whose files the disk may not have yet: one sync of the database serves many puts, and the
-- files are synced together a moment later (storage/shares/journal.h). A row goes once its file is on disk.

-- path, aside: as in share_item. inode, mtime_ns: the file's. boot: the kernel's run (/proc/sys/kernel/random/boot_id)
-- in which it was written.
CREATE TABLE kept_put (
    id       INTEGER PRIMARY KEY,
    share_id INTEGER NOT NULL REFERENCES share (id) ON DELETE CASCADE,
    path     TEXT    NOT NULL,
    aside    TEXT,
    inode    INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    boot     TEXT    NOT NULL,
    bytes    BLOB    NOT NULL
) STRICT;
CREATE UNIQUE INDEX kept_put_path ON kept_put (share_id, path);
