/* SPDX-License-Identifier: MIT
 *
 * Names of hosts.
 */
#ifndef LIB_DNS_NAME_H
#define LIB_DNS_NAME_H

#include <stdbool.h>

/* Whether a text can be a name in DNS: letters, digits, - and ., and no more of them than DNS has
 * room for. */
bool is_dns_name(const char *s);

#endif
