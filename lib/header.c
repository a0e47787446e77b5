/* SPDX-License-Identifier: MIT
 *
 * Checks names and lines of headers by character.
 */
#include "lib/header.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/* The characters of a token (RFC 9110, 5.6.2). */
static const char token[] = "!#$%&'*+-.^_`|~0123456789"
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/* These headers are the sender's alone: they concern the connection, or the length of the body. */
static const char *const of_the_sender[] = {
    "Connection", "Content-Length",    "Expect", "Host", "Keep-Alive", "Proxy-Connection", "TE",
    "Trailer",    "Transfer-Encoding", "Upgrade"};

static bool is_name(const char *name, size_t n)
{
    if (n == 0)
        return false;
    for (size_t i = 0; i < sizeof of_the_sender / sizeof of_the_sender[0]; i++)
        if (strlen(of_the_sender[i]) == n && strncasecmp(of_the_sender[i], name, n) == 0)
            return false;
    return strspn(name, token) >= n;
}

bool header_name_ok(const char *name)
{
    return is_name(name, strlen(name));
}

static bool is_value(const char *value)
{
    for (; *value; value++)
        if ((unsigned char)*value < ' ' || *value == 0x7f)
            return false;
    return true;
}

bool header_line_ok(const char *line)
{
    const char *colon = strchr(line, ':');
    return colon && is_name(line, (size_t)(colon - line)) && is_value(colon + 1);
}
