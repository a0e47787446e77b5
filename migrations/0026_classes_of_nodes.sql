-- A pool may have nodes of two classes, and nodes may be asked to do something.

-- scale_low: how many low-priority nodes are wanted beside those of the pool's own class. slots: of each node; 0: as
-- the node says. spread: 1: parts of nodes are given of those with the most slots left.
ALTER TABLE pool ADD COLUMN scale_low INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pool ADD COLUMN slots INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pool ADD COLUMN spread INTEGER NOT NULL DEFAULT 0;

-- off: 0: it may get runs; else what becomes of those that are there (as scale_dealloc of pools). wish: what is to
-- become of it (model/enums.h), and how: what becomes of the runs there then.
ALTER TABLE node ADD COLUMN vm_priority INTEGER NOT NULL DEFAULT 1;
UPDATE node SET vm_priority = (SELECT vm_priority FROM pool WHERE id = node.pool_id);
ALTER TABLE node ADD COLUMN off INTEGER NOT NULL DEFAULT 0;
ALTER TABLE node ADD COLUMN wish INTEGER NOT NULL DEFAULT 0;
ALTER TABLE node ADD COLUMN how INTEGER NOT NULL DEFAULT 0;
