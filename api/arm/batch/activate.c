/* SPDX-License-Identifier: MIT
 *
 * The activation of a package copies the archive that is in the container now. From then on nodes
 * get this copy.
 */
#include <string.h>

#include "api/arm/batch/application.h"
#include "api/arm/batch/batchrm.h"
#include "api/arm/batch/errors.h"
#include "api/arm/batch/routes.h"
#include "api/arm/kind.h"
#include "api/http/accept.h"
#include "api/plane/storage/tiers.h"
#include "model/batch/rm.h"
#include "storage/packages/packages.h"
#include "storage/shares/shares.h"
#include "storage/storage.h"

static int activate(struct request *r, struct application *x, struct batch_package *p,
                    const struct package_kept *kept, struct err *e)
{
    if (find_package(r, x, p, e) < 0)
        return -1;
    if (package_is_final(x, p) && strcmp(p->hash, kept->hash) != 0)
        return package_refuse_update(x, e);
    p->format = "zip";
    p->hash = arena_strdup(&r->arena, kept->hash);
    p->size = kept->size;
    p->activated_us = p->updated_us = r->now_us;
    return st_batch_package_update(arm_of(r)->storage, p, e);
}

static int in_words(const struct err *why, struct err *e)
{
    *e = *why;
    if (why->code == ERR_FILE_NOT_FOUND)
        return err_set(e, BATCHRM_NO_BLOB, NULL,
                       "The archive of the package is not in its container: upload it to the "
                       "storageUrl of the package first.");
    return -1;
}

static void on_kept(void *ctx, const struct err *why, const struct package_kept *kept)
{
    struct request *r = ctx;
    struct err e;
    struct application x;
    struct batch_package p;
    int rc = why ? in_words(why, &e) : activate(r, &x, &p, kept, &e);
    if (rc < 0) {
        packages_sweep(batchrm_of(r)->packages);
        request_finish(r, reply_err(r, &e));
        return;
    }
    LOG_INFO(r->config->log, "batch_package.activated", LF_STR("account", x.account.name),
             LF_STR("application", x.row.name), LF_STR("version", p.name), LF_STR("hash", p.hash),
             LF_STR("by", r->who->name));
    request_finish(r, is_flat(r) ? reply_empty(r, 204) : package_show(r, 200, &x, &p));
}

/* Fails if the package's blob is archived (cold storage). `s`: its container. */
static int check_online(struct request *r, const struct package_place *at, const struct share *s,
                        struct err *e)
{
    struct share_item item;
    int rc = st_item_get(arm_of(r)->storage, &r->arena, s->id, at->blob, &item, e);
    if (rc <= 0)
        return rc;
    const struct tier now =
        tier_of(&r->arena, batchrm_of(r)->store->wakes, at->store.scope.subscription, &item, NULL);
    return now.archived ? err_set(e, ERR_CONFLICT, NULL,
                                  "The archive of the package is an archived blob; rehydrate it "
                                  "first (Set Blob Tier).")
                        : 0;
}

struct replied *batch_packages_activate(struct request *r)
{
    struct err e;
    struct application x;
    struct batch_package p;
    struct package_place at;
    struct share s;
    struct accepted given;
    if (find_package(r, &x, &p, &e) < 0 ||
        request_accept(r, &schema_rm_activation, 0, &given, &e) < 0)
        return reply_err(r, &e);
    if (package_place(r, &x, p.name, &at, &e) < 0 || package_check_keys(&at, &e) < 0)
        return reply_err(r, &e);
    int rc = package_container(r, &at, &s, &e);
    if (rc == 0)
        rc = in_words(&(struct err){.code = ERR_FILE_NOT_FOUND}, &e);
    if (rc < 0 || check_online(r, &at, &s, &e) < 0)
        return reply_err(r, &e);
    const struct file_place from = {shares_folder(arm_of(r)->shares, &r->arena, &s), at.blob};
    packages_keep(batchrm_of(r)->packages, &from, on_kept, r);
    return reply_later(r);
}
