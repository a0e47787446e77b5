/* SPDX-License-Identifier: MIT
 *
 * Key Vaults and secrets. Both are soft-deleted first and keep their names until they are purged.
 */
#include "storage/detachment.h"
#include "storage/seeding.h"
#include "storage/storage_priv.h"

int st_vault_list(struct storage *st, struct arena *a, const struct st_filter *in,
                  const struct st_page *page, struct vault_rows *rows, struct err *e)
{
    return in->group_id ? st_vault_list_group(st, a, in->group_id, page, rows, e)
                        : st_vault_list_subscription(st, a, in->subscription, page, rows, e);
}

/* --- secrets --------------------------------------------------------------------------------- */

int st_secret_version_get(struct storage *st, struct arena *a, int64_t vault_id, const char *name,
                          const char *version, struct secret_version *out, struct err *e)
{
    return version ? st_secret_version_named(st, a, vault_id, name, version, out, e)
                   : st_secret_version_newest(st, a, vault_id, name, out, e);
}

int st_secret_list(struct storage *st, struct arena *a, int64_t vault_id, bool deleted,
                   const struct st_page *page, struct secret_version_rows *rows, struct err *e)
{
    return deleted ? st_secret_list_deleted(st, a, vault_id, page, rows, e)
                   : st_secret_list_live(st, a, vault_id, page, rows, e);
}

/* --- expired soft-deleted vaults and secrets --- */

struct vault_end {
    int64_t id, now_us;
};

static int detach_in_tx(struct storage *st, void *ctx, struct err *e)
{
    const struct vault_end *v = ctx;
    return st_end_roles_of_vault(st, v->id, e) < 0 ? -1 : st_detach_vault(st, v->id, v->now_us, e);
}

int st_vault_purge(struct storage *st, int64_t id, int64_t now_us, struct err *e)
{
    return st_tx(st, "purge vault", detach_in_tx, &(struct vault_end){id, now_us}, e);
}

static int remove_in_tx(struct storage *st, void *ctx, struct err *e)
{
    const int64_t *id = ctx;
    return st_end_roles_of_vault(st, *id, e) < 0 ? -1 : st_vault_remove(st, *id, e);
}

/* Removes the vault's secrets first, at most *left, because all at once could take long. */
static int remove_vault(struct storage *st, int64_t id, int *left, struct err *e)
{
    int gone;
    if (st_secret_remove_of(st, id, *left, &gone, e) < 0)
        return -1;
    *left -= gone;
    if (*left == 0)
        return 0;
    --*left;
    return st_tx(st, "remove vault", remove_in_tx, &id, e);
}

int st_vault_expire(struct storage *st, int64_t now_us, int limit, int *gone, struct err *e)
{
    struct arena a;
    int64_t *ids;
    size_t n = 0;
    int left = limit;
    arena_init(&a);
    int rc = st_vault_expired(st, &a, now_us, left, &ids, &n, e);
    for (size_t i = 0; rc == 0 && left > 0 && i < n; i++)
        rc = remove_vault(st, ids[i], &left, e);
    if (rc == 0 && left > 0)
        rc = st_secret_expired(st, &a, now_us, left, &ids, &n, e);
    for (size_t i = 0; rc == 0 && left > 0 && i < n; i++, left--)
        rc = st_secret_purge(st, ids[i], e);
    *gone = limit - left;
    arena_free(&a);
    return rc;
}
