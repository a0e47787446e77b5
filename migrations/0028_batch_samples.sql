-- Samples of the metrics that formulas ask about, and what they count.

-- vals: the numbers of model/batch/sample.h, in its order; nothing between two commas: not taken.
CREATE TABLE batch_sample (
    pool_id INTEGER NOT NULL REFERENCES pool (id) ON DELETE CASCADE,
    at_us   INTEGER NOT NULL,
    vals    TEXT    NOT NULL,
    PRIMARY KEY (pool_id, at_us)
) STRICT, WITHOUT ROWID;

-- off: what is to be added to `active` for the tasks that are ready: a task that waits for others is none of them, and
-- one with several instances is as many. Of other tasks it is 0, and no trigger here runs for them.
ALTER TABLE batch_count ADD COLUMN off INTEGER NOT NULL DEFAULT 0;
CREATE INDEX batch_job_pool ON batch_job (account_id, pool_name);

CREATE TRIGGER batch_task_off AFTER INSERT ON batch_task
    WHEN NEW.state = 1 AND (NEW.waits > 0 OR NEW.instances > 1)
BEGIN
    UPDATE batch_count SET off = off + iif(NEW.waits > 0, -1, NEW.instances - 1) WHERE job_id = NEW.job_id;
END;
CREATE TRIGGER batch_task_off_moved AFTER UPDATE OF state, waits ON batch_task
    WHEN (NEW.waits > 0 OR OLD.waits > 0 OR NEW.instances > 1) AND (NEW.state = 1 OR OLD.state = 1)
BEGIN
    UPDATE batch_count SET off = off
        + iif(NEW.state = 1, iif(NEW.waits > 0, -1, max(NEW.instances, 1) - 1), 0)
        - iif(OLD.state = 1, iif(OLD.waits > 0, -1, max(OLD.instances, 1) - 1), 0)
    WHERE job_id = NEW.job_id;
END;
CREATE TRIGGER batch_task_off_gone AFTER DELETE ON batch_task
    WHEN OLD.state = 1 AND (OLD.waits > 0 OR OLD.instances > 1)
BEGIN
    UPDATE batch_count SET off = off - iif(OLD.waits > 0, -1, OLD.instances - 1) WHERE job_id = OLD.job_id;
END;
