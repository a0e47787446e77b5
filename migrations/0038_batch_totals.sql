-- What tasks of Azure Batch took, and how many ended on each node.

-- wall_us, wait_us, retries: of those of the job that ended: how long they ran and had waited, and how often they were
-- tried again.
ALTER TABLE batch_count ADD COLUMN wall_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE batch_count ADD COLUMN wait_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE batch_count ADD COLUMN retries INTEGER NOT NULL DEFAULT 0;
CREATE TABLE batch_node_total (
    node_name TEXT    PRIMARY KEY,
    ended     INTEGER NOT NULL,
    succeeded INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER batch_task_totals AFTER UPDATE OF state ON batch_task WHEN NEW.state = 4 AND OLD.state = 3
BEGIN
    UPDATE batch_count SET
        wall_us = wall_us + max(NEW.end_us - NEW.start_us, 0),
        wait_us = wait_us + max(NEW.start_us - NEW.created_us, 0),
        retries = retries + NEW.retries
    WHERE job_id = NEW.job_id;
    INSERT INTO batch_node_total (node_name, ended, succeeded)
        SELECT NEW.node_name, 1, NEW.result = 1 WHERE NEW.node_name IS NOT NULL
        ON CONFLICT (node_name) DO UPDATE SET ended = ended + 1, succeeded = succeeded + (NEW.result = 1);
END;
CREATE TRIGGER batch_node_total_gone AFTER DELETE ON node
BEGIN
    DELETE FROM batch_node_total WHERE node_name = OLD.name;
END;
