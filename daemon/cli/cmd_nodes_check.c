/* SPDX-License-Identifier: MIT
 *
 * `batchaid nodes check`: shows which machines of the inventory are usable, and remedies for the
 * other machines.
 */
#include <assert.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "daemon/cli/cmd_nodes.h"
#include "daemon/cli/json_print.h"
#include "daemon/cli/node_check.h"
#include "daemon/cli/progress.h"
#include "daemon/cli/table.h"
#include "daemon/config/config.h"
#include "daemon/config/site.h"
#include "daemon/config/state.h"
#include "lib/arena.h"
#include "lib/jsontext.h"

/* The most threads of the loop's pool; half of them resolve names. So a DNS server that does not
 * answer does not delay machines whose names are resolved. */
#define THREADS_MAX 256

static const struct {
    const char *column, *json;
} items[CHECK_ITEMS] = {
    [CHECK_NAME] = {"DNS", "dns"},
    [CHECK_TCP] = {"TCP", "tcp"},
    [CHECK_HOST_KEY] = {"HOSTKEY", "hostKey"},
    [CHECK_LOGIN] = {"LOGIN", "login"},
    [CHECK_BECOME] = {"BECOME", "become"},
    [CHECK_SHELL] = {"SHELL", "shell"},
    [CHECK_AGENT] = {"AGENT", "agent"},
    [CHECK_DISK] = {"DISK", "disk"},
    [CHECK_CLOCK] = {"CLOCK", "clock"},
    [CHECK_GPU] = {"GPU", "gpu"},
    [CHECK_CONTAINERS] = {"CONTAINERS", "containers"},
    [CHECK_MPI] = {"MPI", "mpi"},
    [CHECK_SHARES] = {"SHARES", "shares"},
};

/* --- results --- */

static void print_table(const struct check_result *results, size_t n)
{
    static const enum table_colour colours[] = {
        [CHECK_NONE] = TABLE_PLAIN, [CHECK_OK] = TABLE_GOOD, [CHECK_BAD] = TABLE_BAD};
    static_assert(sizeof colours / sizeof colours[0] == CHECK_BAD + 1, "a colour a verdict");
    struct table_column columns[1 + CHECK_ITEMS] = {{.name = "NAME"}};
    struct table t;
    for (size_t i = 0; i < CHECK_ITEMS; i++)
        columns[1 + i].name = items[i].column;
    table_init(&t, columns, 1 + CHECK_ITEMS);
    for (size_t i = 0; i < n; i++) {
        table_add(&t, TABLE_PLAIN, results[i].machine->name);
        for (size_t k = 0; k < CHECK_ITEMS; k++)
            table_add(&t, colours[results[i].cells[k].verdict], results[i].cells[k].word);
    }
    struct table_screen screen = table_screen_of(stdout);
    table_print(&t, &screen, stdout);
    table_free(&t);
}

static void print_problems(const struct check_result *results, size_t n)
{
    bool first = true;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < results[i].n_problems; k++) {
            printf("%s%s\n", first ? "\n" : "", results[i].problems[k]);
            first = false;
        }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < results[i].n_notes; k++) {
            printf("%s%s\n", first ? "\n" : "", results[i].notes[k]);
            first = false;
        }
}

static json_t *as_json(const struct check_result *r)
{
    json_t *checks = json_object(), *problems = json_array();
    for (size_t i = 0; i < CHECK_ITEMS; i++)
        json_object_set_new(checks, items[i].json,
                            r->cells[i].verdict == CHECK_NONE ? json_null()
                                                              : json_string(r->cells[i].word));
    for (size_t i = 0; i < r->n_problems; i++)
        json_array_append_new(problems, jsontext_string(r->problems[i]));
    json_t *notes = json_array();
    for (size_t i = 0; i < r->n_notes; i++)
        json_array_append_new(notes, jsontext_string(r->notes[i]));
    json_t *o =
        json_pack("{s:s, s:b, s:o, s:o, s:o}", "name", r->machine->name, "usable",
                  r->n_problems == 0, "checks", checks, "problems", problems, "notes", notes);
    if (r->has_health) {
        json_object_set_new(o, "diskFreeBytes", json_integer(r->disk_free_bytes));
        json_object_set_new(o, "clockSkewMilliseconds", json_integer(r->clock_skew_us / 1000));
    }
    return o;
}

static void print_all_json(const struct check_result *results, size_t n)
{
    json_t *value = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(value, as_json(&results[i]));
    json_print_list(value);
}

/* --- progress --- */

static void show_progress(void *ctx, size_t done, size_t n)
{
    progress_say(ctx, "%zu of %zu machines checked", done, n);
}

static void use_threads(int connect_limit)
{
    char text[16];
    int n = connect_limit < THREADS_MAX / 2 ? 2 * connect_limit : THREADS_MAX;
    snprintf(text, sizeof text, "%d", n);
    setenv("UV_THREADPOOL_SIZE", text, 0);
}

/* Whether a mount rule of the site covers all shares and containers, so the daemon serves none to
 * machines. */
static bool rules_mount_all(const struct site *site)
{
    for (size_t i = 0; i < site->n_mounts; i++) {
        const struct site_mount_rule *r = &site->mounts[i];
        if (r->files && r->blobs && (!r->account || strcmp(r->account, "*") == 0) &&
            (!r->share || strcmp(r->share, "*") == 0))
            return true;
    }
    return false;
}

/* Listens on the port for shares, so that machines can try to connect. Returns the socket; -1 if
 * that is impossible, for example because the daemon's own server listens there. */
static int listen_for(const struct site *site)
{
    const struct sockaddr_in6 any = {.sin6_family = AF_INET6,
                                     .sin6_port = htons((uint16_t)site->shares_port)};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 &&
        (bind(fd, (const struct sockaddr *)&any, sizeof any) < 0 || listen(fd, SOMAXCONN) < 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static bool run(const struct site *site, struct check_result *results, size_t n)
{
    struct progress p;
    const struct check_config c = {.site = site,
                                   .shares = site->shares_port > 0 && !rules_mount_all(site),
                                   .progress = show_progress,
                                   .ctx = &p};
    int listener = c.shares ? listen_for(site) : -1;
    use_threads(site->connect_limit);
    progress_begin(&p);
    check_machines(&c, results, n);
    progress_end(&p);
    if (listener >= 0)
        close(listener);
    bool good = true;
    for (size_t i = 0; i < n; i++)
        good = good && results[i].n_problems == 0;
    return good;
}

/* --- which machines ------------------------------------------------------------------------- */

static const char *name_at(const void *ctx, size_t i)
{
    return ((const struct site *)ctx)->machines[i].name;
}

/* The machines with these names; all machines if there are no names. Caller frees; NULL: error. */
static struct check_result *choose(const struct site *site, char *const *names, int n_names,
                                   size_t *n, struct err *e)
{
    *n = n_names ? (size_t)n_names : site->n_machines;
    struct check_result *results = xcalloc(*n + 1, sizeof *results);
    for (size_t k = 0; k < *n; k++) {
        if (!n_names)
            results[k].machine = &site->machines[k];
        for (size_t i = 0; n_names && i < site->n_machines; i++)
            if (strcasecmp(site->machines[i].name, names[k]) == 0)
                results[k].machine = &site->machines[i];
        if (!results[k].machine) {
            nodes_unknown(names[k], name_at, site, site->n_machines, e);
            free(results);
            return NULL;
        }
    }
    return results;
}

static int check_site(const struct options *o, const struct site *site)
{
    struct err e;
    size_t n;
    struct check_result *results = choose(site, o->args, o->n_args, &n, &e);
    if (!results)
        return cli_fail(EXIT_FAILED, &e);
    bool good = run(site, results, n);
    if (o->json) {
        print_all_json(results, n);
    } else {
        print_table(results, n);
        print_problems(results, n);
    }
    check_free(results, n);
    free(results);
    return good ? EXIT_DONE : EXIT_FAILED;
}

/* --- which configuration -------------------------------------------------------------------- */

/* The configuration file that the running daemon has read. Caller frees; NULL: error. */
static char *config_of_daemon(const struct options *o, struct err *e)
{
    struct state s;
    struct endpoint ep = {.config = NULL};
    char *path = NULL;
    if (state_locate(o->state_dir, NULL, &s, e) < 0)
        return NULL;
    if (endpoint_read(&s, &ep, e) < 0)
        err_set(e, ERR_CONFIG, NULL,
                "nodes check: no daemon is running in %s whose inventory could be checked; use: "
                "batchaid nodes check --config FILE",
                s.dir);
    else if (!ep.config)
        err_set(e, ERR_CONFIG, NULL,
                "nodes check: the daemon in %s was started without --config, so it has no "
                "inventory; use: batchaid nodes check --config FILE",
                s.dir);
    else
        path = xstrdup(ep.config);
    endpoint_free(&ep);
    state_free(&s);
    return path;
}

static int check_config_file(const struct options *o, const char *path)
{
    struct config c;
    struct daemon_site site = {.groups = NULL};
    struct err e;
    if (config_load(path, &c, &e) < 0)
        return cli_fail(EXIT_FAILED, &e);
    int code = EXIT_FAILED;
    if (nodes_load_site(o, &c, &site, &e) < 0) {
        cli_fail(EXIT_FAILED, &e);
    } else if (site.site.n_machines == 0) {
        struct strbuf what = STRBUF_INIT;
        strbuf_printf(&what, "%s has no inventory: there is no machine to check.", path);
        nodes_explain_inventory(what.s);
        strbuf_free(&what);
    } else {
        code = check_site(o, &site.site);
    }
    site_free(&site);
    config_free(&c);
    return code;
}

int cmd_nodes_check(const struct options *o)
{
    struct err e;
    char *path = o->config ? xstrdup(o->config) : config_of_daemon(o, &e);
    if (!path)
        return cli_fail(EXIT_FAILED, &e);
    int code = check_config_file(o, path);
    free(path);
    return code;
}
