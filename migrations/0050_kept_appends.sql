-- Bytes that were appended to a blob are kept as those of small blobs are.

-- grows_from: where in the file they begin; -1: they are the whole file.
ALTER TABLE kept_put ADD COLUMN grows_from INTEGER NOT NULL DEFAULT -1;
DROP INDEX kept_put_path;
CREATE UNIQUE INDEX kept_put_path ON kept_put (share_id, path, grows_from);
