-- SPDX-License-Identifier: MIT
-- The tasks of a job that have a run, by state and fate: those that must be stopped are found among many that need not.

DROP INDEX batch_task_fed;
CREATE INDEX batch_task_fed ON batch_task (job_id, state, fate, id) WHERE fed = 1;
