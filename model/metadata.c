/* SPDX-License-Identifier: MIT
 *
 * Checks names and values of metadata by character.
 */
#include "model/metadata.h"

#include <string.h>

#include "lib/jsontext.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(const char *name, bool hyphens)
{
    if (!*name || is_digit(*name))
        return false;
    for (; *name; name++)
        if (!is_letter(*name) && !is_digit(*name) && !(hyphens && *name == '-'))
            return false;
    return true;
}

bool metadata_name_ok(const char *name)
{
    return is_name(name, false);
}

bool metadata_name_shown(const char *name)
{
    return is_name(name, true);
}

bool metadata_value_ok(const char *value)
{
    if (!value || !jsontext_is_utf8(value, strlen(value)))
        return false;
    for (; *value; value++)
        if ((unsigned char)*value < ' ' || *value == 0x7f)
            return false;
    return true;
}
