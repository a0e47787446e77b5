/* SPDX-License-Identifier: MIT
 *
 * Interprets answers of other servers. Pure.
 */
#include <string.h>

#include "scheduler/fleet/transfer/transfer.h"

#define CODE_MAX 64

bool transfer_may_pass(long status)
{
    return status == 408 || status == 429 || status >= 500;
}

/* Finds "<Code>ContainerNotFound</Code>" of storage services. False: there is no code, or it has
 * characters other than letters. */
static bool find_code(const char *body, size_t n, char out[CODE_MAX])
{
    static const char begin[] = "<Code>";
    const char *at = n > 0 ? memmem(body, n, begin, sizeof begin - 1) : NULL;
    size_t len = 0;
    if (!at)
        return false;
    at += sizeof begin - 1;
    size_t left = n - (size_t)(at - body);
    while (len < left && len < CODE_MAX - 1 &&
           ((at[len] >= 'A' && at[len] <= 'Z') || (at[len] >= 'a' && at[len] <= 'z')))
        len++;
    memcpy(out, at, len);
    out[len] = '\0';
    return len > 0 && len < left && at[len] == '<';
}

int transfer_refused(long status, const char *body, size_t n, struct err *e)
{
    char code[CODE_MAX];
    int kind = status == 404                    ? ERR_FILE_NOT_FOUND
               : status == 401 || status == 403 ? ERR_FORBIDDEN
                                                : ERR_IO;
    if (find_code(body, n, code))
        return err_set(e, kind, NULL, "it answered with status %ld (%s)", status, code);
    return err_set(e, kind, NULL, "it answered with status %ld", status);
}

const char *transfer_shown(struct arena *a, const char *url)
{
    const char *host = strstr(url, "://");
    host = host ? host + 3 : url;
    size_t n = strcspn(host, "?#"), authority = strcspn(host, "/?#");
    const char *user = memchr(host, '@', authority);
    const char *from = user ? user + 1 : host;
    return arena_concat(a, arena_strndup(a, url, (size_t)(host - url)),
                        arena_strndup(a, from, n - (size_t)(from - host)));
}
