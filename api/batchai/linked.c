/* SPDX-License-Identifier: MIT */
#include "api/batchai/linked.h"

#include "api/arm/may.h"
#include "api/batchai/render.h"
#include "front/batchai.h"

/* The path of the file server that will be mounted, however its id is written. */
static const char *file_server_scope(struct request *r, const char *id)
{
    struct scope s;
    const char *name;
    return batchai_file_server_named(&r->arena, id, &s, &name)
               ? render_id(r, &s, "fileServers", name)
               : id;
}

int check_linked_mounts(struct request *r, const struct mount_list *mounts, struct err *e)
{
    for (size_t i = 0; i < mounts->n; i++)
        if (mounts->items[i].kind == MOUNT_FILE_SERVER &&
            arm_check_linked(r, "Microsoft.BatchAI/workspaces/fileServers/read",
                             file_server_scope(r, mounts->items[i].source), e) < 0)
            return -1;
    return 0;
}

int check_linked_subnet(struct request *r, const json_t *doc, struct err *e)
{
    const char *subnet = own_subnet(doc);
    return subnet ? arm_check_linked(r, "Microsoft.Network/virtualNetworks/subnets/join/action",
                                     subnet, e)
                  : 0;
}
