/* SPDX-License-Identifier: MIT
 *
 * Two lists, with only what the caller may read: the storage accounts of all groups, each with the
 * first names of its shares and containers; and all these names of one account. Rights are checked
 * before rows are cut or counted. An account may have many shares, so its names are also read in
 * batches:
 *
 *     [next account] -> its shares, while there are any -> its containers -> its row is written
 */
#include <string.h>
#include <strings.h>

#include "api/browse/browse.h"
#include "api/browse/routes.h"
#include "api/http/slices.h"
#include "model/spec.h"
#include "storage/storage.h"

#define NAMES_MAX  1000  /* most names to show of each kind */
#define BATCH      200   /* names read at once */
#define LOOKED_MAX 10000 /* names or accounts to read only for counting */

/* --- the names of one account ----------------------------------------------------------------- */

struct share_names {
    struct request *r;
    struct rows rows;
    const struct storage_account *account;
    enum share_kind kind;
    bool all;           /* the caller may read all shares and containers of the account */
    struct strbuf name; /* the last name that was read; not in the arena */
};

static void names_free(void *ctx)
{
    struct share_names *l = ctx;
    strbuf_free(&l->name);
}

static void set(struct strbuf *b, const char *text)
{
    strbuf_reset(b);
    strbuf_puts(b, text);
}

static const char *text_of(const struct strbuf *b)
{
    return b->len > 0 ? b->s : "";
}

/* Reads a batch of names after `after`. Sets `after` to the last name. */
static int read_names(struct request *r, struct slices *s, int64_t account_id, enum share_kind kind,
                      struct strbuf *after, struct err *e)
{
    struct share_rows rows;
    const struct st_names part = {.after = text_of(after), .limit = BATCH};
    if (st_share_list(azstorage_of(r)->storage, &r->arena, account_id, kind, "", &part, &rows, e) <
        0)
        return -1;
    s->rows = rows.items;
    s->n = rows.n;
    if (rows.n > 0)
        set(after, rows.items[rows.n - 1].name);
    return 0;
}

static int fetch_names(struct slices *s, struct err *e)
{
    struct share_names *l = s->of;
    if (read_names(l->r, s, l->account->id, l->kind, &l->name, e) < 0)
        return -1;
    s->at_end = s->n < BATCH;
    return 0;
}

static int add_name(struct slices *s, const void *row, struct err *e)
{
    const struct share_names *l = s->of;
    const char *name = ((const struct share *)row)->name;
    (void)e;
    if (l->all || may_read_one(l->r, &(struct data_place){l->account, l->kind, name}))
        rows_add(l->rows.page, name, &(struct entry){.name = name, .is_directory = true});
    return 0;
}

struct replied *names_list(struct request *r)
{
    static const struct slices_kind kind = {.fetch = fetch_names, .add = add_name};
    struct err e;
    struct share_names *l = arena_alloc(&r->arena, sizeof *l);
    struct storage_account *account = arena_alloc(&r->arena, sizeof *account);
    *l = (struct share_names){.r = r, .account = account, .name = STRBUF_INIT};
    if (browsed_account(r, &l->kind, account, &e) < 0 || rows_begin(r, &l->rows, &e) < 0)
        return reply_err(r, &e);
    l->all = may_read_all(r, account);
    set(&l->name, l->rows.page->after);
    request_own_thing(r, l, names_free);
    return slices_reply(l->rows.page, &kind, l, sizeof(struct share));
}

/* --- accounts --------------------------------------------------------------------------------- */

enum part { PART_ACCOUNT, PART_FILES, PART_BLOBS, PART_ROW };

/* The names that were found in the account so far: shares or containers. */
struct found {
    long n;      /* names that the caller may read */
    long looked; /* names that were read since the list was full */
    bool over;   /* some names were not read */
    bool ended;  /* all names were read */
};

struct account_list {
    struct request *r;
    struct rows rows;
    long names;                     /* most names to show of each kind */
    bool counts;                    /* the caller requests the number of accounts */
    bool full;                      /* the page is full; further accounts are only counted */
    long looked;                    /* accounts and names read since then */
    enum part next;                 /* the part that the next batch reads */
    int64_t at;                     /* the id of the last account that was read */
    struct strbuf name;             /* of the last share or container that was read */
    struct storage_account account; /* the batch's account */
    bool all, sees;
    struct found found[2];
    json_t *shown; /* the account's row */
};

static void accounts_free(void *ctx)
{
    struct account_list *l = ctx;
    strbuf_free(&l->name);
}

static enum share_kind kind_of(enum part part)
{
    return part == PART_FILES ? SHARE_FILES : SHARE_BLOBS;
}

static struct found *found_of(struct account_list *l, enum part part)
{
    return &l->found[part - PART_FILES];
}

static json_t *names_of(const struct account_list *l, enum part part)
{
    return json_object_get(l->shown, part == PART_FILES ? "files" : "blobs");
}

static void go_on(struct account_list *l, enum part next)
{
    l->next = next;
    strbuf_reset(&l->name);
}

static void begin_row(struct account_list *l)
{
    const struct storage_account *a = &l->account;
    bool usual =
        strcasecmp(a->scope.subscription, azstorage_of(l->r)->access->subscription_id) == 0;
    json_auto_t *members =
        json_pack("{s:s, s:s, s:s*, s:s, s:[], s:[]}", "name", a->name, "group", a->scope.group,
                  "subscription", usual ? NULL : a->scope.subscription, "location",
                  a->scope.location, "files", "blobs");
    json_object_clear(l->shown);
    json_object_update(l->shown, members);
    memset(l->found, 0, sizeof l->found);
}

/* Whether the account can be listed: its name is valid and it is not being deleted. */
static bool is_there(const struct storage_account *a)
{
    return account_name_valid(a->name) && a->prov_state != PROV_DELETING;
}

static int fetch_account(struct account_list *l, struct slices *s, struct err *e)
{
    struct storage_account_rows rows;
    const struct st_page page = {.after = l->at, .limit = 1};
    if (st_account_list_all(azstorage_of(l->r)->storage, &l->r->arena, &page, &rows, e) < 0)
        return -1;
    s->at_end = rows.n == 0;
    if (s->at_end) {
        l->rows.page->more = l->full;
        return 0;
    }
    l->account = rows.items[0];
    l->at = l->account.id;
    l->looked += l->full;
    if (!is_there(&l->account))
        return 0;
    l->all = may_read_all(l->r, &l->account);
    l->sees = sees_account(l->r, &l->account);
    begin_row(l);
    go_on(l, l->full && l->sees ? PART_ROW : PART_FILES);
    return 0;
}

/* Whether enough names were read. */
static bool is_over(const struct account_list *l, const struct found *f)
{
    return l->full ? l->found[0].n + l->found[1].n > 0 : f->looked >= LOOKED_MAX;
}

static int fetch_part(struct account_list *l, struct slices *s, struct err *e)
{
    struct found *f = found_of(l, l->next);
    int rc = st_account_by_id(azstorage_of(l->r)->storage, &l->r->arena, l->at, &l->account, e);
    if (rc <= 0 || !is_there(&l->account)) {
        go_on(l, PART_ACCOUNT); /* the account was removed meanwhile */
        return rc < 0 ? -1 : 0;
    }
    f->over = !f->ended && is_over(l, f);
    if (!f->ended && !f->over) {
        if (read_names(l->r, s, l->at, kind_of(l->next), &l->name, e) < 0)
            return -1;
        f->ended = s->n < BATCH;
    }
    if (s->n == 0)
        go_on(l, l->next + 1);
    return 0;
}

/* Adds the number of names that are not shown: {"files": 3, "blobs": 10000, "isMinimum": true}.
 * isMinimum: some names were not read. A minimum of 0 means that the caller may read none of the
 * names that were read. */
static void add_more(struct account_list *l)
{
    long files = l->found[0].n - (long)json_array_size(names_of(l, PART_FILES));
    long blobs = l->found[1].n - (long)json_array_size(names_of(l, PART_BLOBS));
    bool over = l->found[0].over || l->found[1].over;
    if (files + blobs == 0 && !over)
        return;
    json_t *more = json_pack("{s:I, s:I}", "files", (json_int_t)files, "blobs", (json_int_t)blobs);
    if (over)
        json_object_set_new(more, "isMinimum", json_true());
    json_object_set_new(l->shown, "more", more);
    json_object_set_new(l->shown, "cut", json_true());
}

/* Adds the account's row. If the caller may read none of its names, the row is added only if the
 * caller may see the account. */
static void end_row(struct account_list *l)
{
    struct page *page = l->rows.page;
    l->next = PART_ACCOUNT;
    if (l->found[0].n + l->found[1].n == 0 && !l->sees)
        return;
    l->rows.count++;
    if (l->full)
        return;
    add_more(l);
    page_add_id(page, l->at, json_incref(l->shown));
    l->full = page->more;
    page->more = false; /* later accounts are only counted */
}

static int fetch(struct slices *s, struct err *e)
{
    struct account_list *l = s->of;
    if (l->full && (!l->counts || l->looked >= LOOKED_MAX)) {
        l->rows.page->more = l->rows.is_minimum = true;
        return 0;
    }
    switch (l->next) {
    case PART_ACCOUNT:
        return fetch_account(l, s, e);
    case PART_FILES:
    case PART_BLOBS:
        return fetch_part(l, s, e);
    case PART_ROW:
        end_row(l);
    }
    return 0;
}

static int add(struct slices *s, const void *row, struct err *e)
{
    struct account_list *l = s->of;
    struct found *f = found_of(l, l->next);
    json_t *names = names_of(l, l->next);
    const char *name = ((const struct share *)row)->name;
    bool shows = (long)json_array_size(names) < l->names;
    (void)e;
    l->looked += l->full;
    f->looked += !shows;
    if (!l->all && !may_read_one(l->r, &(struct data_place){&l->account, kind_of(l->next), name}))
        return 0;
    f->n++;
    if (shows)
        json_array_append_new(names, json_string(name));
    return 0;
}

static int read_wish(struct account_list *l, struct err *e)
{
    const char *count = request_query(l->r, "count");
    l->counts = count && strcasecmp(count, "true") == 0;
    if (count && !l->counts && strcasecmp(count, "false") != 0)
        return err_set(e, ERR_INVALID_QUERY, "count",
                       "'%.100s' is not a valid value of count; use true or false", count);
    return request_query_int(l->r, "names", (struct query_bounds){1, NAMES_MAX, NAMES_MAX},
                             &l->names, e);
}

struct replied *accounts_list(struct request *r)
{
    static const struct slices_kind kind = {.fetch = fetch, .add = add};
    struct err e;
    struct account_list *l = arena_alloc(&r->arena, sizeof *l);
    *l = (struct account_list){.r = r, .name = STRBUF_INIT};
    if (read_wish(l, &e) < 0 || rows_begin_numbers(r, &l->rows, &e) < 0)
        return reply_err(r, &e);
    l->at = page_after_id(l->rows.page);
    l->counts = l->counts && !request_query(r, "after"); /* only on the first page */
    l->rows.counts = l->counts;
    l->shown = request_own(r, json_object());
    request_own_thing(r, l, accounts_free);
    return slices_reply(l->rows.page, &kind, l, sizeof(struct share));
}
