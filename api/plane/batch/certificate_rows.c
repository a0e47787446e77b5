/* SPDX-License-Identifier: MIT
 *
 * Reads a certificate from a body, stores it with its secrets sealed, and deletes it unless a pool
 * uses it. Rows are the arena's. On the loop's thread.
 */
#include "api/plane/batch/certificate_rows.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/plane/batch/pfx.h"
#include "lib/jsontext.h"
#include "model/batch/tables_pool.h"
#include "storage/storage.h"

#define POOLS_AT_ONCE 100

static const char *text_at(const json_t *o, const char *name)
{
    return json_string_value(json_object_get(o, name));
}

/* Reads the certificate, and checks that it has the thumbprint of the body. */
static int check_given(struct arena *a, const json_t *doc, const json_t *secrets, struct pfx *out,
                       struct err *e)
{
    const char *thumbprint = text_at(doc, "thumbprint");
    bool pfx = strcmp(text_at(doc, "certificateFormat"), "pfx") == 0;
    if (strcasecmp(text_at(doc, "thumbprintAlgorithm"), "sha1") != 0)
        return err_set(e, ERR_INVALID_PROPERTY, "thumbprintAlgorithm",
                       "thumbprintAlgorithm must be sha1");
    if (!pfx && text_at(secrets, "password"))
        return err_set(e, ERR_INVALID_PROPERTY, "password",
                       "a certificate without a private key (cer) has no password");
    if (pfx_read(a, text_at(secrets, "data"), pfx, text_at(secrets, "password"), out, e) < 0)
        return -1;
    if (strcasecmp(thumbprint, out->thumbprint) == 0)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, "thumbprint",
                   "thumbprint is %.128s, but the data has the thumbprint %s", thumbprint,
                   out->thumbprint);
}

int certificate_take(struct storage *st, struct arena *a, int64_t account_id,
                     const struct accepted *b, int64_t now_us, struct batch_certificate *out,
                     struct err *e)
{
    struct pfx given;
    if (check_given(a, b->doc, b->secrets, &given, e) < 0)
        return -1;
    int rc = st_batch_certificate_get(st, a, account_id, "sha1", given.thumbprint, out, e);
    if (rc != 0)
        return rc;
    *out = (struct batch_certificate){.account_id = account_id,
                                      .algorithm = "sha1",
                                      .thumbprint = arena_strdup(a, given.thumbprint),
                                      .public = given.public,
                                      .state = BATCH_CERTIFICATE_ACTIVE,
                                      .state_us = now_us};
    char *sealed = jsontext(b->secrets);
    rc = st_batch_certificate_insert(st, out, sealed, e);
    explicit_bzero(sealed, strlen(sealed));
    free(sealed);
    return rc;
}

/* --- deleting --------------------------------------------------------------------------------- */

static bool refers_to(const struct batch_pool *p, const struct batch_certificate *c)
{
    json_auto_t *doc = json_loads(p->doc, 0, NULL);
    json_t *one;
    size_t i;
    bool found = false;
    json_array_foreach(json_object_get(doc, "certificateReferences"), i, one) {
        const char *thumbprint = text_at(one, "thumbprint");
        found = found || (thumbprint && strcasecmp(thumbprint, c->thumbprint) == 0);
    }
    return found;
}

/* Sets *out to the names of the pools that use the certificate, as values of an error; to NULL if
 * no pool uses it. */
static int find_users(struct storage *st, struct arena *a, const struct batch_certificate *c,
                      json_t **out, struct err *e)
{
    struct batch_pool_rows rows;
    const char *after = "";
    *out = NULL;
    do {
        if (st_batch_pool_list(st, a, c->account_id, NULL,
                               &(struct st_names){.after = after, .limit = POOLS_AT_ONCE}, &rows,
                               e) < 0) {
            json_decref(*out);
            return -1;
        }
        for (size_t i = 0; i < rows.n; i++)
            if (refers_to(&rows.items[i], c)) {
                *out = *out ? *out : json_array();
                json_array_append_new(
                    *out, json_pack("{s:s, s:s}", "name", "PoolId", "value", rows.items[i].name));
            }
        after = rows.n > 0 ? rows.items[rows.n - 1].name : after;
    } while (rows.n == POOLS_AT_ONCE);
    return 0;
}

/* Does not delete the certificate; stores in its row the error that names the pools. */
static int keep(struct storage *st, struct arena *a, const struct batch_certificate *c,
                json_t *users, int64_t now_us, struct err *e)
{
    json_t *error =
        json_pack("{s:s, s:s, s:o}", "code", "CertificateInUse", "message",
                  "The certificate is in use by pools and cannot be deleted.", "values", users);
    const char *text = jsontext_new_in(a, error);
    return c->state == BATCH_CERTIFICATE_DELETE_FAILED
               ? 0
               : st_batch_certificate_set_state(st, c, BATCH_CERTIFICATE_DELETE_FAILED, now_us,
                                                text, e);
}

int certificate_remove(struct storage *st, struct arena *a, const struct batch_certificate *c,
                       int64_t now_us, struct err *e)
{
    json_t *users;
    if (find_users(st, a, c, &users, e) < 0)
        return -1;
    if (!users)
        return st_batch_certificate_remove(st, c->id, e) < 0 ? -1 : 0;
    return keep(st, a, c, users, now_us, e) < 0 ? -1 : 1;
}

int certificates_fetch(const struct batch_list *l, const struct batch_slice *of, void **rows,
                       size_t *n, struct err *e)
{
    struct batch_certificate_rows found = {NULL, 0};
    int rc = st_batch_certificate_list(arm_of(l->r)->storage, &l->r->arena, l->owner, l->filter,
                                       &(struct st_names){.after = of->after, .limit = of->limit},
                                       &found, e);
    *rows = found.items;
    *n = found.n;
    return rc;
}
