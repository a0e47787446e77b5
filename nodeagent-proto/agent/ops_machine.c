/* SPDX-License-Identifier: MIT
 *
 * Requests about the machine: health, usage, accounts to log in with, restart.
 */
#include <string.h>
#include <unistd.h>

#include "lib/strbuf.h"
#include "nodeagent-proto/agent/clean.h"
#include "nodeagent-proto/agent/ids.h"
#include "nodeagent-proto/agent/keys.h"
#include "nodeagent-proto/agent/leases.h"
#include "nodeagent-proto/agent/program.h"
#include "nodeagent-proto/agent/usage.h"
#include "nodeagent-proto/agent/users.h"
#include "nodeagent-proto/agent/worker.h"
#include "nodeagent-proto/wire/message.h"

#define CLEAN_LIMIT_S 300 /* large trees, mounts that are stuck */
#define USERS_LIMIT_S 60  /* removing a large home takes a while */

enum outcome serve_health(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    struct node_health h;
    (void)req;
    health_look(&a->health, a->root, &h);
    json_t *health = message_health(&h);
    if (!health)
        return outcome(err_set(e, ERR_INTERNAL, NULL, "the kernel's log is not UTF-8"));
    json_object_set_new(reply, "health", health);
    return SERVE_DONE;
}

enum outcome serve_usage(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    struct node_usage u;
    (void)req;
    (void)e;
    usage_look(a->root, &u);
    json_object_set_new(reply, "usage", message_usage(&u));
    return SERVE_DONE;
}

static int need_root(const struct agent *a, const char *what, struct err *e)
{
    if (a->facts.node.is_root)
        return 0;
    return err_set(
        e, ERR_NOT_SUPPORTED, NULL,
        "%s needs root, and the agent runs as %s: configure how root is reached (become)", what,
        a->facts.node.user);
}

/* `uid` and `gid`: both, or neither. */
static int get_chosen(json_t *req, int *uid, int *gid, struct err *e)
{
    int64_t u, g;
    *uid = *gid = 0;
    if (!json_object_get(req, "uid") && !json_object_get(req, "gid"))
        return 0;
    if (get_int64(req, "uid", &u, e) < 0 || get_int64(req, "gid", &g, e) < 0)
        return -1;
    if (u < 1 || u > CHOSEN_ID_MAX || g < 1 || g > CHOSEN_ID_MAX)
        return err_set(e, ERR_INVALID_PROPERTY, "uid",
                       "uid %lld and gid %lld are none of an account's; they are from 1 to %d",
                       (long long)u, (long long)g, CHOSEN_ID_MAX);
    *uid = (int)u;
    *gid = (int)g;
    return 0;
}

static enum outcome user_add(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    struct node_user u = {
        .ssh_public_key = json_string_value(json_object_get(req, "ssh_public_key")),
        .password = json_string_value(json_object_get(req, "password")),
        .private_key = json_string_value(json_object_get(req, "private_key")),
    };
    (void)reply;
    if (get_text(req, "name", &u.name, e) < 0 || get_chosen(req, &u.uid, &u.gid, e) < 0)
        return SERVE_FAILED;
    return outcome(users_add(a->root, &u, e));
}

enum outcome serve_user_add(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    (void)reply;
    if (need_root(a, "making an account", e) < 0)
        return SERVE_FAILED;
    account_free(&a->as); /* the cached account may change */
    return worker_start(a, req, user_add, USERS_LIMIT_S);
}

static enum outcome user_remove(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *name;
    (void)reply;
    if (!json_object_get(req, "name"))
        return outcome(users_remove_all(a->root, e));
    if (get_text(req, "name", &name, e) < 0)
        return SERVE_FAILED;
    return outcome(users_remove(a->root, name, e));
}

enum outcome serve_user_remove(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    (void)reply;
    if (need_root(a, "removing an account", e) < 0)
        return SERVE_FAILED;
    account_free(&a->as);
    return worker_start(a, req, user_remove, USERS_LIMIT_S);
}

/* ---- accounts of jobs ---- */

enum outcome serve_account_take(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    struct lease_ask ask = {.holder = agent_as_holder(a),
                            .also = json_string_value(json_object_get(req, "also"))};
    int64_t first, count;
    int uid, gid;
    (void)reply;
    if (need_root(a, "an account for a job", e) < 0 || get_text(req, "name", &ask.name, e) < 0 ||
        get_path(req, "dir", &ask.dir, e) < 0 || get_int64(req, "first", &first, e) < 0 ||
        get_int64(req, "count", &count, e) < 0 || get_chosen(req, &uid, &gid, e) < 0)
        return SERVE_FAILED;
    if (first < 0 || first > UINT32_MAX || count < 0 || count > UINT32_MAX)
        return outcome(err_set(e, ERR_INVALID_PROPERTY, "first",
                               "%lld numbers from %lld on are none of accounts", (long long)count,
                               (long long)first));
    ask.range = (struct uid_range){(uid_t)first, (unsigned)count};
    ask.uid = (unsigned)uid;
    ask.gid = (unsigned)gid;
    account_free(&a->as);
    return outcome(lease_take(&ask, e));
}

static enum outcome account_key(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *name, *key;
    struct account of;
    (void)reply;
    memset(&of, 0, sizeof of);
    if (get_text(req, "name", &name, e) < 0 || get_text(req, "private_key", &key, e) < 0)
        return SERVE_FAILED;
    struct strbuf leased = STRBUF_INIT;
    strbuf_printf(&leased, "%c%s", LEASE_SIGN, name);
    int rc = lease_or_account(a->root, leased.s, &of, e);
    if (rc == 0)
        rc = keys_set(&of, NULL, key, e);
    strbuf_free(&leased);
    account_free(&of);
    return outcome(rc);
}

enum outcome serve_account_key(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    (void)reply;
    if (need_root(a, "keys of an account", e) < 0)
        return SERVE_FAILED;
    return worker_start(a, req, account_key, USERS_LIMIT_S);
}

enum outcome account_release(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const struct uid_holder holder = agent_as_holder(a);
    json_t *names = json_object_get(req, "names"), *name;
    size_t i;
    (void)reply;
    json_array_foreach(names, i, name)
        if (lease_release(&holder, json_string_value(name), e) < 0)
            return SERVE_FAILED;
    return SERVE_DONE;
}

/* The leases to release are listed now, because a worker may outlive its agent and meet later
 * leases. */
enum outcome serve_account_release(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *name = NULL;
    json_t *names = json_array();
    (void)reply;
    json_object_set_new(req, "names", names);
    if (need_root(a, "releasing an account", e) < 0 ||
        (json_object_get(req, "name") && get_text(req, "name", &name, e) < 0) ||
        (!name && lease_names(a->root, names, e) < 0))
        return SERVE_FAILED;
    account_free(&a->as);
    if (name && !lease_has_record(a->root, name))
        return SERVE_DONE;
    if (name)
        json_array_append_new(names, json_string(name));
    return worker_start(a, req, account_release, USERS_LIMIT_S);
}

/* ---- what was left here ---- */

static enum outcome list_rest(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    json_t *found = json_array();
    bool take = json_is_true(json_object_get(req, "take"));
    json_array_extend(found, json_object_get(req, "tasks"));
    json_object_set_new(reply, "found", found);
    if (clean_list(a->root, found, e) < 0)
        return SERVE_FAILED;
    const struct uid_holder holder = agent_as_holder(a);
    return outcome(take ? clean_take(&holder, a->facts.node.is_root, e) : 0);
}

static void add_task(void *ctx, json_t *status)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "task %s (%s)", json_string_value(json_object_get(status, "id")),
                  json_string_value(json_object_get(status, "state")));
    json_array_append_new(ctx, json_string(b.s));
    strbuf_free(&b);
}

enum outcome serve_clean(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    bool take = json_is_true(json_object_get(req, "take"));
    json_t *tasks = json_array();
    (void)reply;
    tasks_each(&a->tasks, add_task, tasks);
    json_object_set_new(req, "tasks", tasks);
    if (take && epoch_may_change(&a->epoch, "clean", e) < 0)
        return SERVE_FAILED;
    if (take)
        tasks_abandon(&a->tasks);
    account_free(&a->as);
    return worker_start_in_order(a, req, list_rest, CLEAN_LIMIT_S);
}

enum outcome serve_remove_root(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    (void)req;
    (void)reply;
    if (tasks_are_running(&a->tasks))
        return outcome(
            err_set(e, ERR_CONFLICT, "root", "the node root stays: tasks still run there"));
    if (clean_remove_root(a->root, e) < 0)
        return SERVE_FAILED;
    a->root_removed = true;
    return SERVE_DONE;
}

enum outcome serve_reboot(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    (void)req;
    (void)reply;
    if (need_root(a, "restarting the machine", e) < 0)
        return SERVE_FAILED;
    if (!a->reboot)
        a->reboot = program_find("reboot");
    if (a->reboot)
        return SERVE_DONE; /* once the reply is on its way */
    return outcome(err_set(e, ERR_NODE, NULL,
                           "this machine has no program 'reboot' in PATH; restart it by hand"));
}
