/* SPDX-License-Identifier: MIT
 *
 * `batchaid queue`: lists the running and the waiting jobs of each cluster; `ps` lists only the
 * caller's jobs. TIME is when the time limit of a running job ends, or when a waiting job is
 * expected to start; DETAIL is a running job's nodes, or the reason why a job waits.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/json_print.h"
#include "daemon/cli/table.h"
#include "daemon/cli/watch.h"

#define PAGE_ROWS  "1000"
#define RANGES_MAX 8 /* the most ranges of indexes in one row */

static const struct table_column columns[] = {
    {.name = "CLUSTER", .elide = true},
    {.name = "PLACE", .right = true},
    {.name = "JOB", .elide = true},
    {.name = "USER", .elide = true},
    {.name = "PRIORITY"},
    {.name = "NODES", .right = true},
    {.name = "TIME"},
    {.name = "DETAIL", .elide = true},
};

/* Adds "high", "normal" or "low", or the number that an old api-version has set. */
static void add_priority(struct table *t, const json_t *j)
{
    int n = (int)json_integer_value(json_object_get(j, "priority"));
    if (n == 0 || n == 1000 || n == -1000)
        table_add(t, TABLE_PLAIN, n == 0 ? "normal" : n > 0 ? "high" : "low");
    else
        table_addf(t, "%d", n);
}

static void add_nodes(struct table *t, const json_t *nodes)
{
    struct strbuf b = STRBUF_INIT;
    size_t i;
    json_t *name;
    json_array_foreach(nodes, i, name)
        strbuf_printf(&b, "%s%s", i ? ", " : "", json_string_value(name));
    table_add(t, TABLE_PLAIN, b.s);
    strbuf_free(&b);
}

static bool is_equal(const json_t *a, const json_t *b, const char *member)
{
    const json_t *x = json_object_get(a, member), *y = json_object_get(b, member);
    return x && y && json_equal(x, y);
}

/* How many jobs from `at` on can be one row: indexes of the same array that have no place in the
 * queue and wait for the same reason. */
static size_t alike(const json_t *all, size_t at)
{
    static const char *const same[] = {"resourceGroup", "workspace", "experiment",
                                       "name",          "cluster",   "waitsFor"};
    const json_t *first = json_array_get(all, at), *j;
    size_t n = 1;
    if (!json_object_get(first, "index") || json_object_get(first, "place"))
        return n;
    for (; (j = json_array_get(all, at + n)) && !json_object_get(j, "place"); n++)
        for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
            if (!is_equal(first, j, same[i]))
                return n;
    return n;
}

static int index_of(const json_t *j)
{
    return (int)json_integer_value(json_object_get(j, "index"));
}

/* Adds "1-3,5": the indexes of `n` jobs from `at` on. */
static void add_indexes(struct strbuf *b, const json_t *all, size_t at, size_t n)
{
    size_t ranges = 0;
    for (size_t i = 0, end; i < n && ranges < RANGES_MAX; i = end, ranges++) {
        int from = index_of(json_array_get(all, at + i));
        for (end = i + 1; end < n; end++)
            if (index_of(json_array_get(all, at + end)) != from + (int)(end - i))
                break;
        strbuf_printf(b, ranges ? ",%d" : "%d", from);
        if (end > i + 1)
            strbuf_printf(b, "-%d", from + (int)(end - i) - 1);
        if (end < n && ranges + 1 == RANGES_MAX)
            strbuf_printf(b, ",... %zu shown", n);
    }
}

static void add_name(struct table *t, const json_t *all, size_t at, size_t n)
{
    const json_t *first = json_array_get(all, at);
    struct strbuf b = STRBUF_INIT;
    strbuf_puts(&b, jobs_text(first, "name"));
    if (json_object_get(first, "index")) {
        strbuf_puts(&b, "[");
        add_indexes(&b, all, at, n);
        strbuf_puts(&b, "]");
    }
    table_add(t, TABLE_PLAIN, b.s);
    strbuf_free(&b);
}

static void print_table(const json_t *all)
{
    struct table t;
    table_init(&t, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0, n; i < json_array_size(all); i += n) {
        const json_t *j = json_array_get(all, i);
        n = alike(all, i);
        const json_t *place = json_object_get(j, "place");
        const char *waits = jobs_text(j, "waitsFor");
        table_add(&t, TABLE_PLAIN, jobs_text(j, "cluster"));
        if (place)
            table_addf(&t, "%d", (int)json_integer_value(place));
        else
            table_add(&t, TABLE_PLAIN, waits ? "queued" : jobs_text(j, "state"));
        add_name(&t, all, i, n);
        table_add(&t, TABLE_PLAIN, jobs_text(j, "createdBy"));
        add_priority(&t, j);
        table_addf(&t, "%d", (int)json_integer_value(json_object_get(j, "nodeCount")));
        table_add(&t, TABLE_PLAIN, jobs_text(j, waits ? "expectedStartTime" : "limitTime"));
        if (waits)
            table_add(&t, TABLE_PLAIN, waits);
        else
            add_nodes(&t, json_object_get(j, "nodes"));
    }
    struct table_screen screen = table_screen_of(stdout);
    table_print(&t, &screen, stdout);
    table_free(&t);
}

/* Prints in which clusters the reply leaves out running jobs, and how many, or waiting jobs. */
static void say_left_out(const json_t *reply)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(reply, "leftOut"), i, one) {
        json_int_t run = json_integer_value(json_object_get(one, "running"));
        char more[48] = "";
        if (run > 0)
            snprintf(more, sizeof more, "%" JSON_INTEGER_FORMAT " more run", run);
        bool wait = json_is_true(json_object_get(one, "waiting"));
        fprintf(stderr, "batchaid: not shown: in cluster %s %s%s%s; --json lists all\n",
                jobs_text(one, "cluster"), more, *more && wait ? ", and " : "",
                wait ? "more jobs wait" : "");
    }
    if (json_is_true(json_object_get(reply, "cut")))
        fprintf(stderr,
                "batchaid: not shown: more jobs, also of further clusters, as the daemon's answer "
                "is full; --json lists all\n");
}

/* Prints all rows as one JSON reply that leaves out nothing. */
static void print_whole(json_t *all)
{
    json_t *out = json_pack("{s:O, s:[]}", "value", all, "leftOut");
    json_print_new(out);
}

static int list(struct daemon_client *c, const struct options *o, struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    json_t *reply = NULL;
    strbuf_printf(&path, "/batchaid/queue");
    jobs_filter(c, &path, "cluster", o->cluster);
    jobs_filter(c, &path, "user", o->user);
    jobs_filter(c, &path, "mine", o->mine ? "true" : NULL);
    jobs_filter(c, &path, "rows", o->json ? PAGE_ROWS : NULL);
    int rc = o->json ? client_call_pages(c, path.s, &reply, e)
                     : client_call(c, "GET", path.s, NULL, &reply, e);
    json_t *all = json_object_get(reply, "value");
    if (rc == 0 && o->json)
        print_whole(all);
    else if (rc == 0)
        print_table(all);
    if (rc == 0 && json_array_size(all) == 0)
        jobs_nothing_fits(
            o,
            o->mine ? "no job of yours runs or waits; `batchaid queue` shows other users' "
                      "jobs, `batchaid jobs` also ended ones"
                    : "no job runs or waits; `batchaid jobs` also lists ended ones",
            "`batchaid queue` shows all running and waiting jobs");
    say_left_out(reply);
    json_decref(reply);
    strbuf_free(&path);
    return rc;
}

static int show(const struct options *o)
{
    return jobs_with_client(o, list);
}

int cmd_queue(const struct options *o)
{
    return watch(o, show);
}

int cmd_ps(const struct options *o)
{
    struct options mine = *o;
    mine.mine = true;
    return watch(&mine, show);
}
