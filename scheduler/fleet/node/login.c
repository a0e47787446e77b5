/* SPDX-License-Identifier: MIT
 *
 * The address for people's logins on a node. On a machine this is its own sshd, with the admin user
 * that the preparation made; on a local node it is a listener of the daemon, opened at the first
 * request.
 */
#include <string.h>

#include "scheduler/fleet/node/node_priv.h"

#define LOCAL_ADDRESS "127.0.0.1"
#define SSH_PORT      22

/* The port that the real service would show; used if there is no listener, because this machine has
 * no sshd. */
#define FIRST_PORT 50000

const char *node_rt_address(const struct node_rt *rt)
{
    const struct machine *m = rt ? rt->machine : NULL;
    if (!m)
        return rt ? rt->address : LOCAL_ADDRESS;
    return m->site ? m->site->host : m->name;
}

static void on_closed(void *ctx)
{
    struct fleet *fl = ctx;
    wakes_unref(fl->wakes);
}

void node_login_close(struct node_rt *rt)
{
    if (!rt->login)
        return;
    login_close(rt->login, on_closed, rt->fleet);
    rt->login = NULL;
    node_set_text(&rt->login_user, NULL);
}

static int open_for(struct node_rt *rt, struct arena *a, struct err *e)
{
    struct fleet *fl = rt->fleet;
    struct node_setup_spec spec;
    if (node_load_pool(rt, a, &spec, e) != 0)
        return -1;
    /* Only one account can log in: the newest user, or the administrator if the pool has no
     * users. */
    const struct admin_user_spec *who =
        spec.n_users > 0 ? &spec.users[spec.n_users - 1] : &spec.admin;
    const struct login_config lc = {.loop = loop_uv_of(fl->cfg.loop),
                                    .lane = fl->cfg.login_lane,
                                    .log = fl->log,
                                    .node = rt->name,
                                    .root = rt->root,
                                    .user = node_user_of(who)};
    bool anybody = who->name && *who->name;
    int rc = anybody ? login_open(&lc, &rt->login, e) : 0;
    if (rt->login) {
        node_set_text(&rt->login_user, who->name);
        wakes_ref(fl->wakes);
    }
    node_setup_wipe(&spec);
    return rc;
}

static void effect_users(void *ctx, int64_t id, const struct err *why)
{
    const struct fleet *fl = ctx;
    struct node_rt *rt = node_rt_find(fl, id);
    (void)why; /* the address may have been opened for a user whose row was rolled back */
    if (rt)
        node_login_close(rt);
}

void fleet_node_users_changed(struct fleet *fl, int64_t node_id)
{
    wake_when_durable(fl->wakes, effect_users, fl, node_id);
}

void fleet_node_user_ended(struct fleet *fl, int64_t node_id, const char *name)
{
    struct node_rt *rt = node_rt_find(fl, node_id);
    if (rt && rt->login && strcmp(rt->login_user, name) == 0)
        node_login_close(rt);
}

/* If logins are not available, as on a fake node, the list of nodes still contains ports, as in the
 * real service, but nothing listens on these ports. */
static void local_login(struct fleet *fl, struct arena *a, const struct node *row,
                        struct node_login *out)
{
    struct err e = {0};
    struct node_rt *rt = node_rt_find(fl, row->id);
    bool wanted = rt && !wakes_stopping(fl->wakes) && row->state != NODE_LEAVING &&
                  node_provider_of(rt) == fl->cfg.local && login_available();
    *out = (struct node_login){LOCAL_ADDRESS, FIRST_PORT + row->ordinal - 1};
    if (wanted && !rt->login && open_for(rt, a, &e) != 0)
        LOG_WARN(fl->log, "login.not_offered", LF_STR("node", row->name), LF_STR("why", e.msg));
    if (wanted && rt->login)
        out->port = login_port(rt->login);
}

void fleet_node_login(struct fleet *fl, struct arena *a, const struct node *row,
                      struct node_login *out)
{
    const struct node_rt *rt = node_rt_find(fl, row->id);
    const struct machine *m = rt ? rt->machine : NULL;
    if (m)
        *out = (struct node_login){arena_strdup(a, node_rt_address(rt)),
                                   m->site ? m->site->port : SSH_PORT};
    else
        local_login(fl, a, row, out);
}
