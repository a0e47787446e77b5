/* SPDX-License-Identifier: MIT
 *
 * Decides by the roles of a token's principal whether he may use an account's data.
 */
#include <string.h>

#include "api/plane/storage/data_plane.h"
#include "api/plane/storage/roles.h"

#define STORAGE "Microsoft.Storage/storageAccounts"

/* For each plane: the parts of its names of actions, and of its scopes. */
static const struct {
    const char *service, *share, *item, *scope;
} names[] = {
    [SHARE_FILES] = {STORAGE "/fileServices", STORAGE "/fileServices/shares",
                     STORAGE "/fileServices/fileshares/files", "/fileServices/default/fileshares/"},
    [SHARE_BLOBS] = {STORAGE "/blobServices", STORAGE "/blobServices/containers",
                     STORAGE "/blobServices/containers/blobs", "/blobServices/default/containers/"},
};

/* The kind of object that an action is for. */
enum about { THE_SERVICE, A_SHARE, AN_ITEM };

struct needed_action {
    enum about about;
    const char *verb;
};

/* Operations whose action does not follow from their name and method.
 * https://learn.microsoft.com/rest/api/storageservices/authorize-with-azure-active-directory#permissions-for-calling-data-operations
 */
static const struct {
    const char *operation;
    struct needed_action action;
} special[] = {
    {"Service_GetProperties", {THE_SERVICE, "/read"}},
    {"Service_SetProperties", {THE_SERVICE, "/write"}}, /* no role for data contains this action */
    {"Service_GetAccountInfo", {THE_SERVICE, "/getInfo/action"}},
    {"Container_GetAccountInfo", {THE_SERVICE, "/getInfo/action"}},
    {"Blob_GetAccountInfo", {THE_SERVICE, "/getInfo/action"}},
    {"Service_GetUserDelegationKey", {THE_SERVICE, "/generateUserDelegationKey/action"}},
    {"Container_GetAccessPolicy", {A_SHARE, "/getAcl/action"}},
    {"Container_SetAccessPolicy", {A_SHARE, "/setAcl/action"}},
    {"Container_ListBlobs", {AN_ITEM, "/read"}},
    {"Container_FilterBlobs", {AN_ITEM, "/filter/action"}},
    {"Service_FilterBlobs", {AN_ITEM, "/filter/action"}},
    {"Blob_GetTags", {AN_ITEM, "/tags/read"}},
    {"Blob_SetTags", {AN_ITEM, "/tags/write"}},
    {"Share_Lease", {A_SHARE, "/lease/action"}},
    {"Share_CreatePermission", {AN_ITEM, "/modifypermissions/action"}},
    {"Share_GetPermission", {AN_ITEM, "/read"}},
};

/* The kind of object that an operation is about. Lists of containers and batches count as
 * operations on a container. */
static enum about about_of(const char *operation)
{
    static const char *const shares[] = {"Service_", "Container_", "Share_"};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        if (strncmp(operation, shares[i], strlen(shares[i])) == 0)
            return A_SHARE;
    return AN_ITEM;
}

static struct needed_action action_of(const struct request *r)
{
    const char *operation = r->route->operation_id;
    bool reads = strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (strcmp(special[i].operation, operation) == 0)
            return special[i].action;
    return (struct needed_action){about_of(operation), reads ? "/read"
                                                       : strcmp(r->method, "DELETE") == 0
                                                           ? "/delete"
                                                           : "/write"};
}

/* An action, and the scope at which a role must allow it. */
struct target_of_role {
    const char *action, *scope;
};

static struct target_of_role target_of(struct arena *a, const struct data_place *place,
                                       struct needed_action needed)
{
    const struct scope *s = &place->account->scope;
    enum share_kind kind = place->kind;
    const char *group = arena_concat(a, "/subscriptions/", s->subscription, "/resourceGroups/",
                                     s->group, "/providers/");
    const char *type = needed.about == AN_ITEM   ? names[kind].item
                       : needed.about == A_SHARE ? names[kind].share
                                                 : names[kind].service;
    return (struct target_of_role){arena_concat(a, type, needed.verb),
                                   arena_concat(a, group, STORAGE, "/", place->account->name,
                                                names[kind].scope, place->share)};
}

/* Whether the account belongs to the principal: a mount of his was the first to name it, and nobody
 * has created it since. Then he may use its files with a token too, because his jobs use them
 * anyway. */
static bool is_own(const struct principal *who, const struct storage_account *account,
                   enum about about)
{
    return about == AN_ITEM && account->implicit && account->created_by &&
           strcmp(account->created_by, who->object_id) == 0;
}

/* Whether a role of the principal allows the action: 1 or 0; -1: error. */
static int allows(const struct access *x, struct arena *a, const struct principal *who,
                  const struct target_of_role *t, enum about about, struct err *e)
{
    struct grants held;
    if (who->first)
        return 1;
    if (access_load(x, a, who, &held, e) < 0)
        return -1;
    return access_to_data(&held, t->action, t->scope) ||
           (about != AN_ITEM && access_verdict(&held, t->action, t->scope) == ACCESS_YES);
}

static const struct needed_action reading = {AN_ITEM, "/read"};

bool roles_allow_reading(struct arena *a, const struct principal *who, const struct grants *held,
                         const struct data_place *place)
{
    const struct target_of_role t = target_of(a, place, reading);
    return is_own(who, place->account, AN_ITEM) || access_to_data(held, t.action, t.scope);
}

int roles_refuse_reading(struct request *r, const struct data_place *place, struct err *e)
{
    const struct target_of_role t = target_of(&r->arena, place, reading);
    return access_refuse(r, t.action, t.scope, e);
}

int roles_read(const struct access *x, struct arena *a, const struct principal *who,
               const struct data_place *place, struct err *e)
{
    const struct target_of_role t = target_of(a, place, reading);
    return is_own(who, place->account, AN_ITEM) ? 1 : allows(x, a, who, &t, AN_ITEM, e);
}

int roles_change(const struct access *x, struct arena *a, const struct principal *who,
                 const struct data_place *place, struct err *e)
{
    static const struct needed_action changes[] = {{AN_ITEM, "/write"}, {AN_ITEM, "/delete"}};
    int rc = roles_read(x, a, who, place, e);
    for (size_t i = 0; i < sizeof changes / sizeof *changes && rc > 0; i++) {
        const struct target_of_role t = target_of(a, place, changes[i]);
        rc = is_own(who, place->account, AN_ITEM) ? 1 : allows(x, a, who, &t, AN_ITEM, e);
    }
    return rc;
}

static int check(struct request *r, const struct principal *who, const struct data_place *place,
                 struct needed_action needed, struct err *e)
{
    const struct target_of_role t = target_of(&r->arena, place, needed);
    int rc = is_own(who, place->account, needed.about)
                 ? 1
                 : allows(azstorage_of(r)->access, &r->arena, who, &t, needed.about, e);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    LOG_INFO(r->config->log, "access.refused", LF_STR("principal", who->name),
             LF_STR("action", t.action), LF_STR("scope", t.scope),
             LF_STR("req", r->correlation_id));
    return err_set(e, AZSTORAGE_PERMISSION, NULL,
                   "This request is not authorized to perform this operation using this "
                   "permission.");
}

/* Checks the roles at the share that the path names. */
static int check_here(struct request *r, struct needed_action needed, struct err *e)
{
    const struct grant *g = grant_of(r);
    const char *share = r->n_segments > 0 ? r->segment[0] : "";
    const struct data_place place = {&g->account, g->plane->kind, share};
    return check(r, r->who, &place, needed, e);
}

int plane_check_role(struct request *r, struct err *e)
{
    return check_here(r, action_of(r), e);
}

int plane_check_tags(struct request *r, struct err *e)
{
    if (!grant_has(grant_of(r), 't'))
        return err_set(e, AZSTORAGE_PERMISSION, NULL,
                       "This request is not authorized to perform this operation using this "
                       "permission: x-ms-tags needs the one for tags (t).");
    /* r->who: the principal of the token, or the owner of the user delegation key; NULL: no roles
     * are needed. */
    return r->who ? check_here(r, (struct needed_action){AN_ITEM, "/tags/write"}, e) : 0;
}

int plane_check_role_of_source(struct request *r, const struct principal *who,
                               const struct data_place *place, const char *needed, struct err *e)
{
    static const struct needed_action tags = {AN_ITEM, "/tags/read"};
    if (check(r, who, place, reading, e) < 0)
        return -1;
    return strchr(needed, 't') ? check(r, who, place, tags, e) : 0;
}
