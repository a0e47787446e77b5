/* SPDX-License-Identifier: MIT
 *
 * Batch AI as a front of the core: reads the documents of clusters and jobs, writes the results of
 * runs into jobs' rows, and carries out deletions in its tree of groups, workspaces, experiments,
 * clusters, file servers and jobs. Independent of HTTP; api/ uses it.
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

/* Checks of roles; the layers above implement them. */
struct batchai_roles {
    /* Whether a principal may read a secret of a vault. Both NULL: there are no principals. */
    bool (*read_secrets)(void *ctx, const char *object_id, const struct vault *v,
                         const char *secret);
    /* Whether the principal still exists: 1: yes; 0: no; -1: error. */
    int (*is_there)(void *ctx, const char *object_id, struct err *e);
    void *ctx;
};

struct batchai_front {
    struct front front;
    struct storage *st; /* borrowed, as is log */
    const struct log *log;
    /* as in the real service, no made-up exit code: a job that failed without a failed process has
     * no exit code */
    bool strict;
    struct batchai_roles roles; /* may be set before the scheduler starts */
    struct sched *sched;        /* the scheduler that called begin(); before that NULL */
    struct wakes *wakes;        /* of `sched` */
    /* deletion.c: */
    bool fresh_deletions; /* something was marked since the last pass */
    bool dooming;         /* runs of deleted resources are being removed from the queues */
    struct st_doom doom;  /* how far this removal has come */
    bool jobs_go_first;   /* more jobs are marked than the last pass could remove */
    struct id_map bereft; /* a set: clusters that lose queued jobs */
};

/* The words for clusters and jobs, AZ_BATCHAI_...; also for readers of paths in jobs' documents. */
extern const struct front_words batchai_front_words;

/* Returns the front. The caller puts it at its final address, and gives it to the scheduler there.
 * Its memory is freed when the scheduler ends. */
struct batchai_front batchai_front(struct storage *st, const struct log *log, bool strict);

/* The file server of the id in a mount; false: the id is not that of a file server. */
bool batchai_file_server_named(struct arena *a, const char *id, struct scope *scope,
                               const char **name);

/* A job was queued: wakes its cluster, and reports a job that is too large for it. */
void batchai_job_queued(struct batchai_front *f, const struct cluster *c, const struct job *j);
/* Terminates a job. 1: in progress (or done at once, for a waiting job); 0: the job had already
 * ended; -1: error. */
int batchai_terminate(struct batchai_front *f, int64_t job_id, struct err *e) MUST_CHECK;
/* All resources in state deleting: woken with WAKE_ALL when a resource may be removed. */
WAKE_KIND(woken_deletions, "deletions", WAKE_FIRST);
/* Called when a resource was marked as deleting (st_mark_deleting). */
void batchai_wake_deletions(struct batchai_front *f);
/* Called when a vault was purged. */
void batchai_wake_remains(struct batchai_front *f);
/* Called when resources were detached (storage/detachment.h). */
void batchai_wake_detachments(struct batchai_front *f);

#endif
