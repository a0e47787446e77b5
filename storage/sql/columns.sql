-- SPDX-License-Identifier: MIT
--
-- SQL that C needs as text: computed columns of rows (storage/rows*.c), parts of triggers (storage/changes.c). Each
-- becomes a macro, SQL_NAME, in "storage/sql/columns.h".

-- How many live allocations a node n has.
-- $node_live
(SELECT count(*) $live_of_node(n.id));

-- A node n has no allocation, ended or not.
-- $node_unused
NOT EXISTS (SELECT 1 FROM allocation o WHERE o.node_id = n.id);

-- A node n is idle and has a live allocation.
-- $node_runs
n.state = {NODE_IDLE} AND EXISTS (SELECT 1 $live_of_node(n.id));

-- $taken(what)
(SELECT coalesce(sum(a.$what), 0) $live_of_node(n.id));

-- $slots_taken
$taken(slots);

-- $gpus_taken
$taken(gpus);

-- $cores_taken
$taken(cores);

-- $memory_taken
$taken(memory);

-- The names of the jobs on a node n.
-- $node_jobs
(SELECT group_concat(coalesce(j.name, bt.name), ', ') FROM $live_allocation JOIN run u ON u.id = a.run_id
LEFT JOIN job j ON u.owner_kind = {RES_JOB} AND j.id = u.owner_id
LEFT JOIN batch_task bt ON u.owner_kind = {RES_BATCH_TASK} AND bt.id = u.owner_id
WHERE a.node_id = n.id AND $is_live);

-- $id_of_run
(SELECT u.id FROM run u WHERE $run_of_job(j.id));

-- $runs_of_job
(SELECT u.runs FROM run u WHERE $run_of_job(j.id));

-- A job j is doomed only by the mark of its experiment.
-- $doomed_above
j.prov_state <> {PROV_DELETING};

-- How many nodes a pool bp of Azure Batch has of each kind.
-- $has_dedicated
(SELECT count(*) FROM node n WHERE n.pool_id = bp.id AND n.vm_priority = {VM_DEDICATED});

-- $has_low
(SELECT count(*) FROM node n WHERE n.pool_id = bp.id AND n.vm_priority = {VM_LOWPRIORITY});

-- How many of the numbers that w waits for are not done.
-- $wait_left
w.high - w.low + 1 - ifnull((SELECT sum(min(d.high, w.high) - max(d.low, w.low) + 1) FROM batch_done d
WHERE d.job_id = w.job_id AND d.low <= w.high AND d.high >= w.low), 0);

-- $lease_available
{LEASE_AVAILABLE};

-- Of changes: what happened, and whether a share '@' is there for clients.
-- $change_made
{CHANGE_MADE};

-- $change_done
{CHANGE_DONE};

-- $change_removed
{CHANGE_REMOVED};

-- $container_there
@.state = {SHARE_THERE} AND @.kind = {SHARE_BLOBS};

-- $share_there
@.state = {SHARE_THERE} AND @.kind = {SHARE_FILES};

-- $change_is_forgotten
$is_forgotten(change);

-- The thousandths of GPUs that an allocation a has. Runs that share a node by slots alone share its GPUs by slots too.
-- $usage_gpus
CASE WHEN a.devices IS NULL THEN 1000 * max(a.gpus, n.gpus)
WHEN p.slots > 0 THEN coalesce(1000 * n.gpus * a.slots / nullif(n.slots, 0), 0) ELSE 1000 * a.gpus END;

-- $usage_cores
CASE WHEN a.devices IS NULL THEN max(a.cores, n.cores)
WHEN p.slots > 0 THEN coalesce(n.cores * a.slots / nullif(n.slots, 0), 0) ELSE max(a.cores, 0) END;

-- As far as it is noted; of all its GPUs together (ms).
-- $usage_busy
($usage_gpus) * (a.busy_us / 1000) / 1000;

-- $usage_idle
($usage_gpus) * (a.idle_us / 1000) / 1000;

-- The part of an allocation's time until now_ms that lies behind since_ms.
-- $usage_lately
CAST(max(0, :now_ms - max(a.created_us / 1000, :since_ms)) AS REAL) / max(1, :now_ms - a.created_us / 1000);

-- $usage_gpu_model
CASE WHEN n.gpus > 0 AND json_valid(n.devices) THEN coalesce(json_extract(n.devices, '$[0].model'), '') ELSE '' END;

-- When the last attempt of a run u ended (ms).
-- $usage_last_end
coalesce((SELECT max(e.end_ms) FROM usage e
WHERE e.owner_kind = u.owner_kind AND e.owner_id = u.owner_id AND e.idx = u.idx), 0);

-- Since when the owner of a run u waits (ms): it exists, and did not run.
-- $run_since
max(coalesce(j.created_us, bt.created_us, bh.start_us, 0) / 1000, $usage_last_end);

-- $usage_since
max(coalesce(j.created_us, bt.created_us, bh.start_us, a.created_us) / 1000, $usage_last_end);

-- $usage_wait
CASE WHEN a.rank = 0 THEN max(0, a.created_us / 1000 - $usage_since) ELSE 0 END;
