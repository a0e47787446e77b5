/* SPDX-License-Identifier: MIT
 *
 * The kinds of resources of a seed, and their order.
 */
#include <string.h>

#include "api/testing/seed/steps.h"
#include "lib/strbuf.h"
#include "model/batch/rm.h"
#include "model/batch/tables.h"
#include "model/batch/tables_pool.h"
#include "model/batch/tables_schedule.h"
#include "model/batch/versions.h"

#define PROVIDERS        "/providers/"
#define ROLE_ASSIGNMENTS PROVIDERS "Microsoft.Authorization/roleAssignments/"

/* The newest version of Azure Batch's API. A seed may also contain properties that only older
 * versions have. */
#define BATCH_NAME  "2025-06-01"
#define BATCH_SHOWN (BATCH_2025_06 | BATCH_SEEDED)

static const struct seed_state job_state[] = {
    {"executionState", "properties.executionState"},
    {"guid", "properties.jobOutputDirectoryPathSegment", STATE_BEHIND},
    {"startTime", "properties.executionInfo.startTime", STATE_BEGUN},
    {"endTime", "properties.executionInfo.endTime", STATE_BEGUN},
    {"exitCode", "properties.executionInfo.exitCode", STATE_BEGUN},
    {"errors", "properties.executionInfo.errors", STATE_BEGUN},
    {NULL}};
static const struct seed_state task_state[] = {
    {"state", "state"},
    {"startTime", "executionInfo.startTime", STATE_BEGUN},
    {"endTime", "executionInfo.endTime", STATE_BEGUN},
    {"exitCode", "executionInfo.exitCode", STATE_BEGUN},
    {"failureInfo", "executionInfo.failureInfo", STATE_BEGUN},
    {NULL}};
static const struct seed_state batch_job_state[] = {
    {"state", "state"},
    {"terminateReason", "executionInfo.terminateReason"},
    {"endTime", "executionInfo.endTime"},
    {NULL}};
static const struct seed_state schedule_state[] = {
    {"state", "state"},
    {"jobs", "executionInfo.recentJob.id", STATE_NUMBER},
    {"nextRunTime", "executionInfo.nextRunTime"},
    {"endTime", "executionInfo.endTime"},
    {NULL}};

const struct seed_kind seed_kinds[SEED_KINDS] = {
    [SEED_SUBSCRIPTION_ROLE] = {.collection = "roles",
                                .below = ROLE_ASSIGNMENTS,
                                .version = "2022-04-01",
                                .own = {"scope"}},
    [SEED_GROUP] = {.collection = "groups",
                    .below = "/resourceGroups/",
                    .version = "2019-10-01",
                    .own = {"deleted"},
                    .shown = &schema_group,
                    .shown_in = V_2018_05_01},
    [SEED_WORKSPACE] = {.collection = "workspaces",
                        .above = SEED_GROUP,
                        .below = PROVIDERS "Microsoft.BatchAI/workspaces/",
                        .version = "2018-05-01",
                        .shown = &schema_workspace,
                        .shown_in = V_2018_05_01},
    [SEED_FILE_SERVER] = {.collection = "fileServers",
                          .above = SEED_WORKSPACE,
                          .below = "/fileServers/",
                          .version = "2018-05-01",
                          .shown = &schema_file_server,
                          .shown_in = V_2018_05_01},
    [SEED_CLUSTER] = {.collection = "clusters",
                      .above = SEED_WORKSPACE,
                      .below = "/clusters/",
                      .version = "2018-05-01",
                      .shown = &schema_cluster,
                      .shown_in = V_2018_05_01},
    [SEED_EXPERIMENT] = {.collection = "experiments",
                         .above = SEED_WORKSPACE,
                         .below = "/experiments/",
                         .version = "2018-05-01",
                         .shown = &schema_experiment,
                         .shown_in = V_2018_05_01},
    [SEED_JOB] = {.collection = "jobs",
                  .above = SEED_EXPERIMENT,
                  .below = "/jobs/",
                  .version = "2018-05-01",
                  .own = {"state"},
                  .shown = &schema_job,
                  .shown_in = V_2018_05_01,
                  .state = job_state},
    [SEED_ACCOUNT] = {.collection = "storageAccounts",
                      .above = SEED_GROUP,
                      .below = PROVIDERS "Microsoft.Storage/storageAccounts/",
                      .version = "2022-09-01",
                      .own = {"keys"},
                      .shown = &schema_storage_account,
                      .shown_in = V_2018_05_01},
    [SEED_CONTAINER] = {.collection = "containers",
                        .above = SEED_ACCOUNT,
                        .below = "/blobServices/default/containers/",
                        .version = "2022-09-01",
                        .late = true,
                        .own = {"blobs"},
                        .shown = &schema_container_rm,
                        .shown_in = V_2018_05_01},
    [SEED_SHARE] = {.collection = "shares",
                    .above = SEED_ACCOUNT,
                    .below = "/fileServices/default/shares/",
                    .version = "2022-09-01",
                    .late = true,
                    .own = {"files"},
                    .shown = &schema_share_rm,
                    .shown_in = V_2018_05_01},
    [SEED_VAULT] = {.collection = "vaults",
                    .above = SEED_GROUP,
                    .below = PROVIDERS "Microsoft.KeyVault/vaults/",
                    .version = "2022-07-01",
                    .own = {"deleted"},
                    .shown = &schema_vault,
                    .shown_in = V_2018_05_01},
    [SEED_SECRET] = {.collection = "secrets",
                     .above = SEED_VAULT,
                     .plane = SEED_AT_VAULT,
                     .below = "/secrets/",
                     .version = "7.4",
                     .own = {"version", "versions", "deleted"},
                     .unlisted = true},
    [SEED_BATCH_ACCOUNT] = {.collection = "batchAccounts",
                            .above = SEED_GROUP,
                            .below = PROVIDERS "Microsoft.Batch/batchAccounts/",
                            .version = "2022-10-01",
                            .own = {"keys"},
                            .shown = &schema_batch_account,
                            .shown_in = RM_2022_10},
    [SEED_BATCH_CERTIFICATE] = {.collection = "certificates",
                                .above = SEED_BATCH_ACCOUNT,
                                .plane = SEED_AT_BATCH,
                                .below = "/certificates",
                                .version = "2024-07-01.20.0",
                                .posted = "thumbprint",
                                .shown = &schema_batch_certificate,
                                .shown_in = BATCH_20_0},
    [SEED_APPLICATION] = {.collection = "applications",
                          .above = SEED_BATCH_ACCOUNT,
                          .below = "/applications/",
                          .version = "2022-10-01",
                          .shown = &schema_rm_application,
                          .shown_in = RM_2022_10},
    [SEED_PACKAGE] = {.collection = "packages",
                      .above = SEED_APPLICATION,
                      .below = "/versions/",
                      .version = "2022-10-01",
                      .unasked = true,
                      .own = {"base64", "activated"},
                      .unlisted = true},
    [SEED_BATCH_POOL] = {.collection = "pools",
                         .above = SEED_BATCH_ACCOUNT,
                         .plane = SEED_AT_BATCH,
                         .below = "/pools",
                         .version = BATCH_NAME,
                         .posted = "id",
                         .shown = &schema_batch_pool,
                         .shown_in = BATCH_SHOWN},
    [SEED_BATCH_SCHEDULE] = {.collection = "jobSchedules",
                             .above = SEED_BATCH_ACCOUNT,
                             .plane = SEED_AT_BATCH,
                             .below = "/jobschedules",
                             .version = BATCH_NAME,
                             .posted = "id",
                             .own = {"state"},
                             .shown = &schema_batch_schedule,
                             .shown_in = BATCH_SHOWN,
                             .state = schedule_state},
    [SEED_BATCH_JOB] = {.collection = "jobs",
                        .above = SEED_BATCH_ACCOUNT,
                        .plane = SEED_AT_BATCH,
                        .below = "/jobs",
                        .version = BATCH_NAME,
                        .posted = "id",
                        .own = {"state"},
                        .shown = &schema_batch_job,
                        .shown_in = BATCH_SHOWN,
                        .state = batch_job_state},
    [SEED_BATCH_TASK] = {.collection = "tasks",
                         .above = SEED_BATCH_JOB,
                         .plane = SEED_AT_BATCH,
                         .below = "/tasks",
                         .version = BATCH_NAME,
                         .posted = "id",
                         .own = {"state", "files"},
                         .shown = &schema_batch_task,
                         .shown_in = BATCH_SHOWN,
                         .state = task_state},
    [SEED_ROLE] = {.collection = "roles",
                   .above = SEED_GROUP,
                   .below = ROLE_ASSIGNMENTS,
                   .version = "2022-04-01",
                   .own = {"scope"}},
};

const struct seed_step *seed_step_in(const struct seed_step *s, enum seed_kind_id kind)
{
    while (s && s->kind != &seed_kinds[kind])
        s = s->above;
    return s;
}

bool seed_is_child(enum seed_kind_id child, enum seed_kind_id of)
{
    bool at_top = child == SEED_GROUP || child == SEED_SUBSCRIPTION_ROLE;
    return !at_top && seed_kinds[child].above == of;
}

bool seed_kind_named(enum seed_kind_id of, const char *member)
{
    for (int k = 0; k < SEED_KINDS; k++)
        if (seed_is_child((enum seed_kind_id)k, of) &&
            strcmp(seed_kinds[k].collection, member) == 0)
            return true;
    return false;
}

bool seed_is_own(const struct seed_kind *kind, const char *member)
{
    for (size_t i = 0; kind->own[i]; i++)
        if (strcmp(kind->own[i], member) == 0)
            return true;
    return seed_kind_named((enum seed_kind_id)(kind - seed_kinds), member);
}

/* --- a tree as steps ---------------------------------------------------------------------------
 */

struct kind_walk {
    struct arena *a;
    const char *subscription;
    struct seed_steps *out;
};

static int down(struct kind_walk *w, const char *step, struct err *e)
{
    if (w->out->at.n == SEED_STEPS_MAX)
        return err_set(e, ERR_INVALID_CONTENT, NULL, "It is nested too deep.");
    w->out->at.step[w->out->at.n++] = arena_strdup(w->a, step);
    return 0;
}

/* Counts the steps before the first step is created, so that their array never grows: steps point
 * to each other and must not move. */
static size_t count(const json_t *tree, int depth)
{
    const char *name;
    json_t *v;
    size_t n = 1;
    if (depth < SEED_DEPTH_MAX)
        json_object_foreach((json_t *)tree, name, v)
            n += count(v, depth + 1);
    return n;
}

static int walk_kind(struct kind_walk *w, enum seed_kind_id k, const json_t *named,
                     const struct seed_step *above, struct err *e);

/* Whether a member may be at the top of the body of an ARM request. ARM accepts unknown members
 * too; in a seed an unknown member is probably a misspelt collection. */
static bool is_of_body(const char *member)
{
    static const char *const known[] = {"location", "tags",     "properties", "sku",
                                        "kind",     "identity", "zones",      "plan",
                                        "id",       "name",     "type",       "managedBy"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], member) == 0)
            return true;
    return false;
}

/* The members that a kind accepts, for an error message: "location, tags, properties, fileServers,
 * clusters, experiments" */
static const char *taken_by(struct arena *a, const struct seed_kind *kind)
{
    enum seed_kind_id of = (enum seed_kind_id)(kind - seed_kinds);
    const char *text = "location, tags, properties";
    for (int k = 0; k < SEED_KINDS; k++)
        if (seed_is_child((enum seed_kind_id)k, of))
            text = arena_concat(a, text, ", ", seed_kinds[k].collection);
    for (size_t i = 0; kind->own[i]; i++)
        text = arena_concat(a, text, ", ", kind->own[i]);
    return text;
}

static int members_are_known(struct kind_walk *w, const struct seed_step *s, struct err *e)
{
    const char *name;
    json_t *v;
    if (s->kind->plane != SEED_ARM || s->kind->unasked)
        return 0;
    json_object_foreach((json_t *)s->given, name, v) {
        if (is_of_body(name) || seed_is_own(s->kind, name))
            continue;
        (void)down(w, name, e);
        return err_set(e, ERR_INVALID_CONTENT, NULL, "'%.100s' is not known here; it takes %s.",
                       name, taken_by(w->a, s->kind));
    }
    return 0;
}

static int walk_children(struct kind_walk *w, struct seed_step *s, struct err *e)
{
    enum seed_kind_id of = (enum seed_kind_id)(s->kind - seed_kinds);
    if (members_are_known(w, s, e) < 0)
        return -1;
    for (int k = 0; k < SEED_KINDS; k++) {
        const json_t *named = json_object_get(s->given, seed_kinds[k].collection);
        if (!seed_is_child(k, of) || !named)
            continue;
        if (walk_kind(w, (enum seed_kind_id)k, named, s, e) < 0)
            return -1;
    }
    return 0;
}

/* On success out->at (the current place in the seed) is unchanged; on error it is the place of the
 * error. */
static int walk_kind(struct kind_walk *w, enum seed_kind_id k, const json_t *named,
                     const struct seed_step *above, struct err *e)
{
    const char *name;
    json_t *given;
    size_t here = w->out->at.n;
    if (down(w, seed_kinds[k].collection, e) < 0)
        return -1;
    if (!json_is_object(named))
        return err_set(e, ERR_INVALID_CONTENT, NULL,
                       "%s must be a mapping from names to resources.", seed_kinds[k].collection);
    json_object_foreach((json_t *)named, name, given) {
        if (down(w, name, e) < 0)
            return -1;
        if (!json_is_object(given))
            return err_set(
                e, ERR_INVALID_CONTENT, NULL,
                "'%.100s' must be a mapping: the body of the request that creates the resource.",
                name);
        struct seed_step *s = &w->out->items[w->out->n++];
        *s = (struct seed_step){.kind = &seed_kinds[k],
                                .above = above,
                                .name = seed_filled(w->a, name, w->subscription),
                                .subscription = w->subscription,
                                .given = given,
                                .at = w->out->at};
        if (walk_children(w, s, e) < 0)
            return -1;
        w->out->at.n = here + 1;
    }
    w->out->at.n = here;
    return 0;
}

/* Reads {"groups": ..., "roles": ...}; refuses any other member that is not in `also`. */
static int walk_top(struct kind_walk *w, const json_t *o, const char *const *also, struct err *e)
{
    const char *name;
    json_t *v;
    json_object_foreach((json_t *)o, name, v) {
        const char *const *known = also;
        while (*known && strcmp(*known, name) != 0)
            known++;
        if (!*known && strcmp(name, "groups") != 0 && strcmp(name, "roles") != 0) {
            (void)down(w, name, e);
            return err_set(e, ERR_INVALID_CONTENT, NULL,
                           "'%.100s' is not known here; it takes groups, roles%s%s.", name,
                           also[0] ? " and " : "", also[0] ? also[0] : "");
        }
    }
    const json_t *groups = json_object_get(o, "groups"), *roles = json_object_get(o, "roles");
    return (groups && walk_kind(w, SEED_GROUP, groups, NULL, e) < 0) ||
                   (roles && walk_kind(w, SEED_SUBSCRIPTION_ROLE, roles, NULL, e) < 0)
               ? -1
               : 0;
}

static int walk_subscriptions(struct kind_walk *w, const json_t *all, struct err *e)
{
    static const char *const also[] = {"displayName", NULL};
    const char *guid;
    json_t *one;
    if (down(w, "subscriptions", e) < 0)
        return -1;
    if (!json_is_object(all))
        return err_set(e, ERR_INVALID_CONTENT, NULL,
                       "subscriptions must be a mapping from ids to subscriptions.");
    json_object_foreach((json_t *)all, guid, one) {
        if (down(w, guid, e) < 0)
            return -1;
        if (!guid_valid(guid) || !json_is_object(one))
            return err_set(e, ERR_INVALID_CONTENT, NULL,
                           "'%.100s' must be the GUID of a subscription, and its value a mapping.",
                           guid);
        w->subscription = arena_strdup(w->a, guid);
        if (walk_top(w, one, also, e) < 0)
            return -1;
        w->out->at.n--;
    }
    w->out->at.n--;
    return 0;
}

int seed_steps_read(struct arena *a, const json_t *tree, const char *subscription,
                    struct seed_steps *out, struct err *e)
{
    static const char *const also[] = {"subscriptions", NULL};
    struct kind_walk w = {.a = a, .subscription = subscription, .out = out};
    *out = (struct seed_steps){.n = 0};
    out->items = arena_alloc(a, count(tree, 0) * sizeof *out->items);
    const json_t *all = json_object_get(tree, "subscriptions");
    return walk_top(&w, tree, also, e) < 0 || (all && walk_subscriptions(&w, all, e) < 0) ? -1 : 0;
}
