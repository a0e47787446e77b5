/* SPDX-License-Identifier: MIT
 *
 * `batchaid top`: shows nodes and their GPUs, with the jobs on them. Several jobs may share a node,
 * so the running jobs are sorted by node.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/json_print.h"
#include "daemon/cli/table.h"
#include "daemon/cli/watch.h"

static const struct table_column columns[] = {
    {.name = "NODE", .elide = true},    {.name = "STATE"},
    {.name = "CLUSTER", .elide = true}, {.name = "SLOTS", .right = true},
    {.name = "CORES", .right = true},   {.name = "MEMORY", .right = true},
    {.name = "GPUS", .right = true},    {.name = "GPU", .elide = true},
    {.name = "JOBS", .elide = true},
};

static bool is_on(const json_t *job, const char *node)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(job, "nodes"), i, one)
        if (node && strcmp(json_string_value(one), node) == 0)
            return true;
    return false;
}

/* Adds the jobs of a node: "train-x7fk (ada), sweep[3] (bob)". */
static void add_jobs(struct table *t, const json_t *queue, const json_t *node)
{
    struct strbuf b = STRBUF_INIT;
    const char *id = jobs_text(node, "node");
    size_t i;
    json_t *job;
    json_array_foreach(queue, i, job) {
        const char *user = jobs_text(job, "createdBy");
        const json_t *index = json_object_get(job, "index");
        if (!is_on(job, id ? id : jobs_text(node, "name")))
            continue;
        strbuf_concat(&b, b.len ? ", " : "", jobs_text(job, "name"));
        if (index)
            strbuf_printf(&b, "[%" JSON_INTEGER_FORMAT "]", json_integer_value(index));
        if (user)
            strbuf_printf(&b, " (%.*s)", (int)strcspn(user, "@"), user);
    }
    table_add(t, TABLE_PLAIN, b.s);
    strbuf_free(&b);
}

/* Adds "2/8": how many are taken, and how many there are. */
static void add_part(struct table *t, const json_t *node, const char *what)
{
    const json_t *all = json_object_get(json_object_get(node, "capacity"), what);
    json_int_t taken = json_integer_value(json_object_get(json_object_get(node, "taken"), what));
    if (all)
        table_addf(t, "%" JSON_INTEGER_FORMAT "/%" JSON_INTEGER_FORMAT, taken,
                   json_integer_value(all));
    else
        table_add(t, TABLE_PLAIN, NULL);
}

static void add_memory(struct table *t, const json_t *node)
{
    struct strbuf taken = STRBUF_INIT, all = STRBUF_INIT;
    const json_t *most = json_object_get(json_object_get(node, "capacity"), "memoryBytes");
    table_bytes(json_integer_value(json_object_get(json_object_get(node, "taken"), "memoryBytes")),
                &taken);
    table_bytes(json_integer_value(most), &all);
    if (most)
        table_addf(t, "%s/%s", taken.s, all.s);
    else
        table_add(t, TABLE_PLAIN, NULL);
    strbuf_free(&taken);
    strbuf_free(&all);
}

static void print_table(const json_t *nodes, const json_t *queue)
{
    struct table t;
    size_t i;
    json_t *node;
    table_init(&t, columns, sizeof columns / sizeof columns[0]);
    json_array_foreach(nodes, i, node) {
        const char *state = jobs_text(node, "state");
        bool bad = state && (strcmp(state, "unusable") == 0 || strcmp(state, "unreachable") == 0);
        const json_t *gpus = json_object_get(json_object_get(node, "facts"), "gpus");
        table_add(&t, TABLE_PLAIN, jobs_text(node, "name"));
        table_add(&t, bad ? TABLE_BAD : TABLE_PLAIN,
                  json_is_true(json_object_get(node, "drained")) ? "drained" : state);
        table_add(&t, TABLE_PLAIN, jobs_text(node, "cluster"));
        add_part(&t, node, "slots");
        add_part(&t, node, "cores");
        add_memory(&t, node);
        add_part(&t, node, "gpus");
        table_add(&t, TABLE_PLAIN, jobs_text(json_array_get(gpus, 0), "model"));
        add_jobs(&t, queue, node);
    }
    struct table_screen screen = table_screen_of(stdout);
    table_print(&t, &screen, stdout);
    table_free(&t);
}

static void say_waiting(const json_t *reply)
{
    size_t i, waiting = 0;
    bool more = json_is_true(json_object_get(reply, "cut"));
    json_t *job, *one;
    json_array_foreach(json_object_get(reply, "leftOut"), i, one)
        more = more || json_is_true(json_object_get(one, "waiting"));
    json_array_foreach(json_object_get(reply, "value"), i, job)
        waiting += jobs_text(job, "waitsFor") != NULL;
    if (waiting)
        printf("\n%s%zu job%s; `batchaid queue` shows for what\n", more ? "more than " : "",
               waiting, waiting == 1 ? " waits" : "s wait");
}

static int top(struct daemon_client *c, const struct options *o, struct err *e)
{
    json_t *nodes = NULL, *queue = NULL;
    int rc = client_call(c, "GET", "/batchaid/nodes", NULL, &nodes, e);
    if (rc == 0)
        rc = client_call(c, "GET", "/batchaid/queue", NULL, &queue, e);
    json_t *n = json_object_get(nodes, "value"), *q = json_object_get(queue, "value");
    if (rc == 0 && o->json) {
        json_t *out =
            json_pack("{s:O, s:O, s:O, s:O*}", "nodes", n, "jobs", q, "leftOut",
                      json_object_get(queue, "leftOut"), "cut", json_object_get(queue, "cut"));
        json_print_new(out);
    } else if (rc == 0) {
        print_table(n, q);
        say_waiting(queue);
    }
    json_decref(nodes);
    json_decref(queue);
    return rc;
}

static int show(const struct options *o)
{
    return jobs_with_client(o, top);
}

int cmd_top(const struct options *o)
{
    struct options again = *o;
    again.watch = !o->json && isatty(STDOUT_FILENO);
    return watch(&again, show);
}
