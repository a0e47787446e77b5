/* SPDX-License-Identifier: MIT
 *
 * Whom a task runs as: an account of its own, that of all tasks of its node, or one of those that
 * its pool names.
 */
#include <string.h>

#include "front/batch/front_priv.h"
#include "model/batch/pool_spec.h"

static const struct batch_user_account *find(const struct batch_pool_spec *s, const char *name)
{
    for (size_t i = 0; i < s->n_users; i++)
        if (strcmp(s->users[i].name, name) == 0)
            return &s->users[i];
    return NULL;
}

bool batch_user_is_admin(const struct batch_user *u, const struct batch_pool_spec *pool)
{
    const struct batch_user_account *named = u->name ? find(pool, u->name) : NULL;
    return (named ? named->elevation : u->elevation) == BATCH_ADMIN;
}

void place_set_user(struct arena *a, const struct batch_user *u, const struct batch_pool_spec *pool,
                    struct place_spec *place)
{
    place->admin = batch_user_is_admin(u, pool);
    place->account_dir = BATCH_HOME;
    place->account = u->scope == BATCH_SCOPE_TASK ? NULL : BATCH_ACCOUNT;
    if (!u->name)
        return;
    if (!find(pool, u->name) && !place->refused) {
        place->refused = FAIL_JOB_START_FAILED;
        place->why_refused = arena_concat(a, "userIdentity.username is ", u->name,
                                          ", and the pool has no user account of that name");
    }
    place->user = u->name;
    place->account = arena_concat(a, BATCH_ACCOUNT "-", u->name);
    place->account_dir = arena_concat(a, BATCH_HOME "/users/", u->name);
}
