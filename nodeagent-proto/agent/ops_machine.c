/* SPDX-License-Identifier: MIT
 *
 * Requests about the machine: how it is, who may log in, restarting it.
 */
#include <string.h>
#include <unistd.h>

#include "nodeagent-proto/agent/program.h"
#include "nodeagent-proto/agent/users.h"
#include "nodeagent-proto/agent/worker.h"
#include "nodeagent-proto/message.h"

#define USERS_LIMIT_S 60 /* removing a large home takes a while */

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

static int need_root(const struct agent *a, const char *what, struct err *e)
{
    if (a->facts.node.is_root)
        return 0;
    return err_set(
        e, ERR_NOT_SUPPORTED, NULL,
        "%s needs root, and the agent runs as %s: configure how root is reached (become)", what,
        a->facts.node.user);
}

static enum outcome user_add(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    struct node_user u = {
        .ssh_public_key = json_string_value(json_object_get(req, "ssh_public_key")),
        .password = json_string_value(json_object_get(req, "password")),
    };
    (void)reply;
    if (get_text(req, "name", &u.name, e) < 0)
        return SERVE_FAILED;
    return outcome(users_add(a->root, &u, e));
}

enum outcome serve_user_add(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    (void)reply;
    if (need_root(a, "making an account", e) < 0)
        return SERVE_FAILED;
    account_free(&a->as); /* what is known of it may change */
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
