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
#define SERVICES                                                                                   \
    {&other, NULL, NULL}, {&shares, NULL, hosts},                                                  \
    {                                                                                              \
        &batch, NULL, batch_hosts                                                                  \
    }

SERVER_TEST(a_host_names_the_account, SERVICES)
{
    expect_at(w, "GET /s/f", "MyAccount.file.core.test:7443", "Get myaccount /s/f /s/f.");
    expect_at(w, "GET /s/f", "a.FILE.core.example", "Get a /s/f /s/f.");
    /* A label is one label, and not nothing. */
    expect_at(w, "GET /s/f", "a.b.file.core.test", "Other - ");
    expect_at(w, "GET /s/f", ".file.core.test", "Other - ");
    expect_at(w, "GET /s/f", "file.core.test", "Other - ");
    expect_at(w, "GET /s/f", "a.file.core.test.evil", "Other - ");
}

SERVER_TEST(a_host_may_have_two_labels, SERVICES)
{
    expect_at(w, "GET /certs", "Acct.EastUS.batch.test:7443", "Certs acct /certs /certs.");
    expect_at(w, "GET /certs", "acct.batch.test", "Other - ");
    expect_at(w, "GET /certs", "acct..batch.test", "Other - ");
    expect_at(w, "GET /certs", "x.acct.eastus.batch.test", "Other - ");
    expect_at(w, "GET /certs", "acct.eastus.batch.test.evil", "Other - ");
}

SERVER_TEST(a_parameter_may_stand_in_parentheses, SERVICES)
{
    const char *host = "a.eastus.batch.test";
    expect_at(w, "GET /Certs(a=sha1,b=1f)", host, "\r\n\r\na=sha1,b=1f)");
    expect_at(w, "POST /certs(a=1)/cancel", host, "\r\n\r\na=1)");
    expect_at(w, "GET /certs(a=1", host, "HTTP/1.1 404");
    expect_at(w, "GET /certs(", host, "HTTP/1.1 404");
    expect_at(w, "GET /cert(a)", host, "HTTP/1.1 404");
}

SERVER_TEST(a_query_says_which_operation, SERVICES)
{
    const char *host = "a.file.core.test";
    expect_at(w, "GET /?comp=list", host, "List a / /.");
    expect_at(w, "GET /?restype=x&comp=LIST&sv=1", host, "List a ");
    expect_at(w, "PUT /s?restype=share", host, "Create a ");
    expect_at(w, "PUT /s?restype=share&comp=", host, "Create a ");
    expect_at(w, "PUT /s?comp=acl&restype=share", host, "SetAcl a ");
    expect_at(w, "GET /s/a//b/?comp=metadata", host, "GetMetadata a /s/a//b/ ");
    expect_at(w, "GET /s/f?comp=%6detadata", host, "GetMetadata a ");
    expect_at(w, "GET /s/f?comp=wrong", host, "HTTP/1.1 400");
    expect_at(w, "PUT /s", host, "HTTP/1.1 400");
    expect_at(w, "DELETE /s/f", host, "HTTP/1.1 405");
    expect_at(w, "GET /", host, "HTTP/1.1 400");
}

/* As emulators of storage do it; plain HTTP is the port's own matter. */
TEST(a_port_may_be_one_services)
{
    static const struct api_listen listen = {
        .host = "127.0.0.1", .http = API_HTTP_LOCAL, .service = "shares"};
    struct http_world w;
    const struct served services[] = {SERVICES};
    world_open_at(&w, services, N_SERVED(SERVICES), &listen);
    expect_at(&w, "GET /DevStore/s/f?comp=metadata", "a.vault.test",
              "GetMetadata devstore /s/f /DevStore/s/f.");
    expect_by(&w, true, "GET /d%65v/s/f", "localhost", "Get dev /s/f /d%65v/s/f.");
    expect_by(&w, true, "GET /dev?comp=list", "localhost", "List dev / /dev.");
    expect_by(&w, true, "GET /dev/?comp=list", "localhost", "List dev / /dev/.");
    expect_by(&w, true, "GET /", "localhost", "HTTP/1.1 400");
    expect_by(&w, true, "GET //s/f", "localhost", "HTTP/1.1 400");
    expect_by(&w, true, "GET /%00/s/f", "localhost", "HTTP/1.1 400");
    world_close(&w);
}
