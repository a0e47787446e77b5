/* SPDX-License-Identifier: MIT
 *
 * Jobs as they were shown last. Clients ask for the same job again and again until it ends; as long
 * as its row has not changed, they get the same text, which is kept here. The storage says which
 * rows change, at every write, whoever writes; what it cannot say by row (a write that is taken
 * back, a change above jobs) makes all texts go. A text must follow from the row of the job, the
 * names above it and the api-version, and from nothing else.
 *
 * So many bytes at most; what was asked for longest ago goes first.
 */
#ifndef API_BATCHAI_SHOWN_JOBS_H
#define API_BATCHAI_SHOWN_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHOWN_JOBS_BYTES ((size_t)4 * 1024 * 1024)

struct storage;
struct shown_jobs;

struct shown_job {
    const char *text; /* until anything is written or kept */
    size_t len;
    int64_t updated_us;
};

/* Watches the jobs of `st` (one at a time may), which must not write any more once it is freed. */
struct shown_jobs *shown_jobs_create(struct storage *st, size_t max_bytes);
void shown_jobs_free(struct shown_jobs *all); /* may be NULL */
/* Returns a note by which the text is found again; 0: there is none. A note is for one job for
 * ever: a row's id is given out twice only if the first row is taken back, and then all notes are
 * void. */
int64_t shown_jobs_keep(struct shown_jobs *all, int64_t id, unsigned version,
                        const struct shown_job *shown);
/* False: it is not known what the job looks like in this version. */
bool shown_jobs_find(struct shown_jobs *all, int64_t note, unsigned version, struct shown_job *out);

#endif
