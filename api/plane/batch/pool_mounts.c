/* SPDX-License-Identifier: MIT
 *
 * Checks the mounts of pools. Tasks can read and write all that their pool mounts, so a mount is
 * checked like a request to its storage account. Memory is the request's. On the loop's thread.
 */
#include "api/plane/batch/pool_mounts.h"

#include <string.h>
#include <strings.h>

#include "api/arm/named_shares.h"
#include "api/plane/batch/run_as.h"
#include "api/plane/storage/storage_url.h"
#include "model/batch/rm.h"
#include "model/batch/spec.h"
#include "storage/shares/shares.h"

#define BLOBS "azureBlobFileSystemConfiguration"
#define FILES "azureFileShareConfiguration"

/* A mount of the list. */
struct pool_mount {
    const json_t *doc;
    bool blobs;
    const char *path; /* "mountConfiguration[0].azureFileShareConfiguration" */
};

static const json_t *pool_in(const struct accepted *b, const char *at)
{
    return *at ? batch_part(b->doc, at) : b->doc;
}

/* Reads entry `i` of the list; false: it mounts neither a share nor a container. */
static bool mount_at(struct request *r, const json_t *list, size_t i, const char *at,
                     struct pool_mount *out)
{
    const json_t *one = json_array_get(list, i);
    const json_t *blobs = json_object_get(one, BLOBS), *files = json_object_get(one, FILES);
    *out = (struct pool_mount){.doc = blobs ? blobs : files, .blobs = blobs != NULL};
    out->path = arena_printf(&r->arena, "%s%smountConfiguration[%zu].%s", at, *at ? "." : "", i,
                             blobs ? BLOBS : FILES);
    return out->doc != NULL;
}

static const char *text_of(const json_t *doc, const char *name)
{
    return json_string_value(json_object_get(doc, name));
}

static const char *secret_of(struct request *r, const struct accepted *b,
                             const struct pool_mount *m, const char *name)
{
    return text_of(b->secrets, arena_concat(&r->arena, m->path, ".", name));
}

/* Finds the share or container of a mount; false: it names none. It is elsewhere only if this is so
 * for nodes of both priorities, because the pool may get both. */
static bool share_of(struct request *r, const struct accepted *b, const struct pool_mount *m,
                     const char *vm_size, struct share_name *out)
{
    const char *ignored;
    struct share_name low;
    struct mount_volume v = {.kind = m->blobs ? MOUNT_BLOBS : MOUNT_FILE_SHARE,
                             .account = text_of(m->doc, "accountName"),
                             .share =
                                 container_from_text(&r->arena, text_of(m->doc, "containerName")),
                             .key = secret_of(r, b, m, "accountKey")};
    const char *url = text_of(m->doc, "azureFileUrl");
    if (!m->blobs && (!url || file_share_from_url(&r->arena, url, &ignored, &v.share) < 0))
        return false;
    if (!named_share_of(r, &v, vm_size, VM_DEDICATED, out) ||
        !named_share_of(r, &v, vm_size, VM_LOWPRIORITY, &low))
        return false;
    out->is_elsewhere = out->is_elsewhere && low.is_elsewhere;
    return true;
}

static bool is_auto_storage(struct request *r, const struct batch_account *account,
                            const struct share_name *n)
{
    const char *own = batch_auto_storage(&r->arena, account->doc);
    return own && strcasecmp(own, n->account) == 0;
}

static int check_one(struct request *r, const struct pool_asker *who, const struct accepted *b,
                     const struct pool_mount *m, struct share_name *n, struct err *e)
{
    const char *sas = secret_of(r, b, m, "sasKey");
    if (!who->is_trusted && !is_auto_storage(r, who->account, n) && named_share_ask(r, n, e) < 0)
        return -1;
    if (n->needs_key && m->blobs && sas) {
        struct err why;
        n->needs_key = false;
        if (storage_sas_mounts(who->store, &r->arena, n, sas, r->now_us, &why) < 0)
            return err_set(e, ERR_INVALID_PROPERTY, m->path,
                           "%s.sasKey: the container cannot be mounted with it: %s", m->path,
                           why.msg);
    }
    return shares_check_named(arm_of(r)->shares, n, e) < 0 ? err_prefix(e, "%s", m->path) : 0;
}

static int make(struct request *r, const struct share_name *names, size_t n, struct err *e)
{
    const char *who = r->who ? r->who->object_id : NULL;
    for (size_t i = 0; i < n; i++)
        if (shares_make_named(arm_of(r)->shares, &names[i], who, r->now_us, e) < 0)
            return -1;
    return 0;
}

int pool_mounts_take(struct request *r, const struct pool_asker *who, const struct accepted *b,
                     const char *at, const char *vm_size, struct err *e)
{
    const json_t *pool = pool_in(b, at), *list = json_object_get(pool, "mountConfiguration");
    const char *size = vm_size ? vm_size : text_of(pool, "vmSize");
    struct share_name *names = arena_alloc(&r->arena, (json_array_size(list) + 1) * sizeof *names);
    struct pool_mount m;
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!mount_at(r, list, i, at, &m) || !share_of(r, b, &m, size ? size : "", &names[n]))
            continue;
        if (check_one(r, who, b, &m, &names[n++], e) < 0)
            return -1;
    }
    return make(r, names, n, e);
}

int batch_take_mounts(struct request *r, const struct accepted *b, const char *at,
                      const char *vm_size, struct err *e)
{
    if (!json_array_size(json_object_get(pool_in(b, at), "mountConfiguration")))
        return 0;
    int firsts = batch_is_firsts(r, e);
    const struct pool_asker who = {batch_account_of(r), batch_of(r)->store, firsts > 0};
    return firsts < 0 ? -1 : pool_mounts_take(r, &who, b, at, vm_size, e);
}
