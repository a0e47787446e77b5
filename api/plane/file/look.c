/* SPDX-License-Identifier: MIT
 *
 * The steps of most requests about a file or directory: storage/folders/ reads the file's facts,
 * then its notes (its row) are loaded, then the handler continues. A change does all this in the
 * file's turn (api/plane/storage/write_lock.h).
 */
#include <errno.h>
#include <stdlib.h>

#include "api/plane/file/handlers.h"
#include "api/plane/storage/leases.h"
#include "storage/storage.h"

#define SIZE_MAX_BYTES (INT64_C(4) << 40) /* the service's limit: 4 TiB */

void azfile_finish(struct azfile_change *c, struct replied *done)
{
    turn_finish(c->r, done, &c->turn);
}

void azfile_fail(struct azfile_change *c, const struct err *e)
{
    azfile_finish(c, reply_err(c->r, e));
}

void azfile_made(struct azfile_change *c, const struct err *why, const struct file_result *f,
                 files_changed then)
{
    const struct file_place place = {c->at.folder, c->at.path};
    if (why || c->mtime_ns == FILES_TIME_KEPT)
        then(c, why, f);
    else
        files_set_times(azstorage_of(c->r)->files, &place, c->mtime_ns, FILES_TIME_KEPT, then, c);
}

bool azfile_went_well(struct azfile_change *c, const struct err *why, const struct file_result *f)
{
    struct err e;
    if (!why)
        return true;
    azfile_fault(why, f->fault, &e);
    azfile_fail(c, &e);
    return false;
}

static void on_facts(void *ctx, const struct err *why, const struct file_result *f)
{
    struct azfile_change *c = ctx;
    struct err e;
    if (!azfile_went_well(c, why, f))
        return;
    if (f->facts.is_directory != c->is_directory) {
        err_set(&e, AZSTORAGE_NOT_FOUND, NULL, "The specified resource does not exist.");
        azfile_fail(c, &e);
    } else if (item_load(c->r, c->at.path, &c->item, &e) < 0) {
        azfile_fail(c, &e);
    } else {
        c->facts = f->facts;
        c->then(c);
    }
}

static void look(struct azfile_change *c)
{
    const struct file_place place = {c->at.folder, c->at.path};
    files_facts(azstorage_of(c->r)->files, &place, on_facts, c);
}

static void on_turn(void *ctx)
{
    struct azfile_change *c = ctx;
    look(c);
}

/* Makes the change of a request; NULL: error. */
static struct azfile_change *change_of(struct request *r, bool is_directory, azfile_then then,
                                       struct err *e)
{
    struct azfile at;
    if (azfile_of(r, &at, e) < 0)
        return NULL;
    struct azfile_change *c = azfile_change(r, &at);
    c->then = then;
    c->is_directory = is_directory;
    c->mtime_ns = FILES_TIME_KEPT;
    return c;
}

struct replied *azfile_look(struct request *r, bool is_directory, azfile_then then)
{
    struct err e;
    struct azfile_change *c = change_of(r, is_directory, then, &e);
    if (!c)
        return reply_err(r, &e);
    look(c);
    return reply_later(r);
}

struct replied *azfile_to_change(struct request *r, bool is_directory, azfile_then then)
{
    struct err e;
    struct azfile_change *c = change_of(r, is_directory, then, &e);
    if (!c)
        return reply_err(r, &e);
    struct replied *token = reply_later(r);
    c->turn = (struct turn){
        .share_id = grant_of(r)->share.id, .path = c->at.path, .go = on_turn, .ctx = c};
    turn_want(azstorage_of(r)->turns, &c->turn);
    return token;
}

const struct lease_errors azfile_leased = {"file", AZSTORAGE_LEASE_FILE, AZSTORAGE_LEASE_NOT_FILE};

int azfile_may(struct request *r, const struct share_item *i, bool needs_id, struct err *e)
{
    const struct lease l = lease_of_item(i);
    return lease_check(r, &l, needs_id, &azfile_leased, e);
}

void azfile_without_lease(struct share_item *i)
{
    lease_to_item(&(struct lease){.state = LEASE_AVAILABLE}, i);
}

int azfile_note(struct request *r, struct share_item *i, struct err *e)
{
    item_revise(r, i);
    return st_item_put(azstorage_of(r)->storage, i, e);
}

struct replied *azfile_changed(struct request *r, int status, const struct file_facts *f,
                               const struct share_item *i)
{
    azfile_state(r, f, i);
    reply_header_text(r, "x-ms-request-server-encrypted", "true");
    return reply_empty(r, status);
}

int azfile_size(struct request *r, uint64_t *out, struct err *e)
{
    const char *text = request_header(r, "x-ms-content-length"), *name = "x-ms-content-length";
    char *end;
    if (!text)
        return err_set(e, AZSTORAGE_HEADER_MISSING, name,
                       "An HTTP header that's mandatory for this request is not specified: %s.",
                       name);
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || n > (unsigned long long)SIZE_MAX_BYTES)
        return err_set(e, AZSTORAGE_HEADER, name,
                       "The value for one of the HTTP headers is not in the correct format: %s is "
                       "'%.40s'; it must be a number of bytes, at most 4 TiB.",
                       name, text);
    *out = n;
    return 0;
}
