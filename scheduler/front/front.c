/* SPDX-License-Identifier: MIT
 *
 * Finds the front that owns a kind of resource.
 */
#include "scheduler/front/front.h"

#include <assert.h>

struct front *front_of(const struct fronts *fronts, enum resource_kind kind)
{
    struct front *const *f = fronts->all;
    while (*f && !((*f)->owns & FRONT_OWNS(kind)))
        f++;
    assert(*f);
    return *f;
}

int64_t front_takes_us(const struct front *f, enum front_step step, int64_t pool_id)
{
    return FRONT_ASK(f, takes_us, step, pool_id, NULL);
}
