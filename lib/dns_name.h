/* SPDX-License-Identifier: MIT
 *
 * Names of hosts.
 */
#ifndef LIB_DNS_NAME_H
#define LIB_DNS_NAME_H

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define DNS_NAME_MAX 253

/* Whether the text may be a DNS name: only letters, digits, - and ., within the length limit of
 * DNS. */
static inline bool is_dns_name(const char *s)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.";
    return *s && *s != '-' && *s != '.' && !s[strspn(s, allowed)] && strlen(s) <= DNS_NAME_MAX;
}

/* Whether the name is localhost or below localhost: it means the client's own machine. */
static inline bool is_local_name(const char *s)
{
    const char *dot = strrchr(s, '.');
    return strcasecmp(dot ? dot + 1 : s, "localhost") == 0;
}

#endif
