/* SPDX-License-Identifier: MIT
 *
 * Moves properties between bodies, documents and rows of pools. Texts of secrets are wiped as soon
 * as they are stored. On the loop's thread.
 */
#include "api/plane/batch/pool_docs.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/plane/batch/errors.h"
#include "lib/jsontext.h"
#include "model/batch/pool_spec.h"
#include "model/batch/tables_pool.h"
#include "model/span.h"
#include "scheduler/scheduler.h"

/* Wipes a text with secrets, and frees it. */
static void wipe_text(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

static char *secrets_text(const struct accepted *b)
{
    return json_object_size(b->secrets) > 0 ? jsontext(b->secrets) : NULL;
}

enum dealloc_option pool_body_how(const struct accepted *b, const char *name)
{
    const char *text = json_string_value(json_object_get(b->doc, name));
    switch (text ? enum_from_name(batch_dealloc_names, text) : BATCH_DEALLOC_REQUEUE) {
    case BATCH_DEALLOC_TERMINATE:
        return DEALLOC_TERMINATE;
    case BATCH_DEALLOC_TASK_COMPLETION:
        return DEALLOC_WAIT_FOR_COMPLETION;
    case BATCH_DEALLOC_RETAINED_DATA:
        return DEALLOC_WAIT_FOR_DATA;
    }
    return DEALLOC_REQUEUE;
}

int64_t pool_body_us(const struct accepted *b, const char *name)
{
    int64_t us = 0;
    const char *text = json_string_value(json_object_get(b->doc, name));
    return text && span_parse(text, &us) == 0 ? us : 0;
}

/* --- making ----------------------------------------------------------------------------------- */

void pool_from(struct arena *a, const struct accepted *b, int64_t now_us, struct batch_pool *p)
{
    batch_pool_of_doc(a, b->doc, p);
    p->created_us = p->updated_us = now_us;
}

int pool_make(struct batch_front *f, struct batch_pool *p, const struct accepted *b, struct err *e)
{
    static const struct scale none = {SCALE_MANUAL, 0, .dealloc = DEALLOC_REQUEUE};
    if (sched_check_scale(f->sched, RES_BATCH_POOL, p->vm_size, VM_DEDICATED, &none, e) < 0)
        return -1;
    char *doc = jsontext(b->doc), *secrets = secrets_text(b);
    p->doc = doc;
    int rc = batch_pool_add(f, p, secrets, &p->id, e);
    p->doc = NULL;
    free(doc);
    wipe_text(secrets);
    return rc;
}

int pool_check_subnet(struct arena *a, const struct batch_account *account, const json_t *doc,
                      struct err *e)
{
    const json_t *network = json_object_get(doc, "networkConfiguration");
    const char *subnet = json_string_value(json_object_get(network, "subnetId"));
    const char *own = account->scope.subscription;
    const char *below = arena_concat(a, "/subscriptions/", own, "/");
    if (!subnet || strncasecmp(subnet, below, strlen(below)) == 0)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, "networkConfiguration.subnetId",
                   "%.200s is not in the subscription of the account, %s", subnet, own);
}

/* --- changing --------------------------------------------------------------------------------- */

int pool_load(struct request *r, const struct batch_front *f, const struct batch_pool *p,
              struct accepted *out, struct err *e)
{
    const char *secrets;
    if (st_batch_pool_secrets(f->st, &r->arena, p->id, &secrets, e) < 0)
        return -1;
    json_t *kept = secrets ? json_loads(secrets, 0, NULL) : json_object();
    *out = (struct accepted){.doc = request_own(r, json_loads(p->doc, 0, NULL)),
                             .secrets = request_own(r, kept)};
    return 0;
}

/* Whether the secret at this path ("startTask.resourceFiles[0]...") is part of property `name`. */
static bool is_of(const char *path, const char *name)
{
    size_t n = strlen(name);
    return strncmp(path, name, n) == 0 && (path[n] == '\0' || path[n] == '.' || path[n] == '[');
}

void pool_replace(struct accepted *all, const struct accepted *given, const char *name,
                  json_t *value)
{
    const char *path;
    json_t *secret;
    void *next;
    json_object_foreach_safe(all->secrets, next, path, secret) {
        if (is_of(path, name))
            json_object_del(all->secrets, path);
    }
    json_object_foreach(given->secrets, path, secret) {
        if (is_of(path, name))
            json_object_set(all->secrets, path, secret);
    }
    bool empty = json_is_array(value) && json_array_size(value) == 0;
    if (value && !empty)
        json_object_set(all->doc, name, value);
    else
        json_object_del(all->doc, name);
}

static bool same_secrets(const struct accepted *all, const struct accepted *given, const char *name)
{
    const char *path;
    json_t *secret;
    json_object_foreach(given->secrets, path, secret) {
        if (is_of(path, name) && !json_equal(json_object_get(all->secrets, path), secret))
            return false;
    }
    return true;
}

/* Whether the pool has nodes, or its target is more than 0 nodes. */
static bool has_nodes(const struct batch_pool *p)
{
    return p->has_dedicated > 0 || p->has_low > 0 || p->size.dedicated > 0 || p->size.low > 0;
}

bool pool_fixes(const struct batch_pool *p, const struct accepted *all,
                const struct accepted *given, const char *name)
{
    const json_t *was = json_object_get(all->doc, name), *now = json_object_get(given->doc, name);
    bool empty = json_is_array(now) && json_array_size(now) == 0;
    bool same = was ? json_equal(was, now) : !now || empty;
    if (!batch_pool_fixed_by_nodes(name) || (same && same_secrets(all, given, name)))
        return false;
    return has_nodes(p);
}

int pool_store(const struct batch_front *f, struct arena *a, const struct accepted *b,
               int64_t updated_us, struct batch_pool *p, struct err *e)
{
    static const struct scale none = {SCALE_MANUAL, 0, .dealloc = DEALLOC_REQUEUE};
    struct batch_pool now;
    batch_pool_of_doc(a, b->doc, &now);
    if (strcmp(now.vm_size, p->vm_size) != 0 &&
        sched_check_scale(f->sched, RES_BATCH_POOL, now.vm_size, VM_DEDICATED, &none, e) < 0)
        return -1;
    char *doc = jsontext(b->doc), *secrets = secrets_text(b);
    p->doc = doc;
    p->vm_size = now.vm_size;
    p->slots = now.slots;
    p->spread = now.spread;
    p->updated_us = updated_us;
    int rc = st_batch_pool_set_doc(f->st, p, secrets, e);
    free(doc);
    wipe_text(secrets);
    p->doc = NULL;
    return rc < 0 ? -1 : 0;
}

int batch_pools_fetch(const struct batch_list *l, const struct batch_slice *of, void **rows,
                      size_t *n, struct err *e)
{
    struct batch_pool_rows pools = {NULL, 0};
    int rc =
        st_batch_pool_list(arm_of(l->r)->storage, &l->r->arena, l->owner, l->filter,
                           &(struct st_names){.after = of->after, .limit = of->limit}, &pools, e);
    *rows = pools.items;
    *n = pools.n;
    return rc;
}

/* --- formulas that cannot be parsed ---------------------------------------------------------- */

int batch_formula_refuse(const struct formula_error *wrong, struct err *e)
{
    return err_set(e,
                   wrong->fault == FORMULA_TOO_LONG ? BATCH_AUTO_SCALING_FORMULA_TOO_LONG
                                                    : BATCH_AUTO_SCALING_FORMULA_SYNTAX_ERROR,
                   "autoScaleFormula", "%s", wrong->msg);
}

int batch_formula_accept(const char *formula, struct err *e)
{
    struct formula_error wrong;
    struct formula *f = formula_parse(formula, strlen(formula), &wrong);
    formula_free(f);
    return f ? 0 : batch_formula_refuse(&wrong, e);
}
