/* SPDX-License-Identifier: MIT */
#include "model/batch/versions.h"

#include <string.h>

#define NAME(bit, name) name,
static const char *const names[BATCH_VERSION_COUNT] = {BATCH_VERSIONS(NAME)};

unsigned batch_version_from_name(const char *name)
{
    for (size_t i = 0; i < BATCH_VERSION_COUNT; i++)
        if (strcmp(names[i], name) == 0)
            return 1U << i;
    return 0;
}

const char *batch_version_name(unsigned version)
{
    for (size_t i = 0; i < BATCH_VERSION_COUNT; i++)
        if (version == 1U << i)
            return names[i];
    return "?";
}
