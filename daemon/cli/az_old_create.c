/* SPDX-License-Identifier: MIT
 *
 * Old commands that create clusters and jobs. Their options name other resources, and file servers
 * to mount (--nfs), for which today's az has no option.
 */
#include <string.h>

#include "daemon/cli/az_change.h"

#define NFS_PATH "nfs" /* the mount path that az used by default */

static json_t *member(json_t *o, const char *name, json_t *(*make)(void))
{
    json_t *m = json_object_get(o, name);
    if (!m || json_is_null(m)) {
        m = make();
        json_object_set_new(o, name, m);
    }
    return m;
}

static json_t *properties_of(struct az_change *c)
{
    if (!c->file.tree)
        c->file.tree = json_object();
    return member(c->file.tree, "properties", json_object);
}

/* Adds the file server of --nfs to the tree of the file. `owner`: the object that contains
 * mountVolumes. */
static int mount_server(struct az_change *c, json_t *owner, struct err *e)
{
    const char *name = az_line_value(&c->line, "--nfs");
    const char *group = az_line_value(&c->line, "--nfs-resource-group");
    const char *path = az_line_value(&c->line, "--nfs-mount-path");
    if (!name && (group || path))
        return err_set(e, ERR_CONFIG, NULL, "az %s has %s, but not --nfs FILE-SERVER",
                       c->form->words, group ? "--nfs-resource-group" : "--nfs-mount-path");
    if (!group && az_change_group(c, &group, e) < 0)
        return -1;
    json_t *servers = member(member(owner, "mountVolumes", json_object), "fileServers", json_array);
    json_array_append_new(servers, json_pack("{s:{s:s}, s:s, s:s}", "fileServer", "id",
                                             az_change_id(c, group, "fileServers", name),
                                             "relativeMountPath", path ? path : NFS_PATH,
                                             "mountOptions", "rw"));
    c->file.changed = true;
    return 0;
}

/* Changes ids of file servers in the file from their old form to today's. */
static void lengthen_ids(struct az_change *c, const json_t *owner)
{
    const json_t *servers = json_object_get(json_object_get(owner, "mountVolumes"), "fileServers");
    json_t *server;
    size_t i;
    json_array_foreach(servers, i, server) {
        json_t *reference = json_object_get(server, "fileServer");
        const char *id = json_string_value(json_object_get(reference, "id"));
        const char *today = id && *id == '/' ? az_change_id(c, NULL, "fileServers", id) : id;
        if (today == id)
            continue;
        json_object_set_new(reference, "id", json_string(today));
        c->file.changed = true;
    }
}

static bool mounts_server(const struct az_change *c)
{
    return az_line_find(&c->line, "--nfs --nfs-resource-group --nfs-mount-path") != NULL;
}

static bool has(const struct az_change *c, const char *options, const char *name)
{
    const json_t *v = json_object_get(json_object_get(c->file.tree, "properties"), name);
    return az_line_find(&c->line, options) || (v && !json_is_null(v));
}

/* Today's az ignores --min 0 --max 0, so for a cluster without nodes the size is put into the
 * file. */
static int set_no_nodes(struct az_change *c, struct err *e)
{
    json_int_t min, max;
    if (az_change_number(c, "--min", &min, e) < 0 || az_change_number(c, "--max", &max, e) < 0)
        return -1;
    if (min != 0 || max != 0 || az_line_find(&c->line, "-t --target"))
        return 0;
    az_line_drop(&c->line, "--min --max");
    json_object_set_new(properties_of(c), "scaleSettings",
                        json_pack("{s:{s:i}}", "manual", "targetNodeCount", 0));
    c->file.changed = true;
    return 0;
}

int az_old_create_cluster(struct az_change *c, struct err *e)
{
    const char *missing = "";
    bool min = az_line_find(&c->line, "--min"), max = az_line_find(&c->line, "--max");
    if (!has(c, "-s --vm-size", "vmSize"))
        missing = arena_concat(c->arena, missing, ", -s VM-SIZE");
    if (min != max)
        missing = arena_concat(c->arena, missing, ", ", min ? "--max" : "--min", " NODES");
    else if (!has(c, "--min -t --target", "scaleSettings"))
        missing = arena_concat(c->arena, missing, ", --min NODES --max NODES");
    if (az_change_lacks(c, missing, e) < 0 || set_no_nodes(c, e) < 0)
        return -1;
    lengthen_ids(c, json_object_get(json_object_get(c->file.tree, "properties"), "nodeSetup"));
    if (!mounts_server(c))
        return 0;
    return mount_server(c, member(properties_of(c), "nodeSetup", json_object), e);
}

/* Makes a request from a file that has properties of an old version, because today's az would leave
 * these properties out. */
static int send_job(struct az_change *c, const char *cluster, const char *group, struct err *e)
{
    const char *location;
    const struct az_option *mount =
        az_line_find(&c->line, "--afs-name --bfs-name --container-name --nfs");
    if (mount)
        return err_set(
            e, ERR_CONFIG, NULL,
            "az %s: %s cannot be combined with properties that only %s has; mount it in the "
            "cluster, or name it in mountVolumes of %s",
            c->form->words, mount->name, api_version_name(c->file.version), c->file.name);
    if (az_change_location(c, group, &location, e) < 0)
        return -1;
    json_t *body = json_deep_copy(c->file.tree);
    json_object_del(body, "$schema");
    json_object_set_new(body, "location", json_string(location));
    json_object_set_new(json_object_get(body, "properties"), "cluster",
                        json_pack("{s:s}", "id", cluster));
    c->request = (struct az_request){
        .method = "PUT",
        .path = arena_concat(c->arena, az_change_scope(c, group), AZ_PROVIDER, "/jobs/",
                             az_change_escaped(c, az_line_value(&c->line, "-n --name"), false),
                             "?api-version=", api_version_name(c->file.version)),
        .body = body,
        .waits = true};
    return 0;
}

int az_old_create_job(struct az_change *c, struct err *e)
{
    static const char names[] = "-r --cluster-name --cluster";
    const char *cluster = az_line_value(&c->line, names), *group = NULL;
    const char *other = az_line_value(&c->line, "--cluster-resource-group");
    if (!cluster)
        (void)json_unpack(c->file.tree, "{s:{s:{s:s}}}", "properties", "cluster", "id", &cluster);
    if (!cluster)
        return az_change_lacks(c, ", -r CLUSTER", e);
    if (az_change_group(c, &group, e) < 0)
        return -1;
    bool elsewhere = other && strcmp(other, group) != 0;
    if (c->file.version != V_2018_05_01)
        return send_job(c, az_change_id(c, elsewhere ? other : group, "clusters", cluster), group,
                        e);
    const char *id = az_change_id(c, elsewhere ? other : group, "clusters", cluster);
    if (az_change_check_cluster(c, id, e) < 0)
        return -1;
    az_line_drop(&c->line, names);
    if (elsewhere || *cluster == '/')
        cluster = id;
    az_line_put(&c->line, "-r", cluster);
    lengthen_ids(c, json_object_get(c->file.tree, "properties"));
    return mounts_server(c) ? mount_server(c, properties_of(c), e) : 0;
}
