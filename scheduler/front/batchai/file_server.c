/* SPDX-License-Identifier: MIT
 *
 * File servers as resources: finds the file server of a mount's id, and writes the result of its
 * set-up.
 */
#include <string.h>
#include <strings.h>

#include "scheduler/front/batchai/front_priv.h"

/* The text after "/NAME/" in the id, up to the next slash; NULL: the id does not contain
 * "/NAME/". */
static const char *id_part(struct arena *a, const char *id, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = strchr(id, '/'); p; p = strchr(p + 1, '/'))
        if (strncasecmp(p + 1, name, n) == 0 && p[n + 1] == '/')
            return arena_strndup(a, p + n + 2, strcspn(p + n + 2, "/"));
    return NULL;
}

bool batchai_file_server_named(struct arena *a, const char *id, struct scope *scope,
                               const char **name)
{
    *scope = (struct scope){.subscription = id_part(a, id, "subscriptions"),
                            .group = id_part(a, id, "resourceGroups"),
                            .workspace = id_part(a, id, "workspaces")};
    *name = id_part(a, id, "fileServers");
    return scope->subscription && scope->group && scope->workspace && *name;
}

int file_server_find(const struct front *front, struct storage *st, struct arena *a, const char *id,
                     struct file_server **out, struct err *e)
{
    struct scope s;
    const char *name;
    struct resource_group g;
    struct workspace w;
    struct file_server f;
    *out = NULL;
    (void)front;
    if (!batchai_file_server_named(a, id, &s, &name))
        return 0;
    int rc = st_group_get(st, a, s.subscription, s.group, &g, e);
    if (rc > 0)
        rc = st_workspace_get(st, a, g.id, s.workspace, &w, e);
    if (rc > 0)
        rc = st_file_server_get(st, a, w.id, name, &f, e);
    if (rc <= 0 || f.prov_state == PROV_DELETING)
        return rc < 0 ? -1 : 0;
    *out = arena_alloc(a, sizeof **out);
    **out = f;
    return 0;
}

int file_server_made(const struct front *front, struct storage *st, int64_t id,
                     const struct failure *why, int64_t now_us, struct err *e)
{
    bool made = why->code == FAIL_NONE;
    (void)front;
    if (st_file_server_move(st, id, PROV_CREATING, made ? PROV_EV_MADE : PROV_EV_FAILED, now_us,
                            e) != 0)
        return -1;
    return st_op_finish(st, RES_FILE_SERVER, id, false, made ? NULL : failure_name(why->code),
                        why->message, now_us, e);
}
