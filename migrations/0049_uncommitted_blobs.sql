-- Blobs of which blocks were put, and that are not there otherwise: what their blocks' folder is called does not say whose
-- they are. A row whose folder is gone means nothing.
CREATE TABLE uncommitted_blob (
    id       INTEGER PRIMARY KEY,
    share_id INTEGER NOT NULL REFERENCES share (id) ON DELETE CASCADE,
    path     TEXT    NOT NULL,
    since_us INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX uncommitted_blob_path ON uncommitted_blob (share_id, path);
