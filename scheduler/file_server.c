/* SPDX-License-Identifier: MIT */
#include "scheduler/file_server.h"

#include <string.h>
#include <strings.h>

#include "scheduler/launch/mount.h"

/* What follows "/NAME/" in the id, up to the next slash; NULL: no such part. */
static const char *id_part(struct arena *a, const char *id, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = strchr(id, '/'); p; p = strchr(p + 1, '/'))
        if (strncasecmp(p + 1, name, n) == 0 && p[n + 1] == '/')
            return arena_strndup(a, p + n + 2, strcspn(p + n + 2, "/"));
    return NULL;
}

int file_server_find(struct storage *st, struct arena *a, const char *id, struct file_server **out,
                     struct err *e)
{
    const char *subscription = id_part(a, id, "subscriptions"),
               *group = id_part(a, id, "resourceGroups"), *workspace = id_part(a, id, "workspaces"),
               *name = id_part(a, id, "fileServers");
    struct resource_group g;
    struct workspace w;
    struct file_server f;
    *out = NULL;
    if (!subscription || !group || !workspace || !name)
        return 0;
    int rc = st_group_get(st, a, subscription, group, &g, e);
    if (rc > 0)
        rc = st_workspace_get(st, a, g.id, workspace, &w, e);
    if (rc > 0)
        rc = st_file_server_get(st, a, w.id, name, &f, e);
    if (rc <= 0 || f.prov_state == PROV_DELETING)
        return rc < 0 ? -1 : 0;
    *out = arena_alloc(a, sizeof **out);
    **out = f;
    return 0;
}

bool sched_file_server_place(const struct sched *s, struct arena *a, const struct file_server *f,
                             struct file_server_place *out)
{
    return file_server_place(a, s->cfg.site, s->cfg.local_nodes, s->cfg.storage_dir, f, out);
}
