/* SPDX-License-Identifier: MIT */
#include "api/arm/batch/application.h"

#include <string.h>

#include "api/arm/batch/errors.h"
#include "model/batch/rm.h"
#include "storage/storage.h"

#define NAME_MAX_LEN 64

int check_application_name(const char *name, bool version, struct err *e)
{
    static const char usual[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    size_t n = strlen(name);
    const char *dot = strchr(name, '.');
    if (n >= 1 && n <= NAME_MAX_LEN && strspn(name, usual) == n &&
        (!dot || (version && dot != name)))
        return 0;
    return err_set(e, BATCHRM_INVALID_BODY, NULL,
                   "The %s '%.100s' is invalid: it must have 1 to %d letters, digits, hyphens and "
                   "underscores%s.",
                   version ? "version" : "application name", name, NAME_MAX_LEN,
                   version ? ", and dots after the first character" : "");
}

int find_application(struct request *r, struct application *x, struct err *e)
{
    const char *name = request_param(r, "application");
    if (find_made_batch_account(r, &x->account, e) < 0)
        return -1;
    int rc =
        st_batch_application_get(arm_of(r)->storage, &r->arena, x->account.id, name, &x->row, e);
    if (rc == 0)
        return err_set(e, BATCHRM_APPLICATION_NOT_FOUND, NULL,
                       "The Batch account %s has no application '%.100s'.", x->account.name, name);
    return rc < 0 ? -1 : 0;
}

bool is_flat(const struct request *r)
{
    return r->version & RM_UNTIL(RM_2017_09);
}

const char *weak_etag(struct request *r, int64_t updated_us)
{
    return arena_printf(&r->arena, "W/\"0x%llX\"", (unsigned long long)time_to_ticks(updated_us));
}

json_t *application_envelope(struct request *r, const struct application *x, const char *version,
                             int64_t updated_us)
{
    const char *id = arena_concat(&r->arena, batch_account_id(r, &x->account), "/applications/",
                                  x->row.name, version ? "/versions/" : "", version ? version : "");
    return json_pack("{s:s, s:s, s:s, s:s}", "id", id, "name", version ? version : x->row.name,
                     "type",
                     version ? "Microsoft.Batch/batchAccounts/applications/versions"
                             : "Microsoft.Batch/batchAccounts/applications",
                     "etag", weak_etag(r, updated_us));
}

int find_package(struct request *r, struct application *x, struct batch_package *p, struct err *e)
{
    const char *name = request_param(r, "version");
    if (find_application(r, x, e) < 0)
        return -1;
    int rc = st_batch_package_get(arm_of(r)->storage, &r->arena, x->row.id, name, p, e);
    if (rc == 0)
        return err_set(e, BATCHRM_PACKAGE_NOT_FOUND, NULL,
                       "The application %s has no version '%.100s'.", x->row.name, name);
    return rc < 0 ? -1 : 0;
}

json_t *package_facts(const struct request *r, const struct batch_package *p)
{
    bool lower = r->version == RM_2017_05;
    char when[TIMEFMT_SIZE] = "";
    if (p->hash)
        timefmt_wire(p->activated_us, when);
    return json_pack("{s:s, s:s*, s:s*}", "state",
                     p->hash ? (lower ? "active" : "Active") : (lower ? "pending" : "Pending"),
                     "format", p->hash ? p->format : NULL, "lastActivationTime",
                     p->hash ? when : NULL);
}
