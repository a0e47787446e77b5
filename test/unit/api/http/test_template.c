/* SPDX-License-Identifier: MIT
 *
 * How a request finds its service and row: by its host's label, a port's own service, and what its
 * query has.
 */
#include "lib/arena.h"
#include "test/unit/api/http/server.h"

/* "OPERATION label path target." */
static struct replied *show(struct request *r)
{
    char text[500];
    snprintf(text, sizeof text, "%s %s %s %s.", r->route->operation_id, r->label ? r->label : "-",
             r->path, r->target);
    return reply_text(r, 200, "text/plain", xstrdup(text));
}

#define SHARE "/{share}?restype=share"
static const struct route rows[] = {
    {"GET", "/?comp=list", 0, 0, show, "List"},
    {"PUT", SHARE "&comp=", 0, 0, show, "Create"},
    {"PUT", SHARE "&comp=acl", 0, 0, show, "SetAcl"},
    {"GET", "/{share}/{path*}?comp=", 0, 0, show, "Get"},
    {"GET", "/{share}/{path*}?comp=metadata", 0, 0, show, "GetMetadata"},
};
static const struct route others[] = {{"GET", "/{path*}", 0, 0, show, "Other"}};

#define ROUTES(list)                                                                               \
    .versions = VERSIONS_NONE, .routes = (list), .n_routes = sizeof(list) / sizeof *(list)
static const struct service shares = {.name = "shares", ROUTES(rows)};
static const struct service other = {.name = "other", ROUTES(others)};
/* What request_param() finds of a segment with a parameter in it. */
static struct replied *show_key(struct request *r)
{
    return reply_text(r, 200, "text/plain", xstrdup(request_param(r, "key")));
}

static const struct route batch_rows[] = {
    {"GET", "/certs", 0, 0, show, "Certs"},
    {"GET", "/certs({key})", 0, 0, show_key, "Cert"},
    {"POST", "/certs({key})/cancel", 0, 0, show_key, "Cancel"},
};
static const struct service batch = {.name = "batch", ROUTES(batch_rows)};
static const char *const hosts[] = {"*.file.core.test", "*.file.core.example", NULL};
static const char *const batch_hosts[] = {"*.*.batch.test", NULL};
static const struct served services[] = {
    {&other, NULL, NULL}, {&shares, NULL, hosts}, {&batch, NULL, batch_hosts}};
enum { N_SERVICES = sizeof services / sizeof services[0] };

struct talk {
    struct world *w;
    bool plain;
    char text[4096], got[8192];
};

static void *talk(void *ctx)
{
    struct talk *t = ctx;
    struct client c;
    if (t->plain)
        client_open_plain(&c, t->w->port);
    else
        client_open(&c, t->w->port);
    client_send(&c, t->text, strlen(t->text));
    client_read(&c, t->got, sizeof t->got, false);
    client_close(&c);
    uv_async_send(&t->w->client_done);
    return NULL;
}

static void expect_by(struct world *w, bool plain, const char *line, const char *host,
                      const char *words)
{
    static struct talk t;
    t = (struct talk){.w = w, .plain = plain};
    snprintf(t.text, sizeof t.text, "%s HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\n\r\n", line,
             host);
    run_with(w, talk, &t);
    if (!strstr(t.got, words))
        fail_msg("%s at %s: '%s' is not in: %s", line, host, words, t.got);
}

#define expect(w, line, host, words) expect_by(w, false, line, host, words)

TEST(a_host_names_the_account)
{
    struct world w;
    world_open(&w, services, N_SERVICES);
    expect(&w, "GET /s/f", "MyAccount.file.core.test:7443", "Get myaccount /s/f /s/f.");
    expect(&w, "GET /s/f", "a.FILE.core.example", "Get a /s/f /s/f.");
    /* A label is one label, and not nothing. */
    expect(&w, "GET /s/f", "a.b.file.core.test", "Other - ");
    expect(&w, "GET /s/f", ".file.core.test", "Other - ");
    expect(&w, "GET /s/f", "file.core.test", "Other - ");
    expect(&w, "GET /s/f", "a.file.core.test.evil", "Other - ");
    world_close(&w);
}

TEST(a_host_may_have_two_labels)
{
    struct world w;
    world_open(&w, services, N_SERVICES);
    expect(&w, "GET /certs", "Acct.EastUS.batch.test:7443", "Certs acct /certs /certs.");
    expect(&w, "GET /certs", "acct.batch.test", "Other - ");
    expect(&w, "GET /certs", "acct..batch.test", "Other - ");
    expect(&w, "GET /certs", "x.acct.eastus.batch.test", "Other - ");
    expect(&w, "GET /certs", "acct.eastus.batch.test.evil", "Other - ");
    world_close(&w);
}

TEST(a_parameter_may_stand_in_parentheses)
{
    const char *host = "a.eastus.batch.test";
    struct world w;
    world_open(&w, services, N_SERVICES);
    expect(&w, "GET /Certs(a=sha1,b=1f)", host, "\r\n\r\na=sha1,b=1f)");
    expect(&w, "POST /certs(a=1)/cancel", host, "\r\n\r\na=1)");
    expect(&w, "GET /certs(a=1", host, "HTTP/1.1 404");
    expect(&w, "GET /certs(", host, "HTTP/1.1 404");
    expect(&w, "GET /cert(a)", host, "HTTP/1.1 404");
    world_close(&w);
}

TEST(a_query_says_which_operation)
{
    struct world w;
    const char *host = "a.file.core.test";
    world_open(&w, services, N_SERVICES);
    expect(&w, "GET /?comp=list", host, "List a / /.");
    expect(&w, "GET /?restype=x&comp=LIST&sv=1", host, "List a ");
    expect(&w, "PUT /s?restype=share", host, "Create a ");
    expect(&w, "PUT /s?restype=share&comp=", host, "Create a ");
    expect(&w, "PUT /s?comp=acl&restype=share", host, "SetAcl a ");
    expect(&w, "GET /s/a//b/?comp=metadata", host, "GetMetadata a /s/a//b/ ");
    expect(&w, "GET /s/f?comp=%6detadata", host, "GetMetadata a ");
    expect(&w, "GET /s/f?comp=wrong", host, "HTTP/1.1 400");
    expect(&w, "PUT /s", host, "HTTP/1.1 400");
    expect(&w, "DELETE /s/f", host, "HTTP/1.1 405");
    expect(&w, "GET /", host, "HTTP/1.1 400");
    world_close(&w);
}

/* As emulators of storage do it; plain HTTP is the port's own matter. */
TEST(a_port_may_be_one_services)
{
    static const struct api_listen listen = {
        .host = "127.0.0.1", .http = API_HTTP_LOCAL, .service = "shares"};
    struct world w;
    world_open_at(&w, services, N_SERVICES, &listen);
    expect(&w, "GET /DevStore/s/f?comp=metadata", "a.vault.test",
           "GetMetadata devstore /s/f /DevStore/s/f.");
    expect_by(&w, true, "GET /d%65v/s/f", "localhost", "Get dev /s/f /d%65v/s/f.");
    expect_by(&w, true, "GET /dev?comp=list", "localhost", "List dev / /dev.");
    expect_by(&w, true, "GET /dev/?comp=list", "localhost", "List dev / /dev/.");
    expect_by(&w, true, "GET /", "localhost", "HTTP/1.1 400");
    expect_by(&w, true, "GET //s/f", "localhost", "HTTP/1.1 400");
    expect_by(&w, true, "GET /%00/s/f", "localhost", "HTTP/1.1 400");
    world_close(&w);
}
