/* SPDX-License-Identifier: MIT */
#include "api/arm/batchai/linked.h"

#include "api/access/roles.h"
#include "api/arm/batchai/render.h"
#include "api/arm/may.h"
#include "model/mount_options.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/front/batchai/batchai.h"
#include "scheduler/scheduler.h"
#include "scheduler/site/site.h"

/* The path of the file server that will be mounted, however its id is written. */
static const char *file_server_scope(struct request *r, const char *id)
{
    struct scope s;
    const char *name;
    return batchai_file_server_named(&r->arena, id, &s, &name)
               ? render_id(r, &s, "fileServers", name)
               : id;
}

/* What of a volume runs as the nodes' administrator, in words; NULL: nothing does. */
static const char *as_admin(struct arena *a, const struct mount_volume *m)
{
    const char *option = mount_options_beyond(a, m->options);
    if (m->kind == MOUNT_UNMANAGED)
        return arena_printf(a, "the mountCommand of %.60s in mountVolumes", m->relative_path);
    return option ? arena_printf(a, "the option %.60s in mountOptions of %.60s in mountVolumes",
                                 option, m->relative_path)
                  : NULL;
}

static int check_as_admin(struct request *r, const struct mount_volume *m, const char *cluster_id,
                          struct err *e)
{
    const char *what = as_admin(&r->arena, m);
    if (!what || arm_check_linked(r, ACTION_RUN_AS_ADMIN, cluster_id, e) == 0)
        return 0;
    return err_prefix(e, "Only an administrator of the nodes may use this: %s", what);
}

int check_linked_mounts(struct request *r, const struct mount_list *mounts, const char *cluster_id,
                        struct err *e)
{
    for (size_t i = 0; i < mounts->n; i++) {
        const struct mount_volume *m = &mounts->items[i];
        if (m->kind == MOUNT_FILE_SERVER &&
            arm_check_linked(r, "Microsoft.BatchAI/workspaces/fileServers/read",
                             file_server_scope(r, m->source), e) < 0)
            return -1;
        if (check_as_admin(r, m, cluster_id, e) < 0)
            return -1;
    }
    return 0;
}

int check_linked_container(struct request *r, const char *cluster_id, struct err *e)
{
    const struct site *site = fleet_site(sched_fleet(arm_of(r)->sched));
    if (!site || !site->image_users || arm_check_linked(r, ACTION_RUN_AS_ADMIN, cluster_id, e) == 0)
        return 0;
    return err_prefix(e,
                      "Only an administrator of the nodes may use this: containerSettings, because "
                      "containers run as the users of their images (containers.user: image)");
}

int check_linked_subnet(struct request *r, const json_t *doc, struct err *e)
{
    const char *subnet = own_subnet(doc);
    return subnet ? arm_check_linked(r, "Microsoft.Network/virtualNetworks/subnets/join/action",
                                     subnet, e)
                  : 0;
}
