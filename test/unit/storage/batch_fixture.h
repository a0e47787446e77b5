/* SPDX-License-Identifier: MIT
 *
 * Jobs and tasks of Azure Batch for tests of the storage.
 */
#ifndef TEST_STORAGE_BATCH_FIXTURE_H
#define TEST_STORAGE_BATCH_FIXTURE_H

#include "storage/batch_jobs.h"
#include "test/unit/storage/fixture.h"

static inline int64_t fx_add_batch_job(struct fx *f, const char *name, const char *pool,
                                       int priority)
{
    const struct batch_job j = {.account_id = 1,
                                .name = name,
                                .doc = "{}",
                                .created_by = "me",
                                .state = BATCH_JOB_ACTIVE,
                                .state_us = T0,
                                .created_us = T0,
                                .updated_us = T0,
                                .start_us = T0,
                                .pool_name = pool,
                                .priority = priority,
                                .max_parallel = BATCH_UNLIMITED,
                                .on_all = BATCH_ALL_NO_ACTION,
                                .on_failure = BATCH_FAILURE_NO_ACTION,
                                .number = 1};
    int64_t id;
    ok(f, st_batch_job_insert(f->st, &j, "{\"a\":\"secret\"}", &id, &f->e));
    return id;
}

static inline struct batch_task fx_add_batch_task(struct fx *f, int64_t job, const char *name,
                                                  int slots, int instances)
{
    struct batch_task t = {.job_id = job,
                           .name = name,
                           .doc = "{}",
                           .state = BATCH_TASK_ACTIVE,
                           .state_us = T0,
                           .created_us = T0,
                           .updated_us = T0,
                           .slots = slots,
                           .instances = instances};
    ok(f, st_batch_task_insert(f->st, &t, NULL, &t.id, &f->e));
    return t;
}

#endif
