/* SPDX-License-Identifier: MIT
 *
 * Tokens: which service takes which, whose they are, and when they end.
 */
#include "api/http/audience.h"
#include "api/http/auth.h"
#include "api/http/error.h"
#include "lib/arena.h"
#include "test/unit/api/http/server.h"
#include "test/unit/support/says.h"

/* --- services of the test's own --------------------------------------------------------------- */

/* Gives a token for what the query says. */
static struct replied *log_in(struct request *r)
{
    const char *audience = request_query(r, "for");
    struct err e;
    struct principal who;
    int lifetime;
    bool base;
    assert_int_equal(
        r->config->directory->find(r->config->directory->ctx, request_query(r, "who"), &who, &e),
        1);
    if (!audience_is_ours(r, audience, &base))
        return reply_empty(r, 400);
    return reply_text(r, 200, "text/plain",
                      auth_issue(r->config, &who, "app", audience, base, r->now_us, &lifetime));
}

static struct replied *say_who(struct request *r)
{
    assert_non_null(r->who);
    return reply_text(r, 200, "text/plain", xstrdup(r->who->name));
}

static struct replied *forget(struct request *r)
{
    auth_forget(r, request_query(r, "who"));
    return reply_empty(r, 200);
}

static void challenge(struct request *r)
{
    reply_header(r, "WWW-Authenticate", "Bearer resource_id=https://storage.azure.com");
}

static const struct route manager_routes[] = {
    {"GET", "/login", 0, ROUTE_OPEN, log_in, "Login"},
    {"GET", "/manager", 0, 0, say_who, "Who_Get"},
    {"GET", "/forget", 0, ROUTE_OPEN, forget, "Forget"},
};
static const struct route store_routes[] = {{"GET", "/store", 0, 0, say_who, "Who_Get"}};
static const struct route vault_routes[] = {{"GET", "/vault", 0, 0, say_who, "Who_Get"}};
static const struct route graph_routes[] = {{"GET", "/graph", 0, 0, say_who, "Who_Get"}};
static const char *const store_paths[] = {"/store", NULL};
static const char *const vault_paths[] = {"/vault", NULL};
static const char *const graph_paths[] = {"/graph", NULL};

static const struct service manager = {.name = "manager",
                                       .routes = manager_routes,
                                       .n_routes = 3,
                                       .versions = VERSIONS_NONE,
                                       .may = auth_check,
                                       .audiences = AUDIENCE_ARM};
static const struct service store = {.name = "store",
                                     .paths = store_paths,
                                     .routes = store_routes,
                                     .n_routes = 1,
                                     .versions = VERSIONS_NONE,
                                     .may = auth_check,
                                     .audiences = AUDIENCE_STORAGE,
                                     .challenge = challenge};
static const struct service vault = {.name = "vault",
                                     .paths = vault_paths,
                                     .routes = vault_routes,
                                     .n_routes = 1,
                                     .versions = VERSIONS_NONE,
                                     .may = auth_check,
                                     .audiences = AUDIENCE_VAULT};
static const struct service batch = {.name = "batch",
                                     .routes = vault_routes,
                                     .n_routes = 1,
                                     .versions = VERSIONS_NONE,
                                     .may = auth_check,
                                     .audiences = AUDIENCE_BATCH | AUDIENCE_ARM};
static const struct service graph = {.name = "graph",
                                     .paths = graph_paths,
                                     .routes = graph_routes,
                                     .n_routes = 1,
                                     .versions = VERSIONS_NONE,
                                     .may = auth_check,
                                     .audiences = AUDIENCE_GRAPH};
#define SERVICES                                                                                   \
    {&manager, NULL, NULL}, {&store, NULL, NULL}, {&vault, NULL, NULL},                            \
    {                                                                                              \
        &graph, NULL, NULL                                                                         \
    }
/* With hosts of their own, of which a suffix is the site's. */
static const char *const batch_hosts[] = {"*.*.batch.localhost", "*.*.work.site", NULL};
#define HOSTED                                                                                     \
    {&manager, NULL, NULL},                                                                        \
    {                                                                                              \
        &batch, NULL, batch_hosts                                                                  \
    }

/* --- the client ------------------------------------------------------------------------------- */

static char reply[4000];

static const char *get_at(struct client *c, const char *host, const char *path, const char *token)
{
    char text[4000];
    int n = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: %s\r\n%s%s\r\n\r\n", path, host,
                     token ? "Authorization: Bearer " : "X: y", token ? token : "");
    client_send(c, text, (size_t)n);
    client_read(c, reply, sizeof reply, false);
    return strstr(reply, "\r\n\r\n") + 4;
}

static const char *get(struct client *c, const char *path, const char *token)
{
    char host[40];
    (void)snprintf(host, sizeof host, "localhost:%d", world.port);
    return get_at(c, host, path, token);
}

static bool has_status(int status)
{
    return atoi(reply + strlen("HTTP/1.1 ")) == status;
}

/* The text with the server's port in the place of "PORT". */
static void with_port(const char *text, char out[200])
{
    const char *port = strstr(text, "PORT");
    if (port)
        (void)snprintf(out, 200, "%.*s%d%s", (int)(port - text), text, world.port, port + 4);
    else
        (void)snprintf(out, 200, "%s", text);
}

/* A token for an audience, in which PORT becomes the port; "": none is given. */
static void token_for(struct client *c, const char *audience, char out[1000])
{
    char resource[200], path[300];
    with_port(audience, resource);
    (void)snprintf(path, sizeof path, "/login?who=ada&for=%s", resource);
    const char *token = get(c, path, NULL);
    (void)snprintf(out, 1000, "%s", has_status(200) ? token : "");
}

static const struct {
    const char *audience, *taken_by; /* letters: manager, graph, store, vault */
} rows[] = {
    {"https://localhost:PORT", "mg"},
    {"https://localhost:PORT/", "mg"},
    {"http://localhost:PORT", "mg"},
    {"https://127.0.0.1:PORT/", "mg"}, /* the first listening address */
    {"https://management.azure.com/", "m"},
    {"https://management.core.windows.net", "m"},
    {"https://graph.microsoft.com", "g"},
    {"https://graph.windows.net/", "g"},
    {"https://storage.azure.com", "s"},
    {"https://storage.azure.com/", "s"},
    {"https://ours.blob.core.localhost:PORT", "s"},
    {"https://ours.file.core.windows.net/", "s"},
    {"https://vault.localhost:PORT", "v"},
    {"https://vault.azure.net", "v"},
    {"https://ours.vault.localhost:PORT/", "v"},
    {"https://localhost.example", ""},
    {"https://example.com/.vault.localhost", ""},
    {"https://example.com", ""},
    {"localhost", ""},
    {"", ""},
};

static void *ask_all(void *ctx)
{
    (void)ctx;
    static const char *const paths[] = {"/manager", "/graph", "/store", "/vault"};
    struct client c;
    client_open(&c, world.port);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char token[1000];
        token_for(&c, rows[i].audience, token);
        if (!*token != !*rows[i].taken_by)
            fail_msg("%s: %s", rows[i].audience, reply);
        for (size_t p = 0; *token && p < 4; p++) {
            bool takes = strchr(rows[i].taken_by, paths[p][1]) != NULL;
            const char *body = get(&c, paths[p], token);
            if (!has_status(takes ? 200 : 401))
                fail_msg("%s at %s: %s", rows[i].audience, paths[p], reply);
            if (takes)
                assert_string_equal(body, "ada@lab");
        }
    }
    client_close(&c);
    uv_async_send(&world.client_done);
    return NULL;
}

SERVER_TEST(each_service_takes_the_tokens_for_it, SERVICES)
{
    run_with(w, ask_all, NULL);
}

/* What a token is for is the same at each host, whichever is asked first. */
static const struct {
    const char *login, *audience; /* login: the host; the audience "": none is given */
    const char *taken_by;         /* letters: manager, the accounts one and two */
} hosted_rows[] = {
    {"localhost:PORT", "https://localhost:PORT", "m12"},
    {"10.0.0.1", "https://10.0.0.1", "m12"},
    {"10.0.0.1", "https://10.0.0.1:443/", "m12"},
    {"10.0.0.1:443", "https://10.0.0.1", "m12"},
    {"10.0.0.1:444", "https://10.0.0.1", ""},
    {"ai.batch.site", "https://ai.batch.site",
     "m12"}, /* a base that looks like an account's host */
    {"localhost:PORT", "https://batch.core.windows.net:443/", "12"},
    {"localhost:PORT", "https://one.eastus.batch.localhost:PORT", "1"},
    {"one.eastus.batch.localhost", "https://one.eastus.batch.localhost", "1"},
    {"localhost:PORT", "https://TWO.eastus.work.site/", "2"},
    {"localhost:PORT", "https://two.eastus.batch.azure.com", "2"},
    {"localhost:PORT", "https://work.site", "12"},
    {"localhost:PORT", "https://three.eastus.batch.localhost", "-"},
};

static void *ask_at_hosts(void *ctx)
{
    (void)ctx;
    static const struct {
        char letter;
        const char *host, *path;
    } doors[] = {{'1', "one.eastus.batch.localhost", "/vault"},
                 {'m', "10.9.9.9", "/manager"},
                 {'2', "two.eastus.work.site:443", "/vault"},
                 {'1', "one.westus.work.site", "/vault"},
                 {'m', "localhost", "/manager"}};
    struct client c;
    client_open(&c, world.port);
    for (size_t i = 0; i < sizeof hosted_rows / sizeof hosted_rows[0]; i++) {
        char token[1000], path[300], host[200], audience[200];
        with_port(hosted_rows[i].login, host);
        with_port(hosted_rows[i].audience, audience);
        (void)snprintf(path, sizeof path, "/login?who=ada&for=%s", audience);
        /* Accounts' hosts have no page to log in here. */
        bool of_account = strstr(host, "batch.localhost") != NULL;
        (void)snprintf(token, sizeof token, "%s",
                       get_at(&c, of_account ? "localhost" : host, path, NULL));
        if (!has_status(*hosted_rows[i].taken_by ? 200 : 400))
            fail_msg("%s: %s", audience, reply);
        for (size_t d = 0; *hosted_rows[i].taken_by && d < sizeof doors / sizeof doors[0]; d++) {
            bool takes = strchr(hosted_rows[i].taken_by, doors[d].letter) != NULL;
            (void)get_at(&c, doors[d].host, doors[d].path, token);
            if (!has_status(takes ? 200 : 401))
                fail_msg("%s at %s: %s", audience, doors[d].host, reply);
        }
    }
    client_close(&c);
    uv_async_send(&world.client_done);
    return NULL;
}

SERVER_TEST(a_token_is_for_the_same_at_each_host, HOSTED)
{
    run_with(w, ask_at_hosts, NULL);
}

static void *be_challenged(void *ctx)
{
    (void)ctx;
    char token[1000];
    struct client c;
    client_open(&c, world.port);
    token_for(&c, "https://management.azure.com", token);
    get(&c, "/store", token);
    assert_true(has_status(401));
    assert_says(reply, "resource_id=https://storage.azure.com");
    get(&c, "/vault", token);
    assert_true(has_status(401));
    assert_says(reply, "authorization_uri="); /* the resource manager's own */
    client_close(&c);
    uv_async_send(&world.client_done);
    return NULL;
}

SERVER_TEST(a_service_says_where_its_tokens_are, SERVICES)
{
    run_with(w, be_challenged, NULL);
}

/* The remembered token stays good until the directory's owner says that its owner is gone. */
static void *be_removed(void *ctx)
{
    (void)ctx;
    char token[1000];
    struct client c;
    client_open(&c, world.port);
    token_for(&c, "https://management.azure.com", token);
    get(&c, "/manager", token);
    assert_true(has_status(200));
    world.gone = "ada";
    get(&c, "/forget?who=Ada", NULL);
    get(&c, "/manager", token);
    assert_true(has_status(401));
    world.gone = NULL;
    get(&c, "/manager", token);
    assert_true(has_status(200));
    client_close(&c);
    uv_async_send(&world.client_done);
    return NULL;
}

SERVER_TEST(a_removed_owner_ends_the_tokens, SERVICES)
{
    run_with(w, be_removed, NULL);
}
