/* SPDX-License-Identifier: MIT
 *
 * The right to read files: from a role with a data action; or from the right to list the account's
 * keys, because the keys give access to the files.
 */
#include <string.h>
#include <strings.h>

#include "api/browse/browse.h"
#include "api/plane/storage/data_plane.h"
#include "api/plane/storage/roles.h"
#include "model/spec.h"
#include "storage/storage.h"

#define ACCOUNTS "Microsoft.Storage/storageAccounts"

static const struct plane planes[] = {
    [SHARE_FILES] = {.service = SAS_FILE,
                     .kind = SHARE_FILES,
                     .share = "share",
                     .any_names = true,
                     .no_share = AZSTORAGE_SHARE_NOT_FOUND},
    [SHARE_BLOBS] = {.service = SAS_BLOB,
                     .kind = SHARE_BLOBS,
                     .share = "container",
                     .no_share = AZSTORAGE_CONTAINER_NOT_FOUND},
};

static bool allows(const struct request *r, const struct storage_account *account,
                   const char *action)
{
    struct arena a;
    const struct grants *held = held_by(r);
    if (!held)
        return true;
    arena_init(&a);
    const char *scope =
        arena_printf(&a, "/subscriptions/%s/resourceGroups/%s/providers/" ACCOUNTS "/%s",
                     account->scope.subscription, account->scope.group, account->name);
    bool yes = access_verdict(held, action, scope) == ACCESS_YES;
    arena_free(&a);
    return yes;
}

bool sees_account(struct request *r, const struct storage_account *account)
{
    return allows(r, account, ACCOUNTS "/read");
}

/* Whether the principal may list the keys of the account, and the keys give access to its
 * contents. */
static bool has_keys(const struct request *r, const struct storage_account *account)
{
    return allows(r, account, ACCOUNTS "/listKeys/action") &&
           !account_forbids(account, "allowSharedKeyAccess");
}

bool may_read_all(const struct request *r, const struct storage_account *account)
{
    return !held_by(r) || has_keys(r, account);
}

bool may_read_one(struct request *r, const struct data_place *place)
{
    struct arena a;
    arena_init(&a);
    bool yes = roles_allow_reading(&a, r->who, held_by(r), place);
    arena_free(&a);
    return yes;
}

/* --- a place ---------------------------------------------------------------------------------- */

static int read_kind(struct request *r, enum share_kind *kind, struct err *e)
{
    const char *text = request_query(r, "kind");
    int value = text ? enum_from_name(share_kind_names, text) : 0;
    *kind = (enum share_kind)value;
    if (value > 0)
        return 0;
    return err_set(e, ERR_INVALID_QUERY, "kind",
                   "'%.100s' is not a valid kind; use files for a share or blobs for a container",
                   text ? text : "");
}

static int find_account(struct request *r, struct storage_account *out, struct err *e)
{
    const char *text = request_query(r, "account"), *name = arena_lower(&r->arena, text);
    if (!account_name_valid(name))
        return err_set(e, ERR_INVALID_QUERY, "account",
                       "The query parameter account is '%.100s'; it must be %s.", text ? text : "",
                       account_name_rule);
    int rc = st_account_by_name(azstorage_of(r)->storage, &r->arena, name, out, e);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    return err_set(e, ERR_RESOURCE_NOT_FOUND, "account",
                   "There is no storage account '%.60s'; GET /batchaid/storage/accounts lists "
                   "those that you may see.",
                   name);
}

static int find_share(struct request *r, struct grant *g, struct err *e)
{
    const char *name = request_query(r, "share");
    if (!name || !*name)
        return err_set(e, ERR_INVALID_QUERY, "share",
                       "The query parameter share is missing: name a %s of the account %s.",
                       g->plane->share, g->account.name);
    const struct data_place place = {&g->account, g->plane->kind, name};
    if (!may_read_all(r, &g->account) && !may_read_one(r, &place))
        return roles_refuse_reading(r, &place, e);
    int rc = st_share_by_name(azstorage_of(r)->storage, &r->arena, g->account.id, g->plane->kind,
                              name, &g->share, e);
    g->has_share = rc > 0 && g->share.state == SHARE_THERE;
    if (rc < 0 || g->has_share)
        return rc < 0 ? -1 : 0;
    return err_set(e, g->plane->no_share, "share", "The account %s has no %s '%.80s'.",
                   g->account.name, g->plane->share, name);
}

int browsed_account(struct request *r, enum share_kind *kind, struct storage_account *out,
                    struct err *e)
{
    return read_kind(r, kind, e) < 0 ? -1 : find_account(r, out, e);
}

int browsed_find(struct request *r, enum share_kind *kind, struct err *e)
{
    struct grant *g = arena_alloc(&r->arena, sizeof *g);
    const char *path = request_query(r, "path");
    *g = (struct grant){.how = GRANT_TOKEN};
    if (browsed_account(r, kind, &g->account, e) < 0)
        return -1;
    g->plane = &planes[*kind];
    if (find_share(r, g, e) < 0)
        return -1;
    r->grant = g;
    r->rest = path ? path : "";
    return 0;
}
