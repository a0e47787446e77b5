-- Which nodes an ended job ran on, by rank: what is on a node's own disk can be read there for as
-- long as the node and the job are. Only jobs that may have left output there have rows.
-- kept: 1 while the node keeps the job's directory.
CREATE TABLE job_place (
    job_id      INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
    rank        INTEGER NOT NULL,
    node_id     INTEGER NOT NULL REFERENCES node (id) ON DELETE CASCADE,
    released_us INTEGER NOT NULL,
    kept        INTEGER NOT NULL,
    PRIMARY KEY (job_id, rank)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_place_node ON job_place (node_id, kept, released_us);
