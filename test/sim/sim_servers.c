/* SPDX-License-Identifier: MIT
 *
 * File servers: one machine exports them all, by an agent of its own beside that of a node there;
 * nodes of clusters on machines mount them.
 */
#include <stdio.h>
#include <string.h>

#include "scheduler/fleet/mount/file_server.h"
#include "test/sim/sim_view.h"

#define SERVERS_MAX 3
#define EXPORTER    "m5"
#define EXPORTER_AT 5 /* in the inventory */
#define EXPORTS     "/export/"

const struct site_file_server_rule sim_server_rule = {
    .name = "*", .machine = EXPORTER, .directory = EXPORTS "{name}"};

bool sim_is_exporter(const struct fake_node *n)
{
    static const char beside[] = EXPORTER ":";
    return strncmp(fake_name(n), beside, sizeof beside - 1) == 0;
}

bool sim_exporter_missing(const struct sim *m)
{
    return m->missing & 1U << EXPORTER_AT;
}

/* --- requests --------------------------------------------------------------------------------- */

void sim_add_server(struct sim *m)
{
    struct thing *tree = sim_pick(m, THING_TREE);
    struct err e = {0};
    bool more = tree && sim_count(m, THING_SERVER) < SERVERS_MAX;
    struct thing *t = more ? sim_thing_new(m, THING_SERVER, "f") : NULL;
    if (!t)
        return;
    int64_t now = loop_wall_us(m->life->loop);
    guid_new(t->guid);
    t->tree = tree;
    const struct file_server f = {.workspace_id = tree->workspace,
                                  .name = t->name,
                                  .guid = t->guid,
                                  .doc = "{\"properties\": {}}",
                                  .prov_state = PROV_CREATING,
                                  .prov_us = now,
                                  .created_us = now,
                                  .updated_us = now};
    int rc = st_file_server_insert(m->life->st, &f, NULL, &t->id, &e);
    t->gone = !sim_ok(m, rc, &e, "file server");
    sim_when_acknowledged(m, t);
    fleet_wake_file_server(sched_fleet(m->life->s), t->id);
    sim_trace(m, "file server %s", t->name);
}

void sim_delete_server(struct sim *m)
{
    struct thing *t = sim_pick(m, THING_SERVER);
    if (t)
        sim_ask_delete(m, t);
}

const char *sim_server_mount(struct sim *m, const struct thing *server)
{
    return arena_printf(&m->a,
                        "{\"properties\": {\"nodeSetup\": {\"mountVolumes\": {\"fileServers\": "
                        "[{\"fileServer\": {\"id\": \"/subscriptions/sub/resourceGroups/%s/"
                        "providers/Microsoft.BatchAI/workspaces/ws/fileServers/%s\"}, "
                        "\"relativeMountPath\": \"nfs\"}]}}}}",
                        server->tree->name, server->name);
}

/* --- on machines ------------------------------------------------------------------------------ */

static struct thing *by_guid(const struct sim *m, const char *guid)
{
    for (int i = 0; i < m->n_things; i++)
        if (m->things[i]->kind == THING_SERVER &&
            strncmp(m->things[i]->guid, guid, GUID_SIZE - 1) == 0)
            return m->things[i];
    return NULL;
}

/* Of "mount -t nfs ... HOST:/export/NAME TARGET". */
static struct thing *mounted(const struct sim *m, const char *command)
{
    char name[sizeof((struct thing *)0)->name];
    const char *at = strstr(command, "mount -t nfs ") ? strstr(command, ":" EXPORTS) : NULL;
    if (!at)
        return NULL;
    at += sizeof(":" EXPORTS) - 1;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "/' "), at);
    return sim_thing_by_name(m, name);
}

void sim_server_command(struct sim *m, const char *id, const char *command)
{
    static const char file[] = "/etc/exports.d/batchaid-";
    const char *at = strstr(command, file);
    struct thing *exports = at ? by_guid(m, at + sizeof file - 1) : NULL,
                 *mounts = mounted(m, command);
    if (exports) {
        exports->exported = strstr(command, "rm -f -- ") == NULL;
        exports->to_export_again = exports->to_export_again && !exports->exported;
    }
    /* What was lost with a restore may be mounted once exporting it again has failed. */
    bool excused = mounts && mounts->to_export_again &&
                   !file_server_is_awaited(sched_fleet(m->life->s), mounts->id);
    if (mounts && !mounts->exported && !excused && !mounts->delete_asked &&
        !mounts->tree->delete_asked)
        sim_fail(m, "task %s mounts file server %s, which is not exported", id, mounts->name);
}

/* --- what must hold --------------------------------------------------------------------------- */

void sim_servers_check(struct view *v)
{
    for (size_t i = 0; i < v->n_servers; i++) {
        const struct file_server *f = &v->servers[i];
        const struct thing *t = sim_thing_by_name(v->m, f->name);
        if (t && f->prov_state == PROV_SUCCEEDED && !t->exported && !t->to_export_again)
            sim_fail(v->m, "file server %s is said to be served, and is not exported", f->name);
    }
}

bool sim_servers_at_rest(struct view *v, char *why, size_t size)
{
    struct sim *m = v->m;
    for (size_t i = 0; i < v->n_servers; i++) {
        enum prov_state now = v->servers[i].prov_state;
        const struct thing *t = sim_thing_by_name(m, v->servers[i].name);
        if (now == PROV_SUCCEEDED && t && !t->exported) {
            snprintf(why, size, "file server %s is not exported again", v->servers[i].name);
            return false;
        }
        if (now == PROV_SUCCEEDED || now == PROV_FAILED)
            continue;
        snprintf(why, size, "file server %s is in provisioning state %d", v->servers[i].name,
                 (int)now);
        return false;
    }
    for (int i = 0; i < m->n_things; i++) {
        const struct thing *t = m->things[i];
        if (t->kind == THING_SERVER && t->gone && t->exported && !m->exporter_trouble)
            sim_fail(m, "file server %s is gone, and its export is left", t->name);
    }
    return true;
}

void sim_servers_heal(struct sim *m)
{
    for (int i = 0; i < m->n_things && !sim_failed(m); i++) {
        struct thing *t = m->things[i];
        struct file_server f;
        struct err e = {0};
        if (t->kind != THING_CLUSTER || t->gone || t->delete_asked || !t->server)
            continue;
        struct cluster c;
        bool going = t->server->delete_asked || t->server->tree->delete_asked;
        if (st_cluster_by_id(m->life->st, &m->a, t->id, &c, &e) == 0)
            continue; /* a crash took it, or a backup did not have it */
        int rc = st_file_server_by_id(m->life->st, &m->a, t->server->id, &f, &e);
        if (!sim_ok(m, rc, &e, "file server"))
            return;
        if (going || rc == 0 || strcmp(f.name, t->server->name) != 0 ||
            f.prov_state != PROV_SUCCEEDED)
            sim_ask_delete(m, t);
    }
}
