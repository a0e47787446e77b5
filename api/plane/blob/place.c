/* SPDX-License-Identifier: MIT
 *
 * Finds the blob of a request, and checks the conditions on its tags. Maps the name of a blob to
 * its file. A blob's name may be anything, and "/" has no special meaning in it. A name that no
 * file can have (a//b, .., a/, 300 bytes, or a next to a/b) has its file in a hidden folder
 * ("aside").
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/plane/blob/handlers.h"
#include "api/plane/blob/tag_words.h"
#include "api/plane/storage/leases.h"
#include "api/plane/storage/plane_shares.h"
#include "api/plane/storage/tiers.h"
#include "model/spec.h"
#include "scheduler/fleet/fleet.h"
#include "storage/storage.h"

#define COMPONENT_MAX 255 /* bytes of a file name, Linux's limit */
/* bytes of the blob's path; the rest of Linux's limit is for the folder's path */
#define PATH_MAX_HERE 3000

static bool can_be_file(const char *name)
{
    if (strlen(name) > PATH_MAX_HERE)
        return false;
    for (const char *p = name;; p++) {
        size_t n = strcspn(p, "/");
        bool dots = (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.');
        if (n == 0 || n > COMPONENT_MAX || dots)
            return false;
        p += n;
        if (!*p)
            return true;
    }
}

static size_t characters(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

/* The account's folder. It contains the folders of the account's containers, and hidden folders for
 * all other files. */
const char *blob_account_folder(struct request *r)
{
    return arena_printf(&r->arena, "%s/%s", azstorage_of(r)->storage_dir,
                        grant_of(r)->account.name);
}

const char *blob_aside_name(struct request *r)
{
    char name[33];
    unsigned char random[16];
    randombytes_buf(random, sizeof random);
    sodium_bin2hex(name, sizeof name, random, sizeof random);
    return arena_printf(&r->arena, SHARE_ASIDE "/%lld/%s", (long long)grant_of(r)->share.id, name);
}

void blob_aside(struct request *r, struct blob *b)
{
    b->aside = true;
    b->at = (struct file_place){blob_account_folder(r), blob_aside_name(r)};
}

/* --- snapshots ------------------------------------------------------------------------------ */

static bool is_comp(struct request *r, const char *name)
{
    const char *comp = request_query(r, "comp");
    return comp && strcasecmp(comp, name) == 0;
}

/* Whether the operation can be used on a snapshot. Only the tier of a snapshot can change. */
static bool takes_snapshot(struct request *r)
{
    return strcmp(r->method, "PUT") != 0 || is_comp(r, "tier");
}

static int read_snapshot(struct request *r, int64_t *out, struct err *e)
{
    const char *text = request_query(r, "snapshot");
    *out = 0;
    if (!text || !*text)
        return 0;
    if (takes_snapshot(r) && item_time_read(text, out) == 0 && *out > 0)
        return 0;
    return err_set(e, ERR_INVALID_QUERY, "snapshot",
                   "Value for one of the query parameters specified in the request URI is invalid: "
                   "snapshot is '%.60s'. It must be a time that a snapshot was given, such as "
                   "2019-05-09T01:19:19.6861900Z, and of an operation on snapshots.",
                   text);
}

int blob_load(struct request *r, struct blob *b, struct err *e)
{
    struct blob_snapshot s;
    if (b->snapshot_us == 0)
        return item_load(r, b->name, &b->item, e);
    int rc = st_snapshot_get(azstorage_of(r)->storage, &r->arena, grant_of(r)->share.id, b->name,
                             b->snapshot_us, &s, e);
    if (rc > 0)
        b->item = s.item;
    return rc == 0 ? blob_not_found(b, e) : rc < 0 ? -1 : 0;
}

int blob_store(struct request *r, const struct blob *b, const struct share_item *i, struct err *e)
{
    const struct blob_snapshot s = {b->snapshot_us, *i};
    return b->snapshot_us ? st_snapshot_put(azstorage_of(r)->storage, &s, e)
                          : st_item_put(azstorage_of(r)->storage, i, e);
}

struct file_facts blob_facts(const struct blob *b, const struct file_facts *f)
{
    return b->snapshot_us ? item_facts(&b->item) : *f;
}

int blob_of(struct request *r, struct blob *out, struct err *e)
{
    const struct grant *g = grant_of(r);
    *out = (struct blob){.name = r->rest};
    if (plane_share(r, e) < 0)
        return -1;
    if (!*out->name || characters(out->name) > BLOB_NAME_MAX)
        return err_set(e, ERR_INVALID_NAME, NULL,
                       "The blob's name has %zu characters; it must have 1 to %d.",
                       characters(out->name), BLOB_NAME_MAX);
    const struct mount_volume v = {
        .kind = MOUNT_BLOBS, .account = g->account.name, .share = g->share.name};
    out->container = fleet_share_path(azstorage_of(r)->storage_dir, &r->arena, &v);
    if (read_snapshot(r, &out->snapshot_us, e) < 0 || blob_load(r, out, e) < 0)
        return -1;
    out->aside = out->item.aside != NULL;
    out->at = out->aside ? (struct file_place){blob_account_folder(r), out->item.aside}
                         : (struct file_place){out->container, out->name};
    if (!out->aside && !can_be_file(out->name))
        blob_aside(r, out);
    return 0;
}

static void gone(void *ctx, const struct err *why)
{
    (void)ctx, (void)why; /* after a failure the file remains, but nobody sees it */
}

struct forgotten {
    struct files *files;
    char *folder, *path; /* owned */
};

static void on_forgotten(void *ctx, const struct err *why)
{
    struct forgotten *f = ctx;
    /* The removal is work of the daemon, because storage/folders/ limits the work of clients. */
    if (!why)
        files_remove_tree(f->files, f->folder, f->path, gone, NULL);
    free(f->folder);
    free(f->path);
    free(f);
}

/* Called before the reply, so storage/folders/ still exists. */
void blob_forget(struct request *r, const char *aside)
{
    struct forgotten *f = xcalloc(1, sizeof *f);
    const char *folder = blob_account_folder(r);
    *f = (struct forgotten){azstorage_of(r)->files, xstrdup(folder),
                            xstrdup(arena_concat(&r->arena, folder, "/", aside))};
    st_when_durable(azstorage_of(r)->storage, on_forgotten, f);
}

int blob_note(struct request *r, const struct blob *old, const struct share_item *now,
              struct err *e)
{
    struct share_item kept = *now;
    const struct lease l = lease_of_item(&old->item);
    /* a lease belongs to the blob, not to a version, so the new version keeps it */
    lease_to_item(&l, &kept);
    lease_written(r, &kept);
    if (st_item_put(azstorage_of(r)->storage, &kept, e) < 0)
        return -1;
    return st_uncommitted_remove(azstorage_of(r)->storage, now->share_id, now->path, e);
}

int blob_unnote(struct request *r, const struct blob *old, const struct share_item *now,
                struct err *e)
{
    struct storage *st = azstorage_of(r)->storage;
    return old->item.id > 0 ? st_item_put(st, &old->item, e)
                            : st_item_remove(st, now->share_id, now->path, e);
}

void blob_forget_old(struct request *r, const struct blob *old, const struct share_item *now)
{
    const char *was = old->item.aside;
    if (was && (!now->aside || strcmp(was, now->aside) != 0))
        blob_forget(r, was);
}

/* --- errors --------------------------------------------------------------------------------- */

int blob_not_found(const struct blob *b, struct err *e)
{
    return err_set(e, AZSTORAGE_BLOB_NOT_FOUND, NULL,
                   "The specified blob does not exist: '%.200s'.", b->name);
}

static const struct {
    int kind;
    const char *text;
} faults[FILE_FAULTS] = {
    [FILE_MISSING] = {AZSTORAGE_BLOB_NOT_FOUND, "The specified blob does not exist."},
    [FILE_PARENT_MISSING] = {AZSTORAGE_BLOB_NOT_FOUND, "The specified blob does not exist."},
    [FILE_BAD_NAME] = {AZSTORAGE_BLOB_NOT_FOUND, "The specified blob does not exist."},
    [FILE_IS_FILE] = {AZSTORAGE_BLOB_EXISTS, "The specified blob already exists."},
    [FILE_IS_DIRECTORY] = {AZSTORAGE_BLOB_NOT_FOUND, "The specified blob does not exist."},
    [FILE_SPECIAL] = {AZSTORAGE_BLOB_NOT_FOUND,
                      "The container's folder has an entry of this name that is not a file."},
    [FILE_LEADS_OUT] = {AZSTORAGE_BLOB_NOT_FOUND,
                        "A symbolic link in the path leads out of the container's folder."},
    [FILE_BEYOND_END] = {AZSTORAGE_RANGE, "The range specified is invalid for the current size of "
                                          "the resource."},
    [FILE_MD5_WRONG] = {AZSTORAGE_MD5_MISMATCH, "The MD5 value specified in the request did not "
                                                "match with the MD5 value calculated by the "
                                                "server."},
    [FILE_CRC64_WRONG] = {AZSTORAGE_CRC64_MISMATCH, "The CRC64 value specified in the request did "
                                                    "not match with the CRC64 value calculated by "
                                                    "the server."},
    [FILE_TOO_LARGE] = {ERR_BODY_TOO_LARGE, "The file system cannot hold a file that large."},
    [FILE_FULL] = {AZSTORAGE_FULL, "The disk that holds the container is full."},
    [FILE_FORBIDDEN] = {AZSTORAGE_READ_ONLY_FILE,
                        "The daemon has no permission for this in the container's folder."},
};

int blob_fault(const struct err *why, enum file_fault fault, struct err *e)
{
    if (fault == FILE_FINE) { /* the error is not about the file */
        *e = *why;
        return -1;
    }
    if (why->code == ERR_UNAVAILABLE || !faults[fault].text)
        return err_set(e, why->code == ERR_UNAVAILABLE ? ERR_UNAVAILABLE : ERR_IO, NULL,
                       "The container cannot be used: %s.", why->msg);
    return err_set(e, faults[fault].kind, NULL, "%s", faults[fault].text);
}

/* --- whether it may ------------------------------------------------------------------------- */

static int blob_check_lease(struct request *r, const struct share_item *i, bool writes,
                            struct err *e)
{
    static const struct lease_errors errors = {"blob", AZSTORAGE_LEASE_BLOB,
                                               AZSTORAGE_LEASE_NOT_BLOB};
    const struct lease l = lease_of_item(i);
    return lease_check(r, &l, writes, &errors, e);
}

int block_check(struct request *r, const struct blob *b, const struct file_facts *f, struct err *e)
{
    if (b->item.type == BLOB_APPEND)
        return err_set(e, AZSTORAGE_BLOB_TYPE, NULL,
                       "The blob type is invalid for this operation: it is an AppendBlob, which "
                       "has no block list.");
    if (blob_check_online(r, &b->item, f, e) < 0)
        return -1;
    return blob_check_lease(r, &b->item, true, e);
}

void blob_without_lease(struct blob *b)
{
    lease_to_item(&(struct lease){.state = LEASE_AVAILABLE}, &b->item);
}

/* Whether the request creates or replaces the blob. Of such a request If-None-Match: * means that
 * the blob must not exist. */
static bool makes(struct request *r)
{
    const char *comp = request_query(r, "comp");
    return strcmp(r->method, "PUT") == 0 && (!comp || !*comp || strcmp(comp, "blocklist") == 0);
}

bool blob_must_be_new(struct request *r, const struct share_item *i)
{
    const struct lease l = lease_of_item(i);
    return conditions_want_new(r) && !lease_is_callers(r, &l);
}

/* --- which operations an archived blob allows --- */

static bool is_for_archived(const struct request *r)
{
    /* https://learn.microsoft.com/azure/storage/blobs/access-tiers-overview#archive-access-tier; a
     * lease operation is allowed too, because it does not change the blob */
    static const char *const operations[] = {
        "Blob_GetProperties",  "Blob_GetMetadata", "Blob_GetTags",      "Blob_SetTags",
        "Blob_SetTier",        "Blob_Delete",      "Blob_AcquireLease", "Blob_Undelete",
        "Blob_GetAccountInfo", "StorageItems_Head"};
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(r->route->operation_id, operations[i]) == 0)
            return true;
    return false;
}

int blob_check_online(struct request *r, const struct share_item *i, const struct file_facts *f,
                      struct err *e)
{
    const struct tier now = tier_here(r, i, f);
    return now.archived && !is_for_archived(r) ? tier_refuse(&now, e) : 0;
}

int blob_check(struct request *r, const struct blob *b, const struct file_facts *f, struct err *e)
{
    const struct condition_state now = {.exists = f != NULL,
                                        .etag = f ? item_etag(f, &b->item) : 0,
                                        .modified_us = f ? item_modified_us(f, &b->item) : 0};
    static const struct share_item none;
    bool reads = strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0;
    bool only_new = makes(r) && conditions_want_new(r);
    if (f && only_new && blob_must_be_new(r, &b->item))
        return err_set(e, AZSTORAGE_BLOB_EXISTS, NULL, "The specified blob already exists.");
    if (f && reads && conditions_want_new(r))
        return err_set(e, AZSTORAGE_UNSATISFIABLE, NULL,
                       "The request includes an unsatisfiable condition for this operation: "
                       "If-None-Match: * asks to read the blob only if it is not there.");
    if (!f && conditions_want_new(r))
        return 0;
    if ((!only_new && conditions_check(r, &now, e) < 0) ||
        tags_check(r, "x-ms-if-tags", f ? &b->item : &none, AZSTORAGE_CONDITION, e) < 0)
        return -1;
    if (f && blob_check_online(r, &b->item, f, e) < 0)
        return -1;
    /* A lease action checks the lease id itself. */
    if (!f || request_header(r, "x-ms-lease-action"))
        return 0;
    bool writes = !reads && !is_comp(r, "snapshot") &&
                  !is_comp(r, "undelete"); /* these keep the present blob */
    return blob_check_lease(r, &b->item, writes, e);
}

/* --- conditions on tags ----------------------------------------------------------------------- */

int tags_check(struct request *r, const char *header, const struct share_item *i, int fails,
               struct err *e)
{
    const char *condition = request_header(r, header);
    struct err why;
    if (!condition)
        return 0;
    if (!grant_has(grant_of(r), 't'))
        return err_set(e, AZSTORAGE_PERMISSION, NULL,
                       "This request is not authorized to perform this operation using this "
                       "permission: %s needs the one for tags (t).",
                       header);
    json_auto_t *tags = i->tags ? json_loads(i->tags, 0, NULL) : NULL;
    int holds = tag_words_hold(condition, tags, &why);
    if (holds < 0)
        return err_set(e, AZSTORAGE_HEADER, header,
                       "The value for one of the HTTP headers is not in the correct format: %s is "
                       "'%.100s'; %s.",
                       header, condition, why.msg);
    if (holds)
        return 0;
    return err_set(e, fails, NULL,
                   "The condition specified using HTTP conditional header(s) is not met: %s.",
                   header);
}
