-- kind: of the resource (model/enums.h) whose part the pool is, and so the service that it belongs to. Until now all
-- were clusters.
ALTER TABLE pool ADD COLUMN kind INTEGER NOT NULL DEFAULT 4;
