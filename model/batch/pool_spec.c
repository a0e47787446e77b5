/* SPDX-License-Identifier: MIT */
#include "model/batch/pool_spec.h"

#include "model/batch/tables_pool.h"
#include "model/schema.h"
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
