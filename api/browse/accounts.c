/* SPDX-License-Identifier: MIT
 *
 * The storage accounts of all groups with their shares and containers, as far as the caller may
 * read these.
 */
#include <string.h>
#include <strings.h>

#include "api/browse/browse.h"
#include "api/browse/routes.h"
#include "api/http/slices.h"
#include "model/spec.h"
#include "storage/storage.h"

#define ACCOUNTS_BATCH 50
#define SHARES_SHOWN   1000 /* of an account, of each kind */

struct account_list {
    struct request *r;
    struct rows rows;
    int64_t at; /* the id of the last account that was read */
};

static int fetch(struct slices *s, struct err *e)
{
    struct account_list *l = s->of;
    struct storage_account_rows rows;
    int rc =
        st_account_list_all(azstorage_of(l->r)->storage, &l->r->arena,
                            &(struct st_page){.after = l->at, .limit = ACCOUNTS_BATCH}, &rows, e);
    s->rows = rows.items;
    s->n = rc < 0 ? 0 : rows.n;
    s->at_end = s->n < ACCOUNTS_BATCH;
    if (s->n > 0)
        l->at = rows.items[s->n - 1].id;
    return rc;
}

/* The names of those that the caller may read. *cut: there are more. NULL: err. */
static json_t *names_of(struct request *r, const struct storage_account *account,
                        enum share_kind kind, bool *cut, struct err *e)
{
    struct share_rows rows;
    if (st_share_list(azstorage_of(r)->storage, &r->arena, account->id, kind, "",
                      &(struct st_names){.after = "", .limit = SHARES_SHOWN + 1}, &rows, e) < 0)
        return NULL;
    json_t *names = json_array();
    bool all = may_read_all(r, account);
    *cut = *cut || rows.n > SHARES_SHOWN;
    for (size_t i = 0; i < rows.n && i < SHARES_SHOWN; i++)
        if (all || may_read_one(r, account, kind, rows.items[i].name))
            json_array_append_new(names, json_string(rows.items[i].name));
    return names;
}

static int add(struct slices *s, const void *row, struct err *e)
{
    struct account_list *l = s->of;
    struct request *r = l->r;
    const struct storage_account *account = row;
    bool cut = false;
    if (!account_name_valid(account->name) || account->prov_state == PROV_DELETING)
        return 0; /* a buried one, or one that goes */
    json_auto_t *files = names_of(r, account, SHARE_FILES, &cut, e);
    json_auto_t *blobs = files ? names_of(r, account, SHARE_BLOBS, &cut, e) : NULL;
    if (!blobs)
        return -1;
    if (json_array_size(files) + json_array_size(blobs) == 0 && !sees_account(r, account))
        return 0;
    bool usual =
        strcasecmp(account->scope.subscription, azstorage_of(r)->access->subscription_id) == 0;
    json_t *shown =
        json_pack("{s:s, s:s, s:s*, s:s, s:O, s:O}", "name", account->name, "group",
                  account->scope.group, "subscription", usual ? NULL : account->scope.subscription,
                  "location", account->scope.location, "files", files, "blobs", blobs);
    if (cut)
        json_object_set_new(shown, "cut", json_true());
    page_add_id(l->rows.page, account->id, shown);
    return 0;
}

struct replied *accounts_list(struct request *r)
{
    static const struct slices_kind kind = {.fetch = fetch, .add = add};
    struct err e;
    struct account_list *l = arena_alloc(&r->arena, sizeof *l);
    *l = (struct account_list){.r = r};
    if (rows_begin_numbers(r, &l->rows, &e) < 0)
        return reply_err(r, &e);
    l->at = page_after_id(l->rows.page);
    return slices_reply(l->rows.page, &kind, l, sizeof(struct storage_account));
}
