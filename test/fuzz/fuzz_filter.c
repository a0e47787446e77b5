/* SPDX-License-Identifier: MIT
 *
 * $filter and $select: a line each, then an item as JSON to which they are applied.
 */
#include <jansson.h>

#include "api/http/odata.h"
#include "test/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pieces in = {(const char *)data, (const char *)data + size};
    char *filter = next_line(&in), *select = next_line(&in);
    json_t *item = json_loadb(in.p, (size_t)(in.end - in.p), 0, NULL);
    struct arena a = {0};
    struct odata o = {.filter = *filter ? filter : NULL,
                      .select = *select ? select : NULL,
                      .schema = size & 1 ? &schema_cluster : &schema_job,
                      .version = size & 2 ? V_2017_09_01_PREVIEW : V_2018_03_01,
                      .arena = &a};
    struct err e = {0};
    int rc = odata_check(&o, &e);
    tell("filter", rc, e.msg);
    CLAIM(rc == 0 || e.msg[0]);
    if (rc == 0 && json_is_object(item)) {
        (void)odata_matches(&o, item);
        item = odata_pick(&o, item);
        CLAIM(json_is_object(item));
    }
    json_decref(item);
    arena_free(&a);
    free(filter);
    free(select);
    return 0;
}
