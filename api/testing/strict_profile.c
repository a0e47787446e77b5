/* SPDX-License-Identifier: MIT
 *
 * Which numbers hold where.
 */
#include <string.h>
#include <strings.h>

#include "api/testing/strict.h"
#include "storage/burial.h"

const struct strict_profile *strict_profile_of(const struct testing_strict *s,
                                               const char *subscription)
{
    for (const struct strict_profile *p = s->first; p; p = p->next)
        if (strcasecmp(p->subscription, subscription) == 0)
            return p;
    return s->general;
}

bool strict_is_on(const void *ctx, const char *subscription)
{
    const struct testing_strict *s = ctx;
    if (subscription) /* what a reset has taken away is not waited for */
        return strcmp(subscription, GROUPS_BURIED) != 0 && strict_profile_of(s, subscription)->on;
    for (const struct strict_profile *p = s->first; p; p = p->next)
        if (p->on)
            return true;
    return s->general->on;
}

int64_t strict_takes_us(const void *ctx, const char *subscription, enum pace_step step)
{
    return strict_profile_of(ctx, subscription)->takes_us[step];
}
