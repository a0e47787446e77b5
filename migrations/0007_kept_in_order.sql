-- Which directories of ended runs a node keeps is decided by the order in which it came to keep them: the
-- instants in released_us may go back with the clock.
-- kept: the place in that order among the node's, the newest the highest; 0: not kept.
DROP INDEX allocation_node;
UPDATE allocation SET kept = place.n FROM (
    SELECT run_id, attempt, rank,
           row_number() OVER (PARTITION BY node_id ORDER BY released_us, run_id, attempt) AS n
    FROM allocation WHERE kept = 1) AS place
WHERE allocation.run_id = place.run_id AND allocation.attempt = place.attempt AND allocation.rank = place.rank;
CREATE INDEX allocation_node ON allocation (node_id, kept) WHERE node_id IS NOT NULL;
