-- What files and directories of shares, and blobs, have beside their bytes. A file without a row is
-- one that nobody has said anything about.

-- path: below the share's folder. aside: the name of the file of ours that holds a blob whose own name
-- no file can have; else null. inode, size, mtime_ns: the file as it was when md5 and blocks were
-- noted. type 0: no blob, 1: block blob, 2: append blob. properties, metadata, tags, copy: JSON objects;
-- blocks: a JSON array.
CREATE TABLE share_item (
    id               INTEGER PRIMARY KEY,
    share_id         INTEGER NOT NULL REFERENCES share (id) ON DELETE CASCADE,
    path             TEXT    NOT NULL,
    aside            TEXT,
    type             INTEGER NOT NULL,
    inode            INTEGER NOT NULL,
    size             INTEGER NOT NULL,
    mtime_ns         INTEGER NOT NULL,
    revision         INTEGER NOT NULL,
    properties       TEXT,
    metadata         TEXT,
    tags             TEXT,
    copy             TEXT,
    blocks           TEXT,
    md5              TEXT,
    lease_state      INTEGER NOT NULL,
    lease_id         TEXT,
    lease_duration_s INTEGER NOT NULL,
    lease_until_us   INTEGER NOT NULL,
    created_us       INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX share_item_path ON share_item (share_id, path);
CREATE UNIQUE INDEX share_item_aside ON share_item (share_id, path) WHERE aside IS NOT NULL;
