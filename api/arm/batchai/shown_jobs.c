/* SPDX-License-Identifier: MIT
 *
 * Texts of jobs by id and api-version. A note (by which a repeated request finds its text) is a
 * number made of a term and an id. The term counts how often all texts were dropped, so a note with
 * an earlier term finds nothing.
 */
#include "api/arm/batchai/shown_jobs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/cache.h"
#include "storage/storage.h"

#define VERSION_BITS 3 /* api-versions are bits 0 to 2: a key is id and version */
/* A note consists of term and id. In the last term no notes are made; in practice it is never
 * reached. */
#define ID_BITS   40
#define LAST_TERM ((INT64_C(1) << (62 - ID_BITS)) - 1)

struct kept_reply {
    int64_t updated_us;
    size_t len;
    char *text; /* owned */
};

struct shown_jobs {
    struct cache_kind kind;
    struct cache *texts; /* struct kept_reply, by key_of() */
    int64_t term;        /* how often all texts were dropped */
};

static int64_t key_of(int64_t id, unsigned version)
{
    assert(version < 1U << VERSION_BITS);
    return id << VERSION_BITS | (int64_t)version;
}

static void drop(void *value)
{
    free(((struct kept_reply *)value)->text);
}

static void forget(struct shown_jobs *all, int64_t id)
{
    for (unsigned version = 1; version < 1U << VERSION_BITS; version <<= 1)
        cache_remove(all->texts, &(int64_t){key_of(id, version)}, sizeof(int64_t));
}

static void forget_all(struct shown_jobs *all)
{
    cache_clear(all->texts);
    all->term += all->term < LAST_TERM;
}

static void on_change(void *ctx, int64_t job_id)
{
    if (job_id == ST_ANY_JOB)
        forget_all(ctx);
    else
        forget(ctx, job_id);
}

struct shown_jobs *shown_jobs_create(struct storage *st, size_t max_bytes)
{
    struct shown_jobs *all = xcalloc(1, sizeof *all);
    all->kind =
        (struct cache_kind){sizeof(struct kept_reply), .max_bytes = max_bytes, .drop = drop};
    all->texts = cache_new(&all->kind);
    st_watch_jobs(st, on_change, all);
    return all;
}

void shown_jobs_free(struct shown_jobs *all)
{
    if (!all)
        return;
    cache_free(all->texts);
    free(all);
}

bool shown_jobs_find(struct shown_jobs *all, int64_t note, unsigned version, struct shown_job *out)
{
    if (note == 0 || note >> ID_BITS != all->term)
        return false;
    int64_t key = key_of(note & ((INT64_C(1) << ID_BITS) - 1), version);
    const struct kept_reply *k = cache_find(all->texts, &key, sizeof key);
    if (k)
        *out = (struct shown_job){k->text, k->len, k->updated_us};
    return k != NULL;
}

int64_t shown_jobs_keep(struct shown_jobs *all, int64_t id, unsigned version,
                        const struct shown_job *shown)
{
    int64_t key = key_of(id, version);
    if (id >> ID_BITS != 0 || all->term == LAST_TERM)
        return 0;
    struct kept_reply *k = cache_add(all->texts, &key, sizeof key, shown->len);
    if (!k)
        return 0;
    *k = (struct kept_reply){shown->updated_us, shown->len, xrealloc(NULL, shown->len + 1)};
    memcpy(k->text, shown->text, shown->len);
    return all->term << ID_BITS | id;
}
