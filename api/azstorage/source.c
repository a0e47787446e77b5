/* SPDX-License-Identifier: MIT */
#include "api/azstorage/source.h"

#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/azstorage/items.h"
#include "api/azstorage/storage_url.h"
#include "api/azstorage/xml_write.h"
#include "lib/jsontext.h"
#include "model/spec.h"
#include "storage/storage.h"

static int bad_url(const char *header, const char *text, struct err *e)
{
    return err_set(e, AZSTORAGE_HEADER, header,
                   "The value for one of the HTTP headers is not in the correct format: %s is "
                   "'%.200s'; it must be the URL of a file or blob.",
                   header, text);
}

static int split(struct request *r, const char *header, struct storage_url *u, struct err *e)
{
    const char *text = request_header(r, header);
    if (!text)
        return err_set(e, AZSTORAGE_HEADER_MISSING, header,
                       "An HTTP header that's mandatory for this request is not specified: %s.",
                       header);
    if (storage_url_split(&r->arena, text, r->host, grant_of(r)->plane->kind, u) == 0)
        return 0;
    return bad_url(header, text, e);
}

static int cannot(struct err *e, const char *why)
{
    return err_set(e, AZSTORAGE_COPY_SOURCE, NULL, "Could not verify the copy source: %s.", why);
}

/* --- who may read it ------------------------------------------------------------------------ */

/* Without a signature in the URL. */
static int may_unsigned(struct request *r, const struct storage_url *u,
                        const struct storage_account *account, const char *share, struct err *e)
{
    const struct grant *g = grant_of(r);
    bool same = account->id == g->account.id;
    if (same && g->how == GRANT_KEY)
        return 0;
    if (same && g->how == GRANT_TOKEN)
        return plane_check_role_of_source(r, account, u->kind, share, e);
    return cannot(e, "its URL has no signature, and the request may not read it");
}

/* `needed`: the letter of a signature. */
static int may_read(struct request *r, const struct storage_url *u,
                    const struct storage_account *account, const char *share, const char *needed,
                    struct err *e)
{
    struct sas s;
    int found = sas_read(u->query, u->n_query, &s, e);
    if (found < 0)
        return -1;
    if (found == 0)
        return may_unsigned(r, u, account, share, e);
    if (s.kind == SAS_DELEGATED || s.field[SAS_POLICY])
        return cannot(e, "signatures of this kind are not served for sources");
    const struct sas_use use = {.now_us = r->now_us,
                                .peer = request_peer(r),
                                .https = u->https,
                                .service = u->kind == SHARE_FILES ? 'f' : 'b',
                                .resource_type = 'o',
                                .permissions = needed};
    if (!storage_url_is_signed(azstorage_of(r)->storage, &r->arena, u, &s, account,
                               r->door->service != NULL, e))
        return cannot(e, "the signature of its URL is wrong");
    return sas_check(&s, &use, e);
}

/* --- where it is ---------------------------------------------------------------------------- */

/* A file's or blob's row, or that of the snapshot that the URL names. 0: there is none. */
static int find_item(struct request *r, const struct storage_url *u, struct source *from,
                     struct share_item *out, struct err *e)
{
    struct storage *st = azstorage_of(r)->storage;
    struct blob_snapshot s;
    const char *when = NULL;
    int64_t taken_us;
    for (size_t i = 0; u->kind == SHARE_BLOBS && i < u->n_query; i++)
        if (strcasecmp(u->query[i].name, "snapshot") == 0)
            when = u->query[i].value;
    from->is_snapshot = when != NULL;
    if (!when)
        return st_item_get(st, &r->arena, from->share.id, from->path, out, e);
    int rc = item_time_read(when, &taken_us);
    if (rc == 0)
        rc = st_snapshot_get(st, &r->arena, from->share.id, from->path, taken_us, &s, e);
    else
        return cannot(e, "its URL has a snapshot that is no time");
    if (rc == 0)
        return cannot(e, "the blob has no such snapshot");
    *out = s.item;
    return rc;
}

int source_of(struct request *r, const char *header, const char *needed, struct source *out,
              struct err *e)
{
    struct storage_url u = {0};
    struct storage_account account;
    struct share_item item = {.id = 0};
    struct storage *st = azstorage_of(r)->storage;
    if (split(r, header, &u, e) < 0)
        return -1;
    int rc = st_account_by_name(st, &r->arena, u.account, &account, e);
    if (rc <= 0)
        return rc < 0 ? -1 : cannot(e, "there is no such account here");
    assert(u.path);
    const char *name = u.path + 1, *slash = strchr(name, '/');
    const char *share = slash ? arena_strndup(&r->arena, name, (size_t)(slash - name)) : name;
    if (may_read(r, &u, &account, share, needed, e) < 0)
        return -1;
    rc = st_share_by_name(st, &r->arena, account.id, u.kind, share, &out->share, e);
    if (rc < 0)
        return -1;
    if (rc == 0 || out->share.state != SHARE_THERE || !slash || !slash[1])
        return cannot(e, "The specified resource does not exist");
    out->path = slash + 1;
    out->folder = share_folder(&r->arena, azstorage_of(r)->storage_dir, account.name, u.kind,
                               out->share.name);
    rc = find_item(r, &u, out, &item, e);
    if (rc < 0)
        return -1;
    out->item = rc > 0 ? item : (struct share_item){.lease_state = LEASE_AVAILABLE};
    if (rc > 0 && item.aside) {
        out->folder = arena_printf(&r->arena, "%s/%s", azstorage_of(r)->storage_dir, account.name);
        out->path = item.aside;
    }
    return 0;
}

/* --- what is said of a copy ----------------------------------------------------------------- */

const char *copy_text(struct request *r, const char *id, uint64_t size)
{
    char when[TIMEFMT_SIZE];
    const char *source = request_header(r, "x-ms-copy-source");
    timefmt_http(r->now_us, when);
    size_t n = strcspn(source, "?"); /* signatures are secret */
    json_t *doc = json_pack(
        "{s:s, s:s%, s:s, s:s, s:s}", "id", id, "source", source, n, "status", "success",
        "progress",
        arena_printf(&r->arena, "%llu/%llu", (unsigned long long)size, (unsigned long long)size),
        "completed", when);
    char *text = doc ? jsontext(doc) : NULL;
    const char *kept = text ? arena_strdup(&r->arena, text) : NULL;
    free(text);
    json_decref(doc);
    return kept;
}

static const struct {
    const char *name, *header, *element;
} copy_parts[] = {{"id", "x-ms-copy-id", "CopyId"},
                  {"source", "x-ms-copy-source", "CopySource"},
                  {"status", "x-ms-copy-status", "CopyStatus"},
                  {"progress", "x-ms-copy-progress", "CopyProgress"},
                  {"completed", "x-ms-copy-completion-time", "CopyCompletionTime"}};
#define COPY_PARTS (sizeof copy_parts / sizeof *copy_parts)

void copy_reply(struct request *r, const char *copy)
{
    for (size_t i = 0; copy && i < COPY_PARTS; i++) {
        const char *value = noted_text(&r->arena, copy, copy_parts[i].name);
        if (value)
            reply_header_text(r, copy_parts[i].header, value);
    }
}

void copy_list(struct strbuf *b, struct arena *a, const char *copy)
{
    for (size_t i = 0; copy && i < COPY_PARTS; i++) {
        const char *value = noted_text(a, copy, copy_parts[i].name);
        if (value)
            xml_element(b, copy_parts[i].element, value);
    }
}
