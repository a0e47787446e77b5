/* SPDX-License-Identifier: MIT */
#include "model/metadata.h"

#include <string.h>

#include "lib/jsontext.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool metadata_name_ok(const char *name)
{
    if (!*name || is_digit(*name))
        return false;
    for (; *name; name++)
        if (!is_letter(*name) && !is_digit(*name))
            return false;
    return true;
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
