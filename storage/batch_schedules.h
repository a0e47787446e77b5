/* SPDX-License-Identifier: MIT
 *
 * Azure Batch's job schedules and certificates; storage/storage.h says how all of these functions
 * behave. Lists begin behind the name `after` ("": at the first).
 */
#ifndef STORAGE_BATCH_SCHEDULES_H
#define STORAGE_BATCH_SCHEDULES_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "model/batch/schedule_rows.h"

struct filter;
struct storage;

/* --- job schedules --------------------------------------------------------------------------- */

/* ERR_CONFLICT if the account has one of this name. */
int st_batch_schedule_insert(struct storage *, const struct batch_schedule *s, const char *secrets,
                             int64_t *id, struct err *) MUST_CHECK;
int st_batch_schedule_get(struct storage *, struct arena *, int64_t account_id, const char *name,
                          struct batch_schedule *out, struct err *);
int st_batch_schedule_by_id(struct storage *, struct arena *, int64_t id,
                            struct batch_schedule *out, struct err *);
int st_batch_schedule_secrets(struct storage *, struct arena *, int64_t id, const char **secrets,
                              struct err *);
/* By name. The properties of its filters, by number: */
enum st_schedule_property {
    ST_SCHEDULE_ID,
    ST_SCHEDULE_STATE,
    ST_SCHEDULE_STATE_TIME,
    ST_SCHEDULE_CREATED,
    ST_SCHEDULE_MODIFIED,
    ST_SCHEDULE_ENDED,
    ST_SCHEDULE_UNTIL,
    ST_SCHEDULE_AFTER,
    ST_SCHEDULE_PROPERTIES
};
int st_batch_schedule_list(struct storage *, struct arena *, int64_t account_id,
                           const struct filter *filter, const char *after, int limit,
                           struct batch_schedule **rows, size_t *n, struct err *);
/* Those that have something to do: active, terminating or deleting. */
int st_batch_schedule_live_ids(struct storage *, struct arena *, int64_t **ids, size_t *n,
                               struct err *);
/* How many of an account are not completed. */
int st_batch_schedule_unfinished(struct storage *, int64_t account_id, int64_t *n, struct err *);
/* A user has changed it: document, secrets, and when it makes its next job. */
int st_batch_schedule_update(struct storage *, const struct batch_schedule *s, const char *secrets,
                             struct err *) MUST_CHECK;
/* It has made its job `number`, or none, and makes the next one then. */
int st_batch_schedule_set_next(struct storage *, int64_t id, int number, int64_t next_us,
                               struct err *) MUST_CHECK;
/* A pool was made for its jobs; NULL: it is not theirs any more. */
int st_batch_schedule_set_pool(struct storage *, int64_t id, const char *name,
                               struct err *) MUST_CHECK;
/* A guarded move; the only writer of the state. `by_user`: changes its ETag; `ends`: its endTime.
 */
struct st_schedule_move {
    int64_t id;
    enum batch_schedule_state from, to;
    int64_t now_us;
    bool by_user, ends;
};
int st_batch_schedule_move(struct storage *, const struct st_schedule_move *m,
                           struct err *) MUST_CHECK;
int st_batch_schedule_remove(struct storage *, int64_t id, struct err *) MUST_CHECK;

/* --- certificates ---------------------------------------------------------------------------- */

/* ERR_CONFLICT if the account has it. */
int st_batch_certificate_insert(struct storage *, const struct batch_certificate *c,
                                const char *secrets, struct err *) MUST_CHECK;
int st_batch_certificate_get(struct storage *, struct arena *, int64_t account_id,
                             const char *algorithm, const char *thumbprint,
                             struct batch_certificate *out, struct err *);
int st_batch_certificate_secrets(struct storage *, struct arena *, int64_t id, const char **secrets,
                                 struct err *);
/* By thumbprint. The properties of its filters, by number: */
enum st_certificate_property {
    ST_CERTIFICATE_STATE,
    ST_CERTIFICATE_STATE_TIME,
    ST_CERTIFICATE_PROPERTIES
};
int st_batch_certificate_list(struct storage *, struct arena *, int64_t account_id,
                              const struct filter *filter, const char *after, int limit,
                              struct batch_certificate **rows, size_t *n, struct err *);
/* `error` NULL: there is none any more. */
int st_batch_certificate_set_state(struct storage *, const struct batch_certificate *c,
                                   enum batch_certificate_state to, int64_t now_us,
                                   const char *error, struct err *) MUST_CHECK;
int st_batch_certificate_remove(struct storage *, int64_t id, struct err *) MUST_CHECK;

#endif
