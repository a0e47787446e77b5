/* SPDX-License-Identifier: MIT
 *
 * `batchaid nodes clean`: lists and removes tasks and files of a former daemon in the node roots of
 * machines. A running daemon cleans its machines itself.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <uv.h>

#include "daemon/cli/cmd_nodes.h"
#include "daemon/cli/json_print.h"
#include "daemon/cli/progress.h"
#include "daemon/cli/table.h"
#include "daemon/config/state.h"
#include "lib/fs.h"
#include "lib/jsontext.h"
#include "lib/loop_uv.h"
#include "lib/timefmt.h"
#include "nodeagent-proto/link/node.h"

#define US_PER_S 1000000
#define MS_PER_S 1000

struct cleaning {
    const struct site_machine *machine;
    struct node_link *link;
    struct files *files;
    bool dry_run, failed, closing;
    json_t *row; /* with --json, the machine's row; NULL: text is printed */
    struct progress progress;
    uv_timer_t told; /* a timer that fires each second */
};

static void tell(uv_timer_t *t)
{
    struct cleaning *c = t->data;
    if (c->closing)
        return;
    progress_say(&c->progress, "%s: %s, %lld s", c->machine->name,
                 c->dry_run ? "looking for what is left" : "cleaning",
                 (long long)(progress_us(&c->progress) / US_PER_S));
}

static void on_files_stopped(void *ctx, size_t left_behind)
{
    (void)ctx;
    (void)left_behind; /* blocked threads end with the process */
}

static void on_closed(void *ctx)
{
    const struct cleaning *c = ctx;
    files_stop(c->files, on_files_stopped, NULL);
}

static void fail(struct cleaning *c, const struct err *why)
{
    table_say(stderr, "%s: %s", c->machine->name, why->msg);
    if (c->row)
        json_object_set_new(c->row, "error", jsontext_string(why->msg));
    c->failed = true;
}

static void finish(struct cleaning *c, const struct err *why)
{
    if (c->closing)
        return;
    c->closing = true;
    progress_end(&c->progress);
    if (why)
        fail(c, why);
    node_close(c->link, on_closed, c);
}

static void show_root_removed(const struct cleaning *c)
{
    if (c->row)
        json_object_set_new(c->row, "rootRemoved", json_true());
    else
        printf("%s: removed: node root %s\n", c->machine->name, c->machine->group->node_root);
}

static void on_removed(void *ctx, const struct err *why)
{
    struct cleaning *c = ctx;
    progress_end(&c->progress);
    if (!why)
        show_root_removed(c);
    finish(c, why);
}

static void show_found(struct cleaning *c, const char *const *list, size_t n)
{
    json_t *all = json_object_get(c->row, "leftovers");
    for (size_t i = 0; i < n; i++)
        if (c->row)
            json_array_append_new(all, jsontext_string(list[i]));
        else
            table_say(stdout, "%s: %s: %s", c->machine->name, c->dry_run ? "found" : "removed",
                      list[i]);
}

static void on_found(void *ctx, const struct err *why, const char *const *list, size_t n)
{
    struct cleaning *c = ctx;
    progress_end(&c->progress);
    if (!why)
        show_found(c, list, n);
    if (!why && !c->dry_run && !c->closing) {
        node_ask(c->link, BARE_REQUEST(remove_root), on_removed, c);
        return;
    }
    if (!why && n == 0 && !c->row)
        printf("%s: nothing is left in %s\n", c->machine->name, c->machine->group->node_root);
    finish(c, why);
}

static void on_ready(void *ctx, const struct node_facts *facts)
{
    struct cleaning *c = ctx;
    progress_end(&c->progress);
    if (c->row)
        json_object_set_new(c->row, "agentUser", jsontext_string(facts->user));
    else if (!facts->is_root)
        table_say(stdout, "%s: the agent runs as %s, not as root: accounts and most mounts stay",
                  c->machine->name, facts->user);
    node_clean(c->link, !c->dry_run, on_found, c);
}

static void on_down(void *ctx, const struct err *why)
{
    finish(ctx, why);
}

/* Makes the machine's row for --json, before the agent there answers. NULL: text is printed. */
static json_t *begin_row(const struct options *o, const struct site_machine *machine)
{
    if (!o->json)
        return NULL;
    return json_pack("{s:s, s:s, s:b, s:[], s:b}", "name", machine->name, "nodeRoot",
                     machine->group->node_root, "dryRun", o->dry_run, "leftovers", "rootRemoved",
                     false);
}

/* `rows`: with --json, gets the machine's row. */
static bool clean(const struct options *o, const struct site *site,
                  const struct site_machine *machine, json_t *rows)
{
    static const struct log quiet = {.fd = STDERR_FILENO, .level = LOG_LVL_ERROR};
    struct cleaning c = {.machine = machine, .dry_run = o->dry_run, .row = begin_row(o, machine)};
    struct node_ssh_config ssh = site_ssh_config(site, machine);
    struct err e;
    uv_loop_t loop;
    if (uv_loop_init(&loop) < 0)
        abort();
    progress_begin_unless(&c.progress, o->json);
    c.told.data = &c;
    uv_timer_init(&loop, &c.told);
    uv_timer_start(&c.told, tell, MS_PER_S, MS_PER_S);
    uv_unref((uv_handle_t *)&c.told);
    struct loop *tools = loop_uv_create(&loop, NULL, NULL);
    c.files = files_create(tools, &quiet);
    ssh.loop = tools;
    ssh.files = c.files;
    ssh.log = &quiet;
    ssh.root = machine->group->node_root;
    ssh.yields = true; /* a daemon with another state directory may use this known_hosts */
    if (!o->dry_run)   /* its term is lower than the term of the next daemon */
        ssh.epoch = (struct node_epoch){.term = time_now_us() / US_PER_S, .id = "clean"};
    ssh.callbacks = (struct node_callbacks){.ready = on_ready, .down = on_down, .ctx = &c};
    if (node_open_ssh(&ssh, &c.link, &e) < 0) {
        fail(&c, &e);
        on_closed(&c);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    progress_end(&c.progress);
    uv_close((uv_handle_t *)&c.told, NULL);
    loop_uv_destroy(tools);
    uv_run(&loop, UV_RUN_DEFAULT);
    if (uv_loop_close(&loop) < 0)
        abort(); /* a link has not closed one of its handles */
    if (c.row)
        json_array_append_new(rows, c.row);
    return !c.failed;
}

/* --- which machines ------------------------------------------------------------------------- */

static const char *name_at(const void *ctx, size_t i)
{
    return ((const struct site *)ctx)->machines[i].name;
}

static const struct site_machine *find(const struct site *site, const char *name, struct err *e)
{
    for (size_t i = 0; i < site->n_machines; i++)
        if (strcasecmp(site->machines[i].name, name) == 0)
            return &site->machines[i];
    nodes_unknown(name, name_at, site, site->n_machines, e);
    return NULL;
}

static int clean_all(const struct options *o, const struct site *site)
{
    bool good = true;
    struct err e;
    for (int i = 0; i < o->n_args; i++)
        if (!find(site, o->args[i], &e)) /* before anything is removed */
            return cli_fail(EXIT_FAILED, &e);
    json_t *rows = json_array();
    for (int i = 0; i < o->n_args; i++)
        good = clean(o, site, find(site, o->args[i], &e), rows) && good;
    if (o->json)
        json_print_list(json_incref(rows));
    json_decref(rows);
    return good ? EXIT_DONE : EXIT_FAILED;
}

/* Refuses if a daemon runs: it may have jobs on the machines, and cleans them itself. */
static int refuse_beside_daemon(const struct options *o, const struct config *c, struct err *e)
{
    struct state s;
    struct endpoint ep = {.config = NULL};
    if (state_locate(o->state_dir, c->state_dir, &s, e) < 0)
        return -1;
    int rc = endpoint_read(&s, &ep, NULL) < 0
                 ? 0
                 : err_set(e, ERR_CONFLICT, NULL,
                           "nodes clean: a daemon runs in %s, and cleans its machines itself; stop "
                           "it, or use another --state-dir",
                           s.dir);
    if (rc == 0)
        rc = state_make(&s, e); /* the state directory will contain the host keys of the machines */
    endpoint_free(&ep);
    state_free(&s);
    return rc;
}

int cmd_nodes_clean(const struct options *o)
{
    struct config c;
    struct daemon_site site = {.groups = NULL};
    struct err e;
    (void)signal(SIGPIPE, SIG_IGN);
    if (!o->config) {
        err_set(&e, ERR_CONFIG, NULL,
                "nodes clean: the inventory is not given; use: batchaid nodes clean --config FILE "
                "HOST...");
        return cli_fail(EXIT_USAGE, &e);
    }
    if (config_load(o->config, &c, &e) < 0)
        return cli_fail(EXIT_FAILED, &e);
    int code = refuse_beside_daemon(o, &c, &e) < 0 || nodes_load_site(o, &c, &site, &e) < 0
                   ? cli_fail(EXIT_FAILED, &e)
                   : clean_all(o, &site.site);
    site_free(&site);
    config_free(&c);
    return code;
}
