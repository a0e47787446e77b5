-- An allocation is held (1) until it is released (3) or lost (4). That its tasks had begun (2) was said only of
-- those that came out of schema 3, and nobody asked.
UPDATE allocation SET state = 1 WHERE state = 2;
DROP INDEX allocation_live;
CREATE UNIQUE INDEX allocation_live ON allocation (node_id, run_id) WHERE state = 1;
DROP TRIGGER node_holds;
DROP TRIGGER run_holds;
CREATE TRIGGER node_holds BEFORE DELETE ON node
WHEN EXISTS (SELECT 1 FROM allocation WHERE node_id = OLD.id AND state = 1)
BEGIN
    SELECT RAISE(ABORT, 'the node holds a run');
END;
CREATE TRIGGER run_holds BEFORE DELETE ON run
WHEN EXISTS (SELECT 1 FROM allocation WHERE run_id = OLD.id AND state = 1)
BEGIN
    SELECT RAISE(ABORT, 'the run holds nodes');
END;
