-- SPDX-License-Identifier: MIT
--
-- The tags of blobs, to be found by: a row for each tag of share_item.tags, which stays the text that is shown. Removed
-- with the row of the blob, also if another row replaces that row.
CREATE TABLE blob_tag (
    item_id  INTEGER NOT NULL REFERENCES share_item (id) ON DELETE CASCADE,
    key      TEXT    NOT NULL,
    share_id INTEGER NOT NULL,
    value    TEXT    NOT NULL,
    path     TEXT    NOT NULL,
    PRIMARY KEY (item_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_tag_value ON blob_tag (share_id, key, value, path);

INSERT INTO blob_tag (item_id, key, share_id, value, path)
SELECT i.id, t.key, i.share_id, t.value, i.path
FROM share_item i, json_each(i.tags) t
WHERE i.tags IS NOT NULL AND json_valid(i.tags) AND t.type = 'text';
