/* SPDX-License-Identifier: MIT */
#include "api/plane/batch/batch.h"

struct batch_grant *batch_grant(struct request *r)
{
    if (!r->grant)
        r->grant = arena_alloc(&r->arena, sizeof(struct batch_grant));
    return r->grant;
}
