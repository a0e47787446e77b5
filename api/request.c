/* SPDX-License-Identifier: MIT
 *
 * What handlers ask of a request.
 */
#include "api/request.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/api_priv.h"
#include "api/url.h"

struct query_search {
    struct request *r;
    const char *name;
    const char *found;
};

static enum MHD_Result match_query(void *ctx, enum MHD_ValueKind kind, const char *key,
                                   size_t key_size, const char *value, size_t value_size)
{
    (void)kind;
    struct query_search *s = ctx;
    const char *k = url_decode(&s->r->arena, key, key_size);
    if (!k || strcasecmp(k, s->name) != 0)
        return MHD_YES;
    s->found = value ? url_decode(&s->r->arena, value, value_size) : "";
    if (!s->found) /* a malformed escape stays as it is, for whoever parses the value to refuse */
        s->found = arena_strndup(&s->r->arena, value, value_size);
    return MHD_NO;
}

const char *request_query(struct request *r, const char *name)
{
    struct query_search s = {r, name, NULL};
    MHD_get_connection_values_n(r->conn, MHD_GET_ARGUMENT_KIND, match_query, &s);
    return s.found;
}

const char *request_header(const struct request *r, const char *name)
{
    return MHD_lookup_connection_value(r->conn, MHD_HEADER_KIND, name);
}

const char *request_base(struct request *r)
{
    const char *host = request_header(r, "Host");
    if (!host || !*host || strlen(host) > 255 ||
        strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]") !=
            strlen(host))
        return r->api->endpoint;
    return arena_printf(&r->arena, "https://%s", host);
}

int request_query_int(struct request *r, const char *name, long min, long max, long fallback,
                      long *out, struct err *e)
{
    const char *text = request_query(r, name);
    if (!text) {
        *out = fallback;
        return 0;
    }
    char *end;
    errno = 0;
    *out = strtol(text, &end, 10);
    if (errno || end == text || *end || *out < min || *out > max)
        return err_set(e, ERR_INVALID_QUERY, name,
                       "The query parameter %s is '%.100s'; it must be a whole number from %ld to "
                       "%ld.",
                       name, text, min, max);
    return 0;
}
