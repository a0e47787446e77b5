/* SPDX-License-Identifier: MIT
 *
 * Lists deleted shares and containers and restores them, for some time after their deletion. Also
 * creates a share.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "api/access/access.h"
#include "api/admin/admin.h"
#include "api/admin/routes.h"
#include "api/arm/lookup.h"
#include "api/http/accept.h"
#include "api/http/request.h"
#include "lib/timefmt.h"
#include "model/schema_rows.h"
#include "model/spec.h"
#include "storage/shares/shares.h"
#include "storage/storage.h"

#define DELETED_MAX 1000
#define READ        "batchaid/storage/read"
#define WRITE       "batchaid/storage/write"

static json_t *render(const struct share *s)
{
    char when[TIMEFMT_SIZE];
    timefmt_wire(s->deleted_us, when);
    return json_pack("{s:I, s:s, s:s, s:s, s:s*}", "number", (json_int_t)s->id, "account",
                     s->account, "kind", enum_to_name(share_kind_names, (int)s->kind), "name",
                     s->name, "deletedTime", s->deleted_us ? when : NULL);
}

/* The scope at which the rights to a deleted share are checked: its subscription, because account
 * and group may belong to somebody else now. NULL: only the first principal has a right. */
static const char *scope_of(struct request *r, const struct share *s)
{
    return s->subscription ? arena_concat(&r->arena, "/subscriptions/", s->subscription) : NULL;
}

static bool may(struct request *r, const char *action, const struct share *s)
{
    const struct grants *held = r->grant;
    const char *scope = held ? scope_of(r, s) : NULL;
    return !held || (scope && access_verdict(held, action, scope) == ACCESS_YES);
}

/* Reads at most DELETED_MAX rows, and adds those that the caller may see until the list has `max`.
 * *after becomes the id of the last row that was checked. */
static int add_some(struct request *r, int64_t *after, size_t max, json_t *list, struct err *e)
{
    struct share_rows rows;
    const struct st_page page = {.after = *after, .limit = DELETED_MAX};
    if (st_share_deleted(admin_of(r)->storage, &r->arena, INT64_MAX, &page, &rows, e) < 0)
        return -1;
    for (size_t i = 0; i < rows.n && json_array_size(list) < max; i++) {
        *after = rows.items[i].id;
        if (may(r, READ, &rows.items[i]))
            json_array_append_new(list, render(&rows.items[i]));
    }
    return 0;
}

struct replied *deleted_shares_list(struct request *r)
{
    struct err e;
    long given, max;
    json_t *list = request_own(r, json_array());
    if (request_query_int(r, "after", (struct query_bounds){0, LONG_MAX, 0}, &given, &e) < 0 ||
        request_query_int(r, "max", (struct query_bounds){1, DELETED_MAX, DELETED_MAX}, &max, &e) <
            0)
        return reply_err(r, &e);
    int64_t after = given;
    if (add_some(r, &after, (size_t)max, list, &e) < 0)
        return reply_err(r, &e);
    return reply_json(r, 200, json_pack("{s:O, s:I}", "value", list, "next", (json_int_t)after));
}

/* --- restore ---------------------------------------------------------------------------------- */

struct restoring {
    struct request *r;
    int64_t id;
};

static struct replied *show(struct request *r, int64_t id)
{
    struct err e;
    struct share s;
    int rc = st_share_by_id(admin_of(r)->storage, &r->arena, id, &s, &e);
    if (rc == 0)
        err_set(&e, ERR_RESOURCE_NOT_FOUND, NULL,
                "The share or container was deleted again after the restore.");
    return rc <= 0 ? reply_err(r, &e) : reply_json(r, 200, render(&s));
}

static void on_restored(void *ctx, const struct err *why)
{
    const struct restoring *w = ctx;
    request_finish(w->r, why ? reply_err(w->r, why) : show(w->r, w->id));
}

/* For a share that the caller may not see, the error is the same as for a missing share. */
static int check_restore(struct request *r, int64_t id, struct err *e)
{
    struct share s;
    int rc = st_share_by_id(admin_of(r)->storage, &r->arena, id, &s, e);
    if (rc < 0)
        return -1;
    if (rc == 0 || s.state != SHARE_DELETED || !may(r, READ, &s))
        return err_set(e, ERR_RESOURCE_NOT_FOUND, NULL,
                       "There is no deleted share or container with the number %lld.",
                       (long long)id);
    return may(r, WRITE, &s) ? 0 : access_refuse(r, WRITE, scope_of(r, &s), e);
}

struct replied *deleted_shares_restore(struct request *r)
{
    struct err e;
    struct restoring *w = arena_alloc(&r->arena, sizeof *w);
    char *end;
    const char *number = request_param(r, "number");
    *w = (struct restoring){r, strtoll(number, &end, 10)};
    if (*end || *number == '-' || end == number)
        w->id = 0; /* no share has this id */
    if (check_restore(r, w->id, &e) < 0 ||
        shares_restore(admin_of(r)->shares, w->id, on_restored, w, &e) < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "share.restoring", LF_INT("share_id", w->id),
             LF_STR("by", r->who->name));
    return reply_later(r);
}

/* --- creating a share --- */

static const struct field name_rows[] = {
    TEXT("account", REQUIRED, INTO(share_name, account)),
    ENUM("kind", REQUIRED, share_kind_names, INTO(share_name, kind)),
    TEXT("name", REQUIRED, INTO(share_name, share)),
};
static SCHEMA(name_body, name_rows, "ShareName", FILLS(share_name));

static int read_name(struct request *r, struct share_name *n, struct err *e)
{
    if (request_read_body(r, &name_body, n, e) < 0)
        return -1;
    if (!account_name_valid(n->account))
        return err_set(e, ERR_INVALID_NAME, "account", "'%.100s' is not %s", n->account,
                       account_name_rule);
    if (!share_name_valid(n->share))
        return err_set(e, ERR_INVALID_NAME, "name", "'%.100s' is not %s", n->share,
                       share_name_rule);
    return 0;
}

/* Everybody may create shares in a new account, and in an account that their own earlier request
 * created implicitly, as in a mount without a key. */
static int check_own(struct request *r, const struct share_name *n, struct err *e)
{
    const struct grants *held = r->grant; /* NULL: the first principal */
    struct storage_account s;
    if (!held)
        return 0;
    int rc = st_account_by_name(admin_of(r)->storage, &r->arena, arena_lower(&r->arena, n->account),
                                &s, e);
    if (rc <= 0 || (s.implicit && s.created_by && strcmp(s.created_by, r->who->object_id) == 0))
        return rc < 0 ? -1 : 0;
    const char *id =
        resource_id(&r->arena, "Microsoft.Storage", &s.scope, "storageAccounts", s.name);
    if (access_verdict(held, WRITE, id) == ACCESS_YES)
        return 0;
    return err_set(e, ERR_FORBIDDEN, "account",
                   "The storage account %s is not your own: it was created by somebody else. "
                   "Shares of it need the right batchaid/storage/write.",
                   s.name);
}

/* 1: the share exists and is still being made; *id is its id. 0: the share is ready or does not
 * exist. -1: err. */
static int find_made(struct request *r, const struct share_name *n, int64_t *id, struct err *e)
{
    struct storage *st = admin_of(r)->storage;
    struct storage_account acct;
    struct share s;
    int rc = st_account_by_name(st, &r->arena, arena_lower(&r->arena, n->account), &acct, e);
    if (rc > 0)
        rc = st_share_by_name(st, &r->arena, acct.id, n->kind, arena_lower(&r->arena, n->share), &s,
                              e);
    if (rc > 0)
        *id = s.id;
    return rc > 0 ? s.state == SHARE_MAKING : rc;
}

static void on_named(void *ctx, const struct err *why)
{
    struct request *r = ctx;
    request_finish(r, why ? reply_err(r, why) : reply_empty(r, 204));
}

/* Replies when the share is ready, because the caller's next request may be for a file in it. */
struct replied *shares_name(struct request *r)
{
    int64_t id;
    struct err e;
    struct share_name n = {0};
    struct shares *sh = admin_of(r)->shares;
    if (read_name(r, &n, &e) < 0 || check_own(r, &n, &e) < 0 ||
        shares_check_named(sh, &n, &e) < 0 ||
        shares_make_named(sh, &n, r->who->object_id, r->now_us, &e) < 0)
        return reply_err(r, &e);
    int being_made = find_made(r, &n, &id, &e);
    if (being_made <= 0)
        return being_made < 0 ? reply_err(r, &e) : reply_empty(r, 204);
    shares_when_made(sh, id, on_named, r);
    return reply_later(r);
}
