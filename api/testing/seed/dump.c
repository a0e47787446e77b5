/* SPDX-License-Identifier: MIT
 *
 * A dump from its request to its text: the steps of dump.h.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/testing/seed/dump.h"
#include "lib/jsontext.h"
#include "lib/loop.h"
#include "storage/instant.h"

/* --- the text --------------------------------------------------------------------------------- */

/* Frees the lists before the tree, because they share parts of it. */
static void free_trees(struct dumping *d)
{
    for (struct dumped_list *l = d->lists; l; l = l->next) {
        json_decref(l->shown);
        l->shown = NULL;
    }
    json_decref(d->tree);
    d->tree = NULL;
}

static void dumping_free(void *ctx)
{
    struct dumping *d = ctx;
    for (struct dumped_list *l = d->lists; l; l = l->next)
        if (l->asked)
            request_inner_end(l->asked);
    free_trees(d);
    st_instant_end(d->instant);
    free(d->text);
    free(d);
}

/* The next occurrence of the id, in any case; NULL: none. Not strcasestr(), because a sanitizer's
 * version reads the whole rest of the text for each id in a large dump. */
static const char *next_id(const char *text, const char *guid)
{
    const char both[] = {(char)tolower(guid[0]), (char)toupper(guid[0]), '\0'};
    for (const char *at = text; (at = strpbrk(at, both)); at++)
        if (strncasecmp(at, guid, strlen(guid)) == 0)
            return at;
    return NULL;
}

/* Replaces the id by SEED_SUBSCRIPTION, so that the dump can be read into any subscription. */
static char *portable(const char *text, const char *guid)
{
    struct strbuf b = STRBUF_INIT;
    for (const char *at; (at = next_id(text, guid)); text = at + strlen(guid)) {
        strbuf_add(&b, text, (size_t)(at - text));
        strbuf_puts(&b, SEED_SUBSCRIPTION);
    }
    strbuf_puts(&b, text);
    return strbuf_take(&b);
}

static REPLIED answer(struct dumping *d)
{
    if (d->why.code != ERR_NONE)
        return reply_err(d->r, &d->why);
    char *text = d->text;
    d->text = NULL;
    return reply_text(d->r, 200, JSON_CONTENT_TYPE, text);
}

static void write_text(void *ctx)
{
    struct dumping *d = ctx;
    dump_bodies(d);
    if (dump_folders(d, &d->why) < 0)
        return;
    d->text = jsontext(d->tree);
    free_trees(d); /* freed here, because it would delay other requests on the loop's thread */
    if (d->subscription) {
        char *fits = portable(d->text, d->subscription);
        free(d->text);
        d->text = fits;
    }
}

static void text_written(void *ctx, enum loop_work_end how)
{
    struct dumping *d = ctx;
    if (how != LOOP_WORK_DONE)
        err_set(&d->why, ERR_UNAVAILABLE, NULL, "The daemon is stopping.");
    request_finish(d->r, answer(d));
}

static void begin_text(struct dumping *d)
{
    bool failed = d->why.code != ERR_NONE;
    if (!failed && loop_work(d->seed->lane, write_text, text_written, d))
        return;
    if (!failed)
        err_set(&d->why, ERR_UNAVAILABLE, NULL, "Too many files are being read; try again.");
    request_finish(d->r, answer(d));
}

static void begin_files(struct request *r, void *ctx)
{
    (void)r;
    dump_tasks(ctx, begin_text);
}

/* --- the instant ------------------------------------------------------------------------------ */

static void ask_some(struct request *r, void *ctx)
{
    struct dumping *d = ctx;
    struct err e;
    st_instant_enter(d->instant);
    int rc = d->begun ? dump_lists_some(d, &e) : dump_lists_begin(d, &e);
    st_instant_leave(d->instant);
    d->begun = true;
    if (rc > 0) {
        st_instant_end(d->instant);
        d->instant = NULL;
    }
    if (rc < 0)
        request_finish(r, reply_err(r, &e));
    else
        request_again(r, rc > 0 ? begin_files : ask_some, d);
}

static void copy_some(struct request *r, void *ctx)
{
    struct dumping *d = ctx;
    struct err e;
    int rc = st_instant_copy(d->instant, &e);
    if (rc < 0)
        request_finish(r, reply_err(r, &e));
    else
        request_again(r, rc > 0 ? ask_some : copy_some, d);
}

struct replied *seed_dump(struct request *r, const struct seed *seed)
{
    struct err e;
    struct dumping *d = xcalloc(1, sizeof *d);
    *d = (struct dumping){.r = r,
                          .seed = seed,
                          .a = &r->arena,
                          .tree = json_object(),
                          .group = request_query(r, "resourceGroup"),
                          .left = DUMP_BYTES};
    d->last_list = &d->lists;
    request_keep(r, d, dumping_free);
    if (seed_log_in(seed, r, d->header, &e) < 0 ||
        !(d->instant = st_instant_begin(seed->arm.storage, &e)))
        return reply_err(r, &e);
    request_again(r, copy_some, d);
    return reply_later(r);
}
