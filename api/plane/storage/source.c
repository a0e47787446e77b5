/* SPDX-License-Identifier: MIT
 *
 * Finds the source that the URL names, decides whether the request may read it, and opens it.
 * State: the source, in the request's arena, until the end of the copy. On the loop's thread.
 */
#include "api/plane/storage/source.h"

#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/auth.h"
#include "api/plane/storage/conditions.h"
#include "api/plane/storage/items.h"
#include "api/plane/storage/range.h"
#include "api/plane/storage/storage_url.h"
#include "api/plane/storage/tiers.h"
#include "api/plane/storage/write_lock.h"
#include "api/plane/storage/xml_write.h"
#include "lib/jsontext.h"
#include "model/spec.h"
#include "storage/folders/upload.h"
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

/* Fails with 401, 403 or 404, as the service that has the source would. */
static int cannot(struct err *e, int code, const char *why)
{
    return err_set(e, code, NULL, "Could not verify the copy source: %s.", why);
}

static int is_not_there(struct err *e, const char *why)
{
    return cannot(e, AZSTORAGE_COPY_SOURCE, why);
}

static int is_closed(struct err *e, const char *why)
{
    return cannot(e, AZSTORAGE_COPY_SOURCE_CLOSED, why);
}

/* --- the right to read a source --------------------------------------------------------------- */

/* Operations whose request credentials (the key, or roles of a login) also allow reading a source
 * in the same account, without a signature. For all other operations the source must be readable by
 * itself: it is public, its URL is signed, or the request has a token for it.
 * https://learn.microsoft.com/rest/api/storageservices/copy-blob
 * https://learn.microsoft.com/rest/api/storageservices/copy-file */
static const struct {
    const char *operation;
    enum share_kind source;
    const char *not_with; /* with this header the request is another operation; NULL: none */
} reads_own[] = {
    {"BlockBlob_Upload", SHARE_BLOBS, "x-ms-blob-type"}, /* with it: Put Blob From URL */
    {"File_Create", SHARE_FILES, NULL},
    {"File_Rename", SHARE_FILES, NULL},
    {"Directory_Rename", SHARE_FILES, NULL},
};

/* Whether the request is Copy Blob From URL. */
static bool is_at_once(struct request *r)
{
    const char *says = request_header(r, "x-ms-requires-sync");
    return says && strcasecmp(says, "true") == 0;
}

static bool may_read_own(struct request *r, enum share_kind source)
{
    for (size_t i = 0; i < sizeof reads_own / sizeof *reads_own; i++)
        if (strcmp(r->route->operation_id, reads_own[i].operation) == 0)
            return reads_own[i].source == source && !is_at_once(r) &&
                   !(reads_own[i].not_with && request_header(r, reads_own[i].not_with));
    return false;
}

/* Checks the token in x-ms-copy-source-authorization. */
static int may_by_token(struct request *r, const char *header, const struct data_place *place,
                        const char *needed, struct err *e)
{
    struct authenticated a;
    if (strncasecmp(header, "Bearer ", 7) != 0)
        return err_set(e, AZSTORAGE_HEADER, "x-ms-copy-source-authorization",
                       "x-ms-copy-source-authorization must be 'Bearer TOKEN'.");
    if (auth_read(r, header + 7, &a, e) < 0)
        return cannot(e, AZSTORAGE_COPY_SOURCE_UNSIGNED,
                      arena_concat(&r->arena, "x-ms-copy-source-authorization: ", e->msg));
    if (a.account && strcasecmp(a.account, place->account->name) != 0)
        return cannot(
            e, AZSTORAGE_COPY_SOURCE_UNSIGNED,
            "the token in x-ms-copy-source-authorization is for another account than the source's");
    return plane_check_role_of_source(r, a.who, place, needed, e);
}

static bool is_public(const struct url_target *t)
{
    return t->u->kind == SHARE_BLOBS && t->share->public_access >= PUBLIC_BLOB &&
           !account_forbids(t->account, "allowBlobPublicAccess");
}

/* Since this api-version the error of an anonymous read of private data is 401 instead of 404. */
#define UNSIGNED_SINCE 20191212

static int has_no_signature(struct request *r, struct err *e)
{
    int version = grant_of(r)->version;
    return cannot(e,
                  version && version < UNSIGNED_SINCE ? AZSTORAGE_COPY_SOURCE
                                                      : AZSTORAGE_COPY_SOURCE_UNSIGNED,
                  "its URL has no signature, and the request may not read it");
}

/* Checks a source whose URL has no signature. */
static int may_unsigned(struct request *r, const struct url_target *t, const char *needed,
                        struct err *e)
{
    const struct data_place place = url_target_place(t);
    const struct grant *g = grant_of(r);
    const char *token = request_header(r, "x-ms-copy-source-authorization");
    bool same = t->account->id == g->account.id && may_read_own(r, t->u->kind);
    if (token)
        return may_by_token(r, token, &place, needed, e);
    if (same && g->how == GRANT_KEY)
        return 0;
    if (same && g->how == GRANT_TOKEN)
        return plane_check_role_of_source(r, r->who, &place, needed, e);
    if (strcmp(needed, "r") == 0 && is_public(t))
        return 0;
    return has_no_signature(r, e);
}

/* Checks that a role of the owner of the user delegation key, with which the URL is signed, allows
 * reading the source. */
static int check_delegated(struct request *r, const struct url_target *t, const struct sas *s,
                           const char *needed, struct err *e)
{
    const struct storage_url *u = t->u;
    const struct data_place place = url_target_place(t);
    struct strbuf text = STRBUF_INIT;
    struct principal *who;
    enum sas_service service = u->kind == SHARE_FILES ? SAS_FILE : SAS_BLOB;
    sas_text(s, service, t->account->name, sas_path(s, u->path, &r->arena), &r->arena, &text);
    bool same = plane_is_delegated(r, s, &text);
    strbuf_free(&text);
    if (!same)
        return is_closed(e, "the signature of its URL is wrong");
    if (plane_delegate_of(r, s, &who, e) < 0)
        return -1;
    return plane_check_role_of_source(r, who, &place, needed, e);
}

/* Checks that the signature grants each of the letters. */
static int check_each(const struct sas *s, struct sas_use use, const char *needed, struct err *e)
{
    for (; *needed; needed++) {
        const char letter[] = {*needed, '\0'};
        use.permissions = letter;
        if (sas_check(s, &use, e) < 0)
            return -1;
    }
    return 0;
}

static int may_read(struct request *r, const struct url_target *t, const char *needed,
                    struct err *e)
{
    const struct storage_url *u = t->u;
    struct sas s;
    struct sas_policy policy = {.permissions = ""};
    int found = sas_read(u->query, u->n_query, &s, e);
    if (found < 0)
        return -1;
    if (found == 0)
        return may_unsigned(r, t, needed, e);
    const struct sas_use use = {.now_us = r->now_us,
                                .peer = request_peer(r),
                                .https = u->https,
                                .service = u->kind == SHARE_FILES ? 'f' : 'b',
                                .resource_type = 'o',
                                .policy = s.field[SAS_POLICY] ? &policy : NULL};
    if (s.kind == SAS_DELEGATED) {
        if (check_delegated(r, t, &s, needed, e) < 0)
            return -1;
    } else if (account_forbids(t->account, "allowSharedKeyAccess")) {
        return is_closed(e, "its URL is signed with an account key, but the account does not allow "
                            "access with keys (allowSharedKeyAccess)");
    } else if (!storage_url_is_signed(azstorage_of(r)->storage, &r->arena, t, &s,
                                      r->door->service != NULL, e)) {
        return is_closed(e, "the signature of its URL is wrong");
    }
    if (s.field[SAS_POLICY] && !sas_find_policy(&s, t->share->acl, &r->arena, &policy))
        return is_closed(e, "the stored access policy of its URL does not exist");
    return check_each(&s, use, needed, e);
}

/* --- where it is ---------------------------------------------------------------------------- */

/* Finds the row of a file or blob, or of the snapshot in the URL. 0: there is none. */
static int find_item(struct request *r, const struct storage_url *u, struct source *from,
                     struct share_item *out, struct err *e)
{
    const struct item_path of = {from->share.id, from->path};
    int rc =
        storage_url_item(azstorage_of(r)->storage, &r->arena, u, &of, out, &from->is_snapshot, e);
    return rc == 0 && from->is_snapshot ? is_not_there(e, "the blob has no such snapshot") : rc;
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
        return rc < 0 ? -1 : is_not_there(e, "the account does not exist");
    assert(u.path);
    const char *name = u.path + 1, *slash = strchr(name, '/');
    const char *share = slash ? arena_strndup(&r->arena, name, (size_t)(slash - name)) : name;
    rc = st_share_by_name(st, &r->arena, account.id, u.kind, share, &out->share, e);
    if (rc == 0)
        out->share = (struct share){.name = share, .public_access = PUBLIC_NONE};
    if (rc < 0 || may_read(r, &(struct url_target){&u, &account, &out->share}, needed, e) < 0)
        return -1;
    if (rc == 0 || out->share.state != SHARE_THERE || !slash || !slash[1])
        return is_not_there(e, "The specified resource does not exist");
    out->subscription = account.scope.subscription;
    out->name = out->path = slash + 1;
    out->folder = share_folder(&r->arena, azstorage_of(r)->storage_dir, account.name, u.kind,
                               out->share.name);
    rc = find_item(r, &u, out, &item, e);
    if (rc < 0)
        return -1;
    if (!(rc > 0 && item.aside) && !storage_path_is_file(out->path))
        return is_not_there(e, "The specified resource does not exist");
    out->item = rc > 0 ? item : (struct share_item){.lease_state = LEASE_AVAILABLE};
    if (rc > 0 && item.aside) {
        out->folder = arena_printf(&r->arena, "%s/%s", azstorage_of(r)->storage_dir, account.name);
        out->path = item.aside;
    }
    return 0;
}

#define RANGE "x-ms-source-range"

int source_range(struct request *r, struct file_range *out, struct err *e)
{
    const char *text = request_header(r, RANGE);
    *out = (struct file_range){0, FILES_ALL};
    return text ? range_or_rest(RANGE, text, out, e) : 0;
}

int source_cut(struct file_range *range, uint64_t size, struct err *e)
{
    if (range->len == FILES_ALL)
        return 0;
    if (range->offset >= size)
        return err_set(e, AZSTORAGE_RANGE, RANGE,
                       "The range specified is invalid for the current size of the source, which "
                       "has %llu bytes.",
                       (unsigned long long)size);
    if (range->len > size - range->offset)
        range->len = size - range->offset;
    return 0;
}

int source_check_conditions(struct request *r, const struct source *s, const struct file_facts *f,
                            struct err *e)
{
    bool is_blob = s->share.kind == SHARE_BLOBS;
    const struct condition_state now = {true, item_etag(f, &s->item),
                                        is_blob ? item_modified_us(f, &s->item) : f->mtime_us};
    return conditions_check_source(r, &now, e);
}

int source_check_online(struct request *r, const struct source *s, const struct file_facts *f,
                        struct err *e)
{
    const struct tier now = tier_now(r, s->subscription, &s->item, f);
    return now.archived ? tier_refuse(&now, e) : 0;
}

bool source_is_torn(struct request *r, const struct source *s, const struct file_facts *f,
                    uint64_t since)
{
    if (s->is_snapshot || (f && item_is_of(&s->item, f)))
        return false;
    return turn_was_had(azstorage_of(r)->turns, s->share.id, s->name, since);
}

/* --- the properties of a copy ----------------------------------------------------------------- */

const char *copy_text(struct request *r, const char *id, uint64_t size)
{
    char when[TIMEFMT_SIZE];
    const char *source = request_header(r, "x-ms-copy-source");
    timefmt_http(r->now_us, when);
    size_t n = strcspn(source, "?"); /* the query is left out, because signatures are secret */
    json_t *doc = json_pack(
        "{s:s, s:s%, s:s, s:s, s:s}", "id", id, "source", source, n, "status", "success",
        "progress",
        arena_printf(&r->arena, "%llu/%llu", (unsigned long long)size, (unsigned long long)size),
        "completed", when);
    return jsontext_new_in(&r->arena, doc);
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
