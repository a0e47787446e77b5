/* SPDX-License-Identifier: MIT
 *
 * The accounts of runs on a node. If the agent is root, each run has a separate account with the
 * name of its directory, unless the site sets one account for all.
 *
 * Runs on local nodes are kept from the daemon's files: if the daemon is root, by accounts and file
 * modes. Otherwise they run as the user of the daemon, and its state directory is hidden from them
 * as soon as another person may log in.
 */
#include <string.h>

#include "programs.inc"
#include "scheduler/fleet/mount/mounts.h"
#include "scheduler/fleet/node/node_priv.h"
#include "scheduler/fleet/script/script.h"

static const struct site_group *group_of(const struct node_rt *rt)
{
    return rt->machine && rt->machine->site ? rt->machine->site->group : NULL;
}

bool node_rt_has_accounts(const struct node_rt *rt)
{
    const struct site *site = rt->fleet->cfg.site;
    const struct site_group *g = group_of(rt);
    return rt->seen.is_root && site && site->n_uids > 0 && (rt->machine || site->local_accounts) &&
           !(g && g->run_user);
}

const char *node_rt_run_account(const struct node_rt *rt, struct arena *a, const char *dir)
{
    const struct site_group *g = group_of(rt);
    if (node_rt_has_accounts(rt))
        return arena_printf(a, "+%s", dir);
    if (!g || !rt->seen.is_root)
        return NULL;
    return g->run_user ? g->run_user : g->user;
}

/* podman maps the users of a container, so the account needs a range of user ids. */
static bool wants_room(const struct node_rt *rt, bool contained)
{
    const char *runtime = node_rt_container_runtime(rt);
    return contained && runtime && strcmp(runtime, "podman") == 0;
}

static void add_taking(const struct node_rt *rt, struct arena *a, struct script *sc,
                       struct request_account_take account, bool may_fail)
{
    const struct front_words *w = words_of_node(rt);
    const struct script_label take = {
        .code = FAIL_RUN_DIRECTORY_FAILED,
        .what = front_text(w, a, "take an account for the {run}"),
        .remedy = front_text(w, a,
                             "solve the problem in the message, or configure the account of {runs} "
                             "(inventory: job_user; jobs.uids: 0 for no accounts of their own)"),
        .on_node = true,
        .may_fail = may_fail};
    if (!node_rt_has_accounts(rt))
        return;
    const struct site *site = rt->fleet->cfg.site;
    account.first = site->first_uid;
    account.count = site->n_uids;
    script_ask(sc, &take, REQUEST_OF(account_take, account));
}

void node_account_take_step(const struct node_rt *rt, struct arena *a, struct script *sc,
                            const struct node_account *of)
{
    bool other = strcmp(of->first_root, rt->root) != 0;
    const struct request_account_take account = {
        .name = of->dir,
        .dir = arena_printf(a, "%s/" RUNS_DIR "/%s", rt->root, of->dir),
        .also = other ? arena_printf(a, "%s/" RUNS_DIR "/%s", of->first_root, of->dir) : NULL,
        .room = wants_room(rt, of->contained)};
    add_taking(rt, a, sc, account, of->may_fail);
}

void node_account_take_at(const struct node_rt *rt, struct arena *a, struct script *sc,
                          const char *name, const char *dir, bool contained)
{
    const struct request_account_take account = {.name = name,
                                                 .dir = arena_concat(a, rt->root, "/", dir),
                                                 .room = wants_room(rt, contained)};
    add_taking(rt, a, sc, account, false);
}

/* --- runs in places of their fronts ----------------------------------------------------------- */

const char *node_rt_place_account(const struct node_rt *rt, struct arena *a,
                                  const struct place_spec *place, const char *dir)
{
    const struct site *site = rt->fleet->cfg.site;
    if (place->admin && rt->seen.is_root && site && site->admin_is_root)
        return NULL;
    if (place->user && rt->machine && rt->seen.is_root)
        return place->user; /* the preparation of the node made it */
    return node_rt_run_account(rt, a, place->account ? place->account : dir);
}

/* The key of the place's account in the node's list of shared accounts. */
static const char *account_key(struct arena *a, const struct place_spec *place)
{
    return arena_printf(a, "%s %d:%d %s", place->account, place->uid, place->gid,
                        place->account_dir);
}

static bool account_is_there(const struct node_rt *rt, struct arena *a,
                             const struct place_spec *place)
{
    return place->account && rt->account && strcmp(account_key(a, place), rt->account) == 0;
}

void node_rt_account_works(struct node_rt *rt, struct arena *a, const struct place_spec *place)
{
    if (place->account && !rt->prep && !account_is_there(rt, a, place))
        node_set_text(&rt->account, account_key(a, place));
}

void node_place_account_take_step(const struct node_rt *rt, struct arena *a, struct script *sc,
                                  const struct place_spec *place, const char *dir, bool contained)
{
    if (account_is_there(rt, a, place))
        return;
    bool by_name = place->user && rt->machine; /* on a machine, the user's name identifies it */
    const char *below = place->account ? place->account_dir : place->dir;
    const struct request_account_take account = {
        .name = place->account ? place->account : dir,
        .dir = arena_concat(a, rt->root, "/", below),
        .uid = by_name ? 0 : place->uid,
        .gid = by_name ? 0 : place->gid,
        /* Another run that shares this account may have a container. */
        .room = wants_room(rt, contained || place->account)};
    add_taking(rt, a, sc, account, false);
}

/* --- users of a pool -------------------------------------------------------------------------- */

struct request_user_add node_user_of(const struct admin_user_spec *u)
{
    return (struct request_user_add){.name = u->name,
                                     .ssh_public_key = u->ssh_public_key,
                                     .password = u->password,
                                     .private_key = u->private_key,
                                     .uid = u->uid,
                                     .gid = u->gid};
}

static struct script_label user_label(const struct node_rt *rt, struct arena *a, const char *name)
{
    return (struct script_label){
        .code = FAIL_ADMIN_USER_NOT_MADE,
        .what = arena_concat(a, "make the account of the user ", name),
        .remedy =
            front_text(words_of_node(rt), a,
                       "solve the problem in the message, or change {admin_name} of the {pool}")};
}

/* The user cannot log in by name here, so the account has only a number, like a run's account. */
static void add_unnamed(const struct node_rt *rt, struct arena *a, struct script *sc,
                        const struct admin_user_spec *u)
{
    const struct site *site = rt->fleet->cfg.site;
    const struct script_label make = user_label(rt, a, u->name);
    const struct request_account_take account = {.name = u->account,
                                                 .dir =
                                                     arena_concat(a, rt->root, "/", u->account_dir),
                                                 .first = site->first_uid,
                                                 .count = site->n_uids,
                                                 .uid = u->uid,
                                                 .gid = u->gid};
    script_ask(sc, &make, REQUEST_OF(account_take, account));
    if (u->private_key)
        script_ask(sc, &make,
                   REQUEST(account_key, .name = u->account, .private_key = u->private_key));
}

void node_users_step(const struct node_rt *rt, struct arena *a, struct script *sc,
                     const struct node_setup_spec *s)
{
    for (size_t i = 0; i < s->n_users; i++) {
        const struct admin_user_spec *u = &s->users[i];
        const struct script_label make = user_label(rt, a, u->name);
        const struct request_user_add user = node_user_of(u);
        if (rt->machine && rt->seen.is_root)
            script_ask(sc, &make, REQUEST_OF(user_add, user));
        else if (u->account && (u->uid || u->private_key) && node_rt_has_accounts(rt))
            add_unnamed(rt, a, sc, u);
    }
}

const char *node_sudo_step(const struct node_rt *rt, struct arena *a, struct script *sc)
{
    const struct script_label label = {
        .code = FAIL_RUN_DIRECTORY_FAILED, .what = "write sudo", .on_node = true};
    const char *dir = arena_concat(a, rt->root, "/sudo");
    script_ask(sc, &label,
               REQUEST(write_file, .path = arena_concat(a, dir, "/sudo"),
                       .text = arena_concat(a, "#!/bin/sh\n", sudo_program), .mode = 0755));
    return dir;
}

/* Adds the step even if the site does not use accounts any more: an agent that is root may still
 * hold accounts from before. */
void node_account_release_step(const struct node_rt *rt, struct arena *a, struct script *sc,
                               const char *dir)
{
    const struct front_words *w = words_of_node(rt);
    const struct script_label release = {.code = FAIL_TASK_NOT_KILLED,
                                         .what = front_text(w, a, "release the {run}'s account"),
                                         .remedy = front_text(w, a, NODE_HANGS_REMEDY)};
    if (rt->seen.is_root)
        script_ask(sc, &release, REQUEST(account_release, .name = dir));
}

/* --- what is hidden from runs without accounts ------------------------------------------------ */

static bool is_hidden(const struct node_rt *rt)
{
    const struct fleet *fl = rt->fleet;
    struct err e;
    /* If the credentials cannot be read, hiding is the safe choice. */
    return !rt->machine && fl->cfg.site && fl->cfg.site->hidden &&
           st_credential_any(fl->st, &e) != 0;
}

struct task_confine node_rt_confine(const struct node_rt *rt, struct arena *a,
                                    const struct mount_list *own)
{
    const struct front *f = rt->front;
    const struct mount_list none = {.n = 0};
    const struct front_read how = {.st = rt->fleet->st, .a = a};
    struct node_setup_spec pool = {.mounts = none};
    struct err e;
    if (!is_hidden(rt))
        return (struct task_confine){.hide = NULL};
    if (f->ops->load_pool(f, &how, rt->pool_id, &pool, &e) <= 0)
        pool.mounts = none;
    own = own ? own : &none;
    const char **reach = arena_alloc(a, (1 + pool.mounts.n + own->n) * sizeof *reach);
    size_t n = 0;
    reach[n++] = rt->root;
    n += mounts_folders(rt, a, &pool.mounts, &reach[n]);
    n += mounts_folders(rt, a, own, &reach[n]);
    return (struct task_confine){.hide = rt->fleet->cfg.site->hidden, .reach = reach, .n_reach = n};
}
