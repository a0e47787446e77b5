/* SPDX-License-Identifier: MIT
 *
 * Secrets: set, delete, recover, purge. A version and its secret are inserted in one transaction; a
 * deleted secret keeps its name until it is purged. Memory is the request's. On the loop's thread.
 */
#include <string.h>

#include "api/arm/operation.h"
#include "api/plane/secret/secret_errors.h"
#include "api/plane/secret/secrets.h"
#include "storage/storage.h"

#define VALUE_MAX    25600 /* bytes, as in the service */
#define VERSION_SIZE 33    /* 32 hexadecimal digits */

static void new_version(struct request *r, char out[VERSION_SIZE])
{
    char guid[GUID_SIZE];
    size_t n = 0;
    request_guid(r, guid);
    for (const char *p = guid; *p && n + 1 < VERSION_SIZE; p++)
        if (*p != '-')
            out[n++] = *p;
    out[n] = '\0';
}

int check_deleted(const struct secret *s, struct err *e)
{
    if (s->deleted_us == 0)
        return 0;
    return err_set(e, SECRET_IS_DELETED, NULL,
                   "Secret %s is currently in a deleted but recoverable state, and its name cannot "
                   "be reused; in this state, the secret can only be recovered or purged.",
                   s->name);
}

struct set_tx {
    int64_t vault_id;
    const char *name, *value;
    struct secret_version *x;
};

static int set_in_tx(struct storage *st, void *ctx, struct err *e)
{
    struct set_tx *t = ctx;
    const struct secret s = {.vault_id = t->vault_id, .name = t->name};
    if (t->x->secret_id == 0 && st_secret_insert(st, &s, &t->x->secret_id, e) < 0)
        return -1;
    return st_secret_version_insert(st, t->x, t->value, &t->x->id, e);
}

static int accept_value(const json_t *body, const char **out, struct err *e)
{
    const json_t *value = json_object_get(body, "value");
    if (!json_is_string(value))
        return err_set(e, SECRET_BAD_PARAMETER, NULL,
                       "The property 'value' is %s; it must be a text.",
                       value ? "not a text" : "missing");
    if (json_string_length(value) > VALUE_MAX)
        return err_set(e, SECRET_BAD_PARAMETER, NULL,
                       "The property 'value' has %zu bytes; it may have %d at most.",
                       json_string_length(value), VALUE_MAX);
    *out = json_string_value(value);
    return 0;
}

struct replied *secrets_set(struct request *r)
{
    struct err e;
    struct open_vault v;
    struct secret s = {0};
    char version[VERSION_SIZE];
    struct secret_version x = {.version = version, .enabled = true, .created_us = r->now_us};
    struct set_tx t = {.name = request_param(r, "name"), .x = &x};
    if (open_vault(r, MAY_SET, &v, &e) < 0 || check_secret_name(r, &e) < 0 ||
        accept_value(r->body, &t.value, &e) < 0 || accept_attributes(r, r->body, &x, &e) < 0)
        return reply_err(r, &e);
    int rc = st_secret_get(arm_of(r)->storage, &r->arena, v.row.id, t.name, &s, &e);
    if (rc < 0 || check_deleted(&s, &e) < 0)
        return reply_err(r, &e);
    new_version(r, version);
    t.vault_id = v.row.id;
    x.secret_id = s.id;
    x.name = s.name ? s.name : t.name;
    x.updated_us = r->now_us;
    if (st_tx(arm_of(r)->storage, "set secret", set_in_tx, &t, &e) < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "secret.set", LF_STR("vault", v.row.name), LF_STR("secret", x.name),
             LF_STR("version", version), LF_STR("by", r->who->name));
    return reply_json(r, 200, render_secret(r, &v, &x, SHOWN_BUNDLE, t.value));
}

struct replied *secrets_delete(struct request *r)
{
    struct err e;
    struct open_vault v;
    struct secret_version x;
    if (open_vault(r, MAY_DELETE, &v, &e) < 0 || check_secret_name(r, &e) < 0 ||
        find_version(r, &v, NULL, false, &x, &e) < 0)
        return reply_err(r, &e);
    x.deleted_us = r->now_us;
    x.purge_us = r->now_us + v.row.retention_us;
    if (st_secret_delete(arm_of(r)->storage, x.secret_id, x.deleted_us, x.purge_us, &e) < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "secret.deleted", LF_STR("vault", v.row.name),
             LF_STR("secret", x.name), LF_STR("by", r->who->name));
    return reply_json(r, 200, render_secret(r, &v, &x, SHOWN_DELETED, NULL));
}

static int find_deleted(struct request *r, enum secret_permission what, struct open_vault *v,
                        struct secret_version *x, struct err *e)
{
    if (open_vault(r, what, v, e) < 0 || check_secret_name(r, e) < 0 ||
        find_version(r, v, NULL, true, x, e) < 0)
        return -1;
    int64_t deleted_us = x->deleted_us;
    if (!creation_look(r, v->row.subscription, PACE_SECRET_DELETION, &deleted_us))
        return 0;
    return err_set(e, SECRET_NOT_FOUND, NULL, "Deleted Secret not found: %s", x->name);
}

struct replied *deleted_secrets_get(struct request *r)
{
    struct err e;
    struct open_vault v;
    struct secret_version x;
    if (find_deleted(r, MAY_GET, &v, &x, &e) < 0)
        return reply_err(r, &e);
    return reply_json(r, 200, render_secret(r, &v, &x, SHOWN_DELETED, NULL));
}

struct replied *deleted_secrets_recover(struct request *r)
{
    struct err e;
    struct open_vault v;
    struct secret_version x;
    if (find_deleted(r, MAY_RECOVER, &v, &x, &e) < 0 ||
        st_secret_recover(arm_of(r)->storage, x.secret_id, &e) < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "secret.recovered", LF_STR("vault", v.row.name),
             LF_STR("secret", x.name), LF_STR("by", r->who->name));
    return reply_json(r, 200, render_secret(r, &v, &x, SHOWN_BUNDLE, NULL));
}

struct replied *deleted_secrets_purge(struct request *r)
{
    struct err e;
    struct open_vault v;
    struct secret_version x;
    if (find_deleted(r, MAY_PURGE, &v, &x, &e) < 0)
        return reply_err(r, &e);
    if (v.purge_protected) {
        err_set(&e, SECRET_PURGE_PROTECTED, NULL,
                "Operation 'purge' is not allowed because purge protection is enabled for this "
                "vault.");
        return reply_err(r, &e);
    }
    if (st_secret_purge(arm_of(r)->storage, x.secret_id, &e) < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "secret.purged", LF_STR("vault", v.row.name), LF_STR("secret", x.name),
             LF_STR("by", r->who->name));
    return reply_empty(r, 204);
}
