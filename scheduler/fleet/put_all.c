/* SPDX-License-Identifier: MIT
 *
 * All files of a container: page by page the names are found, then each file is carried. As in
 * put.c, a step is an order, and a job carries it out.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "files/walk.h"
#include "lib/strbuf.h"
#include "scheduler/fleet/put.h"
#include "transfer/blobs.h"

#define PAGE 1000 /* names */
/* Of a page of a list of others, which has 5,000 names at most. */
#define LIST_BYTES_MAX ((size_t)16 * 1024 * 1024)
/* A container with more is a mistake rather than a wish. */
#define FILES_MAX 100000

struct order {
    struct carry_what what;
    const char *prefix;
    struct job *job;
};

struct job {
    struct order *order; /* NULL: the script was halted */
    struct script_turn *turn;
    struct node_link *link;
    struct arena a; /* of the page */
    const char **names;
    size_t n, at, total;
    char *next; /* where the next page begins; NULL: there is none */
    struct transfer *list;
    struct strbuf text; /* of the list, as far as it is here */
    struct carry *carry;
};

static void end(struct job *j, const struct err *why)
{
    struct script_turn *turn = j->order ? j->turn : NULL;
    if (j->order)
        j->order->job = NULL;
    if (j->list)
        transfer_end(j->list);
    arena_free(&j->a);
    strbuf_free(&j->text);
    free(j->next);
    free(j);
    if (turn)
        script_turn_end(turn, why);
}

/* --- files -------------------------------------------------------------------------------------
 */

static void find_page(struct job *j);
static void carry_next(struct job *j);

static void on_carried(void *ctx, const struct err *why)
{
    struct job *j = ctx;
    j->carry = NULL;
    if (why) {
        struct err e = *why;
        (void)err_prefix(&e, "%s", j->names[j->at]);
        end(j, &e);
        return;
    }
    j->at++;
    carry_next(j);
}

/* Whether such a name stays below the directory. */
static bool stays(const char *name)
{
    bool out = *name == '/';
    for (const char *at = name; at && !out; at = strchr(at, '/')) {
        at += at != name;
        out = strncmp(at, "..", 2) == 0 && (at[2] == '\0' || at[2] == '/');
    }
    return !out;
}

/* Of others a name that ends so is a directory. */
static bool is_directory(const char *name)
{
    return !*name || name[strlen(name) - 1] == '/';
}

static void carry_next(struct job *j)
{
    struct err e;
    while (j->at < j->n && is_directory(j->names[j->at]))
        j->at++;
    if (j->at == j->n) {
        if (j->next)
            find_page(j);
        else
            end(j, NULL);
        return;
    }
    const char *name = j->names[j->at];
    if (!stays(name) || ++j->total > FILES_MAX) {
        if (j->total > FILES_MAX)
            err_set(&e, ERR_BODY_TOO_LARGE, NULL, "it has more than %d files", FILES_MAX);
        else
            err_set(&e, ERR_INVALID_PATH, NULL, "%s leads out of the directory", name);
        end(j, &e);
        return;
    }
    struct carry_what what = j->order->what;
    what.path = arena_concat(&j->a, what.path, "/", name);
    what.from.path = name;
    if (what.url)
        what.url = blob_url(&j->a, what.url, name);
    j->carry = carry_begin(j->link, &what, on_carried, j);
}

/* --- lists -------------------------------------------------------------------------------------
 */

static void begin_page(struct job *j)
{
    free(j->next);
    j->next = NULL;
    j->at = 0;
}

static void on_walked(void *ctx, const struct err *why, enum file_fault fault,
                      struct file_items *found)
{
    struct job *j = ctx;
    (void)fault;
    if (why || !j->order) {
        end(j, why);
        return;
    }
    begin_page(j);
    arena_reset(&j->a);
    j->names = arena_alloc(&j->a, (found->n + 1) * sizeof *j->names);
    for (j->n = 0; j->n < found->n; j->n++)
        j->names[j->n] = arena_strdup(&j->a, found->item[j->n].name);
    j->next = found->last ? xstrdup(found->last) : NULL;
    carry_next(j);
}

static void read_page(struct job *j)
{
    struct blob_page page;
    struct err e;
    begin_page(j);
    arena_reset(&j->a);
    if (blob_page_read(&j->a, j->text.s, j->text.len, &page, &e) < 0) {
        end(j, &e);
        return;
    }
    strbuf_free(&j->text);
    j->names = page.names;
    j->n = page.n;
    j->next = page.next ? xstrdup(page.next) : NULL;
    carry_next(j);
}

static void on_list(void *ctx, const struct err *why, struct transfer_got *got)
{
    struct job *j = ctx;
    struct err e;
    if (why) {
        end(j, why);
        return;
    }
    strbuf_add(&j->text, got->bytes, got->n);
    if (!transfer_is_good(got->status) || j->text.len > LIST_BYTES_MAX) {
        if (transfer_is_good(got->status))
            err_set(&e, ERR_PROTOCOL, NULL, "a page of its list is longer than %zu bytes",
                    LIST_BYTES_MAX);
        else
            transfer_refused(got->status, got->bytes, got->n, &e);
        end(j, &e);
    } else if (!got->end) {
        transfer_read(j->list, NODE_PIECE_MAX, on_list, j);
    } else {
        transfer_end(j->list);
        j->list = NULL;
        read_page(j);
    }
}

static void find_page(struct job *j)
{
    const struct order *o = j->order;
    if (o->what.url) {
        const struct transfer_ask ask = {.url =
                                             blob_list_url(&j->a, o->what.url, o->prefix, j->next)};
        j->list = transfer_begin(o->what.transfers, &ask);
        transfer_read(j->list, NODE_PIECE_MAX, on_list, j);
        return;
    }
    const struct files_walk walk = {
        .share = o->what.from.share, .prefix = o->prefix, .after = j->next, .max = PAGE};
    files_walk(o->what.files, &walk, on_walked, j);
}

/* --- the step ----------------------------------------------------------------------------------
 */

static void begin(void *ctx, struct node_link *link, struct script_turn *turn)
{
    struct order *o = ctx;
    struct job *j = xcalloc(1, sizeof *j);
    assert(!o->job);
    o->job = j;
    *j = (struct job){.order = o, .turn = turn, .link = link};
    arena_init(&j->a);
    find_page(j);
}

static void halt(void *ctx)
{
    struct order *o = ctx;
    struct job *j = o->job;
    if (!j)
        return;
    o->job = NULL;
    j->order = NULL;
    if (j->carry)
        carry_halt(j->carry);
    if (j->carry || j->list) /* else the names are looked for, and what finds them ends it */
        end(j, NULL);
}

void script_put_all(struct script *sc, struct arena *a, const struct script_label *label,
                    const struct carry_what *what, const char *prefix)
{
    struct order *o = arena_alloc(a, sizeof *o);
    *o = (struct order){.what = *what, .prefix = prefix};
    const struct script_work work = {.begin = begin, .halt = halt, .ctx = o};
    script_work(sc, label, &work);
}
