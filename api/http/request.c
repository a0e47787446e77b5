/* SPDX-License-Identifier: MIT
 *
 * Functions with which handlers read requests: query, headers, the client's address; and new ids.
 * Names and values are decoded into the request's arena when a function returns them. Called only
 * on the loop's thread.
 */
#include "api/http/request.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/connections.h"
#include "api/http/http_priv.h"
#include "api/http/url.h"
#include "lib/jsontext.h"
#include "lib/timefmt.h"

/* Calls `found` for each parameter of the query: an inner request has its own; otherwise
 * libmicrohttpd has them. */
static void each_parameter(struct request *r, MHD_KeyValueIteratorN found, void *ctx)
{
    const struct inner *in = r->inner;
    enum MHD_Result more = MHD_YES;
    if (!in)
        MHD_get_connection_values_n(r->conn, MHD_GET_ARGUMENT_KIND, found, ctx);
    for (size_t i = 0; in && i < in->n_query && more == MHD_YES; i++) {
        const struct named_value *q = &in->query[i];
        more = found(ctx, MHD_GET_ARGUMENT_KIND, q->name, strlen(q->name), q->value,
                     q->value ? strlen(q->value) : 0);
    }
}

static void each_pair(struct request *r, enum MHD_ValueKind kind, MHD_KeyValueIterator found,
                      void *ctx)
{
    const struct inner *in = r->inner;
    if (!in) {
        MHD_get_connection_values(r->conn, kind, found, ctx);
        return;
    }
    bool headers = kind == MHD_HEADER_KIND;
    const struct named_value *v = headers ? in->header : in->query;
    size_t n = headers ? in->n_headers : in->n_query;
    for (size_t i = 0; i < n; i++)
        found(ctx, kind, v[i].name, v[i].value);
}

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
    if (!s->found) /* a malformed escape is not decoded; the value's parser refuses it */
        s->found = arena_strndup(&s->r->arena, value, value_size);
    return MHD_NO;
}

const char *request_query(struct request *r, const char *name)
{
    struct query_search s = {r, name, NULL};
    each_parameter(r, match_query, &s);
    return s.found;
}

static bool is_text(struct arena *a, const char *s, size_t n)
{
    const char *decoded = s ? url_decode(a, s, n) : "";
    return decoded ? jsontext_is_utf8(decoded, strlen(decoded)) : jsontext_is_utf8(s, n);
}

static enum MHD_Result match_binary(void *ctx, enum MHD_ValueKind kind, const char *key,
                                    size_t key_size, const char *value, size_t value_size)
{
    (void)kind;
    struct query_search *s = ctx;
    if (is_text(&s->r->arena, key, key_size) && is_text(&s->r->arena, value, value_size))
        return MHD_YES;
    s->found = key;
    return MHD_NO;
}

int request_check_query(struct request *r, struct err *e)
{
    struct query_search s = {r, NULL, NULL};
    each_parameter(r, match_binary, &s);
    if (!s.found)
        return 0;
    return err_set(e, ERR_INVALID_QUERY, NULL,
                   "The query parameter '%.100s' has bytes that are not UTF-8.", s.found);
}

const char *request_peer(struct request *r)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(r->conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    char text[INET6_ADDRSTRLEN] = "unknown";
    if (info && info->client_addr)
        uv_ip_name(info->client_addr, text, sizeof text);
    return arena_strdup(&r->arena, text);
}

const char *request_header(const struct request *r, const char *name)
{
    const struct inner *in = r->inner;
    if (!in)
        return MHD_lookup_connection_value(r->conn, MHD_HEADER_KIND, name);
    for (size_t i = 0; i < in->n_headers; i++)
        if (strcasecmp(in->header[i].name, name) == 0)
            return in->header[i].value;
    return NULL;
}

struct pairs {
    struct arena *a;
    struct named_value *item;
    size_t n, room;
    bool decode;
};

static enum MHD_Result add_pair(void *ctx, enum MHD_ValueKind kind, const char *key,
                                const char *value)
{
    struct pairs *p = ctx;
    (void)kind;
    if (p->n == p->room) {
        size_t room = p->room ? 2 * p->room : 32;
        struct named_value *more = arena_alloc(p->a, room * sizeof *more);
        if (p->n > 0)
            memcpy(more, p->item, p->n * sizeof *more);
        p->item = more;
        p->room = room;
    }
    value = value ? value : "";
    if (p->decode) { /* a malformed escape is not decoded, as in request_query() */
        const char *k = url_decode(p->a, key, strlen(key));
        const char *v = url_decode(p->a, value, strlen(value));
        key = k ? k : key;
        value = v ? v : value;
    }
    p->item[p->n++] = (struct named_value){key, value};
    return MHD_YES;
}

const struct named_value *request_headers(struct request *r, size_t *n)
{
    struct pairs p = {.a = &r->arena};
    each_pair(r, MHD_HEADER_KIND, add_pair, &p);
    *n = p.n;
    return p.item;
}

const struct named_value *request_parameters(struct request *r, size_t *n)
{
    struct pairs p = {.a = &r->arena, .decode = true};
    each_pair(r, MHD_GET_ARGUMENT_KIND, add_pair, &p);
    *n = p.n;
    return p.item;
}

bool request_has_body(const struct request *r)
{
    const char *length = request_header(r, "Content-Length");
    return request_header(r, "Transfer-Encoding") || (length && strtoull(length, NULL, 10) > 0);
}

void request_guid(struct request *r, char out[GUID_SIZE])
{
    guid_next(&r->api->guids, out);
}

void request_guid_at(struct request *r, char out[GUID_SIZE])
{
    guid_next_at(&r->api->guids, r->now_us, out);
}

bool request_may_log_in(const struct request *r, const char *account)
{
    return !r->connection || connection_may_log_in(r->connection, account, uv_now(r->config->loop));
}

void request_login_failed(const struct request *r, const char *account)
{
    if (r->connection)
        connection_login_failed(r->connection, account, uv_now(r->config->loop));
}

void request_keep(struct request *r, void *kept, void (*release)(void *kept))
{
    assert(release && !r->release);
    r->kept = kept;
    r->release = release;
}

void *request_take_back(struct request *r)
{
    assert(r->release);
    r->release = NULL;
    return r->kept;
}

void request_release(struct request *r)
{
    void (*release)(void *) = r->release;
    r->release = NULL;
    if (release)
        release(r->kept);
}

bool request_is_tls(const struct request *r)
{
    return r->engine->tls || (r->connection && connection_is_tls(r->connection));
}

const char *request_base(struct request *r)
{
    if (!*r->host)
        return r->api->endpoint;
    return arena_printf(&r->arena, "%s://%s", request_is_tls(r) ? "https" : "http", r->host);
}

/* "HOST:PORT" of request_base(), to which accounts' host names are prefixed. If HOST is an IP
 * address, "localhost" takes its place, because names cannot be prefixed to an address. */
static const char *site_of(struct request *r)
{
    const char *site = strstr(request_base(r), "://") + strlen("://");
    const char *colon = strrchr(site, ':');
    const char *port = colon && strspn(colon + 1, "0123456789") == strlen(colon + 1) ? colon : "";
    struct in_addr v4;
    const char *host = arena_strndup(&r->arena, site, strlen(site) - strlen(port));
    if (*host != '[' && inet_pton(AF_INET, host, &v4) != 1)
        return site;
    return arena_concat(&r->arena, "localhost", port);
}

static bool is_own_name(const struct request *r, const char *host, size_t n)
{
    for (size_t i = 0; i < r->config->names.n; i++)
        if (strlen(r->config->names.list[i]) == n &&
            strncasecmp(r->config->names.list[i], host, n) == 0)
            return true;
    return false;
}

const char *request_own_suffix(struct request *r, const char *below)
{
    const struct api_names *names = &r->config->names;
    const char *site = site_of(r), *colon = strrchr(site, ':');
    size_t n = colon && *site != '[' ? (size_t)(colon - site) : strlen(site);
    for (size_t i = 0; !is_own_name(r, site, n) && i < names->n_suffixes; i++)
        if (names->suffixes[i].own && strcmp(names->suffixes[i].below, below) == 0)
            return arena_concat(&r->arena, names->suffixes[i].own, site + n);
    return NULL;
}

const char *request_suffix(struct request *r, const char *below)
{
    const char *own = request_own_suffix(r, below);
    return own ? own : arena_concat(&r->arena, below, site_of(r));
}

int request_query_seconds(struct request *r, const char *name, long max, int64_t *ms, struct err *e)
{
    const char *text = request_query(r, name);
    char *end;
    if (!text)
        return 0;
    double s = strtod(text, &end);
    if (end == text || *end || !(s >= 0 && s <= (double)max))
        return err_set(e, ERR_INVALID_QUERY, name,
                       "The query parameter %s is '%.100s'; it must be a number of seconds from 0 "
                       "to %ld.",
                       name, text, max);
    *ms = (int64_t)(s * 1000);
    return 0;
}

int request_query_int(struct request *r, const char *name, struct query_bounds b, long *out,
                      struct err *e)
{
    const char *text = request_query(r, name);
    if (!text) {
        *out = b.fallback;
        return 0;
    }
    char *end;
    errno = 0;
    *out = strtol(text, &end, 10);
    if (errno || end == text || *end || *out < b.min || *out > b.max)
        return err_set(e, ERR_INVALID_QUERY, name,
                       "The query parameter %s is '%.100s'; it must be a whole number from %ld to "
                       "%ld.",
                       name, text, b.min, b.max);
    return 0;
}

int request_query_time(struct request *r, const char *name, int64_t fallback_ms, int64_t *ms,
                       struct err *e)
{
    static const char rest[] = "0000-01-01T00:00:00Z";
    const char *text = request_query(r, name), *whole = text;
    int64_t us;
    *ms = fallback_ms;
    if (!text)
        return 0;
    if (strlen(text) == strlen("2026-11") || strlen(text) == strlen("2026-11-23"))
        whole = arena_concat(&r->arena, text, rest + strlen(text));
    if (timefmt_parse(whole, &us) < 0 || us < 0)
        return err_set(e, ERR_INVALID_QUERY, name,
                       "'%.100s' is not a valid time; use one like 2026-11, 2026-11-23 or "
                       "2026-11-23T09:00:00Z",
                       text);
    *ms = us / 1000;
    return 0;
}

/* RFC 9110, 12.5.3: "gzip;q=0" refuses gzip. */
bool request_takes_gzip(const struct request *r)
{
    const char *accepted = request_header(r, "Accept-Encoding");
    const char *found = accepted ? strcasestr(accepted, "gzip") : NULL;
    if (!found)
        return false;
    const char *quality = found + strlen("gzip");
    quality += strspn(quality, " \t");
    return strncasecmp(quality, ";q=0", 4) != 0 || strtod(quality + 3, NULL) > 0;
}
