/* SPDX-License-Identifier: MIT
 *
 * The life of an act: a job of a folder that runs one function on one open file, step by step, and
 * reports one result. It is freed after its report; its file is closed where it ran, or later by a
 * worker, because closing may hang. act_step() runs on a worker or on the loop, all others on the
 * loop. Also gives the time of each write, if a test sets the clock.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/container.h"
#include "storage/folders/act_priv.h"
#include "storage/folders/change.h"
#include "storage/folders/share_priv.h"

void act_close(struct act *a)
{
    if (a->fd >= 0)
        close(a->fd);
    a->fd = -1;
}

bool act_is_for_worker(struct act *a, uint64_t bytes)
{
    a->more = job_is_for_worker(&a->job, bytes);
    if (a->more)
        act_close(a);
    return a->more;
}

bool act_step(struct folder_job *job)
{
    struct act *a = CONTAINER_OF(job, struct act, job);
    bool is_good = (!a->path || place_is_good(a->path)) && (!a->to || place_is_good(a->to));
    a->more = false;
    a->r.fault = is_good ? a->run(a) : FILE_BAD_NAME;
    a->error = errno;
    if (a->r.fault)
        a->more = false;
    if (!a->more)
        act_close(a);
    return a->more;
}

void act_tell(struct folder_job *job, const struct err *why)
{
    struct act *a = CONTAINER_OF(job, struct act, job);
    struct file_result failed = {.fault = FILE_UNAVAILABLE};
    struct err e;
    if (!why && a->r.fault) {
        failed.fault = a->r.fault;
        failed.added = a->r.added;
        if (a->r.fault == FILE_FULL)
            job_says_full(job, a->path);
        fault_say(&e, a->r.fault, a->error);
        why = &e;
    }
    a->cb(a->ctx, why, why ? &failed : &a->r);
}

void act_free(struct act *a)
{
    if (a->fd >= 0)
        close_later(a->job.share, a->fd);
    free(a->share);
    free(a->path);
    free(a->to);
    free(a->from_share);
    free(a->bytes);
    free(a->r.range);
    free(a);
}

static void act_destroy(struct folder_job *job)
{
    act_free(CONTAINER_OF(job, struct act, job));
}

static const struct job_kind act_kind = {
    .step = act_step, .tell = act_tell, .destroy = act_destroy, .is_quick = true};

void act_init(struct act *a, const struct job_kind *kind, act_fn run, files_changed cb, void *ctx)
{
    a->job.kind = kind;
    a->run = run;
    a->fd = -1;
    a->cb = cb;
    a->ctx = ctx;
}

struct act *act_new(struct files *f, act_fn run, const struct file_place *at, files_changed cb,
                    void *ctx)
{
    struct act *a = xcalloc(1, sizeof *a);
    act_init(a, &act_kind, run, cb, ctx);
    a->share = xstrdup(at->share);
    a->path = xstrdup(at->path);
    a->sync = files_sync(f);
    a->time_ns = files_time_ns(f);
    return a;
}

void act_begin(struct files *f, struct act *a)
{
    job_begin(f, a->share, &a->job);
}

/* --- the time of a write ---------------------------------------------------------------------- */

#define NS_PER_US 1000
/* If the clock is behind the last time by less than this, it counts as standing still, not as set
 * back. */
#define STANDS_NS INT64_C(1000000000)

void files_in_time(struct files *f, int64_t (*now_us)(void *ctx), void *ctx)
{
    f->time = (struct clock){now_us, ctx};
}

/* The time for a write. While the clock stands still, each time is a nanosecond later than the one
 * before. The last digits grow in any case, so that a clock that was set back and reaches an
 * instant again gives other times. */
int64_t files_time_ns(struct files *f)
{
    int64_t now_us = f->time.now_us ? clock_now(&f->time) : 0;
    if (now_us == 0)
        return FILES_TIME_KEPT;
    int64_t ns = now_us * NS_PER_US + (int64_t)(f->times++ % NS_PER_US);
    bool stands = ns <= f->last_time_ns && f->last_time_ns - ns < STANDS_NS;
    f->last_time_ns = stands ? f->last_time_ns + 1 : ns;
    return f->last_time_ns;
}
