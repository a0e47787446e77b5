/* SPDX-License-Identifier: MIT
 *
 * Resource files and packages become files for nodes: blobs and packages of this daemon become
 * files of the daemon; URLs of other servers stay URLs.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model/batch/images.h"
#include "model/batch/rm.h"
#include "scheduler/fleet/transfer/transfer.h"
#include "scheduler/front/batch/front_priv.h"
#include "scheduler/front/batch/packages.h"
#include "scheduler/site/site.h"
#include "storage/folders/files.h"
#include "storage/packages/packages.h"

/* The most blobs of a container with names that no file can have. With more, the task fails on the
 * node, as with too many files. */
#define ASIDE_MAX 100001

/* The mode in the real service: users who may read a file may also execute it. */
#define MODE 0770

static void refuse(struct arena *a, struct batch_inputs *in, enum failure_code code,
                   const char *what, const char *why)
{
    if (in->refused)
        return;
    in->refused = code;
    in->why_refused = arena_concat(a, "The ", what, " is not available: ", why);
}

static enum failure_code code_of(const struct err *e)
{
    if (e->code == ERR_FILE_NOT_FOUND)
        return FAIL_INPUT_NOT_FOUND;
    return e->code == ERR_FORBIDDEN ? FAIL_INPUT_DENIED : FAIL_INPUT_FAILED;
}

/* --- where files come from: as in struct batch_blobs --------------------------------------------
 */

/* Returns `rc` (as in struct batch_blobs); -1: the URL is on another server, and the site does not
 * allow that. */
static int may_leave(const struct batch_front *f, int rc, struct err *e)
{
    const struct site *site = fleet_site(sched_fleet(f->sched));
    if (rc != 0 || !site || site->foreign_urls)
        return rc;
    return err_set(e, ERR_FORBIDDEN, NULL,
                   "its host is not part of this service, and other hosts are not allowed "
                   "(batch.foreign_urls)");
}

/* Adds those blobs of a container whose names cannot be file names. */
static int add_aside(const struct batch_front *f, struct arena *a, const struct container_place *c,
                     const char *prefix, struct input_file *out, struct err *e)
{
    struct share_item_rows rows;
    if (st_item_list(f->st, a, c->share_id, true,
                     &(struct st_paths){
                         .from = prefix, .to = arena_concat(a, prefix, "\xff"), .limit = ASIDE_MAX},
                     &rows, e) < 0)
        return -1;
    struct input_blob *blobs = arena_alloc(a, (rows.n + 1) * sizeof *blobs);
    for (size_t i = 0; i < rows.n; i++)
        blobs[i] = (struct input_blob){.name = rows.items[i].path,
                                       .share = c->aside,
                                       .path = rows.items[i].aside,
                                       .has_bytes = rows.items[i].size > 0};
    out->aside = blobs;
    out->n_aside = rows.n;
    return 0;
}

/* Fills `out` for a container; `rc` is the result of open_all(), and is returned. */
static int take_container(const struct batch_front *f, struct arena *a,
                          const struct container_place *c, int rc, struct input_file *out,
                          struct err *e)
{
    struct archived_blobs archived = {NULL, 0};
    out->share = rc == 1 ? c->folder : NULL;
    if (rc == 1 && (add_aside(f, a, c, out->prefix, out, e) < 0 ||
                    f->blobs.archived(f->blobs.ctx, a, c, out->prefix, &archived, e) < 0))
        return -1;
    out->archived = archived.items;
    out->n_archived = archived.n;
    return rc;
}

/* Sets *name to the auto-storage account of a Batch account. 1: done; 0: it has none; -1: error. */
static int auto_storage_of(const struct batch_front *f, struct arena *a, int64_t account_id,
                           const char **name, struct err *e)
{
    struct batch_account account;
    int rc = st_batch_account_by_id(f->st, a, account_id, &account, e);
    *name = rc == 1 ? batch_auto_storage(a, account.doc) : NULL;
    return rc < 0 ? -1 : *name != NULL;
}

/* For a URL without a signature, any identityReference means the Batch account's rights, because
 * this daemon has no other identities. *owner: the account's auto-storage account; NULL: none. */
static int find_owner(const struct batch_inputs *in, const char *identity, const char *url,
                      const char **owner, struct err *e)
{
    *owner = NULL;
    return identity && !strchr(url, '?')
               ? auto_storage_of(in->front, in->a, in->pool->account_id, owner, e)
               : 0;
}

/* The container of "https://ACCOUNT.blob.HOST/CONTAINER"; NULL: the URL is not in this account. */
static const char *container_of(struct arena *a, const char *url, const char *account)
{
    const char *host = strstr(url, "://");
    size_t n = strlen(account);
    if (!host || strncasecmp(host + 3, account, n) != 0 || host[3 + n] != '.')
        return NULL;
    const char *path = strchr(host + 3, '/');
    return path ? arena_strndup(a, path + 1, strcspn(path + 1, "/?#")) : NULL;
}

/* Returns `rc`, the result of a function of struct batch_blobs. -1 with a clearer error: the URL
 * has no signature, and its identityReference does not help. */
static int with_identity(int rc, struct arena *a, const struct batch_resource_file *r,
                         const char *url, const char *owner, struct err *e)
{
    bool good = rc > 0 || (rc < 0 && e->code != ERR_FORBIDDEN);
    if (good || !r->identity || strchr(url, '?') || (owner && container_of(a, url, owner)))
        return rc;
    return err_set(
        e, ERR_FORBIDDEN, NULL,
        "an identityReference works only for blobs of the Batch account's auto-storage account, "
        "because managed identities are not supported; use a URL with a signature");
}

static int find_blob(const struct batch_inputs *in, const struct batch_resource_file *r,
                     struct input_file *out, struct err *e)
{
    const struct batch_front *f = in->front;
    struct arena *a = in->a;
    struct blob_place from;
    struct url_reader reader = {NULL, wakes_wall(f->wakes)};
    if (find_owner(in, r->identity, r->http_url, &reader.owner, e) < 0)
        return -1;
    int rc = f->blobs.open(f->blobs.ctx, a, r->http_url, &reader, &from, e);
    rc = may_leave(f, with_identity(rc, a, r, r->http_url, reader.owner, e), e);
    out->share = rc == 1 ? from.at.share : NULL;
    out->path = rc == 1 ? from.at.path : NULL;
    out->archived = rc == 1 ? from.archived : NULL;
    out->url = rc == 0 ? r->http_url : NULL;
    return rc;
}

static int find_container(const struct batch_inputs *in, const struct batch_resource_file *r,
                          struct input_file *out, struct err *e)
{
    const struct batch_front *f = in->front;
    struct arena *a = in->a;
    struct container_place c;
    const char *url = r->container_url;
    struct url_reader reader = {NULL, wakes_wall(f->wakes)};
    if (find_owner(in, r->identity, url, &reader.owner, e) < 0)
        return -1;
    int rc = f->blobs.open_all(f->blobs.ctx, a, url, &reader, &c, e);
    rc = may_leave(f, with_identity(rc, a, r, url, reader.owner, e), e);
    out->url = rc == 0 ? url : NULL;
    return take_container(f, a, &c, rc, out, e);
}

static int find_auto(const struct batch_inputs *in, const struct batch_resource_file *r,
                     struct input_file *out, struct err *e)
{
    const struct batch_front *f = in->front;
    struct arena *a = in->a;
    const char *store;
    int rc = auto_storage_of(f, a, in->pool->account_id, &store, e);
    if (rc < 0)
        return -1;
    if (rc == 0)
        return err_set(e, ERR_IO, NULL, "the Batch account has no auto-storage account");
    struct container_place c;
    const struct share_name name = {
        .account = store, .share = r->auto_container, .kind = SHARE_BLOBS};
    rc = f->blobs.container(f->blobs.ctx, a, &name, &c, e);
    return rc != 0 ? take_container(f, a, &c, rc, out, e)
                   : err_set(e, ERR_FILE_NOT_FOUND, NULL,
                             "the auto-storage account %s does not exist any more", store);
}

/* --- files --------------------------------------------------------------------------------------
 */

static const char *directory_of(struct arena *a, const char *dir, const char *path)
{
    return path && *path ? arena_concat(a, dir, "/", path) : dir;
}

static const char *what_of(struct arena *a, const struct batch_resource_file *r)
{
    if (r->auto_container)
        return arena_concat(a, "container ", r->auto_container, " of the auto-storage account");
    if (r->container_url)
        return arena_concat(a, "container ", transfer_shown(a, r->container_url));
    return arena_concat(a, "resource file ", transfer_shown(a, r->http_url));
}

void batch_add_files(struct batch_inputs *in, const struct batch_resource_file *list, size_t n,
                     const char *dir)
{
    struct arena *a = in->a;
    for (size_t i = 0; i < n; i++) {
        const struct batch_resource_file *r = &list[i];
        struct err e = {0};
        struct input_file out = {.to = directory_of(a, dir, r->path),
                                 .what = what_of(a, r),
                                 .mode = r->mode ? (int)strtol(r->mode, NULL, 8) : MODE,
                                 .prefix = r->http_url ? NULL
                                           : r->prefix ? r->prefix
                                                       : ""};
        int rc = r->http_url        ? find_blob(in, r, &out, &e)
                 : r->container_url ? find_container(in, r, &out, &e)
                                    : find_auto(in, r, &out, &e);
        if (rc < 0)
            refuse(a, in, code_of(&e), out.what, e.msg);
        else
            in->files->items[in->files->n++] = out;
    }
}

/* --- output files -------------------------------------------------------------------------------
 */

static int find_by_identity(const struct batch_front *f, struct arena *a, int64_t account_id,
                            const char *url, struct batch_destination *out, struct err *e)
{
    const char *store;
    int rc = auto_storage_of(f, a, account_id, &store, e);
    const char *container = rc == 1 ? container_of(a, url, store) : NULL;
    if (rc < 0)
        return -1;
    if (!container)
        return err_set(e, ERR_FORBIDDEN, NULL,
                       "an identityReference works only for containers of the Batch account's "
                       "auto-storage account, because managed identities are not supported; use a "
                       "containerUrl with a signature");
    out->own = true;
    const struct share_name name = {.account = store, .share = container, .kind = SHARE_BLOBS};
    rc = f->blobs.writable(f->blobs.ctx, a, &name, wakes_wall(f->wakes), &out->url, e);
    if (rc == 0)
        return err_set(e, ERR_FILE_NOT_FOUND, NULL, "the account %s does not exist", store);
    return rc < 0 ? -1 : 0;
}

int batch_destination(const struct batch_front *f, struct arena *a, int64_t account_id,
                      const char *url, bool identity, struct batch_destination *out, struct err *e)
{
    *out = (struct batch_destination){.url = url};
    if (identity && !strchr(url, '?'))
        return find_by_identity(f, a, account_id, url, out, e);
    int rc = may_leave(f, f->blobs.home(f->blobs.ctx, a, url, &out->url, e), e);
    out->own = rc == 1;
    if (rc == 0)
        out->url = url;
    return rc < 0 ? -1 : 0;
}

void batch_add_outputs(const struct batch_front *f, struct arena *a, int64_t account_id,
                       const struct batch_output_file *list, size_t n, struct place_spec *place)
{
    place->home = BATCH_ROOT;
    place->output_log = "fileuploadout.txt";
    place->output_errors = "fileuploaderr.txt";
    place->outputs.items = arena_alloc(a, (n + 1) * sizeof *place->outputs.items);
    for (size_t i = 0; i < n; i++) {
        const struct batch_output_file *o = &list[i];
        const char **headers = arena_alloc(a, (o->n_headers + 1) * sizeof *headers);
        struct err e = {0};
        for (size_t k = 0; k < o->n_headers; k++)
            headers[k] = arena_concat(a, o->headers[k].name, ": ",
                                      o->headers[k].value ? o->headers[k].value : "");
        struct output_file out = {.pattern = o->pattern,
                                  .path = o->path,
                                  .headers = headers,
                                  .n_headers = o->n_headers,
                                  .after_success = o->when != BATCH_UPLOAD_ON_FAILURE,
                                  .after_failure = o->when != BATCH_UPLOAD_ON_SUCCESS,
                                  .what = arena_concat(a, "upload of ", o->pattern, " to ",
                                                       transfer_shown(a, o->container_url))};
        struct batch_destination to;
        if (batch_destination(f, a, account_id, o->container_url, o->identity, &to, &e) < 0) {
            out.refused = arena_strdup(a, e.msg);
            out.refused_as = e.code;
        } else {
            out.url = to.url;
            out.own = to.own;
        }
        place->outputs.items[place->outputs.n++] = out;
    }
}

/* --- packages -----------------------------------------------------------------------------------
 */

static int add_package(struct batch_inputs *in, const struct batch_package_ref *ref,
                       enum batch_package_for whom, struct err *e)
{
    const struct batch_front *f = in->front;
    const struct batch_pool *pool = in->pool;
    struct arena *a = in->a;
    struct batch_package_use use;
    const char *what = arena_concat(a, "application package ", ref->application, "#",
                                    ref->version ? ref->version : "default");
    int rc =
        batch_package_find(f->st, a, pool->account_id, ref->application, ref->version, &use, e);
    if (rc < 0)
        return -1;
    if (rc == 0 && whom != BATCH_PACKAGES_ON_POOL)
        refuse(a, in, FAIL_PACKAGE, what, "the package does not exist or is not active");
    if (rc == 0)
        return 0;
    const char *directory = whom == BATCH_PACKAGES_OF_TASK ? batch_package_directory(a, &use)
                                                           : batch_pool_package_directory(a, &use);
    if (whom != BATCH_PACKAGES_ON_POOL) {
        const struct file_place from = packages_place(f->packages, a, use.package.hash);
        in->files->items[in->files->n++] =
            (struct input_file){.share = from.share,
                                .path = from.path,
                                .to = arena_concat(a, "packages/", use.package.hash),
                                .link = directory,
                                .what = what,
                                .package = true};
    }
    in->rooted[in->n_rooted++] =
        (struct kv){.name = batch_package_variable(a, &use, batch_pool_is_windows(pool->doc)),
                    .value = directory};
    return 0;
}

int batch_add_packages(struct batch_inputs *in, const struct batch_package_ref *list, size_t n,
                       enum batch_package_for whom, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (add_package(in, &list[i], whom, e) < 0)
            return -1;
    return 0;
}
