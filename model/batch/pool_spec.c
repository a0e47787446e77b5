/* SPDX-License-Identifier: MIT */
#include "model/batch/pool_spec.h"

#include "model/batch/tables_pool.h"
#include "model/kept_docs.h"
#include "model/schema.h"
#include "model/span.h"
#include "model/spec_priv.h"

void batch_pool_asks(struct arena *a, const json_t *doc, struct batch_pool_spec *out)
{
    *out = (struct batch_pool_spec){.slots = 1, .fill = BATCH_FILL_SPREAD};
    schema_decode(&schema_batch_pool, a, doc, out);
}

int batch_pool_decode(struct arena *a, const char *doc, const char *secrets,
                      struct batch_pool_spec *out, struct err *e)
{
    struct opened o;
    if (spec_open(doc, secrets, &o, e) < 0)
        return -1;
    batch_pool_asks(a, o.doc, out);
    spec_close(&o);
    return 0;
}

int batch_pool_decode_kept(struct kept_docs *k, struct arena *a, const char *doc,
                           struct batch_pool_spec *out, struct err *e)
{
    const json_t *opened = kept_docs_open(k, doc, e);
    if (!opened)
        return -1;
    batch_pool_asks(a, opened, out);
    return 0;
}

#define USUAL_TIMEOUT_US (INT64_C(15) * 60 * 1000000)

static int int_of(const json_t *doc, const char *name)
{
    return (int)json_integer_value(json_object_get(doc, name));
}

static const char *text_of(struct arena *a, const json_t *doc, const char *name)
{
    return arena_strdup(a, json_string_value(json_object_get(doc, name)));
}

static int64_t span_of(const json_t *doc, const char *name)
{
    int64_t us = 0;
    const char *text = json_string_value(json_object_get(doc, name));
    return text && span_parse(text, &us) == 0 ? us : 0;
}

static const char *upper(struct arena *a, const char *text)
{
    char *copy = arena_strdup(a, text ? text : "");
    for (char *p = copy; *p; p++)
        *p = *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
    return copy;
}

void batch_pool_of_doc(struct arena *a, const json_t *doc, struct batch_pool *p)
{
    struct batch_pool_spec spec;
    batch_pool_asks(a, doc, &spec);
    *p = (struct batch_pool){
        .name = text_of(a, doc, "id"),
        .size = {.dedicated = int_of(doc, "targetDedicatedNodes"),
                 .low = int_of(doc, "targetLowPriorityNodes"),
                 .timeout_us = span_of(doc, "resizeTimeout")},
        .scaling = {.enabled = json_is_true(json_object_get(doc, "enableAutoScale")),
                    .formula = text_of(a, doc, "autoScaleFormula"),
                    .interval_us = span_of(doc, "autoScaleEvaluationInterval")},
        .vm_size = upper(a, json_string_value(json_object_get(doc, "vmSize"))),
        .dealloc = DEALLOC_REQUEUE,
        .slots = spec.slots,
        .spread = spec.fill != BATCH_FILL_PACK};
    if (p->size.timeout_us == 0)
        p->size.timeout_us = USUAL_TIMEOUT_US;
}
