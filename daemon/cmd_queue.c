/* SPDX-License-Identifier: MIT
 *
 * `batchaid queue`: what runs and what waits, cluster by cluster.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/cmd_jobs.h"
#include "daemon/table.h"

static const struct table_column columns[] = {
    {.name = "CLUSTER", .elide = true},
    {.name = "PLACE", .right = true},
    {.name = "JOB", .elide = true},
    {.name = "USER", .elide = true},
    {.name = "PRIORITY"},
    {.name = "NODES", .right = true},
    {.name = "STARTS, UNTIL"},
    {.name = "WAITS FOR, RUNS ON", .elide = true},
};

/* "normal", or a number that old api-versions give. */
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

static void print_table(const json_t *all)
{
    struct table t;
    size_t i;
    const json_t *j;
    table_init(&t, columns, sizeof columns / sizeof columns[0]);
    json_array_foreach(all, i, j) {
        const json_t *place = json_object_get(j, "place");
        const char *waits = jobs_text(j, "waitsFor");
        table_add(&t, TABLE_PLAIN, jobs_text(j, "cluster"));
        if (place)
            table_addf(&t, "%d", (int)json_integer_value(place));
        else
            table_add(&t, TABLE_PLAIN, jobs_text(j, "state"));
        const json_t *index = json_object_get(j, "index");
        if (index)
            table_addf(&t, "%s[%d]", jobs_text(j, "name"), (int)json_integer_value(index));
        else
            table_add(&t, TABLE_PLAIN, jobs_text(j, "name"));
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

static int list(struct client *c, const struct options *o, struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    json_t *reply = NULL;
    strbuf_printf(&path, "/batchaid/queue");
    jobs_filter(c, &path, "cluster", o->cluster);
    jobs_filter(c, &path, "user", o->user);
    int rc = client_call(c, "GET", path.s, NULL, &reply, e);
    json_t *all = json_object_get(reply, "value");
    if (rc == 0 && o->json)
        jobs_print_json(json_incref(all));
    else if (rc == 0)
        print_table(all);
    json_decref(reply);
    strbuf_free(&path);
    return rc;
}

int cmd_queue(const struct options *o)
{
    return jobs_with_client(o, list);
}
