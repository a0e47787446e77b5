/* SPDX-License-Identifier: MIT
 *
 * Old commands for which az has no command today, or only a broken one. They become requests of the
 * last version that had them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/cli/az_change.h"
#include "lib/fs.h"

static const struct az_column cluster_columns[] = {
    {"Name", "{name}"},
    {"Resource Group", "{resourceGroup}"},
    {"VM Size", "{vmSize}"},
    {"State", "{allocationState}"},
    {"Idle", "{nodeStateCounts.idleNodeCount}"},
    {"Running", "{nodeStateCounts.runningNodeCount}"},
    {"Preparing", "{nodeStateCounts.preparingNodeCount}"},
    {"Leaving", "{nodeStateCounts.leavingNodeCount}"},
    {"Unusable", "{nodeStateCounts.unusableNodeCount}"},
    {NULL, NULL}};
static const struct az_column job_columns[] = {{"Name", "{name}"},
                                               {"Resource Group", "{resourceGroup}"},
                                               {"Cluster", "{cluster.id/}"},
                                               {"Cluster RG", "{cluster.resourceGroup}"},
                                               {"Tool", "{toolType}"},
                                               {"Nodes", "{nodeCount}"},
                                               {"State", "{executionState}"},
                                               {"Exit code", "{executionInfo.exitCode}"},
                                               {NULL, NULL}};
static const struct az_column server_columns[] = {
    {"Name", "{name}"},
    {"Resource Group", "{resourceGroup}"},
    {"Size", "{vmSize}"},
    {"Disks", "{dataDisks.diskCount} x {dataDisks.diskSizeInGB} Gb"},
    {"Public IP", "{mountSettings.fileServerPublicIP}"},
    {"Internal IP", "{mountSettings.fileServerInternalIP}"},
    {"Type", "{mountSettings.fileServerType}"},
    {"Mount Point", "{mountSettings.mountPoint}"},
    {NULL, NULL}};

static const struct {
    const char *words, *type;
    const struct az_column *columns;
} lists[] = {{"batchai cluster list", "clusters", cluster_columns},
             {"batchai job list", "jobs", job_columns},
             {"batchai file-server list", "fileServers", server_columns}};

/* Sets the request. `name` NULL: for all resources of the type. */
static void ask(struct az_change *c, const char *method, const char *group, const char *type,
                const char *name)
{
    c->request = (struct az_request){
        .method = method,
        .path = arena_concat(c->arena, az_change_scope(c, group), AZ_PROVIDER, "/", type,
                             name ? "/" : "", name ? az_change_escaped(c, name, false) : "",
                             "?api-version=", AZ_OLD),
        .list = !name};
}

/* az lists the resources of one workspace. Without a group, or if the group has no workspace or
 * lacks the experiment, a request of the old version lists all resources instead. */
int az_old_list(struct az_change *c, struct err *e)
{
    const char *group, *others = "";
    bool there = false;
    size_t i = 0;
    if (az_change_group(c, &group, e) < 0 ||
        (group && az_change_has_place(c, group, &there, &others, e) < 0))
        return -1;
    if (group && !there && *others)
        return az_change_no_place(c, group, others, e);
    if (there && c->form->place & IN_EXPERIMENT &&
        az_change_has_experiment(c, group, &there, e) < 0)
        return -1;
    if (there)
        return 0;
    while (strcmp(lists[i].words, c->form->words) != 0)
        i++; /* lists[] has an entry for every row of forms[] with az_old_list */
    ask(c, "GET", group, lists[i].type, NULL);
    c->request.columns = lists[i].columns;
    return 0;
}

int az_old_auto_scale(struct az_change *c, struct err *e)
{
    const char *group;
    json_int_t min, max;
    if (az_change_group(c, &group, e) < 0 || az_change_number(c, "--min", &min, e) < 0 ||
        az_change_number(c, "--max", &max, e) < 0)
        return -1;
    if (min > max)
        return err_set(e, ERR_CONFIG, NULL,
                       "az %s: --min %lld is more than --max %lld; --max must be the greater one",
                       c->form->words, (long long)min, (long long)max);
    ask(c, "PATCH", group, "clusters", az_line_value(&c->line, "-n --name"));
    c->request.columns = cluster_columns;
    c->request.body = json_pack("{s:{s:{s:{s:I, s:I}}}}", "properties", "scaleSettings",
                                "autoScale", "minimumNodeCount", min, "maximumNodeCount", max);
    return 0;
}

/* --- file servers ----------------------------------------------------------------------------- */

/* Sets a member if its option was given: options override the file. */
static void set_text(struct az_change *c, json_t *at, const char *name, const char *options)
{
    const char *value = az_line_value(&c->line, options);
    if (value)
        json_object_set_new(at, name, json_string(value));
}

static int set_number(struct az_change *c, json_t *at, const char *name, const char *options,
                      struct err *e)
{
    json_int_t value;
    if (az_change_number(c, options, &value, e) < 0)
        return -1;
    if (value >= 0)
        json_object_set_new(at, name, json_integer(value));
    return 0;
}

static json_t *inside(json_t *at, const char *name)
{
    json_t *o = json_object_get(at, name);
    if (!json_is_object(o)) {
        o = json_object();
        json_object_set_new(at, name, o);
    }
    return o;
}

/* Sets the key of -k, which is a public key or a file that contains one. */
static int set_key(struct az_change *c, json_t *user, struct err *e)
{
    const char *value = az_line_value(&c->line, "-k --ssh-key");
    char *text;
    if (!value)
        return 0;
    if (access(value, F_OK) != 0) {
        if (strncmp(value, "ssh-", 4) == 0)
            return json_object_set_new(user, "adminUserSshPublicKey", json_string(value));
        return err_set(e, ERR_CONFIG, NULL,
                       "az %s: '%s' of -k is neither a file nor a public key, which begins with "
                       "ssh-rsa",
                       c->form->words, value);
    }
    if (fs_read(value, 65536, &text, NULL, e) < 0)
        return -1;
    text[strcspn(text, "\n")] = '\0';
    json_object_set_new(user, "adminUserSshPublicKey", json_string(text));
    free(text);
    return 0;
}

static const char *missing_of_server(struct az_change *c, const json_t *properties)
{
    const json_t *disks = json_object_get(properties, "dataDisks");
    const json_t *user =
        json_object_get(json_object_get(properties, "sshConfiguration"), "userAccountSettings");
    const char *missing = "";
    if (!json_object_get(properties, "vmSize"))
        missing = arena_concat(c->arena, missing, ", -s VM-SIZE");
    if (!json_object_get(disks, "diskCount"))
        missing = arena_concat(c->arena, missing, ", --disk-count NUMBER");
    if (!json_object_get(disks, "diskSizeInGB"))
        missing = arena_concat(c->arena, missing, ", --disk-size GB");
    if (!json_object_get(user, "adminUserPassword") &&
        !json_object_get(user, "adminUserSshPublicKey"))
        missing = arena_concat(c->arena, missing, ", -p PASSWORD or -k KEY");
    return missing;
}

static int fill_server(struct az_change *c, json_t *properties, struct err *e)
{
    json_t *disks = inside(properties, "dataDisks");
    json_t *user = inside(inside(properties, "sshConfiguration"), "userAccountSettings");
    const char *subnet = az_line_value(&c->line, "--subnet"), *name = getenv("USER");
    set_text(c, properties, "vmSize", "-s --vm-size");
    set_text(c, disks, "storageAccountType", "--storage-sku");
    set_text(c, disks, "cachingType", "--caching-type");
    set_text(c, user, "adminUserName", "-u --admin-user-name --user-name");
    set_text(c, user, "adminUserPassword", "-p --password");
    if (!json_object_get(disks, "storageAccountType"))
        json_object_set_new(disks, "storageAccountType", json_string("Premium_LRS"));
    if (!json_object_get(user, "adminUserName"))
        json_object_set_new(user, "adminUserName", json_string(name ? name : "root"));
    if (subnet)
        json_object_set_new(properties, "subnet", json_pack("{s:s}", "id", subnet));
    if (set_number(c, disks, "diskCount", "--disk-count", e) < 0 ||
        set_number(c, disks, "diskSizeInGB", "--disk-size", e) < 0 || set_key(c, user, e) < 0)
        return -1;
    return az_change_lacks(c, missing_of_server(c, properties), e);
}

int az_old_create_server(struct az_change *c, struct err *e)
{
    const char *group, *location;
    if (az_change_group(c, &group, e) < 0)
        return -1;
    json_t *body = c->file.tree ? json_incref(c->file.tree) : json_object();
    int rc = fill_server(c, inside(body, "properties"), e);
    json_object_del(body, "$schema");
    if (rc == 0 && (rc = az_change_location(c, group, &location, e)) == 0) {
        json_object_set_new(body, "location", json_string(location));
        ask(c, "PUT", group, "fileServers", az_line_value(&c->line, "-n --name"));
        c->request.body = json_incref(body);
        c->request.waits = true;
        c->request.columns = server_columns;
    }
    json_decref(body);
    return rc;
}

int az_old_show_server(struct az_change *c, struct err *e)
{
    const char *group;
    if (az_change_group(c, &group, e) < 0)
        return -1;
    ask(c, "GET", group, "fileServers", az_line_value(&c->line, "-n --name"));
    c->request.columns = server_columns;
    return 0;
}

/* Asks the user for a confirmation, as az does before it deletes. */
static int confirm(struct az_change *c, struct err *e)
{
    char answer[16] = "";
    if (az_line_find(&c->line, "-y --yes"))
        return 0;
    if (!isatty(STDIN_FILENO))
        return err_set(e, ERR_CONFIG, NULL,
                       "az %s asks for a confirmation, but there is no terminal; add -y",
                       c->form->words);
    fputs("Are you sure you want to perform this operation? (y/n): ", stderr);
    if (fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y'))
        return 0;
    return err_set(e, ERR_CONFIG, NULL, "nothing was deleted");
}

int az_old_delete_server(struct az_change *c, struct err *e)
{
    const char *group;
    if (az_change_group(c, &group, e) < 0 || confirm(c, e) < 0)
        return -1;
    ask(c, "DELETE", group, "fileServers", az_line_value(&c->line, "-n --name"));
    c->request.waits = true;
    return 0;
}
