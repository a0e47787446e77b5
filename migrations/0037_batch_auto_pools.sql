-- Pools that are made for jobs of Azure Batch.

-- auto_life: enum batch_auto_life: whose life its pool has, if one is made for it.
ALTER TABLE batch_job ADD COLUMN auto_life INTEGER NOT NULL DEFAULT 0;
-- auto_pool: the pool that was made for all its jobs; null: none yet.
ALTER TABLE batch_schedule ADD COLUMN auto_pool TEXT;
