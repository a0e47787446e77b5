-- Snapshots of blobs: what a blob was at an instant. They stay when it changes, and, if a job removes its file,
-- without it.

-- aside: the name of the file of ours that holds its bytes. inode, size, mtime_ns: of the blob's own file as it
-- was then, from which come its ETag and its time. The other columns are those of share_item.
CREATE TABLE blob_snapshot (
    id         INTEGER PRIMARY KEY,
    share_id   INTEGER NOT NULL REFERENCES share (id) ON DELETE CASCADE,
    path       TEXT    NOT NULL,
    taken_us   INTEGER NOT NULL,
    aside      TEXT    NOT NULL,
    type       INTEGER NOT NULL,
    inode      INTEGER NOT NULL,
    size       INTEGER NOT NULL,
    mtime_ns   INTEGER NOT NULL,
    revision   INTEGER NOT NULL,
    properties TEXT,
    metadata   TEXT,
    tags       TEXT,
    copy       TEXT,
    blocks     TEXT,
    md5        TEXT,
    created_us INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX blob_snapshot_taken ON blob_snapshot (share_id, path, taken_us);
