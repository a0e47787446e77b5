/* SPDX-License-Identifier: MIT
 *
 * The router remembers what it made of a request: for the same words, and for nothing more.
 */
#include "lib/arena.h"
#include "test/unit/api/http/server.h"

#define VERSION_1 1U
#define VERSION_2 2U

static int asked_who; /* how often who may was looked at */
static bool closed;

static int may(struct request *r, struct err *e)
{
    (void)r;
    asked_who++;
    return closed ? err_set(e, ERR_NO_TOKEN, NULL, "nobody may") : 0;
}

static unsigned version_of(const char *name)
{
    return strcmp(name, "1") == 0 ? VERSION_1 : strcmp(name, "2") == 0 ? VERSION_2 : 0;
}

static const char *version_name(unsigned version)
{
    return version == VERSION_1 ? "1" : "2";
}

/* Says what it was asked for, and how often by these words. */
static struct replied *show(struct request *r)
{
    int64_t *note = request_note(r);
    char text[4000];
    snprintf(text, sizeof text, "%s %s version=%u/%s filter=%s time=%lld.", r->route->operation_id,
             r->label ? r->label : request_param(r, "name"), r->version, r->version_name,
             request_query(r, "filter") ? request_query(r, "filter") : "-",
             note ? (long long)++*note : -1LL);
    return reply_text(r, 200, "text/plain", xstrdup(text));
}

static const struct route things[] = {
    {"GET", "/things/{name}", VERSION_1, 0, show, "Old"},
    {"GET", "/things/{name}", VERSION_2, 0, show, "New"},
    {"PUT", "/things/{name}", VERSION_2, 0, show, "Put"},
    {"GET", "/tail/{name*}", VERSION_2, 0, show, "Tail"},
};
static const struct service service = {.name = "things",
                                       .versions = VERSIONS_LISTED,
                                       .version_of = version_of,
                                       .version_name = version_name,
                                       .may = may,
                                       .routes = things,
                                       .n_routes = sizeof things / sizeof things[0]};
static const char *const vault_hosts[] = {"vault.test", "*.vault.test", NULL};
static const struct route vaulted[] = {{"GET", "/things/{name}", VERSION_2, 0, show, "Vault"}};
static const struct service vault = {.name = "vault",
                                     .versions = VERSIONS_LISTED,
                                     .version_of = version_of,
                                     .version_name = version_name,
                                     .routes = vaulted,
                                     .n_routes = 1};

static struct http_world *new_world(void)
{
    static const struct served served[] = {{&service, NULL, NULL}, {&vault, NULL, vault_hosts}};
    asked_who = 0;
    closed = false;
    return world_of(served, 2);
}

#define CACHE_TEST(name) TEST_WITH(name, struct http_world *, w, new_world(), world_close)

CACHE_TEST(the_same_words_find_the_same_way)
{
    const char *line = "GET /things/a%62?api-version=2";
    expect_at(w, line, "h", "New ab version=2/2 filter=- time=1.");
    expect_at(w, line, "h", "New ab version=2/2 filter=- time=2.");
    expect_at(w, line, "h", "New ab version=2/2 filter=- time=3.");
}

CACHE_TEST(other_words_do_not)
{
    expect_at(w, "GET /things/ab?api-version=2", "h", "New ab version=2/2 filter=- time=1.");
    expect_at(w, "GET /things/a%62?api-version=2", "h", "New ab version=2/2 filter=- time=1.");
    expect_at(w, "GET /things/ab?api-version=1", "h", "Old ab version=1/1 filter=- time=1.");
    expect_at(w, "GET /things/ab?api-version=2&filter=x", "h", "filter=x time=1.");
    expect_at(w, "GET /things/ab?filter=x&api-version=2", "h", "filter=x time=1.");
    expect_at(w, "GET /things/ab?api-version=2&filter", "h", "filter= time=1.");
    expect_at(w, "GET /things/ab?api-version=2", "vault.test", "Vault ab version=2/2");
    expect_at(w, "GET /things/ab?api-version=2", "h", "New ab version=2/2");
    expect_at(w, "PUT /things/ab?api-version=2", "h", "Put ab version=2/2 filter=- time=-1.");
    expect_at(w, "PUT /things/ab?api-version=2", "h", "Put ab version=2/2 filter=- time=-1.");
    expect_at(w, "GET /things/ab?api-version=3", "h", "HTTP/1.1 400");
    expect_at(w, "GET /things/ab", "h", "HTTP/1.1 400");
    expect_at(w, "GET /tail/ab/c?api-version=2", "h", "Tail ab/c version=2/2 filter=- time=-1.");
}

CACHE_TEST(the_hosts_account_is_found_again)
{
    const char *line = "GET /things/ab?api-version=2";
    for (int time = 1; time <= 3; time++) {
        char words[80];
        snprintf(words, sizeof words, "Vault acct version=2/2 filter=- time=%d.", time);
        expect_at(w, line, "Acct.vault.test", words);
    }
    expect_at(w, line, "other.vault.test", "Vault other version=2/2 filter=- time=1.");
}

CACHE_TEST(who_asks_is_looked_at_each_time)
{
    const char *line = "GET /things/ab?api-version=2";
    expect_at(w, line, "h", "HTTP/1.1 200");
    expect_at(w, line, "h", "HTTP/1.1 200");
    assert_int_equal(asked_who, 2);
    closed = true;
    expect_at(w, line, "h", "HTTP/1.1 401");
    /* And whom nobody lets in leaves nothing behind. */
    expect_at(w, "GET /things/stranger?api-version=2", "h", "HTTP/1.1 401");
    closed = false;
    expect_at(w, "GET /things/stranger?api-version=2", "h", "time=1.");
    assert_int_equal(asked_who, 5);
}

CACHE_TEST(long_words_and_many_ways_are_served_too)
{
    char line[3000], name[2001];
    memset(name, 'n', 2000);
    name[2000] = '\0';
    snprintf(line, sizeof line, "GET /things/%s?api-version=2", name);
    expect_at(w, line, "h", "time=-1.");
    expect_at(w, "GET /things/a?api-version=2&a=1&b=2&c=3&d=4", "h", "time=1.");
    snprintf(line, sizeof line, "GET /things/a?api-version=2&filter=%s", name);
    expect_at(w, line, "h", "New a version=2/2");
    for (int i = 0; i < 40; i++) {
        snprintf(line, sizeof line, "GET /things/n%d?api-version=2", i);
        char words[40];
        snprintf(words, sizeof words, "New n%d version=2/2", i);
        expect_at(w, line, "h", words);
    }
}
