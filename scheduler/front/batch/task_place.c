/* SPDX-License-Identifier: MIT
 *
 * The places of tasks: nodes, directories there, accounts (an account of the task alone, one of all
 * tasks of the node, or a user account of the pool) and programs. Nodes of a pool with an image of
 * Windows run Linux; batchai-cmd runs command lines of Windows there, if the site wants that
 * (nodeagent-proto/windows/windows.h).
 */
#include <string.h>

#include "model/batch/argv.h"
#include "model/batch/images.h"
#include "model/batch/pool_spec.h"
#include "nodeagent-proto/wire/task.h"
#include "scheduler/front/batch/front_priv.h"

/* The job SCHEDULE:job-N of a schedule has a directory SCHEDULE/job-N. */
const char *batch_job_dir(struct arena *a, const char *job, int number)
{
    const char *colon = strchr(job, ':');
    return arena_printf(a, "workitems/%.*s/job-%d", colon ? (int)(colon - job) : (int)strlen(job),
                        job, number);
}

const char *batch_task_dir(struct arena *a, const struct batch_task *t)
{
    return arena_concat(a, batch_job_dir(a, t->job_name, t->job_number), "/", t->name);
}

int batch_task_node(struct storage *st, struct arena *a, const struct batch_task *t,
                    struct node *out, struct err *e)
{
    struct batch_pool p;
    if (!t->pool_name || !t->node_name)
        return 0;
    int rc = st_batch_pool_get(st, a, t->account_id, t->pool_name, &p, e);
    return rc <= 0 ? rc : st_node_named(st, a, p.id, t->node_name, out, e);
}

/* ---- accounts ---- */

static const struct batch_user_account *find_account(const struct batch_pool_spec *s,
                                                     const char *name)
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

static bool user_is_admin(const struct batch_user *u, const struct batch_pool_spec *pool)
{
    const struct batch_user_account *named = u->name ? find_account(pool, u->name) : NULL;
    return (named ? named->elevation : u->elevation) == BATCH_ADMIN;
}

void place_set_user(struct arena *a, const struct batch_user *u, const struct batch_pool_spec *pool,
                    struct place_spec *place)
{
    place->admin = user_is_admin(u, pool);
    place->account_dir = BATCH_HOME;
    place->account = u->scope == BATCH_SCOPE_TASK ? NULL : BATCH_ACCOUNT;
    if (!u->name)
        return;
    const struct batch_user_account *named = find_account(pool, u->name);
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

/* ---- programs ---- */

static const char refusal[] =
    "the pool has an image of Windows, but its nodes run Linux, and this site does not run command "
    "lines of Windows there: choose an image of Linux, or have the site set batch.windows_commands";

size_t batch_program(const struct batch_front *f, struct arena *a, const struct batch_pool *p,
                     const char *line, const char ***argv)
{
    if (!batch_pool_is_windows(p->doc))
        return batch_argv(a, line, argv);
    const char *const run[] = {TASK_CMD, arena_strdup(a, line), NULL}, *const refuse[] = {
                                                                           TASK_NODE, TASK_REFUSE,
                                                                           refusal, NULL};
    size_t n = f->windows.commands ? 2 : 3;
    *argv = arena_alloc(a, (n + 1) * sizeof **argv);
    memcpy(*argv, f->windows.commands ? run : refuse, (n + 1) * sizeof **argv);
    return n;
}
