/* SPDX-License-Identifier: MIT
 *
 * The account of a task: its own, the common account of all tasks of its node, or a user that its
 * pool names.
 */
#include <string.h>

#include "model/batch/pool_spec.h"
#include "scheduler/front/batch/front_priv.h"

static const struct batch_user_account *find(const struct batch_pool_spec *s, const char *name)
{
    for (size_t i = 0; i < s->n_users; i++)
        if (strcmp(s->users[i].name, name) == 0)
            return &s->users[i];
    return NULL;
}

struct batch_account_place batch_account_place(struct arena *a, const char *name, int uid)
{
    return (struct batch_account_place){.account = uid ? arena_printf(a, BATCH_ACCOUNT ".%d", uid)
                                                       : arena_concat(a, BATCH_ACCOUNT "-", name),
                                        .dir = arena_concat(a, BATCH_HOME "/users/", name)};
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
    const struct batch_user_account *named = find(pool, u->name);
    if (!named && !place->refused) {
        place->refused = FAIL_NO_ACCOUNT;
        place->why_refused = arena_concat(a, "userIdentity.username is ", u->name,
                                          ", and the pool has no user account of that name");
    }
    place->uid = named ? named->uid : 0;
    place->gid = named ? named->gid : 0;
    const struct batch_account_place at = batch_account_place(a, u->name, place->uid);
    place->user = u->name;
    place->account = at.account;
    place->account_dir = at.dir;
}
