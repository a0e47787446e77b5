/* SPDX-License-Identifier: MIT */
#include "lib/guid.h"

#include <uuid/uuid.h>

void guid_new(char out[GUID_SIZE])
{
    uuid_t u;
    uuid_generate_random(u);
    uuid_unparse_lower(u, out);
}

bool guid_valid(const char *s)
{
    uuid_t u;
    return uuid_parse(s, u) == 0;
}
