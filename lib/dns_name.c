/* SPDX-License-Identifier: MIT */
#include "lib/dns_name.h"

#include <string.h>

#define DNS_NAME_MAX 253

bool is_dns_name(const char *s)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.";
    return *s && *s != '-' && *s != '.' && !s[strspn(s, allowed)] && strlen(s) <= DNS_NAME_MAX;
}
