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
    const char *share, *item, *scope;
} names[] = {
    [SHARE_FILES] = {STORAGE "/fileServices/fileshares", STORAGE "/fileServices/fileshares/files",
                     "/fileServices/default/fileshares/"},
    [SHARE_BLOBS] = {STORAGE "/blobServices/containers", STORAGE "/blobServices/containers/blobs",
                     "/blobServices/default/containers/"},
};

static const char *verb_of(const struct request *r)
{
    return strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0 ? "/read"
           : strcmp(r->method, "DELETE") == 0                              ? "/delete"
                                                                           : "/write";
}

/* `share`: "": none. */
static int check(struct request *r, const struct storage_account *account, enum share_kind kind,
                 const char *share, bool item, const char *verb, struct err *e)
{
    const struct scope *s = &account->scope;
    struct grants held;
    if (r->who->first)
        return 0;
    const char *group = arena_concat(&r->arena, "/subscriptions/", s->subscription,
                                     "/resourceGroups/", s->group, "/providers/");
    const char *scope =
        arena_concat(&r->arena, group, STORAGE, "/", account->name, names[kind].scope, share);
    const char *type = item ? names[kind].item : names[kind].share;
    const char *action = arena_concat(&r->arena, type, verb);
    if (access_load(azstorage_of(r)->access, &r->arena, r->who, &held, e) < 0)
        return -1;
    if (access_to_data(&held, action, scope) ||
        (!item && access_verdict(&held, action, scope) == ACCESS_YES))
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
    return check(r, &g->account, g->plane->kind, share, r->n_segments > 1, verb_of(r), e);
}

int plane_check_role_of_source(struct request *r, const struct storage_account *account,
                               enum share_kind kind, const char *share, struct err *e)
{
    return check(r, account, kind, share, true, "/read", e);
}
