/* SPDX-License-Identifier: MIT
 *
 * A request from its first line to its answer: host, path, query, headers, the form of a login,
 * XML, download links and ranges. The input is a request as on the wire:
 *
 *     METHOD PATH?QUERY
 *     Name: value
 *                          (an empty line)
 *     BODY
 *
 * In the place of libmicrohttpd's view of a connection stands this file's: its functions of the
 * same names come before the library's.
 */
#include <microhttpd.h>
#include <strings.h>

#include "api/http/auth.h"
#include "api/http/http_priv.h"
#include "api/http/router.h"
#include "api/http/session.h"
#include "api/http/xml.h"
#include "api/login/aad.h"
#include "api/plane/storage/errors.h"
#include "api/plane/storage/link.h"
#include "api/plane/storage/range.h"
#include "lib/cache.h"
#include "lib/jsontext.h"
#include "test/fuzz/fuzz.h"

#define NOW_US 1700000000000000

struct fuzz_pair {
    char *name, *value; /* value NULL: none was given */
};

struct fake_connection {
    struct fuzz_pair header[32], query[64];
    int n_headers, n_queries;
};

static struct fake_connection *fake(struct MHD_Connection *c)
{
    return (struct fake_connection *)(void *)c;
}

int MHD_get_connection_values_n(struct MHD_Connection *c, enum MHD_ValueKind kind,
                                MHD_KeyValueIteratorN each, void *ctx)
{
    (void)kind;
    for (int i = 0; i < fake(c)->n_queries; i++) {
        struct fuzz_pair *q = &fake(c)->query[i];
        if (each(ctx, MHD_GET_ARGUMENT_KIND, q->name, strlen(q->name), q->value,
                 q->value ? strlen(q->value) : 0) != MHD_YES)
            return i + 1;
    }
    return fake(c)->n_queries;
}

int MHD_get_connection_values(struct MHD_Connection *c, enum MHD_ValueKind kind,
                              MHD_KeyValueIterator each, void *ctx)
{
    (void)kind;
    for (int i = 0; i < fake(c)->n_headers; i++)
        if (each(ctx, MHD_HEADER_KIND, fake(c)->header[i].name, fake(c)->header[i].value) !=
            MHD_YES)
            return i + 1;
    return fake(c)->n_headers;
}

const char *MHD_lookup_connection_value(struct MHD_Connection *c, enum MHD_ValueKind kind,
                                        const char *name)
{
    (void)kind;
    for (int i = 0; i < fake(c)->n_headers; i++)
        if (strcasecmp(fake(c)->header[i].name, name) == 0)
            return fake(c)->header[i].value;
    return NULL;
}

const union MHD_ConnectionInfo *MHD_get_connection_info(struct MHD_Connection *c,
                                                        enum MHD_ConnectionInfoType type, ...)
{
    (void)c, (void)type;
    return NULL;
}

/* --- a service that has links to download, and nothing behind them ---------------------------- */

static struct replied *download(struct request *r)
{
    struct file_ref f = {
        LINK_FILE, {request_param(r, "account"), request_param(r, "share")}, r->rest};
    struct err e = {0};
    uint64_t first, last, size = 1000;
    if (link_check(r, &f, &e) < 0) {
        CLAIM(e.msg[0]);
        return reply_err(r, &e);
    }
    if (range_parse(request_header(r, "Range"), size, &first, &last) == RANGE_PART)
        CLAIM(first <= last && last < size);
    return reply_empty(r, 200);
}

/* Every text of the tree is UTF-8. */
static void walk_tree(const struct xml *x, int depth)
{
    CLAIM(depth <= XML_DEPTH_MAX);
    for (; x; x = x->next) {
        CLAIM(*x->name && jsontext_is_utf8(x->name, strlen(x->name)));
        CLAIM(jsontext_is_utf8(x->text, strlen(x->text)));
        walk_tree(x->child, depth + 1);
    }
}

static struct replied *walk(struct request *r)
{
    walk_tree(r->xml, 1);
    return reply_empty(r, 200);
}

static const struct route routes[] = {
    {"GET", "/files/{account}/{share}/{path*}", 0, 0, download, "Files_Get"},
    {"PUT", "/json/{name}", 0, ROUTE_JSON, download, "Json_Put"},
    {"POST", "/xml", 0, ROUTE_XML, walk, "Xml_Post"},
};
static const char *const paths[] = {"/files/{rest*}", "/json/{rest*}", "/xml", NULL};
static int may(struct request *r, struct err *e)
{
    int rc = strcmp(r->method, "PUT") == 0 ? auth_check(r, e) : 0;
    CLAIM(rc < 0 || !r->session || strcmp(r->session->object_id, "client") == 0);
    return rc;
}
static const struct service links = {.name = "links",
                                     .paths = paths,
                                     .routes = routes,
                                     .n_routes = sizeof routes / sizeof routes[0],
                                     .versions = VERSIONS_NONE,
                                     .may = may,
                                     .audiences = AUDIENCE_ARM,
                                     .sessions = true,
                                     .words = azstorage_words,
                                     .error = azstorage_error,
                                     .body_max = 1 << 20};

static int find_principal(void *ctx, const char *object_id, struct principal *out, struct err *e)
{
    (void)ctx, (void)e;
    *out = (struct principal){.kind = PRINCIPAL_SERVICE};
    snprintf(out->object_id, sizeof out->object_id, "%s", object_id);
    return strcmp(object_id, "client") == 0;
}

/* A link that we made is good, whatever its file is called. */
static void own_link(struct request *r, const char *path)
{
    struct file_ref f = {LINK_FILE, {"account", "share"}, path};
    const char *url = link_create(r, &f, NOW_US + 1000000), *query = strchr(url, '?');
    CLAIM(query);
    struct fake_connection *c = fake(r->conn);
    int before = c->n_queries;
    char *copy = strdup(query + 1), *rest = copy, *one;
    struct fuzz_pair held[64];
    memcpy(held, c->query, sizeof held);
    c->n_queries = 0;
    while ((one = strsep(&rest, "&")) && c->n_queries < 64) {
        char *eq = strchr(one, '=');
        CLAIM(eq);
        *eq = '\0';
        c->query[c->n_queries++] = (struct fuzz_pair){one, eq + 1};
    }
    struct err e = {0};
    CLAIM(link_check(r, &f, &e) == 0);
    memcpy(c->query, held, sizeof held);
    c->n_queries = before;
    free(copy);
}

/* --- one request ------------------------------------------------------------------------------ */

static void add(struct fuzz_pair *list, int *n, int max, char *text, char sep)
{
    if (*n == max || !*text)
        return;
    char *value = strchr(text, sep);
    if (value) {
        *value++ = '\0';
        value += strspn(value, sep == ':' ? " " : "");
    }
    list[(*n)++] = (struct fuzz_pair){text, value};
}

static void read_query(struct fake_connection *c, char *query)
{
    for (char *one; query && (one = strsep(&query, "&"));)
        add(c->query, &c->n_queries, 64, one, '=');
}

static void answer(struct request *r)
{
    struct err e = {0};
    struct replied *done;
    if (head_check(r, &e) < 0 || router_accept(r, &e) < 0) {
        CLAIM(e.msg[0]);
        done = reply_err(r, &e);
    } else {
        do
            done = router_dispatch(r);
        while (!done);
    }
    CLAIM(done && r->status >= 200 && r->status < 600 && r->status != 500 && r->response);
    if (r->rest && *r->rest)
        own_link(r, r->rest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t key[32] = "0123456789abcdef0123456789abcde";
    static const struct log quiet = {.fd = -1, .level = LOG_LVL_ERROR};
    static const struct api_listen door = {.host = "127.0.0.1"};
    static const struct directory directory = {.find = find_principal};
    const struct aad aad = {.client_id = "client", .client_secret = "secret"};
    const struct served services[] = {{&links, NULL, NULL}, {&aad_service, &aad, NULL}};
    struct api api = {.config = {.services = services,
                                 .n_services = 2,
                                 .log = &quiet,
                                 .token_key = key,
                                 .settings = {.token_lifetime_s = 3600},
                                 .directory = &directory},
                      .endpoint = "https://localhost:7443",
                      .tokens = cache_new(&auth_tokens)};
    struct fake_connection c = {0};
    struct pieces in = {(const char *)data, (const char *)data + size};
    char *first = next_line(&in), *lines[32];
    int n = 0;
    while (n < 32 && in.p < in.end && *in.p != '\n')
        add(c.header, &c.n_headers, 32, lines[n++] = next_line(&in), ':');
    for (int i = 0; i < c.n_headers; i++)
        if (!c.header[i].value)
            c.header[i].value = c.header[i].name + strlen(c.header[i].name);
    char *path = strchr(first, ' '), *query = path ? strchr(path, '?') : NULL;
    if (path && path[1]) {
        *path++ = '\0';
        if (query)
            *query++ = '\0';
        read_query(&c, query);
        struct engine tls = {.tls = true};
        struct request r = {.api = &api,
                            .engine = &tls,
                            .host = "",
                            .door = &door,
                            .config = &api.config,
                            .conn = (struct MHD_Connection *)(void *)&c,
                            .now_us = NOW_US,
                            .request_id = "r",
                            .correlation_id = "c"};
        arena_init(&r.arena);
        r.method = first;
        r.target = r.path = path;
        if (in.p < in.end)
            strbuf_add(&r.raw, in.p + 1, (size_t)(in.end - in.p - 1));
        answer(&r);
        MHD_destroy_response(r.response);
        json_decref(r.body);
        request_free_owned(&r);
        strbuf_free(&r.raw);
        arena_free(&r.arena);
    }
    for (int i = 0; i < n; i++)
        free(lines[i]);
    free(first);
    cache_free(api.tokens);
    return 0;
}
