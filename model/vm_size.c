/* SPDX-License-Identifier: MIT
 *
 * Checks a name against the published pattern: tier, family, number, then letters and digits.
 */
#include "model/vm_size.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char *const tiers[] = {"Standard_", "Basic_"};
static const char *const families[] = {"A", "B",  "D", "DC", "DS", "E",  "EB", "EC",
                                       "F", "FX", "G", "GS", "H",  "HB", "HC", "HX",
                                       "L", "LS", "M", "NC", "ND", "NG", "NP", "NV"};

static size_t tier_length(const char *name)
{
    for (size_t i = 0; i < sizeof tiers / sizeof tiers[0]; i++)
        if (strncasecmp(name, tiers[i], strlen(tiers[i])) == 0)
            return strlen(tiers[i]);
    return 0;
}

static bool is_family(const char *s, size_t n)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (strlen(families[i]) == n && strncasecmp(families[i], s, n) == 0)
            return true;
    return false;
}

bool vm_size_is_published(const char *name)
{
    const char *at = name + tier_length(name);
    size_t letters = 0;
    while (isalpha((unsigned char)at[letters]))
        letters++;
    if (at == name || !is_family(at, letters) || !isdigit((unsigned char)at[letters]))
        return false;
    for (at += letters; *at; at++)
        if (!isalnum((unsigned char)*at) && !(strchr("_-", *at) && isalnum((unsigned char)at[1])))
            return false;
    return true;
}
