/* SPDX-License-Identifier: MIT
 *
 * Shares, their workers and queues; shares that hang; the stop of the daemon.
 *
 *   job_begin() -> queue -> worker: step() -> [queue, while there is more] -> tell() -> destroy()
 *                    \-> the share hangs, or it all stops: tell(why) -> destroy()
 *
 * In memory no call hangs. There, quick jobs are done in the loop's next turn instead, because
 * passing a job to a worker costs several times as much as the job. A job that would free much
 * memory is repeated by a worker. A job whose end was reported while a worker was in its step is
 * destroyed when the worker returns.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "storage/folders/change.h"
#include "storage/folders/in_memory.h"
#include "storage/folders/share_priv.h"

/* How many shares may have workers at once: each may cost FILES_WORKERS threads that hang. High
 * enough that a server whose shares all hang leaves room for the shares of other servers. */
#define SHARES_MAX 256
/* The most jobs of clients that wait for a worker of one share. */
#define WAITING_MAX 1024
/* How long an idle share keeps its workers (us). */
#define IDLE_US 5000000
/* The most bytes that all open files together may keep in memory: two pieces of each file. */
#define IN_MEMORY_MAX (64 * 1024 * 1024)
/* How long quick work may occupy the loop at a time (us). */
#define PROMPT_US 5000
/* In us. A loop that is this late had no turn, so it did not notice that workers returned. */
#define LATE_US 500000
/* How long unfinished work may still take when the daemon stops (us). */
#define STOP_US 2000000

static void share_pump(struct folder_share *s);
static void files_stop_step(struct files *f);

static void say_queue_full(struct err *e, const struct folder_share *s)
{
    err_set(e, ERR_UNAVAILABLE, NULL,
            "%zu requests wait for files of this share already, which is the limit; try again in a "
            "moment",
            s->waiting);
}

static void say_crowded(struct err *e, const struct files *f)
{
    struct files_counts now;
    files_count(f, &now);
    err_set(e, ERR_UNAVAILABLE, NULL,
            "requests use files of %zu other shares now, which is the limit, and %zu of these "
            "shares do not answer; try again in a moment",
            now.shares, now.hung);
}

/* --- shares ----------------------------------------------------------------------------------- */

static int busy_workers(const struct folder_share *s)
{
    int n = 0;
    for (int i = 0; i < FILES_WORKERS; i++)
        n += s->worker[i].job != NULL;
    return n;
}

static bool is_idle(const struct folder_share *s)
{
    return busy_workers(s) == 0 && !s->queue;
}

static void share_remove(struct folder_share *s)
{
    /* hanging workers do not use the share any more: see files_priv.h */
    assert(!s->queue && !s->lane);
    for (struct folder_share **at = &s->files->shares; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    loop_timer_destroy(s->timer);
    free(s->folder);
    free(s);
}

static void on_lane_closed(void *ctx)
{
    struct files *f = ctx;
    f->closing--;
    files_stop_step(f);
}

static void workers_go(struct folder_share *s)
{
    if (!s->lane)
        return;
    s->files->closing++;
    loop_lane_close(s->lane, LOOP_LANE_DROP, 0, on_lane_closed, s->files);
    s->lane = NULL;
}

static void share_close(struct folder_share *s)
{
    workers_go(s);
    share_remove(s);
}

/* Call when the share is idle: open files still need the share, but not its workers. */
static void share_rest(struct folder_share *s)
{
    assert(is_idle(s));
    if (s->holds == 0)
        share_close(s);
    else
        workers_go(s);
}

/* From which instant all workers of the share count as hanging; 0: a worker is free. */
static int64_t hung_at(const struct folder_share *s)
{
    int64_t last = 0;
    for (int i = 0; i < FILES_WORKERS; i++) {
        if (!s->worker[i].job)
            return 0;
        if (s->worker[i].since_us > last)
            last = s->worker[i].since_us;
    }
    return last + FILES_HUNG_US;
}

static void share_watch(struct folder_share *s)
{
    int64_t at = hung_at(s);
    if (at && !s->hung)
        loop_timer_start(s->timer, at);
    else if (is_idle(s) && (s->lane || s->holds == 0))
        loop_timer_start(s->timer, loop_mono_us(s->files->loop) + IDLE_US);
    else
        loop_timer_stop(s->timer);
}

static void on_timer(void *ctx)
{
    struct folder_share *s = ctx;
    int64_t at = hung_at(s), now = loop_mono_us(s->files->loop);
    for (int i = 0; at && now - at > LATE_US && i < FILES_WORKERS; i++)
        s->worker[i].since_us = now;
    at = hung_at(s);
    if (at && at <= now) {
        s->hung = true;
        LOG_WARN(s->files->log, "share.hung", LF_STR("folder", s->folder),
                 LF_INT("waiting", s->queued), LF_INT("seconds", FILES_HUNG_US / 1000000));
        queue_refuse(s, job_is_clients);
        return;
    }
    if (is_idle(s))
        share_rest(s);
    else
        share_watch(s);
}

/* Reads the mounts again if they changed: a new mount may lie over a share in use. */
static void look_at_mounts(struct files *f)
{
    if (!f->memory || !in_memory_changed(f->memory))
        return;
    for (struct folder_share *s = f->shares; s; s = s->next)
        s->in_memory = in_memory_has(f->memory, s->folder);
}

static struct folder_share *share_new(struct files *f, const char *folder)
{
    struct folder_share *s = xcalloc(1, sizeof *s);
    look_at_mounts(f);
    s->files = f;
    s->folder = xstrdup(folder);
    s->in_memory = in_memory_has(f->memory, folder);
    s->timer = loop_timer_create(f->loop, on_timer, s);
    s->queue_end = &s->queue;
    s->next = f->shares;
    f->shares = s;
    return s;
}

/* Whether one more share may have workers. If all places are taken, an idle share gives up its
 * workers. */
static bool has_room(struct files *f)
{
    struct folder_share *idle = NULL;
    size_t n = 0;
    for (struct folder_share *s = f->shares; s; s = s->next) {
        n += s->lane != NULL;
        if (s->lane && is_idle(s))
            idle = s;
    }
    if (n < SHARES_MAX)
        return true;
    if (!idle || f->walking)
        return false;
    share_rest(idle);
    return true;
}

static struct folder_share *share_find(struct files *f, const char *folder)
{
    for (struct folder_share *s = f->shares; s; s = s->next)
        if (strcmp(s->folder, folder) == 0)
            return s;
    return NULL;
}

/* --- work ------------------------------------------------------------------------------------- */

static void on_worker(void *ctx)
{
    struct folder_job *job = ctx;
    job->more = job->kind->step(job);
}

static void worker_free(struct folder_share *s, const struct folder_job *job)
{
    int i = 0;
    while (i < FILES_WORKERS && s->worker[i].job != job)
        i++;
    assert(i < FILES_WORKERS);
    s->worker[i].job = NULL;
    if (!s->hung)
        return;
    s->hung = false;
    LOG_INFO(s->files->log, "share.recovered", LF_STR("folder", s->folder));
}

static void on_worker_back(void *ctx, enum loop_work_end how)
{
    struct folder_job *job = ctx;
    struct folder_share *s = job->share;
    struct files *f = s->files;
    struct err why;
    job->has_worker = false;
    worker_free(s, job);
    job->reach = job->lets_go ? REACHES_NO_BYTES : job->reach;
    s->holds++; /* callbacks may use other shares, for which idle shares are freed */
    f->counts.done += how == LOOP_WORK_DONE && !job->more;
    if (how == LOOP_WORK_DROPPED) {
        say_unavailable(&why, f);
        job_end(job, &why);
    } else if (job->more && !job->told) {
        queue_add(s, job);
    } else {
        job_end(job, NULL);
    }
    s->holds--;
    share_pump(s);
    files_stop_step(f);
}

static bool is_prompt(const struct folder_job *job)
{
    return job->share->in_memory && job->kind->is_quick && !job->slow;
}

/* The first job that a worker, or the loop (`quick`), may run; NULL: none. */
static struct folder_job **first_of(struct folder_share *s, bool quick)
{
    bool waits = false; /* a job that accesses bytes waits: no other such job overtakes it */
    for (struct folder_job **at = &s->queue; *at; at = &(*at)->next) {
        waits = waits || is_kept_apart(s, *at);
        if (is_prompt(*at) == quick && !(waits && (*at)->reach))
            return at;
    }
    return NULL;
}

/* Runs quick jobs on the loop, for PROMPT_US, then lets other work run. */
static void on_prompt(void *ctx)
{
    struct folder_share *s = ctx;
    struct files *f = s->files;
    struct folder_job **at;
    int64_t until = loop_mono_us(f->loop) + PROMPT_US;
    s->called = false;
    while (look_at_mounts(f), (at = first_of(s, true)) && loop_mono_us(f->loop) < until) {
        struct folder_job *job = queue_take(s, at);
        job->prompt = true;
        job->more = job->kind->step(job);
        job->prompt = false;
        job->reach = job->lets_go ? REACHES_NO_BYTES : job->reach;
        f->counts.done += !job->more;
        if (job->more && !job->told)
            queue_add(s, job);
        else
            job_end(job, NULL);
    }
    s->holds--;
    share_pump(s);
    files_stop_step(f);
}

static void share_pump(struct folder_share *s)
{
    struct folder_job **at;
    for (int i = 0; i < FILES_WORKERS && (at = first_of(s, false)); i++) {
        if (s->worker[i].job)
            continue;
        struct folder_job *job = queue_take(s, at);
        if (!s->lane)
            s->lane = loop_lane_create(s->files->loop, "files", FILES_WORKERS, FILES_WORKERS);
        s->worker[i] = (struct folder_worker){job, loop_mono_us(s->files->loop)};
        job->has_worker = true;
        if (!loop_work(s->lane, on_worker, on_worker_back, job))
            abort(); /* a lane accepts as many jobs as it has workers */
    }
    if (!s->called && first_of(s, true)) {
        s->called = true;
        s->holds++; /* the share is kept until then */
        loop_defer(s->files->loop, on_prompt, s);
    }
    share_watch(s);
}

/* --- work that fails at once: the failure is reported in the next turn --- */

struct refusal {
    struct folder_job *job;
    struct files *files;
    struct err why;
};

static void on_refused(void *ctx)
{
    struct refusal *r = ctx;
    job_end(r->job, &r->why);
    r->files->closing--;
    files_stop_step(r->files);
    free(r);
}

static void refuse(struct files *f, struct folder_job *job, const struct err *why)
{
    struct refusal *r = xcalloc(1, sizeof *r);
    *r = (struct refusal){job, f, *why};
    f->closing++; /* `f` must exist until the job is reported */
    f->counts.refused += job_is_clients(job) && !f->stopping;
    loop_defer(f->loop, on_refused, r);
}

/* Whether a job cannot even be queued; *why is set then. */
static bool must_refuse(struct files *f, struct folder_share *s, const struct folder_job *job,
                        struct err *why)
{
    bool room = (s && s->lane) || f->stopping || has_room(f);
    if (!job_is_clients(job))
        return f->stopping && (!s || s->overdue);
    if (f->stopping || (s && s->hung))
        say_unavailable(why, f);
    else if (s && s->waiting >= WAITING_MAX)
        say_queue_full(why, s);
    else if (!room)
        say_crowded(why, f);
    else
        return false;
    return true;
}
void job_begin_in(struct folder_share *s, struct folder_job *job)
{
    struct err why;
    job->share = s;
    if (must_refuse(s->files, s, job, &why)) {
        refuse(s->files, job, &why);
        return;
    }
    queue_add(s, job);
    share_pump(s);
}

void job_begin(struct files *f, const char *folder, struct folder_job *job)
{
    struct folder_share *s = share_find(f, folder);
    struct err why;
    if (must_refuse(f, s, job, &why)) {
        refuse(f, job, &why);
        return;
    }
    if (!s)
        s = share_new(f, folder);
    job->share = s;
    queue_add(s, job);
    share_pump(s);
}

/* --- for the other files --- */

struct folder_share *share_in_memory(struct files *f, const char *folder)
{
    if (f->stopping || !f->memory)
        return NULL;
    look_at_mounts(f);
    struct folder_share *s = share_find(f, folder);
    if (!s)
        share_watch(s = share_new(f, folder));
    const struct folder_job reads = {.reach = READS_BYTES};
    if (s->queue || !s->in_memory || is_kept_apart(s, &reads))
        return NULL;
    f->counts.done++;
    return s;
}

struct files *share_files(const struct folder_share *s)
{
    return s->files;
}

void share_hold(struct folder_share *s)
{
    s->holds++;
    s->files->counts.open++;
}

void share_release(struct folder_share *s)
{
    assert(s->holds > 0);
    s->holds--;
    s->files->counts.open--;
    share_watch(s);
}

void files_without_sync(struct files *f)
{
    f->without_sync = true;
}

bool files_in_memory(struct files *f, const char *folder)
{
    struct in_memory *memory = in_memory_open(folder);
    if (!memory)
        return false;
    in_memory_close(f->memory);
    f->memory = memory;
    return true;
}

bool files_sync(const struct files *f)
{
    return !f->without_sync;
}

static size_t piece(const struct files *f, size_t most)
{
    size_t piece = IN_MEMORY_MAX / 2 / (f->counts.open + 1);
    if (piece > most)
        return most;
    return piece < FILES_PIECE_MIN ? FILES_PIECE_MIN : piece;
}

size_t files_piece(const struct files *f)
{
    return piece(f, FILES_PIECE_MAX);
}

size_t files_written_piece(const struct files *f)
{
    return piece(f, FILES_WRITTEN_MAX);
}

void files_add_bytes(struct files *f, size_t n)
{
    f->counts.bytes += n;
}

void files_count(const struct files *f, struct files_counts *out)
{
    *out = f->counts;
    for (const struct folder_share *s = f->shares; s; s = s->next) {
        out->shares += s->lane != NULL;
        out->hung += s->hung;
        out->waiting += s->queued;
    }
}

/* --- start and end --- */

struct files *files_create(struct loop *loop, const struct log *log)
{
    struct files *f = xcalloc(1, sizeof *f);
    f->loop = loop;
    f->log = log;
    return f;
}

static bool is_requested(const struct folder_job *job)
{
    return !job->kind->is_own;
}

static bool is_any(const struct folder_job *job)
{
    return job != NULL;
}

/* Reports the end of the jobs for which `chosen` returns true; a worker in the step of such a job
 * continues. */
static void share_end(struct folder_share *s, bool (*chosen)(const struct folder_job *job))
{
    struct err why;
    queue_refuse(s, chosen);
    say_unavailable(&why, s->files);
    for (int i = 0; i < FILES_WORKERS; i++)
        if (s->worker[i].job && chosen(s->worker[i].job))
            job_tell(s->worker[i].job, &why);
}

void files_end_requests(struct files *f)
{
    f->walking = true;
    for (struct folder_share *s = f->shares; s; s = s->next)
        share_end(s, is_requested);
    f->walking = false;
}

/* Frees idle shares, and `f` after the last share. */
static void files_stop_step(struct files *f)
{
    if (!f->stopping)
        return;
    for (struct folder_share *s = f->shares, *next; s; s = next) {
        next = s->next;
        if (is_idle(s) && s->holds == 0)
            share_close(s);
    }
    if (f->shares || f->closing > 0)
        return;
    void (*stopped)(void *, size_t) = f->stopped;
    void *ctx = f->stopped_ctx;
    size_t left_behind = f->left_behind;
    loop_timer_destroy(f->stop_timer);
    in_memory_close(f->memory);
    free(f);
    stopped(ctx, left_behind);
}

/* Called when no worker of an overdue share will return any more. */
static void on_overdue_closed(void *ctx)
{
    struct folder_share *s = ctx;
    struct files *f = s->files;
    int n = busy_workers(s);
    f->left_behind += (size_t)n;
    if (n > 0)
        LOG_WARN(f->log, "share.workers_abandoned", LF_STR("folder", s->folder),
                 LF_INT("workers", n));
    share_remove(s);
    f->closing--;
    files_stop_step(f);
}

/* Closes the lanes of shares whose work still hangs. A worker may return until its lane is closed,
 * so the share stays until then. */
static void on_stop_overdue(void *ctx)
{
    struct files *f = ctx;
    f->closing++;
    for (struct folder_share *s = f->shares; s; s = s->next) {
        s->overdue = true;
        s->holds++;
        share_end(s, is_any);
    }
    for (struct folder_share *s = f->shares; s; s = s->next) {
        struct loop_lane *lane = s->lane;
        s->lane = NULL;
        f->closing++;
        if (lane)
            loop_lane_close(lane, LOOP_LANE_DROP, 1, on_overdue_closed, s);
        else
            loop_defer(f->loop, on_overdue_closed, s);
    }
    f->closing--;
}

void files_stop(struct files *f, void (*stopped)(void *ctx, size_t left_behind), void *ctx)
{
    assert(!f->stopping);
    f->stopping = true;
    f->stopped = stopped;
    f->stopped_ctx = ctx;
    f->closing++;
    files_end_requests(f);
    f->closing--;
    f->stop_timer = loop_timer_create(f->loop, on_stop_overdue, f);
    loop_timer_start(f->stop_timer, loop_mono_us(f->loop) + STOP_US);
    files_stop_step(f);
}
