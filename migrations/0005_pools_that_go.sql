-- A pool knows by itself that it is to go, whatever service it is for.
-- going: 1 once its resource was marked as deleting (prov_state 5).
ALTER TABLE pool ADD COLUMN going INTEGER NOT NULL DEFAULT 0;
UPDATE pool SET going = 1 WHERE id IN (SELECT id FROM cluster WHERE prov_state = 5);
CREATE TRIGGER cluster_marked AFTER UPDATE OF prov_state ON cluster WHEN NEW.prov_state = 5
BEGIN
    UPDATE pool SET going = 1 WHERE id = NEW.id;
END;
-- Which runs are live says run_live.
DROP INDEX job_active;
