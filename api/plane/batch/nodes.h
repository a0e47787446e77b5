/* SPDX-License-Identifier: MIT
 *
 * Nodes of pools in the data plane.
 */
#ifndef API_PLANE_BATCH_NODES_H
#define API_PLANE_BATCH_NODES_H

#include "api/plane/batch/pools.h"
#include "model/batch/node_states.h"
#include "storage/batch_jobs.h"

/* A task that ran on a node, or a part of one. */
struct recent_task {
    struct batch_task t;
    struct batch_subtask part; /* number 0: it is the task itself */
};

/* A node with what is shown of it; arena. */
struct shown_node {
    struct node nd;
    struct node_setup setup; /* node_id 0: it has run no start task */
    enum batch_node_state state;
    /* Of its tasks: node_look_at_tasks(). */
    int running, running_slots;
    struct batch_node_total total;
    struct recent_task *recent; /* the latest first */
    size_t n_recent;
};
int node_look(struct request *r, const struct node *nd, struct shown_node *out,
              struct err *e) MUST_CHECK;
/* node_tasks.c: adds its tasks; and shows the last ones: a list, or NULL. */
int node_look_at_tasks(struct request *r, struct shown_node *n, struct err *e) MUST_CHECK;
json_t *node_recent_tasks(struct request *r, const struct shown_node *n);
/* The pool and the node that the request's path names. */
int node_of(struct request *r, struct batch_pool *p, struct shown_node *out,
            struct err *e) MUST_CHECK;
const char *node_path_of(struct request *r, const struct batch_pool *p, const struct node *nd,
                         const char *behind);
/* What all nodes of a pool show of its document, which may be long. */
struct node_pool {
    const struct batch_pool *row;
    const char *start_task, *image; /* as the asked version has them; NULL: none; arena */
    struct node_nat *nats;
    size_t n_nats;
};
void node_pool_read(struct request *r, const struct batch_pool *p, struct node_pool *out);
void node_render(struct request *r, const struct node_pool *p, const struct shown_node *n,
                 schema_set set, struct strbuf *out);

struct replied *compute_nodes_list(struct request *r);
struct replied *compute_nodes_get(struct request *r);
struct replied *compute_nodes_reboot(struct request *r);
struct replied *compute_nodes_reimage(struct request *r);
struct replied *compute_nodes_start(struct request *r);
struct replied *compute_nodes_deallocate(struct request *r);
struct replied *compute_nodes_disable(struct request *r);
struct replied *compute_nodes_enable(struct request *r);
struct replied *compute_nodes_login(struct request *r);
struct replied *compute_nodes_desktop(struct request *r);
struct replied *compute_nodes_extensions(struct request *r);
struct replied *compute_nodes_extension(struct request *r);
struct replied *compute_nodes_count(struct request *r);
/* node_users.c */
struct replied *compute_nodes_add_user(struct request *r);
struct replied *compute_nodes_update_user(struct request *r);
struct replied *compute_nodes_delete_user(struct request *r);
/* node_logs.c */
struct replied *compute_nodes_upload_logs(struct request *r);

#define NODE_ROUTE(method, path, versions, flags, handler, operation)                              \
    {method, "/pools/{pool}/nodes" path, versions, flags, handler, operation},
#define BATCH_NODE_ROUTES                                                                          \
    NODE_ROUTE("GET", "", BATCH_ALL, 0, compute_nodes_list, "ComputeNode_List")                    \
    NODE_ROUTE("GET", "/{node}", BATCH_ALL, 0, compute_nodes_get, "ComputeNode_Get")               \
    NODE_ROUTE("POST", "/{node}/reboot", BATCH_ALL, ROUTE_JSON_OPTIONAL, compute_nodes_reboot,     \
               "ComputeNode_Reboot")                                                               \
    NODE_ROUTE("POST", "/{node}/reimage", BATCH_ALL, ROUTE_JSON_OPTIONAL, compute_nodes_reimage,   \
               "ComputeNode_Reimage")                                                              \
    NODE_ROUTE("POST", "/{node}/start", BATCH_SINCE(BATCH_20_0), 0, compute_nodes_start,           \
               "ComputeNode_Start")                                                                \
    NODE_ROUTE("POST", "/{node}/deallocate", BATCH_SINCE(BATCH_20_0), ROUTE_JSON_OPTIONAL,         \
               compute_nodes_deallocate, "ComputeNode_Deallocate")                                 \
    NODE_ROUTE("POST", "/{node}/disablescheduling", BATCH_ALL, ROUTE_JSON_OPTIONAL,                \
               compute_nodes_disable, "ComputeNode_DisableScheduling")                             \
    NODE_ROUTE("POST", "/{node}/enablescheduling", BATCH_ALL, 0, compute_nodes_enable,             \
               "ComputeNode_EnableScheduling")                                                     \
    NODE_ROUTE("GET", "/{node}/remoteloginsettings", BATCH_ALL, 0, compute_nodes_login,            \
               "ComputeNode_GetRemoteLoginSettings")                                               \
    NODE_ROUTE("POST", "/{node}/users", BATCH_ALL, ROUTE_JSON, compute_nodes_add_user,             \
               "ComputeNode_AddUser")                                                              \
    NODE_ROUTE("PUT", "/{node}/users/{user}", BATCH_ALL, ROUTE_JSON, compute_nodes_update_user,    \
               "ComputeNode_UpdateUser")                                                           \
    NODE_ROUTE("DELETE", "/{node}/users/{user}", BATCH_ALL, 0, compute_nodes_delete_user,          \
               "ComputeNode_DeleteUser")                                                           \
    NODE_ROUTE("POST", "/{node}/uploadbatchservicelogs", BATCH_SINCE(BATCH_6_1), ROUTE_JSON,       \
               compute_nodes_upload_logs, "ComputeNode_UploadBatchServiceLogs")                    \
    NODE_ROUTE("GET", "/{node}/rdp", BATCH_UNTIL(BATCH_19_0), 0, compute_nodes_desktop,            \
               "ComputeNode_GetRemoteDesktop")                                                     \
    NODE_ROUTE("GET", "/{node}/extensions", BATCH_SINCE(BATCH_14_0), 0, compute_nodes_extensions,  \
               "ComputeNodeExtension_List")                                                        \
    NODE_ROUTE("GET", "/{node}/extensions/{extension}", BATCH_SINCE(BATCH_14_0), 0,                \
               compute_nodes_extension, "ComputeNodeExtension_Get"){                               \
        "GET", "/nodecounts",       BATCH_SINCE(BATCH_6_1),                                        \
        0,     compute_nodes_count, "Account_ListPoolNodeCounts"},

#endif
