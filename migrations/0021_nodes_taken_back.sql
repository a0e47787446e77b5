-- 1: its machine was taken back for a pool that goes first, so what runs there is queued again, whatever its own pool
-- does when it is made smaller.
ALTER TABLE node ADD COLUMN reclaimed INTEGER NOT NULL DEFAULT 0;
