/* SPDX-License-Identifier: MIT
 *
 * Maps the path of a request to a place in a share's folder, and errors of that place to the
 * service's errors.
 */
#include <string.h>

#include "api/plane/file/handlers.h"
#include "api/plane/storage/plane_shares.h"
#include "model/spec.h"
#include "scheduler/fleet/fleet.h"

/* https://learn.microsoft.com/rest/api/storageservices/naming-and-referencing-shares--directories--files--and-metadata
 */
#define NAME_MAX_BYTES 255
#define PATH_MAX_BYTES 2048
#define FORBIDDEN      "\"\\:|<>*?"

static int bad_name(const char *s, size_t n, struct err *e)
{
    return err_set(e, AZSTORAGE_PATH, NULL,
                   "The specified resource name contains invalid characters: '%.*s'. A name has "
                   "at most %d bytes, none of %s and no control characters, and is not . or ..",
                   (int)(n > 200 ? 200 : n), s, NAME_MAX_BYTES, FORBIDDEN);
}

static bool takes_any_names(const struct request *r)
{
    return grant_of(r)->plane->any_names;
}

static bool is_name(const struct request *r, const char *s, size_t n)
{
    if (n == 0 || n > NAME_MAX_BYTES || (s[0] == '.' && (n == 1 || (n == 2 && s[1] == '.'))))
        return false;
    for (size_t i = 0; i < n && !takes_any_names(r); i++)
        if ((unsigned char)s[i] < ' ' || strchr(FORBIDDEN, s[i]))
            return false;
    return true;
}

/* Whether trailing dots of names are kept. SMB removes them, unless the request asks to keep
 * them. */
static bool keeps_dots(const struct request *r)
{
    const char *says = request_header(r, "x-ms-allow-trailing-dot");
    if (takes_any_names(r))
        return true;
    return says && strcasecmp(says, "true") == 0;
}

static int normalize(struct request *r, const char *sent, const char **out, struct err *e)
{
    char *path = arena_alloc(&r->arena, strlen(sent) + 1), *to = path;
    bool dots = keeps_dots(r);
    for (const char *p = sent; *p;) {
        size_t n = strcspn(p, "/"), kept = n;
        while (!dots && kept > 0 && p[kept - 1] == '.')
            kept--;
        if (n > 0 && !is_name(r, p, kept))
            return bad_name(p, n, e);
        if (n > 0 && to > path)
            *to++ = '/';
        memcpy(to, p, kept);
        to += kept;
        p += n + (p[n] == '/');
    }
    *to = '\0';
    if (to - path > PATH_MAX_BYTES)
        return err_set(e, AZSTORAGE_PATH, NULL, "The path is longer than %d bytes.",
                       PATH_MAX_BYTES);
    *out = path;
    return 0;
}

int azfile_of(struct request *r, struct azfile *out, struct err *e)
{
    const struct grant *g = grant_of(r);
    if (plane_share(r, e) < 0)
        return -1;
    const struct mount_volume v = {
        .kind = MOUNT_FILE_SHARE, .account = g->account.name, .share = g->share.name};
    out->folder = fleet_share_path(azstorage_of(r)->storage_dir, &r->arena, &v);
    return normalize(r, r->rest ? r->rest : "", &out->path, e);
}

static void change_free(void *ctx)
{
    (void)ctx; /* nothing to free: the request's arena owns it */
}

struct azfile_change *azfile_change(struct request *r, const struct azfile *at)
{
    struct azfile_change *c = arena_alloc(&r->arena, sizeof *c);
    c->r = r;
    c->at = *at;
    request_keep(r, c, change_free);
    return c;
}

static const struct {
    int kind;
    const char *text;
} faults[FILE_FAULTS] = {
    [FILE_MISSING] = {AZSTORAGE_NOT_FOUND, "The specified resource does not exist."},
    [FILE_PARENT_MISSING] = {AZSTORAGE_PARENT, "The specified parent path does not exist."},
    [FILE_IS_FILE] = {AZSTORAGE_TYPE_MISMATCH, "There is a file of that name."},
    [FILE_IS_DIRECTORY] = {AZSTORAGE_TYPE_MISMATCH, "There is a directory of that name."},
    [FILE_SPECIAL] = {AZSTORAGE_TYPE_MISMATCH,
                      "The name belongs to an entry that is neither a file nor a directory."},
    [FILE_LEADS_OUT] = {AZSTORAGE_CANNOT_DELETE,
                        "A symbolic link in the path leads out of the share."},
    [FILE_NOT_EMPTY] = {AZSTORAGE_DIRECTORY_NOT_EMPTY, "The specified directory is not empty."},
    [FILE_BAD_NAME] = {AZSTORAGE_PATH, "No file can have that name here."},
    [FILE_BEYOND_END] = {AZSTORAGE_RANGE, "The range specified is invalid for the current size of "
                                          "the resource."},
    [FILE_MD5_WRONG] = {AZSTORAGE_MD5_MISMATCH, "The MD5 value specified in the request did not "
                                                "match with the MD5 value calculated by the "
                                                "server."},
    [FILE_TOO_LARGE] = {AZSTORAGE_INPUT_RANGE, "The file system cannot hold a file that large."},
    [FILE_FULL] = {AZSTORAGE_FULL, "The disk that holds the share is full."},
    [FILE_FORBIDDEN] = {AZSTORAGE_READ_ONLY_FILE,
                        "The daemon has no permission for this in the share's folder."},
};

int azfile_fault(const struct err *why, enum file_fault fault, struct err *e)
{
    if (why->code == ERR_UNAVAILABLE || !faults[fault].text)
        return err_set(e, why->code == ERR_UNAVAILABLE ? ERR_UNAVAILABLE : ERR_IO, NULL,
                       "The share cannot be used: %s.", why->msg);
    return err_set(e, faults[fault].kind, NULL, "%s", faults[fault].text);
}

int azfile_fault_of_new(const struct request *r, const struct err *why, enum file_fault fault,
                        struct err *e)
{
    if (fault != FILE_IS_FILE || grant_has(grant_of(r), 'w'))
        return azfile_fault(why, fault, e);
    return err_set(e, AZSTORAGE_PERMISSION, NULL,
                   "The signature permits to create files, not to overwrite existing files.");
}

#define ATTRIBUTES_SINCE 20190202

void azfile_state(struct request *r, const struct file_facts *f, const struct share_item *i)
{
    struct smb_times t;
    reply_state(r, item_etag(f, i), f->mtime_us);
    if (grant_of(r)->version < ATTRIBUTES_SINCE)
        return;
    reply_header_text(r, "x-ms-file-attributes", smb_attributes(r, f, i));
    smb_times(r, f, i, &t);
    reply_header_text(r, "x-ms-file-creation-time", t.created);
    reply_header(r, "x-ms-file-last-write-time", "%s", t.written);
    reply_header(r, "x-ms-file-change-time", "%s", t.changed);
    reply_header_text(r, "x-ms-file-permission-key", "1*1");
    reply_header(r, "x-ms-file-id", "%llu", (unsigned long long)f->inode);
}
