-- The id of a set-up task that goes on while its node gets runs; NULL: it does not.
ALTER TABLE node_setup ADD COLUMN beside TEXT;
