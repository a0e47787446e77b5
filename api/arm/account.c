/* SPDX-License-Identifier: MIT */
#include "api/arm/account.h"

#include <string.h>

#include "api/arm/operation.h"

enum { NAME_LEAST = 3, NAME_MOST = 24 };

bool account_name_is_valid(const char *name)
{
    size_t n = strlen(name);
    return n >= NAME_LEAST && n <= NAME_MOST &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789") == n;
}

const char *account_provisioning(const struct request *r, const struct scope *at,
                                 enum pace_step step, int64_t created_us)
{
    return creation_look(r, at->subscription, step, &created_us) ? "Creating" : "Succeeded";
}
