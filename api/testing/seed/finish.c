/* SPDX-License-Identifier: MIT
 *
 * What members that are not of a request's body say, by kind.
 */
#include "api/testing/seed/steps.h"

const struct seed_ends seed_ends[SEED_KINDS] = {
    [SEED_GROUP] = {.last = seed_group_last},
    [SEED_JOB] = {.then = seed_job_then},
    [SEED_ACCOUNT] = {.then = seed_account_then},
    [SEED_VAULT] = {.last = seed_vault_last},
    [SEED_SECRET] = {.then = seed_secret_then},
    [SEED_BATCH_ACCOUNT] = {.then = seed_batch_account_then},
    [SEED_APPLICATION] = {.last = seed_application_last},
    [SEED_PACKAGE] = {.then = seed_package_then},
    [SEED_BATCH_SCHEDULE] = {.last = seed_schedule_last},
    [SEED_BATCH_JOB] = {.then = seed_batch_job_then, .last = seed_batch_job_last},
    [SEED_BATCH_TASK] = {.then = seed_batch_task_then},
};
