-- What the resource manager's tags are, as JSON text; NULL: none were given.
ALTER TABLE batch_application ADD COLUMN tags TEXT;
ALTER TABLE batch_package ADD COLUMN tags TEXT;
ALTER TABLE batch_certificate ADD COLUMN tags TEXT;
