-- SPDX-License-Identifier: MIT
-- node.wish may be 8 or 9 from here on: the node is to leave its pool, and rests or is wiped if that is withdrawn. The use
-- that the allocation of a run has before the run's end is only that of its remote commands. A daemon of before takes the
-- first for damage, and the second for the whole; it refuses a database of this number as that of a newer version.

-- A request that was admitted before the deletion of a Batch account could make a pool or a job behind it, which nothing
-- deleted. The next start of the daemon goes on with the deletion of rows that are marked.
UPDATE batch_pool SET state = 2
WHERE state = 1 AND account_id IN (SELECT id FROM batch_account WHERE prov_state = 5);
UPDATE batch_job SET state = 7 WHERE state <> 7 AND account_id NOT IN (SELECT id FROM batch_account);
