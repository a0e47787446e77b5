/* SPDX-License-Identifier: MIT
 *
 * A table of subcommands with their options and arguments. Names of machines are expanded here, so
 * that each subcommand gets a plain list.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/cli/cmd_nodes.h"
#include "daemon/config/hostlist.h"
#include "lib/arena.h"
#include "lib/strbuf.h"

static const struct nodes_verb {
    const char *name;
    int options; /* the OPT_ bits of its options in addition to --state-dir */
    bool needs_host;
    int (*run)(const struct options *o);
} verbs[] = {
    {"list", OPT_JSON | OPT_NODES | OPT_WATCH, false, cmd_nodes_list},
    {"check", OPT_JSON | OPT_CONFIG, false, cmd_nodes_check},
    {"drain", OPT_JSON | OPT_REASON, true, cmd_nodes_drain},
    {"undrain", OPT_JSON, true, cmd_nodes_undrain},
    {"reboot", OPT_JSON, true, cmd_nodes_reboot},
    {"clean", OPT_JSON | OPT_CONFIG | OPT_DRY_RUN, true, cmd_nodes_clean},
};
enum { N_VERBS = sizeof verbs / sizeof verbs[0] };

static const struct nodes_verb *find_verb(const char *name)
{
    for (size_t i = 0; i < N_VERBS; i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

static int check_usage(const struct nodes_verb *v, const struct options *o, struct err *e)
{
    const struct {
        int option;
        bool given;
        const char *name;
    } some[] = {
        {OPT_JSON, o->json, "--json"},
        {OPT_CONFIG, o->config != NULL, "--config"},
        {OPT_REASON, o->reason != NULL, "--reason"},
        {OPT_DRY_RUN, o->dry_run, "--dry-run"},
        {OPT_NODES, o->node_state != NULL, "--state"},
        {OPT_NODES, o->cluster != NULL, "--cluster"},
        {OPT_NODES, o->begins != NULL, "--begins"},
        {OPT_NODES, o->sort != NULL, "--sort"},
        {OPT_WATCH, o->watch, "--watch"},
    };
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++)
        if (some[i].given && !(v->options & some[i].option))
            return err_set(e, ERR_CONFIG, NULL, "nodes %s: it does not take %s", v->name,
                           some[i].name);
    if (v->needs_host && o->n_args == 0)
        return err_set(e, ERR_CONFIG, NULL,
                       "nodes %s: name the machines; use: batchaid nodes %s "
                       "HOST...",
                       v->name, v->name);
    return 0;
}

struct machine_names {
    char **items; /* the names and the array are owned */
    int n;
};

static void add_name(struct machine_names *to, const char *name)
{
    to->items = xrealloc(to->items, ((size_t)to->n + 1) * sizeof *to->items);
    to->items[to->n++] = xstrdup(name);
}

/* Expands names like the inventory: gpu[01-03] is three machines. A local node's name may not be a
 * host name, and stays unchanged. */
static int expand(const char *text, struct machine_names *to, struct err *e)
{
    struct hostlist hosts = {.n = 0};
    int rc = hostlist_add(&hosts, text, e);
    for (size_t i = 0; rc == 0 && i < hosts.n; i++)
        add_name(to, hosts.items[i].name);
    hostlist_free(&hosts);
    if (rc == 0 || strpbrk(text, "[],"))
        return rc;
    add_name(to, text);
    return 0;
}

static int run_verb(const struct nodes_verb *v, const struct options *o)
{
    struct options named = *o;
    struct machine_names names = {.n = 0};
    struct err e;
    int rc = 0;
    for (int i = 0; rc == 0 && i < o->n_args; i++)
        rc = expand(o->args[i], &names, &e);
    named.args = names.items;
    named.n_args = names.n;
    if (rc < 0)
        err_prefix(&e, "nodes %s", v->name);
    int code = rc < 0 ? cli_fail(EXIT_USAGE, &e) : v->run(&named);
    for (int i = 0; i < names.n; i++)
        free(names.items[i]);
    free(names.items);
    return code;
}

/* "list, check, ..."; caller frees. */
static char *verb_names(void)
{
    struct strbuf names = STRBUF_INIT;
    for (size_t i = 0; i < N_VERBS; i++)
        strbuf_printf(&names, "%s%s", i ? ", " : "", verbs[i].name);
    return strbuf_take(&names);
}

int cmd_nodes(const struct options *o)
{
    struct options rest = *o;
    struct err e;
    char *names = verb_names();
    const struct nodes_verb *v = o->n_args > 0 ? find_verb(o->args[0]) : NULL;
    if (v) {
        rest.args++;
        rest.n_args--;
    } else {
        v = &verbs[0];
        rest.commands = names;
    }
    int code = check_usage(v, &rest, &e) < 0 ? cli_fail(EXIT_USAGE, &e) : run_verb(v, &rest);
    free(names);
    return code;
}
