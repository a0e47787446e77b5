-- Changes of files and blobs that are under way: what is there before, so that a daemon that was killed in the middle
-- can tell how far it came, and go back or forward as a whole (storage/shares/journal.h). A row goes a moment after its end.

-- kind 1: another file takes the place; 2: the file goes; 3: bytes are added at its end. place: where the file is, if not
-- at `path`, as share_item.aside. now_*: the file that it becomes. was_there, was_*: the file that is there. was_noted: the
-- other columns are those of its row in share_item; else there is none. share_id is no reference: each row lives for a
-- moment, and an index would cost more than the rest of it.
CREATE TABLE item_change (
    id               INTEGER PRIMARY KEY,
    share_id         INTEGER NOT NULL,
    path             TEXT    NOT NULL,
    kind             INTEGER NOT NULL,
    place            TEXT,
    now_inode        INTEGER NOT NULL,
    now_mtime_ns     INTEGER NOT NULL,
    was_there        INTEGER NOT NULL,
    was_inode        INTEGER NOT NULL,
    was_size         INTEGER NOT NULL,
    was_mtime_ns     INTEGER NOT NULL,
    was_noted        INTEGER NOT NULL,
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

-- The file that was there before a small blob was put; 0: there was none.
ALTER TABLE kept_put ADD COLUMN was_inode INTEGER NOT NULL DEFAULT 0;
ALTER TABLE kept_put ADD COLUMN was_mtime_ns INTEGER NOT NULL DEFAULT 0;
