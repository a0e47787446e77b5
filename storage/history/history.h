/* SPDX-License-Identifier: MIT
 *
 * The history of samples, in a separate database file beside the state database. It becomes thinner
 * with age: all samples for an hour, averages of 5 minutes for a week, averages of an hour for a
 * year.
 *
 * One thread opens, writes and reads the file; the loop only hands it samples, in batches, and they
 * are in no commit that a client waits for. So the samples of the last seconds are lost with the
 * process. A damaged file is put aside, a missing one is made; without a file the daemon works on,
 * and tries again each minute.
 */
#ifndef STORAGE_HISTORY_HISTORY_H
#define STORAGE_HISTORY_HISTORY_H

#include "lib/err.h"
#include "lib/log.h"
#include "lib/loop.h"
#include "model/sample/sample.h"

struct history;

struct history_config {
    struct loop *loop; /* borrowed, like log */
    const struct log *log;
    const char *path;
    /* the most bytes of the file; 0: 8 GiB. When it is full, old samples are forgotten earlier */
    int64_t bytes_most;
    int64_t batch_us; /* pause between two writes of samples; 0: 2 s */
};

/* Makes the history. The thread opens the file later. */
struct history *history_open(const struct history_config *c);
/* Writes received samples, then frees; `closed` runs last. A thread that hangs is left behind. */
void history_close(struct history *s, loop_fn closed, void *ctx);

/* Adds a sample; never waits. If the thread is far behind, the sample is lost. A later sample of
 * the same node in the same second replaces it. `steady_us`: the wall clock without steps forward;
 * the age of older samples is measured by it. */
void history_add(struct history *s, const char *node, const struct node_sample *sample,
                 int64_t steady_us);

enum history_level { HISTORY_RAW, HISTORY_MINUTES, HISTORY_HOURS, HISTORY_LEVELS };
extern const struct history_age {
    const char *name;        /* "15s", "5m", "1h" */
    int64_t step_s, keeps_s; /* seconds: between two samples; how long samples are kept */
} history_ages[HISTORY_LEVELS];

#define HISTORY_READ_MOST 500

struct history_query {
    const char *node; /* without regard to case */
    enum history_level level;
    int64_t from_s, to_s; /* to_s is not included */
    int max;              /* 1 to HISTORY_READ_MOST */
};
/* `rows` are borrowed for the call, the oldest first; why NULL: success. `more`: there are more
 * rows before to_s. An unknown node has no rows. */
typedef void (*history_fn)(void *ctx, const struct err *why, const struct node_sample *rows,
                           size_t n, bool more);
/* Calls fn once, later; with an error if the disk takes more than 10 s. -1: too many reads wait. */
int history_read(struct history *s, const struct history_query *q, history_fn fn, void *ctx,
                 struct err *e) MUST_CHECK;
/* Ends pending reads with an error. */
void history_end_reads(struct history *s);

/* Counts since the start. */
struct history_counts {
    uint64_t written, lost;
};
const struct history_counts *history_counts(const struct history *s);

#endif
