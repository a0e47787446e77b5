/* SPDX-License-Identifier: MIT
 *
 * Batch AI as a front of the core: reads the documents of clusters and jobs, writes into a job's
 * row what becomes of its run, and carries out deletions in its tree of groups, workspaces,
 * experiments, clusters, file servers and jobs. Knows nothing of HTTP; api/ stands above it.
 */
#ifndef SCHEDULER_FRONT_BATCHAI_BATCHAI_H
#define SCHEDULER_FRONT_BATCHAI_BATCHAI_H

#include "lib/idmap.h"
#include "lib/log.h"
#include "model/front_words.h"
#include "scheduler/front/front.h"
#include "scheduler/wake/wake.h"
#include "storage/storage.h"

struct wakes;

/* Who may do what by a role, which rooms above know. */
struct batchai_roles {
    /* Whether somebody may read the secrets of a vault. Both NULL: there are no people. */
    bool (*read_secrets)(void *ctx, const char *object_id, const struct vault *v);
    /* A getter: whether somebody is there (still). */
    int (*is_there)(void *ctx, const char *object_id, struct err *e);
    void *ctx;
};

struct batchai_front {
    struct front front;
    struct storage *st; /* borrowed, as is log */
    const struct log *log;
    bool strict; /* like the service, no made-up exit code: a job that failed without a failed
                    process has none */
    struct batchai_roles roles; /* may be set before the scheduler starts */
    struct sched *sched;        /* the one that called begin(); NULL before */
    struct wakes *wakes;        /* of `sched` */
    /* deletion.c: */
    bool fresh_deletions; /* something was marked since the last pass */
    bool dooming;         /* runs of deleted resources are being taken out of the queues */
    struct st_doom doom;  /* so far */
    bool jobs_go_first;   /* more jobs are doomed than the last pass could remove */
    struct id_map bereft; /* a set: clusters that lose queued jobs */
};

/* Clusters and jobs, AZ_BATCHAI_...; also for those who read paths that jobs name. */
extern const struct front_words batchai_front_words;

/* To be given to the scheduler, at the address where it will stay; what it owns is freed when the
 * scheduler ends. */
struct batchai_front batchai_front(struct storage *st, const struct log *log, bool strict);

/* Which file server the id in a mount means; false: none, as it is no such id. */
bool batchai_file_server_named(struct arena *a, const char *id, struct scope *scope,
                               const char **name);

/* A job was queued: looks at its cluster, and tells if the job is too large for it. */
void batchai_job_queued(struct batchai_front *f, const struct cluster *c, const struct job *j);
/* 1: under way (or done at once, for one that waits), 0: it had already ended; -1: err. */
int batchai_terminate(struct batchai_front *f, int64_t job_id, struct err *e) MUST_CHECK;
/* All that is marked as deleting: woken with WAKE_ALL when something may go. */
WAKE_KIND(woken_deletions, "deletions", WAKE_FIRST);
/* Something was marked as deleting (st_mark_deleting). */
void batchai_wake_deletions(struct batchai_front *f);
/* Something was buried (storage/burial.h). */
void batchai_wake_burials(struct batchai_front *f);

#endif
