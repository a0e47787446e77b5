/* SPDX-License-Identifier: MIT
 *
 * States of vaults that no request can set: versions of secrets by their ids, and times of
 * deletion. For vaults of a deleted group, the seed creates the group, and removes it after the
 * vaults are deleted.
 */
#include <string.h>

#include "api/testing/seed/steps.h"
#include "lib/jsontext.h"
#include "model/schema.h"
#include "storage/seeding.h"
#include "storage/storage.h"

/* --- deleted secrets and vaults --------------------------------------------------------------- */

bool seed_is_deleted(const struct seed_step *s)
{
    const json_t *deleted = json_object_get(s->given, "deleted");
    return deleted && !json_is_false(deleted);
}

/* Reads the time of deletion; `true` means now. */
static int deleted_at(const struct request *r, const struct seed_step *s, int64_t *us,
                      struct err *e)
{
    const json_t *deleted = json_object_get(s->given, "deleted");
    char shown[VALUE_TEXT_SIZE];
    if (deleted && !json_is_boolean(deleted) && !json_is_string(deleted))
        return err_set(e, ERR_INVALID_PROPERTY, "deleted",
                       "deleted is %s; it must be true, or an instant such as "
                       "2026-11-23T09:00:00Z.",
                       value_text(deleted, shown));
    return seed_time_read(json_string_value(deleted), "deleted", r->now_us, us, e);
}

static int find_vault(const struct seed *seed, struct request *r, const struct seed_step *s,
                      struct vault *v, struct err *e)
{
    const char *name = seed_step_in(s, SEED_VAULT)->name;
    int rc = st_vault_get(seed->arm.storage, &r->arena, name, v, e);
    return rc == 0 ? err_set(e, ERR_INTERNAL, NULL, "The vault does not exist any more.") : rc;
}

int seed_vault_last(const struct seed *seed, struct request *r, const struct seed_step *s,
                    struct err *e)
{
    struct vault v;
    int64_t us = 0;
    if (!seed_is_deleted(s))
        return 0;
    return deleted_at(r, s, &us, e) < 0 || find_vault(seed, r, s, &v, e) < 0
               ? -1
               : st_vault_delete(seed->arm.storage, v.id, us, e);
}

/* Removes a group that the seed describes as deleted. Its vaults are deleted before, so the group
 * is empty. */
int seed_group_last(const struct seed *seed, struct request *r, const struct seed_step *s,
                    struct err *e)
{
    struct resource_group g;
    const char *name;
    json_t *v;
    int64_t us; /* unused, because a group keeps no time of deletion; but the value is checked */
    if (!seed_is_deleted(s))
        return 0;
    if (deleted_at(r, s, &us, e) < 0)
        return -1;
    json_object_foreach((json_t *)s->given, name, v) {
        if (strcmp(name, "vaults") != 0 && seed_kind_named(SEED_GROUP, name))
            return err_set(
                e, ERR_INVALID_PROPERTY, name,
                "A group that was deleted has vaults that were deleted, and nothing else.");
    }
    int rc = st_group_get(seed->arm.storage, &r->arena, s->subscription, s->name, &g, e);
    if (rc <= 0)
        return rc < 0 ? -1 : err_set(e, ERR_INTERNAL, NULL, "The group does not exist any more.");
    if (st_remove(seed->arm.storage, RES_GROUP, g.id, r->now_us, e) == 0)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, "deleted",
                   "The group was deleted, but one of its vaults is not.");
}

/* --- secrets ---------------------------------------------------------------------------------- */

static bool is_version(const char *text)
{
    return strlen(text) == 32 && strspn(text, "0123456789abcdefABCDEF") == 32;
}

static int name_version(struct storage *st, int64_t id, const char *version, struct err *e)
{
    if (!version)
        return 0;
    if (!is_version(version))
        return err_set(
            e, ERR_INVALID_PROPERTY, "version",
            "'%.60s' is not a valid version of a secret: a version has 32 hexadecimal digits.",
            version);
    return st_secret_version_name(st, id, version, e);
}

/* Gives the existing versions of a secret, in the order of their creation, the ids that the seed
 * contains. */
static int name_versions(struct storage *st, const struct seed_step *s,
                         const struct secret_version *rows, size_t n, struct err *e)
{
    const char *version;
    json_t *older;
    size_t i = 0;
    json_object_foreach(json_object_get(s->given, "versions"), version, older) {
        if (i < n && name_version(st, rows[i++].id, version, e) < 0)
            return -1;
    }
    return i < n ? name_version(st, rows[i].id,
                                json_string_value(json_object_get(s->given, "version")), e)
                 : 0;
}

int seed_secret_then(const struct seed *seed, struct request *r, const struct seed_step *s,
                     struct err *e)
{
    struct vault v;
    struct secret k;
    struct secret_version_rows rows;
    int64_t us = 0;
    size_t most = json_object_size(json_object_get(s->given, "versions")) + 1;
    struct storage *st = seed->arm.storage;
    const json_t *versions = json_object_get(s->given, "versions");
    if (versions && !json_is_object(versions))
        return err_set(
            e, ERR_INVALID_PROPERTY, "versions",
            "versions must be a mapping from version ids to the earlier values of the secret.");
    if (deleted_at(r, s, &us, e) < 0 || find_vault(seed, r, s, &v, e) < 0)
        return -1;
    int rc = st_secret_get(st, &r->arena, v.id, s->name, &k, e);
    if (rc <= 0)
        return rc < 0 ? -1 : err_set(e, ERR_INTERNAL, NULL, "The secret does not exist any more.");
    if (st_secret_version_list(st, &r->arena, k.id, &(struct st_page){.limit = (int)most}, &rows,
                               e) < 0 ||
        name_versions(st, s, rows.items, rows.n, e) < 0)
        return -1;
    return seed_is_deleted(s) ? st_secret_delete(st, k.id, us, us + v.retention_us, e) : 0;
}
