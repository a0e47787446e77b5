/* SPDX-License-Identifier: MIT
 *
 * What the bearer of a token may do with an account's data: what a role of theirs allows there.
 */
#include <string.h>

#include "api/access/access.h"
#include "api/azstorage/plane.h"

#define STORAGE "Microsoft.Storage/storageAccounts"

/* The types of a plane in actions, and its part of scopes. */
static const struct {
    const char *service, *share, *item, *scope;
} names[] = {
    [SHARE_FILES] = {STORAGE "/fileServices", STORAGE "/fileServices/fileshares",
                     STORAGE "/fileServices/fileshares/files", "/fileServices/default/fileshares/"},
    [SHARE_BLOBS] = {STORAGE "/blobServices", STORAGE "/blobServices/containers",
                     STORAGE "/blobServices/containers/blobs", "/blobServices/default/containers/"},
};

/* What an action is about. */
enum about { THE_SERVICE, A_SHARE, AN_ITEM };

static const char *verb_of(const struct request *r)
{
    return strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0 ? "/read"
           : strcmp(r->method, "DELETE") == 0                              ? "/delete"
                                                                           : "/write";
}

/* `share`: "": none. */
static int check(struct request *r, const struct storage_account *account, enum share_kind kind,
                 const char *share, enum about about, const char *verb, struct err *e)
{
    const struct scope *s = &account->scope;
    struct grants held;
    if (r->who->first)
        return 0;
    const char *group = arena_concat(&r->arena, "/subscriptions/", s->subscription,
                                     "/resourceGroups/", s->group, "/providers/");
    const char *scope =
        arena_concat(&r->arena, group, STORAGE, "/", account->name, names[kind].scope, share);
    const char *type = about == AN_ITEM   ? names[kind].item
                       : about == A_SHARE ? names[kind].share
                                          : names[kind].service;
    const char *action = arena_concat(&r->arena, type, verb);
    if (access_load(azstorage_of(r)->access, &r->arena, r->who, &held, e) < 0)
        return -1;
    if (access_to_data(&held, action, scope) ||
        (about != AN_ITEM && access_verdict(&held, action, scope) == ACCESS_YES))
        return 0;
    LOG_INFO(r->config->log, "access.refused", LF_STR("by", r->who->name), LF_STR("action", action),
             LF_STR("scope", scope), LF_STR("req", r->correlation_id));
    return err_set(e, AZSTORAGE_PERMISSION, NULL,
                   "This request is not authorized to perform this operation using this "
                   "permission.");
}

int plane_check_role(struct request *r, struct err *e)
{
    const struct grant *g = grant_of(r);
    const char *share = r->n_segments > 0 ? r->segment[0] : "";
    enum about about = r->n_segments > 1 ? AN_ITEM : A_SHARE;
    if (r->n_segments == 0 && strcmp(r->method, "PUT") == 0)
        about = THE_SERVICE; /* its settings: no role for data has this action */
    return check(r, &g->account, g->plane->kind, share, about, verb_of(r), e);
}

int plane_check_role_of_source(struct request *r, const struct storage_account *account,
                               enum share_kind kind, const char *share, struct err *e)
{
    return check(r, account, kind, share, AN_ITEM, "/read", e);
}
