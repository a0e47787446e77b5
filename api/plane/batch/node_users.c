/* SPDX-License-Identifier: MIT
 *
 * User accounts for logins on a node: add, update, delete. A handler changes rows; the front then
 * changes the accounts of the node (scheduler/front/batch/node_users.c). Memory is the request's.
 * On the loop's thread.
 */
#include <string.h>
#include <strings.h>

#include "api/http/accept.h"
#include "api/plane/batch/errors.h"
#include "api/plane/batch/nodes.h"
#include "api/plane/batch/reply.h"
#include "lib/timefmt.h"
#include "model/batch/pool_spec.h"
#include "model/batch/tables_pool.h"
#include "scheduler/front/batch/batch.h"
#include "storage/storage.h"

#define DAY_US (INT64_C(24) * 3600 * 1000000)

/* Finds the node. Fails unless it is idle, running or offline. */
static int node_up(struct request *r, struct batch_pool *p, struct shown_node *n, struct err *e)
{
    if (node_of(r, p, n, e) < 0)
        return -1;
    if (n->state == BATCH_NODE_IDLE || n->state == BATCH_NODE_RUNNING ||
        n->state == BATCH_NODE_OFFLINE)
        return 0;
    return err_set(e, BATCH_OPERATION_INVALID_FOR_CURRENT_STATE, NULL, "the node %s is %s",
                   n->nd.name, enum_to_name(batch_node_state_names, (int)n->state));
}

static const char *text_of(const struct accepted *b, const char *name)
{
    return json_string_value(json_object_get(b->doc, name));
}

/* Reads the user from the body. Returns the password, which is wiped together with the body. */
static const char *read_login(struct request *r, const struct accepted *b,
                              struct batch_node_user *u)
{
    const char *expiry = text_of(b, "expiryTime"), *key = text_of(b, "sshPublicKey");
    u->ssh_key = key ? arena_strndup(&r->arena, key, strcspn(key, "\r\n")) : NULL;
    if (!expiry || timefmt_parse(expiry, &u->expiry_us) < 0)
        u->expiry_us = r->now_us + DAY_US;
    return json_string_value(json_object_get(b->secrets, "password"));
}

static const char *user_path(struct request *r, const struct batch_pool *p, const struct node *nd,
                             const char *name)
{
    return node_path_of(r, p, nd, arena_concat(&r->arena, "/users/", batch_segment(r, name)));
}

/* Fails if the node has an account of this name: of a user, or of the pool, for tasks. On a machine
 * both are accounts of the machine. */
static int check_free(struct request *r, const struct batch_pool *p, const struct node *nd,
                      const char *name, struct err *e)
{
    struct batch_node_user there;
    struct batch_pool_spec s;
    if (batch_pool_decode(&r->arena, p->doc, NULL, &s, e) < 0)
        return -1;
    int rc = st_batch_user_get(arm_of(r)->storage, &r->arena, nd->id, name, &there, e);
    for (size_t i = 0; rc == 0 && i < s.n_users; i++)
        rc = strcasecmp(s.users[i].name, name) == 0;
    if (rc == 1)
        return err_set(e, BATCH_NODE_USER_EXISTS, NULL, "the node %s has a user %s already",
                       nd->name, name);
    return rc;
}

struct replied *compute_nodes_add_user(struct request *r)
{
    struct batch_pool p;
    struct shown_node n;
    struct accepted b;
    struct err e;
    if (node_up(r, &p, &n, &e) < 0 ||
        request_accept(r, &schema_batch_node_user, SCHEMA_BATCH, &b, &e) < 0)
        return reply_err(r, &e);
    struct batch_node_user u = {.node_id = n.nd.id,
                                .name = arena_strdup(&r->arena, text_of(&b, "name")),
                                .is_admin = json_is_true(json_object_get(b.doc, "isAdmin"))};
    const char *password = read_login(r, &b, &u);
    if (check_free(r, &p, &n.nd, u.name, &e) < 0 ||
        batch_node_user_add(batch_of(r)->front, &u, password, &e) < 0)
        return reply_err(r, &e);
    return batch_reply_written(r, 201, user_path(r, &p, &n.nd, u.name), 0);
}

static int user_of(struct request *r, const struct node *nd, struct batch_node_user *out,
                   struct err *e)
{
    const char *name = request_param(r, "user");
    int rc = st_batch_user_get(arm_of(r)->storage, &r->arena, nd->id, name, out, e);
    if (rc == 0)
        return err_set(e, BATCH_NODE_USER_NOT_FOUND, NULL, "the node %s has no user %.100s",
                       nd->name, name);
    return rc < 0 ? -1 : 0;
}

struct replied *compute_nodes_update_user(struct request *r)
{
    struct batch_pool p;
    struct shown_node n;
    struct batch_node_user u;
    struct accepted b;
    struct err e;
    if (node_up(r, &p, &n, &e) < 0 || user_of(r, &n.nd, &u, &e) < 0 ||
        request_accept(r, &schema_batch_node_user_update, SCHEMA_BATCH, &b, &e) < 0)
        return reply_err(r, &e);
    const char *password = read_login(r, &b, &u);
    if (batch_node_user_change(batch_of(r)->front, &u, password, &e) < 0)
        return reply_err(r, &e);
    return batch_reply_written(r, 200, user_path(r, &p, &n.nd, u.name), 0);
}

struct replied *compute_nodes_delete_user(struct request *r)
{
    struct batch_pool p;
    struct shown_node n;
    struct batch_node_user u;
    struct err e;
    if (node_of(r, &p, &n, &e) < 0 || user_of(r, &n.nd, &u, &e) < 0 ||
        batch_node_user_remove(batch_of(r)->front, &u, &e) < 0)
        return reply_err(r, &e);
    return reply_empty(r, 200);
}
