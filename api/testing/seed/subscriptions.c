/* SPDX-License-Identifier: MIT
 *
 * Subscriptions that a seed creates. Until the seed is complete their name is MARK, by which the
 * next start of the daemon recognizes the subscriptions of an unfinished seed.
 */
#include <string.h>

#include "api/testing/seed/steps.h"
#include "storage/seeding.h"
#include "storage/storage.h"

#define MARK "(being seeded)"

int seed_subscription_make(struct storage *st, const char *guid, const char *by, int64_t now_us,
                           struct err *e)
{
    const struct subscription new = {
        .guid = guid, .name = MARK, .created_us = now_us, .created_by = by};
    int64_t id;
    return st_subscription_insert(st, &new, &id, e);
}

static int is_empty(struct storage *st, struct arena *a, const char *guid, bool *empty,
                    struct err *e)
{
    struct resource_group_rows groups;
    struct vault_rows vaults;
    if (st_group_list(st, a, guid, &(struct st_page){.limit = 1}, &groups, e) < 0 ||
        st_vault_list_deleted(st, a, guid, &(struct st_page){.limit = 1}, &vaults, e) < 0)
        return -1;
    *empty = groups.n == 0 && vaults.n == 0;
    return 0;
}

/* `whole`: the seed is complete, so the subscription stays. Otherwise it stays only if another
 * client has created resources in it. */
static int settle(struct storage *st, struct arena *a, const struct subscription *s, bool whole,
                  struct err *e)
{
    bool empty = false;
    if (strcmp(s->name, MARK) != 0)
        return 0;
    if (!whole && is_empty(st, a, s->guid, &empty, e) < 0)
        return -1;
    return empty ? st_subscription_remove(st, s->id, e)
                 : st_subscription_name(st, s->id, s->guid, e);
}

int seed_subscription_settle(struct storage *st, struct arena *a, const char *guid, bool whole,
                             struct err *e)
{
    struct subscription s;
    int rc = st_subscription_get(st, a, guid, &s, e);
    return rc > 0 ? settle(st, a, &s, whole, e) : rc;
}

int seed_subscriptions_begin(struct storage *st, struct arena *a, struct err *e)
{
    struct subscription *rows;
    size_t n;
    if (st_subscription_list(st, a, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (settle(st, a, &rows[i], false, e) < 0)
            return -1;
    return 0;
}
