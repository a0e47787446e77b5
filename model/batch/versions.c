/* SPDX-License-Identifier: MIT
 *
 * Names of api-versions and their bits, for the data plane and the resource manager.
 */
#include "model/batch/versions.h"

#include <string.h>

#include "model/batch/rm.h"

struct version_names {
    const char *const *name; /* the name of the version whose bit is 1 << index */
    unsigned n;
};

static unsigned bit_of(const struct version_names *list, const char *name)
{
    for (unsigned i = 0; i < list->n; i++)
        if (strcmp(list->name[i], name) == 0)
            return 1U << i;
    return 0;
}

static const char *name_of(const struct version_names *list, unsigned bit)
{
    for (unsigned i = 0; i < list->n; i++)
        if (bit == 1U << i)
            return list->name[i];
    return NULL;
}

#define NAME(bit, name) name,
static const char *const plane_names[] = {BATCH_VERSIONS(NAME)};
static const char *const rm_names[] = {RM_VERSIONS(NAME)};
static const struct version_names plane = {plane_names, BATCH_VERSION_COUNT},
                                  rm = {rm_names, RM_VERSION_COUNT};

unsigned batch_version_from_name(const char *name)
{
    return bit_of(&plane, name);
}

const char *batch_version_name(unsigned version)
{
    const char *name = name_of(&plane, version);
    return name ? name : "?";
}

unsigned rm_version_from_name(const char *name)
{
    return bit_of(&rm, name);
}

const char *rm_version_name(unsigned version)
{
    return name_of(&rm, version);
}
