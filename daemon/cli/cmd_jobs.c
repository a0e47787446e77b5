/* SPDX-License-Identifier: MIT
 *
 * `batchaid jobs`: lists the jobs of all groups, or the jobs that match filters.
 */
#include "daemon/cli/cmd_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/cli/json_print.h"
#include "daemon/cli/login_file.h"
#include "daemon/cli/login_token.h"
#include "daemon/cli/table.h"
#include "daemon/cli/watch.h"
#include "lib/timefmt.h"

/* How many jobs are listed; filters or --json list all. */
#define LISTED 100
/* --since goes back a hundred years at most. */
#define SINCE_MAX_S INT64_C(3153600000)

/* Gets a login, from the environment or from `batchaid login`. 1: found; 0: there is none, so the
 * daemon of this machine is meant; -1: error. */
static int find_login(struct environment *login, struct err *e)
{
    int lent = login_token_read(login, e);
    return lent != 0 ? lent : login_read(login, e);
}

/* Whether the options name a daemon of this machine, so a login is not used. */
static bool is_named(const struct options *o)
{
    const char *variable = getenv("BATCHAID_STATE_DIR");
    return o->state_dir || (variable && *variable);
}

int jobs_reach(const struct options *o, struct daemon_client **out, struct err *e)
{
    struct state s;
    struct environment login;
    int kept = is_named(o) ? 0 : find_login(&login, e);
    if (kept != 0)
        return kept < 0 ? -1 : client_reach_login(&login, out, e);
    if (state_locate(o->state_dir, NULL, &s, e) < 0)
        return -1;
    int rc = client_reach(&s, out, e);
    state_free(&s);
    return rc;
}

int jobs_open(const struct options *o, struct daemon_client **out, struct err *e)
{
    if (jobs_reach(o, out, e) < 0)
        return -1;
    client_mean(*out, o->subscription);
    if (client_enter(*out, e) == 0)
        return 0;
    client_close(*out);
    *out = NULL;
    return -1;
}

int jobs_with_code(const struct options *o, int own,
                   int (*fn)(struct daemon_client *c, const struct options *o, struct err *e))
{
    struct daemon_client *client = NULL;
    struct err e;
    int rc = jobs_open(o, &client, &e);
    if (rc == 0)
        rc = fn(client, o, &e);
    client_close(client);
    return rc < 0 ? cli_fail(own, &e) : rc;
}

int jobs_with_client(const struct options *o,
                     int (*fn)(struct daemon_client *c, const struct options *o, struct err *e))
{
    return jobs_with_code(o, EXIT_FAILED, fn);
}

int jobs_here(const struct options *o,
              int (*fn)(struct daemon_client *c, const struct options *o, struct err *e))
{
    struct state s;
    struct daemon_client *client = NULL;
    struct err e;
    if (state_locate(o->state_dir, NULL, &s, &e) < 0)
        return cli_fail(EXIT_FAILED, &e);
    int rc = client_open(&s, &client, &e);
    if (rc == 0)
        rc = fn(client, o, &e);
    client_close(client);
    state_free(&s);
    return rc < 0 ? cli_fail(EXIT_FAILED, &e) : EXIT_DONE;
}

void jobs_filter(struct daemon_client *c, struct strbuf *path, const char *name, const char *value)
{
    if (!value)
        return;
    char *escaped = client_escape(c, value);
    strbuf_printf(path, "%c%s=%s", strchr(path->s, '?') ? '&' : '?', name, escaped);
    free(escaped);
}

const char *jobs_text(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

bool jobs_has_ended(const json_t *j)
{
    const char *state = jobs_text(j, "state");
    return state && (strcmp(state, "succeeded") == 0 || strcmp(state, "failed") == 0);
}

/* Gets all pages; with `one`, only until a page has a result. */
static int ask(struct daemon_client *c, const char *question, bool one, json_t *found,
               struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    json_int_t before = 0;
    int rc;
    do {
        json_t *reply = NULL;
        char page[24];
        snprintf(page, sizeof page, "%" JSON_INTEGER_FORMAT, before);
        strbuf_reset(&path);
        strbuf_puts(&path, question);
        jobs_filter(c, &path, "before", before ? page : NULL);
        rc = client_call(c, "GET", path.s, NULL, &reply, e);
        if (rc == 0)
            json_array_extend(found, json_object_get(reply, "value"));
        before = json_integer_value(json_object_get(reply, "next"));
        json_decref(reply);
    } while (rc == 0 && before && !(one && json_array_size(found) > 0));
    strbuf_free(&path);
    return rc;
}

int jobs_ask_all(struct daemon_client *c, const char *question, json_t *found, struct err *e)
{
    return ask(c, question, false, found, e);
}

int jobs_ask_first(struct daemon_client *c, const char *question, json_t *found, struct err *e)
{
    return ask(c, question, true, found, e);
}

void jobs_nothing_fits(const struct options *o, const char *none, const char *all)
{
    const struct {
        const char *name, *value;
    } filters[] = {{"state", o->job_state}, {"cluster", o->cluster}, {"experiment", o->experiment},
                   {"user", o->user},       {"begins", o->begins},   {"since", o->since}};
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++)
        if (filters[i].value)
            strbuf_printf(&b, " --%s %s", filters[i].name, filters[i].value);
    if (b.len > 0)
        fprintf(stderr, "batchaid: no job fits%s; %s\n", b.s, all);
    else
        fprintf(stderr, "batchaid: %s\n", none);
    strbuf_free(&b);
}

/* The instant of --since: "2h" means two hours ago; other texts must be times. */
static const char *instant_of(const char *text, char out[TIMEFMT_SIZE])
{
    static const struct {
        const char *unit;
        int64_t seconds;
    } units[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}, {"w", 604800}};
    char *unit;
    if (!text || *text < '0' || *text > '9')
        return text;
    long long n = strtoll(text, &unit, 10);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(unit, units[i].unit) == 0 && n <= SINCE_MAX_S / units[i].seconds) {
            timefmt_wire(time_now_us() - n * units[i].seconds * 1000000, out);
            return out;
        }
    return text;
}

static const struct table_column columns[] = {
    {.name = "JOB", .elide = true},
    {.name = "STATE"},
    {.name = "CLUSTER", .elide = true},
    {.name = "NODES", .right = true},
    {.name = "USER", .elide = true},
    {.name = "CREATED"},
    {.name = "STARTED"},
    {.name = "ENDED"},
    {.name = "EXIT", .right = true},
    {.name = "WHERE", .elide = true},
};

static void print_table(const json_t *all)
{
    struct table t;
    size_t i;
    const json_t *j;
    table_init(&t, columns, sizeof columns / sizeof columns[0]);
    json_array_foreach(all, i, j) {
        const char *state = jobs_text(j, "state");
        const json_t *code = json_object_get(j, "exitCode");
        bool failed = state && strcmp(state, "failed") == 0;
        table_add(&t, TABLE_PLAIN, jobs_text(j, "name"));
        table_add(&t, failed ? TABLE_BAD : TABLE_PLAIN, state);
        table_add(&t, TABLE_PLAIN, jobs_text(j, "cluster"));
        table_addf(&t, "%d", (int)json_integer_value(json_object_get(j, "nodeCount")));
        table_add(&t, TABLE_PLAIN, jobs_text(j, "createdBy"));
        table_add(&t, TABLE_PLAIN, jobs_text(j, "createdTime"));
        table_add(&t, TABLE_PLAIN, jobs_text(j, "startTime"));
        table_add(&t, TABLE_PLAIN, jobs_text(j, "endTime"));
        if (code)
            table_addf(&t, "%d", (int)json_integer_value(code));
        else
            table_add(&t, TABLE_PLAIN, NULL);
        table_addf(&t, "%s/%s/%s", jobs_text(j, "resourceGroup"), jobs_text(j, "workspace"),
                   jobs_text(j, "experiment"));
    }
    struct table_screen screen = table_screen_of(stdout);
    table_print(&t, &screen, stdout);
    table_free(&t);
}

static void make_path(struct daemon_client *c, const struct options *o, json_int_t before,
                      struct strbuf *path)
{
    path->len = 0;
    strbuf_printf(path, "/batchaid/jobs?max=1000");
    jobs_filter(c, path, "state", o->job_state);
    jobs_filter(c, path, "cluster", o->cluster);
    jobs_filter(c, path, "experiment", o->experiment);
    jobs_filter(c, path, "user", o->user);
    jobs_filter(c, path, "begins", o->begins);
    jobs_filter(c, path, "mine", o->mine ? "true" : NULL);
    jobs_filter(c, path, "since", o->since);
    jobs_filter(c, path, "sort", o->sort);
    if (before)
        strbuf_printf(path, "&before=%" JSON_INTEGER_FORMAT, before);
}

/* Reads pages up to the last one, or until there are LISTED jobs. */
static int list(struct daemon_client *c, const struct options *o, struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    json_t *all = json_array(), *reply;
    json_int_t before = 0;
    bool filtered =
        o->job_state || o->cluster || o->experiment || o->user || o->begins || o->mine || o->since;
    bool is_all = filtered || o->json;
    char since[TIMEFMT_SIZE];
    struct options wanted = *o;
    /* computed once, so that all pages use the same instant */
    wanted.since = instant_of(o->since, since);
    int rc;
    do {
        make_path(c, &wanted, before, &path);
        reply = NULL;
        rc = client_call(c, "GET", path.s, NULL, &reply, e);
        if (rc == 0)
            json_array_extend(all, json_object_get(reply, "value"));
        before = json_integer_value(json_object_get(reply, "next"));
        json_decref(reply);
    } while (rc == 0 && before && (is_all || json_array_size(all) < LISTED));
    while (!is_all && json_array_size(all) > LISTED) {
        json_array_remove(all, json_array_size(all) - 1);
        before = 1;
    }
    if (rc == 0 && o->json)
        json_print_list(json_incref(all));
    else if (rc == 0)
        print_table(all);
    if (rc == 0 && json_array_size(all) == 0)
        jobs_nothing_fits(o,
                          o->mine ? "you have no job yet; `batchaid jobs` lists other users' jobs"
                                  : "there is no job yet",
                          "`batchaid jobs` lists all");
    if (rc == 0 && before && !is_all)
        fprintf(stderr, "batchaid: these are the %s %d; filters, or --json, list all\n",
                o->sort && *o->sort != '-' ? "oldest" : "newest", LISTED);
    json_decref(all);
    strbuf_free(&path);
    return rc;
}

static int show(const struct options *o)
{
    return jobs_with_client(o, list);
}

int cmd_jobs(const struct options *o)
{
    return watch(o, show);
}
