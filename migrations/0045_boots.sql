-- When a node booted last; of those that are there already, when they were made.
ALTER TABLE node ADD COLUMN booted_us INTEGER NOT NULL DEFAULT 0;
UPDATE node SET booted_us = created_us;
