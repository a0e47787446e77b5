/* SPDX-License-Identifier: MIT
 *
 * File servers for scheduler tests, as the front makes them.
 */
#ifndef TEST_SCHEDULER_FILE_SERVERS_H
#define TEST_SCHEDULER_FILE_SERVERS_H

#include "scheduler/fleet/fleet.h"
#include "test/unit/scheduler/world.h"

/* Its creation is the operation called `name`. */
static inline int64_t add_file_server(struct world *w, const char *name, const char *guid)
{
    struct err e = {0};
    int64_t now = time_now_us(), id;
    const struct file_server f = {.workspace_id = w->workspace,
                                  .name = name,
                                  .guid = guid,
                                  .doc = "{}",
                                  .prov_state = PROV_CREATING,
                                  .prov_us = now,
                                  .created_us = now,
                                  .updated_us = now};
    const struct operation op = {.guid = name,
                                 .subscription = "sub",
                                 .location = "here",
                                 .resource_key = "k",
                                 .api_version = "v",
                                 .kind = RES_FILE_SERVER,
                                 .status = OP_IN_PROGRESS,
                                 .start_us = now};
    struct operation mine = op;
    ok(st_file_server_insert(w->st, &f, NULL, &id, &e), &e);
    mine.resource_id = id;
    ok(st_op_insert(w->st, &mine, &e), &e);
    fleet_wake_file_server(sched_fleet(w->s), id);
    return id;
}

static inline struct file_server server_row(struct world *w, int64_t id)
{
    struct file_server f = {0};
    struct err e = {0};
    ok(st_file_server_by_id(w->st, &w->a, id, &f, &e), &e);
    return f;
}

/* 0: there is none. */
static inline enum prov_state server_state(struct world *w, int64_t id)
{
    return server_row(w, id).prov_state;
}

#endif
