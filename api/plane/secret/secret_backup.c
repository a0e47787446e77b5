/* SPDX-License-Identifier: MIT
 *
 * Backups of secrets: one text with all versions, encrypted with the daemon's key, so that only
 * this daemon can open it. A restore creates the secret, with its name and versions, in any vault
 * that has no secret of this name.
 */
#include <stdlib.h>
#include <string.h>

#include "api/plane/secret/secret_errors.h"
#include "api/plane/secret/secrets.h"
#include "lib/jsontext.h"
#include "storage/storage.h"

/* Distinguishes backups from other texts that are encrypted with this key. */
#define KIND         "secret-backup"
#define VERSIONS_MAX 500 /* most versions of a secret, as in Azure */
#define PLAIN_MAX    (10 * 1024 * 1024)

static json_t *version_text(const struct secret_version *x, const char *value)
{
    return json_pack("{s:s, s:o, s:b, s:I, s:I, s:o*, s:o*, s:I, s:I}", "version", x->version,
                     "value", jsontext_string(value ? value : ""), "enabled", x->enabled, "nbf",
                     (json_int_t)x->not_before_s, "exp", (json_int_t)x->expires_s, "contentType",
                     jsontext_optional(x->content_type), "tags", jsontext_optional(x->tags),
                     "created", (json_int_t)x->created_us, "updated", (json_int_t)x->updated_us);
}

static int add_versions(struct request *r, int64_t secret_id, json_t *list, struct err *e)
{
    struct secret_version_rows rows;
    if (st_secret_version_list(arm_of(r)->storage, &r->arena, secret_id,
                               &(struct st_page){.limit = VERSIONS_MAX + 1}, &rows, e) < 0)
        return -1;
    if (rows.n > VERSIONS_MAX)
        return err_set(e, SECRET_BAD_PARAMETER, NULL,
                       "The secret has more than %d versions, which no backup can hold.",
                       VERSIONS_MAX);
    for (size_t i = 0; i < rows.n; i++) {
        const char *value;
        if (st_secret_value(arm_of(r)->storage, &r->arena, rows.items[i].id, &value, e) < 0)
            return -1;
        json_array_append_new(list, version_text(&rows.items[i], value));
    }
    return 0;
}

struct replied *secrets_backup(struct request *r)
{
    struct err e;
    struct open_vault v;
    struct secret_version x;
    if (open_vault(r, MAY_BACKUP, &v, &e) < 0 || check_secret_name(r, &e) < 0 ||
        find_version(r, &v, NULL, false, &x, &e) < 0)
        return reply_err(r, &e);
    json_t *list = request_own(r, json_array());
    if (add_versions(r, x.secret_id, list, &e) < 0)
        return reply_err(r, &e);
    json_auto_t *all = json_pack("{s:s, s:s, s:O}", "kind", KIND, "name", x.name, "versions", list);
    char *text = jsontext(all);
    bool fits = strlen(text) <= PLAIN_MAX;
    char *wrapped = fits ? st_wrap(arm_of(r)->storage, text) : NULL;
    free(text);
    if (!fits) {
        err_set(&e, SECRET_BAD_PARAMETER, NULL, "The secret's versions are too long for a backup.");
        return reply_err(r, &e);
    }
    json_t *body = json_pack("{s:s}", "value", wrapped);
    free(wrapped);
    return reply_json(r, 200, body);
}

/* --- putting it back -------------------------------------------------------------------------- */

static int64_t number_of(const json_t *o, const char *name)
{
    return json_integer_value(json_object_get(o, name));
}

static const char *text_of(const json_t *o, const char *name)
{
    return json_string_value(json_object_get(o, name));
}

struct restore_tx {
    int64_t vault_id;
    const json_t *backup;
};

static int restore_in_tx(struct storage *st, void *ctx, struct err *e)
{
    const struct restore_tx *t = ctx;
    const struct secret s = {.vault_id = t->vault_id, .name = text_of(t->backup, "name")};
    const json_t *item;
    size_t i;
    int64_t id;
    if (st_secret_insert(st, &s, &id, e) < 0)
        return -1;
    json_array_foreach(json_object_get(t->backup, "versions"), i, item) {
        const struct secret_version x = {.secret_id = id,
                                         .version = text_of(item, "version"),
                                         .enabled = json_is_true(json_object_get(item, "enabled")),
                                         .not_before_s = number_of(item, "nbf"),
                                         .expires_s = number_of(item, "exp"),
                                         .content_type = text_of(item, "contentType"),
                                         .tags = text_of(item, "tags"),
                                         .created_us = number_of(item, "created"),
                                         .updated_us = number_of(item, "updated")};
        if (st_secret_version_insert(st, &x, text_of(item, "value"), NULL, e) < 0)
            return -1;
    }
    return 0;
}

static int restore(struct request *r, const struct open_vault *v, const json_t *backup,
                   struct err *e)
{
    struct restore_tx t = {v->row.id, backup};
    struct secret s;
    const char *name = text_of(backup, "name");
    int rc = st_secret_get(arm_of(r)->storage, &r->arena, v->row.id, name, &s, e);
    if (rc < 0 || (rc > 0 && check_deleted(&s, e) < 0))
        return -1;
    if (rc > 0)
        return err_set(e, SECRET_IS_THERE, NULL,
                       "A secret with the name %s is in this vault: delete and purge it first.",
                       s.name);
    return st_tx(arm_of(r)->storage, "restore secret", restore_in_tx, &t, e);
}

/* Opens the backup in the body; the request owns the result. NULL, with *e: the text is no backup.
 * Only this daemon can have encrypted the text, so its content needs no checks. */
static json_t *open_backup(struct request *r, struct err *e)
{
    const char *wrapped = text_of(r->body, "value"), *plain;
    struct err why = {.msg = "the property 'value' is not a text."};
    bool opened = wrapped && st_unwrap(arm_of(r)->storage, &r->arena, wrapped, &plain, &why) == 0;
    json_t *backup = opened ? request_own(r, json_loads(plain, 0, NULL)) : NULL;
    const char *kind = text_of(backup, "kind");
    if (kind && strcmp(kind, KIND) == 0)
        return backup;
    err_set(e, SECRET_BAD_PARAMETER, NULL, "The backup of a secret is invalid: %s",
            opened ? "it is not the backup of a secret." : why.msg);
    return NULL;
}

struct replied *secrets_restore(struct request *r)
{
    struct err e;
    struct open_vault v;
    struct secret_version x;
    json_t *backup = NULL;
    if (open_vault(r, MAY_RESTORE, &v, &e) < 0 || !(backup = open_backup(r, &e)))
        return reply_err(r, &e);
    int rc = restore(r, &v, backup, &e);
    if (rc == 0)
        rc = st_secret_version_get(arm_of(r)->storage, &r->arena, v.row.id, text_of(backup, "name"),
                                   NULL, &x, &e) < 0
                 ? -1
                 : 0;
    if (rc < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "secret.restored", LF_STR("vault", v.row.name),
             LF_STR("secret", x.name), LF_STR("by", r->who->name));
    return reply_json(r, 200, render_secret(r, &v, &x, SHOWN_BUNDLE, NULL));
}
