/* SPDX-License-Identifier: MIT */
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
