/* SPDX-License-Identifier: MIT
 *
 * `batchaid nodes`: the daemon's view of its machines, as a table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/cli/client.h"
#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/cmd_nodes.h"
#include "daemon/cli/json_print.h"
#include "daemon/cli/table.h"
#include "daemon/cli/watch.h"
#include "lib/timefmt.h"

static const struct table_column columns[] = {
    {.name = "NAME"},
    {.name = "STATE"},
    {.name = "CLUSTER", .elide = true},
    {.name = "JOB", .elide = true},
    {.name = "VMSIZE", .elide = true},
    {.name = "SLOTS", .right = true},
    {.name = "CPUS", .right = true},
    {.name = "MEMORY", .right = true},
    {.name = "FREE", .right = true},
    {.name = "DISK", .right = true},
    {.name = "GPUS", .elide = true},
    {.name = "USE", .elide = true},
    {.name = "RUNTIMES", .elide = true},
    {.name = "AGENT"},
    {.name = "CONTACT"},
    {.name = "REASON", .elide = true},
};
enum { N_COLUMNS = sizeof columns / sizeof columns[0] };

static const char *text_of(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

/* --- cells ---------------------------------------------------------------------------------- */

static void add_state(struct table *t, const json_t *node)
{
    static const char *const bad[] = {"unreachable", "unusable"};
    const char *state = text_of(node, "state");
    struct strbuf b = STRBUF_INIT;
    enum table_colour colour = TABLE_PLAIN;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (state && strcmp(state, bad[i]) == 0)
            colour = TABLE_BAD;
    strbuf_puts(&b, state ? state : "");
    if (json_is_true(json_object_get(node, "drained")))
        strbuf_puts(&b, ",drained");
    table_add(t, colour, b.s);
    strbuf_free(&b);
}

static void add_list(struct table *t, const json_t *list, const char *if_empty)
{
    struct strbuf b = STRBUF_INIT;
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
        strbuf_printf(&b, "%s%s", i ? "," : "", json_string_value(item));
    table_add(t, TABLE_PLAIN, b.len ? b.s : if_empty);
    strbuf_free(&b);
}

static bool same_text(const json_t *a, const json_t *b, const char *key)
{
    const char *x = text_of(a, key), *y = text_of(b, key);
    return strcmp(x ? x : "", y ? y : "") == 0;
}

static bool same_gpu(const json_t *a, const json_t *b)
{
    return same_text(a, b, "model") && same_text(a, b, "driver");
}

/* Adds "4 x Tesla V100 (535.104.05), 2 taken": how many GPUs of each model and driver there are,
 * and how many GPUs are taken in all. */
static void add_gpus(struct table *t, const json_t *gpus, json_int_t taken)
{
    struct strbuf b = STRBUF_INIT;
    size_t i;
    json_t *gpu;
    json_array_foreach(gpus, i, gpu) {
        size_t count = 0, first = json_array_size(gpus);
        for (size_t k = json_array_size(gpus); k-- > 0;)
            if (same_gpu(json_array_get(gpus, k), gpu)) {
                count++;
                first = k;
            }
        if (first != i)
            continue;
        const char *model = text_of(gpu, "model"), *driver = text_of(gpu, "driver");
        strbuf_printf(&b, "%s%zu x %s", b.len ? ", " : "", count, model ? model : "GPU");
        if (driver && *driver)
            strbuf_printf(&b, " (%s)", driver);
    }
    if (b.len && taken > 0)
        strbuf_printf(&b, ", %lld taken", (long long)taken);
    table_add(t, TABLE_PLAIN, b.s);
    strbuf_free(&b);
}

static void add_ago(struct table *t, const char *when, int64_t now_us)
{
    static const struct {
        int64_t below_s, unit_s;
        char letter;
    } units[] = {{60, 1, 's'}, {3600, 60, 'm'}, {86400, 3600, 'h'}, {INT64_MAX, 86400, 'd'}};
    int64_t us;
    if (!when || timefmt_parse(when, &us) < 0) {
        table_add(t, TABLE_PLAIN, "never");
        return;
    }
    int64_t s = now_us > us ? (now_us - us) / 1000000 : 0;
    size_t i = 0;
    while (s >= units[i].below_s)
        i++;
    table_addf(t, "%lld%c ago", (long long)(s / units[i].unit_s), units[i].letter);
}

static json_int_t amount(const json_t *node, const char *of, const char *key)
{
    return json_integer_value(json_object_get(json_object_get(node, of), key));
}

/* Adds "2/8": taken and total; only the total if nothing is taken. */
static void add_share(struct table *t, const json_t *node, const char *key, json_int_t all)
{
    json_int_t taken = amount(node, "taken", key);
    if (all == 0)
        table_add(t, TABLE_PLAIN, NULL);
    else if (taken == 0)
        table_addf(t, "%lld", (long long)all);
    else
        table_addf(t, "%lld/%lld", (long long)taken, (long long)all);
}

static void add_memory(struct table *t, const json_t *node, json_int_t all)
{
    struct strbuf b = STRBUF_INIT;
    json_int_t taken = amount(node, "taken", "memoryBytes");
    if (taken > 0) {
        table_bytes(taken, &b);
        strbuf_puts(&b, "/");
    }
    if (all > 0)
        table_bytes(all, &b);
    table_add(t, TABLE_PLAIN, b.s);
    strbuf_free(&b);
}

static void add_bytes(struct table *t, json_int_t bytes)
{
    struct strbuf b = STRBUF_INIT;
    table_bytes(bytes, &b);
    table_add(t, TABLE_PLAIN, b.s);
    strbuf_free(&b);
}

/* Adds free memory and disk of the last sample; without a link the daemon has no sample of a
 * machine. */
static void add_free(struct table *t, const json_t *node)
{
    const json_t *s = json_object_get(node, "sample");
    if (json_object_get(s, "memoryUsedBytes") && json_object_get(s, "memoryBytes"))
        add_bytes(t, amount(node, "sample", "memoryBytes") -
                         amount(node, "sample", "memoryUsedBytes"));
    else
        table_add(t, TABLE_PLAIN, NULL);
    if (json_object_get(s, "diskFreeBytes"))
        add_bytes(t, amount(node, "sample", "diskFreeBytes"));
    else
        table_add(t, TABLE_PLAIN, NULL);
}

static void state_of(const json_t *gpu, char *out, size_t size)
{
    const json_t *busy = json_object_get(gpu, "busyPermille");
    const char *state = text_of(gpu, "state");
    if (state && strcmp(state, "busy") == 0 && busy)
        snprintf(out, size, "%s %lld%%", state, (long long)(json_integer_value(busy) + 5) / 10);
    else
        snprintf(out, size, "%s", state ? state : "");
}

/* Adds the states of GPUs: "0 busy 97%, 1 idle, 2-3 free". */
static void add_states(struct table *t, const json_t *gpus)
{
    struct strbuf b = STRBUF_INIT;
    size_t n = json_array_size(gpus);
    for (size_t i = 0, end; i < n; i = end) {
        char state[64], next[64];
        state_of(json_array_get(gpus, i), state, sizeof state);
        for (end = i + 1; end < n; end++) {
            state_of(json_array_get(gpus, end), next, sizeof next);
            if (strcmp(state, next) != 0)
                break;
        }
        strbuf_printf(&b, "%s%zu", b.len ? ", " : "", i);
        if (end > i + 1)
            strbuf_printf(&b, "-%zu", end - 1);
        strbuf_printf(&b, " %s", state);
    }
    table_add(t, TABLE_PLAIN, b.s);
    strbuf_free(&b);
}

/* The capacity is the one that jobs get (with the site's configuration). While it is not known, the
 * capacity that the machine reported is shown. */
static void add_facts(struct table *t, const json_t *node)
{
    const json_t *facts = json_object_get(node, "facts");
    json_int_t cores = amount(node, "capacity", "cores"),
               memory = amount(node, "capacity", "memoryBytes");
    add_share(t, node, "slots", amount(node, "capacity", "slots"));
    add_share(t, node, "cores", cores ? cores : amount(node, "facts", "cpus"));
    add_memory(t, node, memory ? memory : amount(node, "facts", "memoryBytes"));
    add_free(t, node);
    add_gpus(t, json_object_get(facts, "gpus"), amount(node, "taken", "gpus"));
    add_states(t, json_object_get(node, "gpus"));
    add_list(t, json_object_get(facts, "containerRuntimes"), NULL);
    table_add(t, TABLE_PLAIN, text_of(facts, "agentVersion"));
}

static void print_table(const json_t *nodes)
{
    struct table t;
    size_t i;
    json_t *node;
    int64_t now_us = time_now_us();
    table_init(&t, columns, N_COLUMNS);
    json_array_foreach(nodes, i, node) {
        table_add(&t, TABLE_PLAIN, text_of(node, "name"));
        add_state(&t, node);
        table_add(&t, TABLE_PLAIN, text_of(node, "cluster"));
        table_add(&t, TABLE_PLAIN, text_of(node, "job"));
        add_list(&t, json_object_get(node, "vmSizes"), "any");
        add_facts(&t, node);
        add_ago(&t, text_of(node, "lastContactTime"), now_us);
        table_add(&t, TABLE_PLAIN, text_of(node, "reason"));
    }
    struct table_screen screen = table_screen_of(stdout);
    table_print(&t, &screen, stdout);
    table_free(&t);
}

/* --- selecting machines ----------------------------------------------------------------------- */

static const char *name_at(const void *ctx, size_t i)
{
    return text_of(json_array_get(ctx, i), "name");
}

/* The nodes with these names, in the order of the names. Caller decrefs; NULL: error. */
static json_t *choose(json_t *nodes, char *const *names, int n, struct err *e)
{
    json_t *chosen = json_array();
    for (int k = 0; k < n; k++) {
        size_t i;
        json_t *node, *found = NULL;
        json_array_foreach(nodes, i, node)
            if (strcasecmp(text_of(node, "name"), names[k]) == 0)
                found = node;
        if (!found) {
            nodes_unknown(names[k], name_at, nodes, json_array_size(nodes), e);
            json_decref(chosen);
            return NULL;
        }
        json_array_append(chosen, found);
    }
    return chosen;
}

/* The states that the list shows, and "drained", which a machine may be in any state. */
static const char *const states[] = {"unknown", "free",     "unreachable", "preparing", "idle",
                                     "running", "unusable", "leaving",     "drained"};

int nodes_check_state(const char *value, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        if (strcmp(value, states[i]) == 0) {
            strbuf_free(&b);
            return 0;
        }
        strbuf_printf(&b, "%s%s", i ? ", " : "", states[i]);
    }
    err_set(e, ERR_CONFIG, NULL, "'%.100s' is not a state of a machine; the states are %s", value,
            b.s);
    strbuf_free(&b);
    return -1;
}

static bool fits(const json_t *node, const struct options *o)
{
    const char *cluster = text_of(node, "cluster");
    if (o->cluster && (!cluster || strcasecmp(cluster, o->cluster) != 0))
        return false;
    if (o->begins && strncasecmp(text_of(node, "name"), o->begins, strlen(o->begins)) != 0)
        return false;
    if (!o->node_state)
        return true;
    return strcmp(o->node_state, "drained") == 0
               ? json_is_true(json_object_get(node, "drained"))
               : strcmp(o->node_state, text_of(node, "state")) == 0;
}

static bool is_filtered(const struct options *o)
{
    return o->node_state || o->cluster || o->begins;
}

/* Returns the nodes that match the filters. Decrefs `nodes`. */
static json_t *filter(json_t *nodes, const struct options *o)
{
    json_t *left = json_array();
    size_t i;
    json_t *node;
    json_array_foreach(nodes, i, node)
        if (fits(node, o))
            json_array_append(left, node);
    if (json_array_size(left) == 0 && is_filtered(o))
        fprintf(stderr, "batchaid: no node fits%s%s%s%s%s%s; `batchaid nodes` lists all\n",
                o->node_state ? " --state " : "", o->node_state ? o->node_state : "",
                o->cluster ? " --cluster " : "", o->cluster ? o->cluster : "",
                o->begins ? " --begins " : "", o->begins ? o->begins : "");
    json_decref(nodes);
    return left;
}

static bool has_inventory(const json_t *nodes)
{
    size_t i;
    json_t *node;
    json_array_foreach(nodes, i, node)
        if (!json_is_true(json_object_get(node, "local")))
            return true;
    return false;
}

static int fetch(const struct options *o, json_t **out, struct err *e)
{
    struct daemon_client *client = NULL;
    struct strbuf path = STRBUF_INIT;
    json_t *reply = NULL;
    int rc = jobs_open(o, &client, e);
    strbuf_puts(&path, "/batchaid/nodes");
    if (rc == 0) {
        jobs_filter(client, &path, "sort", o->sort);
        rc = client_call(client, "GET", path.s, NULL, &reply, e);
    }
    *out = json_incref(json_object_get(reply, "value"));
    if (rc == 0 && !json_is_array(*out))
        rc = err_set(e, ERR_PROTOCOL, NULL, "the daemon's answer has no list of machines");
    json_decref(reply);
    strbuf_free(&path);
    client_close(client);
    return rc;
}

/* Adds the subcommands to the error, because the user may have meant the first name as a
 * subcommand. */
static void tell_commands(const struct options *o, struct err *e)
{
    char said[sizeof e->msg];
    snprintf(said, sizeof said, "%s", e->msg);
    err_set(e, e->code, NULL, "there is no command 'nodes %.100s' (there are %s), and %.700s",
            o->args[0], o->commands, said);
}

static int show(const struct options *o)
{
    struct err e;
    json_t *all = NULL;
    if (fetch(o, &all, &e) < 0) {
        json_decref(all);
        return cli_fail(EXIT_FAILED, &e);
    }
    json_t *shown = o->n_args ? choose(all, o->args, o->n_args, &e) : json_incref(all);
    if (shown)
        shown = filter(shown, o);
    if (shown && o->json) {
        json_print_list(json_incref(shown));
    } else if (shown) {
        size_t n = json_array_size(shown);
        if (n)
            print_table(shown);
        if (!o->n_args && !is_filtered(o) && !has_inventory(all))
            nodes_explain_inventory(
                n ? "There is no inventory: these are local nodes, on the machine of the daemon."
                  : "There is no inventory, and no cluster has local nodes now.");
    }
    if (!shown && o->commands && strcmp(e.target, o->args[0]) == 0)
        tell_commands(o, &e);
    int rc = shown ? EXIT_DONE : cli_fail(EXIT_FAILED, &e);
    json_decref(shown);
    json_decref(all);
    return rc;
}

int cmd_nodes_list(const struct options *o)
{
    return watch(o, show);
}
