/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <strings.h>

#include "api/access/access.h"
#include "storage/storage.h"

const char *access_subscription_id(const struct access *x, struct arena *a, const char *id)
{
    if (strcasecmp(id, x->subscription_id) == 0)
        return x->subscription_id;
    char *lower = arena_strdup(a, id);
    for (char *p = lower; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return lower;
}

int access_subscription(const struct access *x, struct arena *a, const char *id,
                        struct subscription *out, struct err *e)
{
    const char *known = access_subscription_id(x, a, id);
    if (known != x->subscription_id)
        return guid_valid(known) ? st_subscription_get(x->storage, a, known, out, e) : 0;
    *out = (struct subscription){.guid = known};
    return 1;
}
