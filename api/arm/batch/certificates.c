/* SPDX-License-Identifier: MIT
 *
 * Certificates of Batch accounts; the data plane uses the same rows. The name of a certificate is
 * its thumbprint, so a PUT of an existing certificate changes nothing.
 */
#include <string.h>
#include <strings.h>

#include "api/arm/batch/batchrm.h"
#include "api/arm/batch/child.h"
#include "api/arm/batch/errors.h"
#include "api/arm/batch/routes.h"
#include "api/arm/kind.h"
#include "api/http/accept.h"
#include "api/plane/batch/certificate_rows.h"
#include "api/plane/batch/list.h"
#include "model/batch/rm.h"
#include "model/batch/rm_words.h"
#include "model/batch/tables_pool.h"
#include "model/batch/versions.h"
#include "storage/storage.h"

static const struct enum_name states[] = {{BATCH_CERTIFICATE_ACTIVE, "Succeeded"},
                                          {BATCH_CERTIFICATE_DELETING, "Deleting"},
                                          {BATCH_CERTIFICATE_DELETE_FAILED, "Failed"},
                                          {0, NULL}};

struct certificate {
    struct batch_account account;
    struct batch_certificate row;
};

/* Finds a certificate: 1, 0 (none) or -1. Fails if its account is not found. */
static int find_named(struct request *r, const char *name, struct certificate *x, struct err *e)
{
    const char *algorithm, *thumbprint;
    if (find_made_batch_account(r, &x->account, e) < 0)
        return -1;
    if (!rm_certificate_name(&r->arena, name, &algorithm, &thumbprint))
        return 0;
    return st_batch_certificate_get(arm_of(r)->storage, &r->arena, x->account.id, algorithm,
                                    thumbprint, &x->row, e);
}

static int find(struct rm *m, struct err *e)
{
    int rc = find_named(m->r, m->name, m->row, e);
    if (rc == 0)
        return err_set(e, BATCHRM_CERTIFICATE_NOT_FOUND, NULL,
                       "The specified certificate does not exist: %.140s", m->name);
    return rc < 0 ? -1 : 0;
}

/* --- showing ---------------------------------------------------------------------------------- */

static const struct child_kind kind = {"certificates", &schema_rm_certificate,
                                       &schema_rm_certificate_properties,
                                       "certificateOperationResults"};

static struct child child_of(struct request *r, const struct certificate *x)
{
    return (struct child){&kind, &x->account,
                          arena_printf(&r->arena, "%s-%s", x->row.algorithm, x->row.thumbprint),
                          x->row.state_us, x->row.tags};
}

static json_t *properties_of(const struct batch_certificate *c)
{
    json_t *error = c->error ? json_loads(c->error, 0, NULL) : NULL;
    return json_pack(
        "{s:s, s:s, s:s, s:o, s:s*, s:o*, s:s, s:o*}", "thumbprintAlgorithm", c->algorithm,
        "thumbprint", c->thumbprint, "provisioningState", enum_to_name(states, (int)c->state),
        "provisioningStateTransitionTime", child_time(c->state_us), "previousProvisioningState",
        c->was ? enum_to_name(states, (int)c->was) : NULL,
        "previousProvisioningStateTransitionTime", c->was ? child_time(c->was_us) : NULL,
        "publicData", c->public, "deleteCertificateError", error);
}

static struct replied *show(struct rm *m, int status)
{
    const struct certificate *x = m->row;
    const struct child c = child_of(m->r, x);
    (void)status;
    return child_show(m->r, &c, properties_of(&x->row));
}

static int render_row(const struct batch_list *l, const void *row, struct strbuf *out,
                      struct err *e)
{
    const struct child_list *list = l->of;
    const struct certificate x = {.account = list->account,
                                  .row = *(const struct batch_certificate *)row};
    const struct child c = child_of(l->r, &x);
    (void)e;
    child_render(l->r, &c, properties_of(&x.row), list->set, out);
    return 0;
}

struct replied *batch_certificates_list(struct request *r)
{
    static const struct batch_filter filters[ST_CERTIFICATE_PROPERTIES] = {
        [ST_CERTIFICATE_STATE] = {"properties/provisioningState", BATCH_BY_STATE, FILTER_EQUAL,
                                  states},
        [ST_CERTIFICATE_STATE_TIME] = {"properties/provisioningStateTransitionTime", BATCH_BY_TIME,
                                       FILTER_ORDER, NULL},
    };
    static const struct batch_rows rows = {
        .list = {.filters = filters, .n_filters = ST_CERTIFICATE_PROPERTIES},
        .size = sizeof(struct batch_certificate),
        .name = offsetof(struct batch_certificate, thumbprint),
        .fetch = certificates_fetch,
        .render = render_row};
    return child_list(r, &kind, &rows);
}

/* --- making ----------------------------------------------------------------------------------- */

/* Copies algorithm and thumbprint from the name into the properties; if the body has them, they
 * must be the same. */
static int take_name(struct request *r, json_t *properties, struct err *e)
{
    const char *name = request_param(r, "certificate");
    const char *names[] = {"thumbprintAlgorithm", "thumbprint"}, *parts[2];
    if (!rm_certificate_name(&r->arena, name, &parts[0], &parts[1]))
        return err_set(e, BATCHRM_INVALID_BODY, NULL,
                       "The name of a certificate must be ALGORITHM-THUMBPRINT, not '%.140s'.",
                       name);
    for (size_t i = 0; i < 2; i++) {
        const char *given = json_string_value(json_object_get(properties, names[i]));
        if (given && strcasecmp(given, parts[i]) != 0)
            return err_set(
                e, ERR_INVALID_PROPERTY, arena_concat(&r->arena, "properties.", names[i]),
                "%s is '%.140s', but the name of the certificate is %.140s", names[i], given, name);
        json_object_set_new(properties, names[i], json_string(parts[i]));
    }
    return 0;
}

/* Reads the body and converts it to the words of the data plane. */
static int read_body(struct request *r, struct accepted *out, const char **tags, struct err *e)
{
    struct accepted given;
    if (request_accept(r, &schema_rm_certificate, 0, &given, e) < 0)
        return -1;
    json_t *whole = request_own(r, schema_merge_secrets(given.doc, given.secrets));
    json_t *properties = json_object_get(whole, "properties");
    *tags = child_tags(r, given.doc);
    return take_name(r, properties, e) < 0
               ? -1
               : request_accept_json(r, &schema_batch_certificate, (enum api_version)BATCH_20_0, 0,
                                     properties, out, e);
}

static int set_tags(struct request *r, struct certificate *x, const char *tags, struct err *e)
{
    struct storage *st = arm_of(r)->storage;
    int rc = st_batch_certificate_get(st, &r->arena, x->account.id, x->row.algorithm,
                                      x->row.thumbprint, &x->row, e);
    if (rc > 0)
        rc = st_batch_certificate_set_tags(st, x->row.id, tags, e);
    x->row.tags = tags;
    return rc;
}

static int put(struct rm *m, struct err *e)
{
    struct request *r = m->r;
    struct certificate *x = m->row;
    struct accepted b;
    const char *tags;
    if (read_body(r, &b, &tags, e) < 0)
        return -1;
    int rc =
        certificate_take(arm_of(r)->storage, &r->arena, x->account.id, &b, r->now_us, &x->row, e);
    if (rc >= 0 && tags && set_tags(r, x, tags, e) < 0)
        return -1;
    if (rc < 0 && *e->target && strncmp(e->target, "properties.", 11) != 0)
        err_set(e, e->code, arena_concat(&r->arena, "properties.", e->target), "%s",
                arena_strdup(&r->arena, e->msg));
    return rc < 0 ? -1 : 0;
}

/* Handles the whole PUT and returns 1 (found), because a PUT of an existing certificate is accepted
 * without changes. */
static int seek(struct rm *m, struct err *e)
{
    const struct certificate *x = m->row;
    int rc = find_named(m->r, m->name, m->row, e);
    if (rc < 0 || child_conditions(m->r, rc > 0 ? x->row.state_us : 0, e) < 0 || put(m, e) < 0)
        return -1;
    return 1;
}

static int find_to_patch(struct rm *m, struct err *e)
{
    const struct certificate *x = m->row;
    return find(m, e) < 0 ? -1 : child_conditions(m->r, x->row.state_us, e);
}

static struct replied *remove_certificate(struct rm *m)
{
    struct err e;
    struct request *r = m->r;
    const struct certificate *x = m->row;
    if (certificate_remove(arm_of(r)->storage, &r->arena, &x->row, r->now_us, &e) < 0)
        return reply_err(r, &e);
    const struct child c = child_of(r, x);
    return child_deleted(r, &c);
}

static rm_step *const steps[] = {NULL};
static const int missing[] = {BATCHRM_CERTIFICATE_NOT_FOUND, 0};

const struct rm_kind batch_certificate_kind = {
    .what = "certificate",
    .param = "certificate",
    .columns = {.size = sizeof(struct certificate),
                .id = offsetof(struct certificate, row.id),
                .name = offsetof(struct certificate, row.thumbprint),
                .updated = offsetof(struct certificate, row.state_us)},
    .steps = steps,
    .seek = seek,
    .find_made = find_to_patch,
    .patch = put,
    .find = find,
    .missing = missing,
    .remove = remove_certificate,
    .show = show,
};

/* --- deleted ---------------------------------------------------------------------------------- */

struct replied *batch_certificates_deleted(struct request *r)
{
    struct err e;
    struct certificate x;
    uint64_t ticks;
    int rc = find_named(r, child_deletion(r, &ticks), &x, &e);
    if (rc > 0 && x.row.state == BATCH_CERTIFICATE_DELETE_FAILED)
        rc = err_set(&e, BATCHRM_CERTIFICATE_IN_USE, NULL,
                     "The certificate %s is in use by pools and cannot be deleted.",
                     x.row.thumbprint);
    return rc < 0 ? reply_err(r, &e) : reply_empty(r, 200);
}

/* Cancels a failed deletion. For an active certificate it does nothing; the data plane would refuse
 * this. */
struct replied *batch_certificates_cancel(struct request *r)
{
    struct err e;
    struct rm m = rm_begin_named(r);
    struct certificate *x = m.row;
    int rc = find(&m, &e);
    if (rc == 0 && x->row.state != BATCH_CERTIFICATE_ACTIVE)
        rc = st_batch_certificate_set_state(arm_of(r)->storage, &x->row, BATCH_CERTIFICATE_ACTIVE,
                                            r->now_us, NULL, &e);
    if (rc < 0 || find(&m, &e) < 0)
        return reply_err(r, &e);
    return show(&m, 200);
}
