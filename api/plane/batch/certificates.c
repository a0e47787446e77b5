/* SPDX-License-Identifier: MIT
 *
 * Certificates of an account: add, show, list, delete, cancel a deletion. Only the public part is
 * shown. Memory is the request's. On the loop's thread.
 */
#include <string.h>
#include <strings.h>

#include "api/plane/batch/batch.h"
#include "api/plane/batch/certificate_rows.h"
#include "api/plane/batch/errors.h"
#include "api/plane/batch/list.h"
#include "api/plane/batch/pools.h"
#include "api/plane/batch/reply.h"
#include "api/plane/batch/routes.h"
#include "model/batch/tables_pool.h"
#include "storage/batch_schedules.h"
#include "storage/storage.h"

static const char *path_of(struct request *r, const char *algorithm, const char *thumbprint)
{
    return arena_printf(&r->arena, "/certificates(thumbprintAlgorithm=%s,thumbprint=%s)",
                        batch_segment(r, algorithm), batch_segment(r, thumbprint));
}

/* --- showing ---------------------------------------------------------------------------------- */

static const char *time_text(struct request *r, int64_t us)
{
    char when[TIMEFMT_SIZE];
    timefmt_exact(us, when);
    return arena_strdup(&r->arena, when);
}

static void render(struct request *r, const struct batch_certificate *c, schema_set set,
                   struct strbuf *out)
{
    const char *state = enum_to_name(batch_certificate_state_names, (int)c->state);
    const char *was = c->was ? enum_to_name(batch_certificate_state_names, (int)c->was) : NULL;
    const struct over over[] = {
        SHOW_TEXT("thumbprint", c->thumbprint),
        SHOW_TEXT("thumbprintAlgorithm", c->algorithm),
        SHOW_TEXT("url", batch_url(r, path_of(r, c->algorithm, c->thumbprint))),
        SHOW_TEXT("state", state),
        SHOW_TEXT("stateTransitionTime", time_text(r, c->state_us)),
        SHOW_TEXT("previousState", was),
        SHOW_TEXT("previousStateTransitionTime", was ? time_text(r, c->was_us) : NULL),
        SHOW_TEXT("publicData", c->public),
        SHOW_JSON("deleteCertificateError", c->error),
    };
    schema_render(out, &(struct rendering){.schema = &schema_batch_certificate,
                                           .version = r->version,
                                           SHOW_LIST(over),
                                           .set = set});
    arm_show_secrets(r, out, c->id, st_batch_certificate_secrets);
}

/* One value of the key in the path, "thumbprintAlgorithm=sha1,thumbprint=0a..)", in any order. */
static const char *key_part(struct request *r, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = request_param(r, "key"); *at; at += *at != '\0') {
        size_t len = strcspn(at, ",)");
        if (len > n && at[n] == '=' && strncasecmp(at, name, n) == 0)
            return arena_strndup(&r->arena, at + n + 1, len - n - 1);
        at += len;
    }
    return "";
}

static int find(struct request *r, struct batch_certificate *out, struct err *e)
{
    const char *algorithm = key_part(r, "thumbprintAlgorithm"),
               *thumbprint = key_part(r, "thumbprint");
    int rc = st_batch_certificate_get(arm_of(r)->storage, &r->arena, batch_account_of(r)->id,
                                      algorithm, thumbprint, out, e);
    if (rc == 0)
        return err_set(e, BATCH_CERTIFICATE_NOT_FOUND, NULL,
                       "There is no certificate with the %.16s thumbprint '%.128s'.", algorithm,
                       thumbprint);
    return rc < 0 ? -1 : 0;
}

struct replied *certificates_get(struct request *r)
{
    struct batch_certificate c;
    struct strbuf out = STRBUF_INIT;
    schema_set set;
    struct err e;
    if (find(r, &c, &e) < 0 || batch_select(r, &schema_batch_certificate, &set, &e) < 0)
        return reply_err(r, &e);
    render(r, &c, set, &out);
    return batch_reply_element(r, "certificates/@Element", &out);
}

static int render_row(const struct batch_list *l, const void *row, struct strbuf *out,
                      struct err *e)
{
    (void)e;
    render(l->r, row, l->set, out);
    return 0;
}

struct replied *certificates_list(struct request *r)
{
    static const struct batch_filter filters[ST_CERTIFICATE_PROPERTIES] = {
        [ST_CERTIFICATE_STATE] = {"state", BATCH_BY_STATE, FILTER_EQUAL,
                                  batch_certificate_state_names},
        [ST_CERTIFICATE_STATE_TIME] = {"stateTransitionTime", BATCH_BY_TIME, FILTER_ORDER, NULL},
    };
    static const struct batch_rows rows = {.list = {.fragment = "certificates",
                                                    .filters = filters,
                                                    .n_filters = ST_CERTIFICATE_PROPERTIES,
                                                    .schema = &schema_batch_certificate},
                                           .size = sizeof(struct batch_certificate),
                                           .name = offsetof(struct batch_certificate, thumbprint),
                                           .fetch = certificates_fetch,
                                           .render = render_row};
    return batch_reply_rows(r, &rows, batch_account_of(r)->id, NULL);
}

/* --- adding ----------------------------------------------------------------------------------- */

static int add(struct request *r, const struct accepted *b, const char **path, struct err *e)
{
    struct batch_certificate c;
    int rc = certificate_take(arm_of(r)->storage, &r->arena, batch_account_of(r)->id, b, r->now_us,
                              &c, e);
    if (rc > 0)
        return err_set(e, BATCH_CERTIFICATE_EXISTS, NULL,
                       "The account has the certificate %s already.", c.thumbprint);
    if (rc == 0)
        *path = path_of(r, c.algorithm, c.thumbprint);
    return rc;
}

struct replied *certificates_add(struct request *r)
{
    struct accepted b;
    const char *path = NULL;
    struct err e;
    if (request_accept(r, &schema_batch_certificate, SCHEMA_BATCH, &b, &e) < 0)
        return reply_err(r, &e);
    int rc = add(r, &b, &path, &e);
    return rc < 0 ? reply_err(r, &e) : batch_reply_written(r, 201, path, 0);
}

/* --- deleting --------------------------------------------------------------------------------- */

struct replied *certificates_delete(struct request *r)
{
    struct batch_certificate c;
    struct err e;
    if (find(r, &c, &e) < 0 ||
        certificate_remove(arm_of(r)->storage, &r->arena, &c, r->now_us, &e) < 0)
        return reply_err(r, &e);
    return batch_reply_written(r, 202, path_of(r, c.algorithm, c.thumbprint), 0);
}

struct replied *certificates_cancel(struct request *r)
{
    struct batch_certificate c;
    struct err e;
    int rc = find(r, &c, &e);
    if (rc == 0 && c.state == BATCH_CERTIFICATE_ACTIVE)
        rc = err_set(&e, BATCH_CERTIFICATE_STATE_ACTIVE, NULL,
                     "The certificate %s is active, so there is no deletion to cancel.",
                     c.thumbprint);
    if (rc == 0)
        rc = st_batch_certificate_set_state(arm_of(r)->storage, &c, BATCH_CERTIFICATE_ACTIVE,
                                            r->now_us, NULL, &e);
    if (rc < 0)
        return reply_err(r, &e);
    const char *path = path_of(r, c.algorithm, c.thumbprint);
    return batch_reply_written(r, 204, arena_concat(&r->arena, path, "/canceldelete"), 0);
}
