/* SPDX-License-Identifier: MIT
 *
 * Requests about the machine: health, usage, samples, accounts for logins, restart.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/clean.h"
#include "nodeagent-proto/agent/keys.h"
#include "nodeagent-proto/agent/leases.h"
#include "nodeagent-proto/agent/mounting.h"
#include "nodeagent-proto/agent/program.h"
#include "nodeagent-proto/agent/usage.h"
#include "nodeagent-proto/agent/users.h"
#include "nodeagent-proto/agent/worker.h"
#include "nodeagent-proto/wire/message.h"
#include "nodeagent-proto/wire/sample.h"

#define CLEAN_LIMIT_S    300 /* seconds, because trees may be large and mounts may hang */
#define MOUNTING_LIMIT_S 15
#define USERS_LIMIT_S    60 /* seconds, because removing a large home directory takes long */
/* Seconds. Its processes have a limit of their own, but a job may have left millions of files. */
#define RELEASE_LIMIT_S 3600

enum outcome serve_health(struct agent *a, struct ops_asked *q, struct err *e)
{
    struct node_health h;
    health_look(&a->health, a->root, !a->looks_at, &h);
    json_t *health = message_health(&h);
    if (!health)
        return outcome(err_set(e, ERR_INTERNAL, NULL, "the kernel's log is not UTF-8"));
    json_object_set_new(q->reply, "health", health);
    return SERVE_DONE;
}

static enum outcome mounting(struct agent *a, struct ops_asked *q, struct err *e)
{
    const struct request_mounting *r = &q->r.mounting;
    (void)a;
    (void)e;
    json_object_set_new(q->reply, "lacks", mounting_lacks(r->host, (int)r->port));
    return SERVE_DONE;
}

enum outcome serve_mounting(struct agent *a, struct ops_asked *q, struct err *e)
{
    (void)e;
    return worker_start(a, q->msg, mounting, MOUNTING_LIMIT_S);
}

enum outcome serve_usage(struct agent *a, struct ops_asked *q, struct err *e)
{
    struct node_usage u;
    (void)e;
    usage_look(a->root, &u);
    json_object_set_new(q->reply, "usage", message_usage(&u));
    return SERVE_DONE;
}

enum outcome serve_sample(struct agent *a, struct ops_asked *q, struct err *e)
{
    struct sample_read *r = xcalloc(1, sizeof *r);
    r->s.gpus = r->gpus;
    sampler_take(&a->sampler, a->root, a->facts.node.gpus, q->r.sample.gpus, &r->s);
    json_t *sample = message_sample(&r->s);
    free(r);
    if (!sample)
        return outcome(err_set(e, ERR_INTERNAL, NULL, "the name of a GPU is not UTF-8"));
    json_object_set_new(q->reply, "sample", sample);
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

static enum outcome user_add(struct agent *a, struct ops_asked *q, struct err *e)
{
    return outcome(users_add(a->root, &q->r.user_add, e));
}

enum outcome serve_user_add(struct agent *a, struct ops_asked *q, struct err *e)
{
    if (need_root(a, "making an account", e) < 0)
        return SERVE_FAILED;
    account_free(&a->as); /* the cached account may change */
    return worker_start_of_users(a, q->msg, user_add, USERS_LIMIT_S);
}

static enum outcome user_remove(struct agent *a, struct ops_asked *q, struct err *e)
{
    const char *name = q->r.user_remove.name;
    return outcome(name ? users_remove(a->root, name, e) : users_remove_all(a->root, e));
}

enum outcome serve_user_remove(struct agent *a, struct ops_asked *q, struct err *e)
{
    if (need_root(a, "removing an account", e) < 0)
        return SERVE_FAILED;
    account_free(&a->as);
    return worker_start_of_users(a, q->msg, user_remove, USERS_LIMIT_S);
}

/* ---- accounts of jobs ---- */

enum outcome serve_account_take(struct agent *a, struct ops_asked *q, struct err *e)
{
    const struct request_account_take *r = &q->r.account_take;
    const struct lease_ask ask = {.holder = agent_as_holder(a),
                                  .name = r->name,
                                  .dir = r->dir,
                                  .also = r->also,
                                  .range = {(uid_t)r->first, (unsigned)r->count},
                                  .uid = (unsigned)r->uid,
                                  .gid = (unsigned)r->gid,
                                  .room = r->room};
    if (need_root(a, "an account for a job", e) < 0)
        return SERVE_FAILED;
    account_free(&a->as);
    return outcome(lease_take(&ask, e));
}

static enum outcome account_key(struct agent *a, struct ops_asked *q, struct err *e)
{
    const struct request_account_key *r = &q->r.account_key;
    struct account of;
    struct strbuf leased = STRBUF_INIT;
    memset(&of, 0, sizeof of);
    strbuf_printf(&leased, "%c%s", LEASE_SIGN, r->name);
    int rc = lease_or_account(a->root, leased.s, &of, e);
    if (rc == 0)
        rc = keys_set(&of, NULL, r->private_key, e);
    strbuf_free(&leased);
    account_free(&of);
    return outcome(rc);
}

enum outcome serve_account_key(struct agent *a, struct ops_asked *q, struct err *e)
{
    if (need_root(a, "keys of an account", e) < 0)
        return SERVE_FAILED;
    return worker_start(a, q->msg, account_key, USERS_LIMIT_S);
}

enum outcome account_release(struct agent *a, struct ops_asked *q, struct err *e)
{
    const struct uid_holder holder = agent_as_holder(a);
    json_t *names = json_object_get(q->msg, "names"), *name;
    size_t i;
    json_array_foreach(names, i, name)
        if (lease_release(&holder, json_string_value(name), e) < 0)
            return SERVE_FAILED;
    return SERVE_DONE;
}

/* Lists the leases to release before the worker starts: if the worker listed them later, perhaps
 * after its agent has ended, it would also release newer leases. */
enum outcome serve_account_release(struct agent *a, struct ops_asked *q, struct err *e)
{
    const char *name = q->r.account_release.name;
    json_t *names = json_array();
    json_object_set_new(q->msg, "names", names);
    if (need_root(a, "releasing an account", e) < 0 ||
        (!name && lease_names(a->root, names, e) < 0))
        return SERVE_FAILED;
    account_free(&a->as);
    if (name && !lease_has_record(a->root, name))
        return SERVE_DONE;
    if (name)
        json_array_append_new(names, json_string(name));
    return worker_start(a, q->msg, account_release, RELEASE_LIMIT_S);
}

/* ---- leftovers of nodes ---------------------------------------------------------------------- */

static enum outcome list_rest(struct agent *a, struct ops_asked *q, struct err *e)
{
    json_t *found = json_array();
    json_array_extend(found, json_object_get(q->msg, "tasks"));
    json_object_set_new(q->reply, "found", found);
    if (clean_list(a->root, found, e) < 0)
        return SERVE_FAILED;
    const struct uid_holder holder = agent_as_holder(a);
    return outcome(q->r.clean.take ? clean_take(&holder, a->facts.node.is_root, e) : 0);
}

static void add_task(void *ctx, json_t *status)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "task %s (%s)", json_string_value(json_object_get(status, "id")),
                  json_string_value(json_object_get(status, "state")));
    json_array_append_new(ctx, json_string(b.s));
    strbuf_free(&b);
}

enum outcome serve_clean(struct agent *a, struct ops_asked *q, struct err *e)
{
    bool take = q->r.clean.take;
    json_t *tasks = json_array();
    tasks_each(&a->tasks, add_task, tasks);
    json_object_set_new(q->msg, "tasks", tasks);
    if (take && epoch_may_change(&a->epoch, "clean", e) < 0)
        return SERVE_FAILED;
    if (take)
        tasks_abandon(&a->tasks);
    account_free(&a->as);
    return worker_start_in_order(a, q->msg, list_rest, CLEAN_LIMIT_S);
}

enum outcome serve_remove_root(struct agent *a, struct ops_asked *q, struct err *e)
{
    (void)q;
    if (tasks_are_running(&a->tasks))
        return outcome(
            err_set(e, ERR_CONFLICT, "root", "the node root stays: tasks still run there"));
    if (clean_remove_root(a->root, e) < 0)
        return SERVE_FAILED;
    a->root_removed = true;
    return SERVE_DONE;
}

enum outcome serve_reboot(struct agent *a, struct ops_asked *q, struct err *e)
{
    (void)q;
    if (need_root(a, "restarting the machine", e) < 0)
        return SERVE_FAILED;
    if (!a->reboot)
        a->reboot = program_find("reboot");
    if (a->reboot)
        return SERVE_DONE; /* the reboot begins after the reply was sent */
    return outcome(err_set(e, ERR_NODE, NULL,
                           "this machine has no program 'reboot' in PATH; restart it by hand"));
}
