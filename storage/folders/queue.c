/* SPDX-License-Identifier: MIT
 *
 * Jobs that wait for a share's worker, and the ends of jobs: each is reported once, then the job is
 * destroyed.
 */
#include <assert.h>

#include "storage/folders/share_priv.h"

/* The least time (us) between log lines about a full disk. */
#define SAY_FULL_US 10000000

/* --- jobs ------------------------------------------------------------------------------------- */

void job_tell(struct folder_job *job, const struct err *why)
{
    if (job->told)
        return;
    job->told = true;
    job->kind->tell(job, why);
}

void job_end(struct folder_job *job, const struct err *why)
{
    assert(!job->has_worker);
    job_tell(job, why);
    job->kind->destroy(job);
}

/* Called for each request that finds the disk full; each gets this error, but the log has a line
 * only every few seconds. */
void job_says_full(const struct folder_job *job, const char *path)
{
    struct folder_share *s = job->share;
    int64_t now_us = loop_mono_us(s->files->loop);
    if (s->full_said_us && now_us - s->full_said_us < SAY_FULL_US)
        return;
    s->full_said_us = now_us;
    LOG_WARN(s->files->log, "share.disk_full", LF_STR("folder", s->folder), LF_STR("path", path));
}

void job_forget(struct folder_job *job)
{
    job->told = true;
}

void say_unavailable(struct err *e, const struct files *f)
{
    if (f->stopping)
        err_set(e, ERR_UNAVAILABLE, NULL, "the daemon is stopping; try again when it is back");
    else
        err_set(e, ERR_UNAVAILABLE, NULL,
                "the share does not answer: calls on its files have taken more than %d s; try "
                "again in a moment",
                FILES_HUNG_US / 1000000);
}

/* --- a share's queue -------------------------------------------------------------------------- */

bool job_is_clients(const struct folder_job *job)
{
    /* lets_go: the bytes are written, and must be synced */
    return !job->kind->is_own && !job->kind->is_begun && !job->lets_go;
}

void queue_add(struct folder_share *s, struct folder_job *job)
{
    assert(job->share == s && !job->has_worker);
    job->next = NULL;
    *s->queue_end = job;
    s->queue_end = &job->next;
    s->queued++;
    s->waiting += job_is_clients(job);
}

bool is_kept_apart(const struct folder_share *s, const struct folder_job *job)
{
    for (int i = 0; i < FILES_WORKERS; i++) {
        const struct folder_job *other = s->worker[i].job;
        if (other && other->reach && job->reach && other->reach != job->reach)
            return true;
    }
    return false;
}

struct folder_job *queue_take(struct folder_share *s, struct folder_job **at)
{
    struct folder_job *job = *at;
    assert(s->queued > 0);
    *at = job->next;
    if (!*at)
        s->queue_end = at;
    s->queued--;
    s->waiting -= job_is_clients(job);
    return job;
}

bool job_withdraw(struct folder_job *job)
{
    struct folder_share *s = job->share;
    struct folder_job **at = s ? &s->queue : NULL;
    while (at && *at && *at != job)
        at = &(*at)->next;
    if (!at || !*at)
        return false;
    queue_take(s, at);
    job->kind->destroy(job);
    return true;
}

void queue_refuse(struct folder_share *s, bool (*chosen)(const struct folder_job *job))
{
    struct err why;
    struct folder_job *ended = NULL, **end = &ended;
    say_unavailable(&why, s->files);
    for (struct folder_job **at = &s->queue; *at;) {
        if (!chosen(*at)) {
            at = &(*at)->next;
            continue;
        }
        *end = queue_take(s, at);
        end = &(*end)->next;
        *end = NULL;
    }
    while (ended) { /* callbacks may begin more jobs */
        struct folder_job *job = ended;
        ended = job->next;
        s->files->counts.refused += job_is_clients(job) && !s->files->stopping;
        job_end(job, &why);
    }
}
