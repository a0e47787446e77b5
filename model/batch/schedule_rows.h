/* SPDX-License-Identifier: MIT
 *
 * Job schedules and certificates of Azure Batch as typed rows. The numbers of the enums are in
 * databases: never renumber, only append. As in model/resource.h, texts are borrowed, and instants
 * are microseconds since 1970 with 0 for "not yet".
 */
#ifndef MODEL_BATCH_SCHEDULE_ROWS_H
#define MODEL_BATCH_SCHEDULE_ROWS_H

#include <stdint.h>

#include "model/enums.h"

enum batch_schedule_state {
    BATCH_SCHEDULE_ACTIVE = 1,
    BATCH_SCHEDULE_COMPLETED = 2,
    BATCH_SCHEDULE_DISABLED = 3,
    BATCH_SCHEDULE_TERMINATING = 4,
    BATCH_SCHEDULE_DELETING = 5
};
enum batch_certificate_state {
    BATCH_CERTIFICATE_ACTIVE = 1,
    BATCH_CERTIFICATE_DELETING = 2,
    BATCH_CERTIFICATE_DELETE_FAILED = 3
};

extern const struct enum_name batch_schedule_state_names[], batch_certificate_state_names[];

struct batch_schedule {
    int64_t id, account_id;
    const char *name;
    const char *doc; /* canonical JSON */
    const char *created_by;
    enum batch_schedule_state state, was; /* was: the previous state; 0: none */
    int64_t state_us, was_us;             /* when the present and the previous state began */
    int64_t created_us;
    int64_t updated_us; /* the last write of a user: for its ETag */
    int64_t end_us;
    int64_t next_us;            /* when the schedule makes its next job; 0: never */
    int64_t until_us, after_us; /* doNotRunUntil and doNotRunAfter, for filters; 0: not given */
    int number;                 /* the number of the last job that the schedule made; 0: none yet */
    const char *auto_pool; /* the automatic pool that all jobs of the schedule use; NULL: none */
};

struct batch_certificate {
    int64_t id, account_id;
    const char *algorithm, *thumbprint;
    const char *public; /* its public part, in base64 */
    enum batch_certificate_state state, was;
    int64_t state_us, was_us;
    const char *error; /* the error of a failed deletion: JSON text; NULL: none */
    const char *tags;  /* JSON text, or NULL */
};

#endif
