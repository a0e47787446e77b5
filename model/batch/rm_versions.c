/* SPDX-License-Identifier: MIT */
#include "model/batch/rm.h"

#include <string.h>

#define RM_NAME(bit, name) name,
static const char *const names[] = {RM_VERSIONS(RM_NAME)};

unsigned rm_version_from_name(const char *name)
{
    for (unsigned i = 0; i < RM_VERSION_COUNT; i++)
        if (strcmp(names[i], name) == 0)
            return 1U << i;
    return 0;
}

const char *rm_version_name(unsigned version)
{
    for (unsigned i = 0; i < RM_VERSION_COUNT; i++)
        if (version == 1U << i)
            return names[i];
    return NULL;
}
