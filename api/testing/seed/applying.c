/* SPDX-License-Identifier: MIT
 *
 * Requests and transactions of a seed, and its errors.
 */
#include "api/testing/seed/applying.h"

#include "scheduler/scheduler.h"
#include "scheduler/wake/paced.h"
#include "storage/storage.h"

int applying_fails(struct applying *p, const struct seed_step *s)
{
    p->failed = s;
    return -1;
}

int applying_refused(struct applying *p, const struct seed_step *s, const struct request *inner)
{
    seed_answer_read(&p->r->arena, inner, &p->why);
    return applying_fails(p, s);
}

/* --- writing ---------------------------------------------------------------------------------- */

struct writing {
    struct applying *p;
    int (*write)(struct applying *p);
};

static int in_transaction(struct storage *st, void *ctx, struct err *e)
{
    const struct writing *w = ctx;
    (void)st;
    if (w->write(w->p) == 0)
        return 0;
    *e = w->p->why;
    return -1;
}

int applying_write(struct applying *p, const char *name, int (*write)(struct applying *p))
{
    struct err e;
    struct writing w = {p, write};
    if (st_tx(p->seed->arm.storage, name, in_transaction, &w, &e) == 0)
        return 0;
    if (p->why.code == ERR_NONE) { /* the commit itself failed, not `write` */
        p->why = e;
        p->nowhere = true;
    }
    return -1;
}

void applying_stops(struct applying *p)
{
    err_set(&p->why, ERR_UNAVAILABLE, NULL, "The daemon stops.");
    p->nowhere = true;
}

/* --- requests -----------------------------------------------------------------------------------
 */

/* How long ago a resource was created, so that no resource of a seed is still being created. */
static int64_t age_us(const struct applying *p, const struct seed_step *s)
{
    static const struct {
        int kind;
        enum pace_step step;
    } slow[] = {
        {SEED_CLUSTER, PACE_CLUSTER_CREATION}, {SEED_FILE_SERVER, PACE_FILE_SERVER_CREATION},
        {SEED_JOB, PACE_JOB_CREATION},         {SEED_ACCOUNT, PACE_STORAGE_CREATION},
        {SEED_VAULT, PACE_VAULT_CREATION},     {SEED_BATCH_ACCOUNT, PACE_BATCH_CREATION}};
    const struct pace *pace = wakes_pace(sched_wakes(p->seed->arm.sched));
    for (size_t i = 0; i < sizeof slow / sizeof slow[0]; i++)
        if (s->kind == &seed_kinds[slow[i].kind])
            return pace_us(pace, s->subscription, slow[i].step);
    return 0;
}

struct request *applying_request(struct applying *p, struct arena *a, const struct seed_step *s,
                                 const json_t *given)
{
    struct inner_head head = seed_head(p->r, a, s, given);
    head.header = &p->header[s->kind->plane];
    head.n_headers = 1;
    head.seeds = true;
    struct request *one = request_inner(p->r, &head);
    one->now_us -= age_us(p, s);
    return one;
}
