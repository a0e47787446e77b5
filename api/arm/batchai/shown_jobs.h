/* SPDX-License-Identifier: MIT
 *
 * A cache of the JSON texts of jobs. Clients poll a job until it ends; as long as its row has not
 * changed, they get the text from this cache. The storage reports at each write which job's row
 * changes; a rollback, or a change of a parent, drops all texts. A text must depend only on the row
 * of the job, the names of its parents and the api-version. The size is bounded; the least recently
 * used text is dropped first.
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
    const char *text; /* valid until the next write or shown_jobs_keep() */
    size_t len;
    int64_t updated_us;
};

/* Creates the cache and watches the jobs of `st`, which can have only one watcher. After
 * shown_jobs_free() `st` must not write any more. */
struct shown_jobs *shown_jobs_create(struct storage *st, size_t max_bytes);
void shown_jobs_free(struct shown_jobs *all); /* may be NULL */
/* Keeps the JSON text of a job. Returns a note by which shown_jobs_find() finds the text; 0: the
 * text is not kept. A note never finds another job: an id is reused only after the insertion of a
 * row was rolled back, and a rollback makes all notes invalid. */
int64_t shown_jobs_keep(struct shown_jobs *all, int64_t id, unsigned version,
                        const struct shown_job *shown);
/* True: *out is the text; false: the cache has no text for this job and version. */
bool shown_jobs_find(struct shown_jobs *all, int64_t note, unsigned version, struct shown_job *out);

#endif
