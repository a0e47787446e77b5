/* SPDX-License-Identifier: MIT
 *
 * The rendered texts of jobs. Clients poll a job until it ends; as long as its row has not changed,
 * they get the text that is kept here. The storage reports at every write which rows change.
 * Changes without a row (a rollback, a change above jobs) drop all texts. A text must depend only
 * on the row of the job, the names above it and the api-version. The size is bounded; the least
 * recently used text is dropped first.
 */
#ifndef API_ARM_BATCHAI_SHOWN_JOBS_H
#define API_ARM_BATCHAI_SHOWN_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHOWN_JOBS_BYTES ((size_t)4 * 1024 * 1024)

struct storage;
struct shown_jobs;

struct shown_job {
    const char *text; /* valid until anything is written or kept */
    size_t len;
    int64_t updated_us;
};

/* Watches the jobs of `st`; there can be one watcher. `st` must not write any more after
 * shown_jobs_free(). */
struct shown_jobs *shown_jobs_create(struct storage *st, size_t max_bytes);
void shown_jobs_free(struct shown_jobs *all); /* may be NULL */
/* Keeps the JSON text of a job. Returns a note by which shown_jobs_find() finds the text; 0: the
 * text is not kept. A note never means another job: an id is reused only if the insertion of its
 * earlier row was rolled back, and a rollback makes all notes void. */
int64_t shown_jobs_keep(struct shown_jobs *all, int64_t id, unsigned version,
                        const struct shown_job *shown);
/* False: there is no text for this job and version. */
bool shown_jobs_find(struct shown_jobs *all, int64_t note, unsigned version, struct shown_job *out);

#endif
