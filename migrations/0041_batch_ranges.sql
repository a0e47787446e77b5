-- What tasks of Azure Batch that wait for ranges of numbers cost does not grow with the square of their number.

-- The numbers among the names of the tasks of a job whose completion satisfies (4 and 04 are one), as intervals: between
-- two of a job a number is missing.
CREATE TABLE batch_done (
    job_id INTEGER NOT NULL,
    low    INTEGER NOT NULL,
    high   INTEGER NOT NULL,
    PRIMARY KEY (job_id, low)
) STRICT, WITHOUT ROWID;
INSERT INTO batch_done (job_id, low, high)
    SELECT job_id, min(number), max(number)
    FROM (SELECT job_id, number, number - row_number() OVER (PARTITION BY job_id ORDER BY number) AS island
          FROM batch_number)
    GROUP BY job_id, island;
DROP TABLE batch_number;
-- A range is met when one interval has all of it: nothing is counted.
DROP INDEX batch_wait_range;
ALTER TABLE batch_wait DROP COLUMN left;
CREATE INDEX batch_wait_low ON batch_wait (job_id, low, high) WHERE low IS NOT NULL;
CREATE INDEX batch_wait_high ON batch_wait (job_id, high, low) WHERE high IS NOT NULL;

-- Nodes show the parts of tasks that ran on them.
CREATE INDEX batch_subtask_node ON batch_subtask (node_name, id);
