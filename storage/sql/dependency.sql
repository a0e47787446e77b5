-- SPDX-License-Identifier: MIT
--
-- What resources wait for before their runs may begin: the ends of others.

-- st_dependency_of(resource_kind owner, i64 owner_id) -> dependency*
SELECT {dependency} FROM dependency dp WHERE dp.owner_kind = :owner AND dp.owner_id = :owner_id;

-- The first that wait for it.
-- $first_awaiting
FROM dependency dp
WHERE dp.awaited_kind = :awaited AND dp.awaited_id = :awaited_id AND dp.state = {DEPENDENCY_OPEN}
ORDER BY dp.owner_kind, dp.owner_id LIMIT :limit;

-- The pools of the runs that st_dependency_settle() with this limit is about.
-- st_dependency_pools(resource_kind awaited, i64 awaited_id, int limit) -> i64*
SELECT DISTINCT u.pool_id
FROM (SELECT dp.owner_kind AS kind, dp.owner_id AS id $first_awaiting) first
CROSS JOIN run u ON u.owner_kind = first.kind AND u.owner_id = first.id;

-- Jobs that have ended, and that others wait for still.
-- st_dependency_unsettled() -> i64*
SELECT DISTINCT dp.awaited_id
FROM dependency dp CROSS JOIN job j ON j.id = dp.awaited_id AND j.exec_state IN ({EXEC_SUCCEEDED}, {EXEC_FAILED})
WHERE dp.awaited_kind = {RES_JOB} AND dp.state = {DEPENDENCY_OPEN};

-- private st_dependency_end(dependency d, dependency_state to, ended_how how)
--     -> changed "dependency of" d.owner_id
UPDATE dependency SET state = :to, ended = :how
WHERE owner_kind = :d.owner_kind AND owner_id = :d.owner_id AND awaited_kind = :d.awaited_kind
AND awaited_id = :d.awaited_id AND state = :d.state;

-- private st_run_hold(resource_kind owner, i64 owner_id, run_hold from, run_hold to)
UPDATE run SET held = :to
WHERE owner_kind = :owner AND owner_id = :owner_id AND held = :from AND phase = {RUN_WAITING};

-- private st_dependency_insert(dependency d)
INSERT INTO {+dependency};

-- private st_dependency_remove(resource_kind owner, i64 owner_id)
DELETE FROM dependency WHERE owner_kind = :owner AND owner_id = :owner_id;

-- private st_dependency_awaiting(resource_kind awaited, i64 awaited_id, int limit) -> dependency*
SELECT {dependency} $first_awaiting;
