/* SPDX-License-Identifier: MIT */
#include "lib/guid.h"

#include <stdlib.h>
#include <sys/random.h>
#include <uuid/uuid.h>

void guid_new(char out[GUID_SIZE])
{
    uuid_t u;
    if (getrandom(u, sizeof u, 0) != sizeof u)
        abort();                 /* so few bytes are never short once the kernel has started */
    u[6] = (u[6] & 0x0f) | 0x40; /* RFC 4122: version 4, random */
    u[8] = (u[8] & 0x3f) | 0x80; /* and its variant */
    uuid_unparse_lower(u, out);
}

bool guid_valid(const char *s)
{
    uuid_t u;
    return uuid_parse(s, u) == 0;
}
