/* SPDX-License-Identifier: MIT */
#include "api/batchai/shown_jobs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/idhash.h"
#include "storage/storage.h"

#define VERSION_BITS 3 /* api-versions are bits 0 to 2: a key is id and version */
/* A note consists of term and id. After the last term, which is never reached, there are no notes.
 */
#define ID_BITS   40
#define LAST_TERM ((INT64_C(1) << (62 - ID_BITS)) - 1)

struct kept {
    struct kept *newer, *older; /* neighbours in the order of last use */
    int64_t key, updated_us;
    size_t len;
    char text[];
};

struct shown_jobs {
    struct id_hash by_key; /* -> struct kept */
    struct kept *newest, *oldest;
    size_t bytes, max_bytes;
    int64_t term; /* how often all texts were dropped */
};

static int64_t key_of(int64_t id, unsigned version)
{
    assert(version < 1U << VERSION_BITS);
    return id << VERSION_BITS | (int64_t)version;
}

static void unlink_kept(struct shown_jobs *all, struct kept *k)
{
    *(k->newer ? &k->newer->older : &all->newest) = k->older;
    *(k->older ? &k->older->newer : &all->oldest) = k->newer;
}

static void put_first(struct shown_jobs *all, struct kept *k)
{
    k->newer = NULL;
    k->older = all->newest;
    *(all->newest ? &all->newest->newer : &all->oldest) = k;
    all->newest = k;
}

static void drop(struct shown_jobs *all, struct kept *k)
{
    unlink_kept(all, k);
    bool known = id_hash_remove(&all->by_key, k->key);
    assert(known && all->bytes >= sizeof *k + k->len);
    (void)known;
    all->bytes -= sizeof *k + k->len;
    free(k);
}

static struct kept *find(const struct shown_jobs *all, int64_t key)
{
    const size_t *at = id_hash_find(&all->by_key, key);
    static_assert(sizeof *at >= sizeof(struct kept *), "a value of the table is a pointer");
    return at ? (struct kept *)*at : NULL;
}

static void forget(struct shown_jobs *all, int64_t id)
{
    for (unsigned version = 1; version < 1U << VERSION_BITS; version <<= 1) {
        struct kept *k = find(all, key_of(id, version));
        if (k)
            drop(all, k);
    }
}

static void forget_all(struct shown_jobs *all)
{
    while (all->oldest)
        drop(all, all->oldest);
    assert(all->bytes == 0 && all->by_key.n == 0 && !all->newest);
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
    all->max_bytes = max_bytes;
    st_watch_jobs(st, on_change, all);
    return all;
}

void shown_jobs_free(struct shown_jobs *all)
{
    if (!all)
        return;
    forget_all(all);
    id_hash_free(&all->by_key);
    free(all);
}

bool shown_jobs_find(struct shown_jobs *all, int64_t note, unsigned version, struct shown_job *out)
{
    if (note == 0 || note >> ID_BITS != all->term)
        return false;
    struct kept *k = find(all, key_of(note & ((INT64_C(1) << ID_BITS) - 1), version));
    if (!k)
        return false;
    unlink_kept(all, k);
    put_first(all, k);
    *out = (struct shown_job){k->text, k->len, k->updated_us};
    return true;
}

int64_t shown_jobs_keep(struct shown_jobs *all, int64_t id, unsigned version,
                        const struct shown_job *shown)
{
    int64_t key = key_of(id, version);
    size_t size = sizeof(struct kept) + shown->len;
    struct kept *before = find(all, key), *k;
    if (before)
        drop(all, before);
    if (size > all->max_bytes / 8) /* a large text is not worth dropping many small ones */
        return 0;
    if (id >> ID_BITS != 0 || all->term == LAST_TERM)
        return 0;
    while (all->bytes + size > all->max_bytes)
        drop(all, all->oldest);
    k = xrealloc(NULL, size);
    k->key = key;
    k->updated_us = shown->updated_us;
    k->len = shown->len;
    memcpy(k->text, shown->text, shown->len);
    put_first(all, k);
    id_hash_put(&all->by_key, key, (size_t)k);
    all->bytes += size;
    return all->term << ID_BITS | id;
}
