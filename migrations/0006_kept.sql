-- SPDX-License-Identifier: MIT
-- What has ended, by the time of its end: the oldest is forgotten first (scheduler/keep.h).

-- 4, 5: succeeded, failed; 5: deleting.
CREATE INDEX job_ended ON job (exec_us) WHERE exec_state IN (4, 5) AND prov_state <> 5;
-- 6: completed.
CREATE INDEX batch_job_ended ON batch_job (state_us) WHERE state = 6;
CREATE INDEX allocation_kept ON allocation (released_us) WHERE kept > 0 AND node_id IS NOT NULL;
