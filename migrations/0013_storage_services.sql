-- What was set for the blob and the file service of an account, as JSON objects; null: nothing was.
ALTER TABLE storage_account ADD COLUMN blob_service TEXT;
ALTER TABLE storage_account ADD COLUMN file_service TEXT;
