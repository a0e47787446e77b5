/* SPDX-License-Identifier: MIT
 *
 * Renders a change by the kind of its object: its path, what happened to it, and its present state.
 * Texts are the arena's. On the loop's thread.
 */
#include "api/testing/change_text.h"

#include <string.h>
#include <strings.h>

#include "lib/timefmt.h"
#include "model/batch/job_states.h"
#include "model/batch/schedule_rows.h"
#include "model/enums.h"

#define SUBSCRIPTIONS "/subscriptions/"

static const struct {
    const char *name;
    const struct enum_name *states; /* NULL: none */
} kinds[CHANGE_KINDS] = {
    [CHANGE_GROUP] = {"resource group", prov_state_names},
    [CHANGE_WORKSPACE] = {"workspace", prov_state_names},
    [CHANGE_EXPERIMENT] = {"experiment", prov_state_names},
    [CHANGE_CLUSTER] = {"cluster", alloc_state_names},
    [CHANGE_FILE_SERVER] = {"file server", prov_state_names},
    [CHANGE_JOB] = {"job", exec_state_names},
    [CHANGE_NODE] = {"node", node_state_names},
    [CHANGE_STORAGE_ACCOUNT] = {"storage account", prov_state_names},
    [CHANGE_BATCH_ACCOUNT] = {"Batch account", prov_state_names},
    [CHANGE_BATCH_POOL] = {"Batch pool", alloc_state_names},
    [CHANGE_BATCH_JOB] = {"Batch job", batch_job_state_names},
    [CHANGE_BATCH_TASK] = {"Batch task", batch_task_state_names},
    [CHANGE_BATCH_SCHEDULE] = {"Batch job schedule", batch_schedule_state_names},
    [CHANGE_BATCH_CERTIFICATE] = {"Batch certificate", batch_certificate_state_names},
    [CHANGE_BATCH_APPLICATION] = {"Batch application", NULL},
    [CHANGE_BATCH_PACKAGE] = {"Batch application package", NULL},
    [CHANGE_CONTAINER] = {"container", NULL},
    [CHANGE_SHARE] = {"share", NULL},
    [CHANGE_VAULT] = {"vault", NULL},
    [CHANGE_SECRET] = {"secret", NULL},
    [CHANGE_ROLE_ASSIGNMENT] = {"role assignment", NULL},
};
static const char *const whats[] = {
    [CHANGE_MADE] = "created", [CHANGE_DONE] = "changed", [CHANGE_REMOVED] = "deleted"};

/* Members of an event for names in the path: `word` is the segment before the name. */
static const struct {
    const char *word, *member;
} places[] = {
    {"subscriptions", "subscription"},
    {"resourceGroups", "resourceGroup"},
    {"workspaces", "workspace"},
    {"experiments", "experiment"},
    {"clusters", "cluster"},
    {"storageAccounts", "account"},
    {"batchAccounts", "account"},
    {"vaults", "vault"},
    {"pools", "pool"},
    {"jobs", "job"},
    {"applications", "application"},
};

static void add_place(json_t *o, const char *word, size_t n, const char *name, size_t n_name)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strlen(places[i].word) == n && memcmp(places[i].word, word, n) == 0)
            json_object_set_new(o, places[i].member, json_stringn(name, n_name));
}

/* Adds the names in the path. Types and names alternate in it; the last pair is the resource
 * itself. */
static void add_places(json_t *o, const char *path)
{
    while (*path == '/') {
        size_t n = strcspn(path + 1, "/");
        const char *name = path + 1 + n;
        size_t n_name = *name ? strcspn(name + 1, "/") : 0;
        if (*name && name[1 + n_name])
            add_place(o, path + 1, n, name + 1, n_name);
        else if (*name)
            json_object_set_new(o, "name", json_stringn(name + 1, n_name));
        path = *name ? name + 1 + n_name : name;
    }
}

static bool is_of(const char *path, const char *subscription)
{
    size_t n = strlen(subscription);
    if (strncasecmp(path, SUBSCRIPTIONS, strlen(SUBSCRIPTIONS)) != 0)
        return false;
    path += strlen(SUBSCRIPTIONS);
    return strncasecmp(path, subscription, n) == 0 && (path[n] == '/' || !path[n]);
}

static const char *state_name(const struct change *c, int state)
{
    return state != 0 && kinds[c->kind].states ? enum_to_name(kinds[c->kind].states, state) : NULL;
}

json_t *change_render(const struct change *c, const char *subscription)
{
    char at[TIMEFMT_SIZE];
    if ((size_t)c->kind >= CHANGE_KINDS || !kinds[c->kind].name || c->what < CHANGE_MADE ||
        c->what > CHANGE_REMOVED || (subscription && !is_of(c->path, subscription)))
        return NULL;
    timefmt_wire(c->at_us, at);
    json_t *o =
        json_pack("{s:I, s:s, s:s, s:s, s:s, s:s*, s:s*, s:s*}", "sequence", (json_int_t)c->seq,
                  "time", at, "kind", kinds[c->kind].name, "change", whats[c->what], "id", c->path,
                  "from", state_name(c, c->from), "to", state_name(c, c->to), "reason", c->reason);
    if (o)
        add_places(o, c->path);
    return o;
}
