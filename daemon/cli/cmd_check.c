/* SPDX-License-Identifier: MIT
 *
 * `batchaid check-config`: makes all checks that the daemon makes at its start, and shows the
 * configured machines.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/certs/certs.h"
#include "daemon/cli/cli.h"
#include "daemon/cli/table.h"
#include "daemon/config/config.h"
#include "daemon/config/site.h"
#include "lib/jsontext.h"
#include "lib/timefmt.h"
#include "model/enums.h"

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *machine_json(const struct site_machine *m)
{
    const struct site_group *g = m->group;
    json_t *sizes = json_array();
    for (size_t i = 0; g->vm_sizes[i]; i++)
        json_array_append_new(sizes, json_string(g->vm_sizes[i]));
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string(m->name));
    json_object_set_new(o, "host", json_string(m->host));
    json_object_set_new(o, "port", json_integer(m->port));
    json_object_set_new(o, "user", json_string(g->user));
    json_object_set_new(o, "vmSizes", sizes);
    json_object_set_new(o, "priority", json_string(enum_to_name(vm_priority_names, g->priority)));
    json_object_set_new(o, "become", text_or_null(g->become));
    json_object_set_new(o, "nodeRoot", json_string(g->node_root));
    json_object_set_new(o, "jobUser", text_or_null(g->run_user));
    return o;
}

static void print_json(const char *file, const struct site *s)
{
    json_t *machines = json_array();
    for (size_t i = 0; i < s->n_machines; i++)
        json_array_append_new(machines, machine_json(&s->machines[i]));
    json_t *o = json_object();
    json_object_set_new(o, "file", json_string(file));
    json_object_set_new(o, "machines", machines);
    char *text = jsontext(o);
    puts(text);
    free(text);
    json_decref(o);
}

static void print_table(const char *file, const struct site *s)
{
    static const struct table_column columns[] = {{.name = "MACHINE"},
                                                  {.name = "USER"},
                                                  {.name = "VM SIZES", .elide = true},
                                                  {.name = "PRIORITY"},
                                                  {.name = "BECOME"}};
    struct table t;
    printf("%s: ok\n", file);
    if (s->n_machines == 0)
        return;
    table_init(&t, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < s->n_machines; i++) {
        const struct site_group *g = s->machines[i].group;
        struct strbuf sizes = STRBUF_INIT;
        for (size_t k = 0; g->vm_sizes[k]; k++)
            strbuf_printf(&sizes, "%s%s", k ? "," : "", g->vm_sizes[k]);
        table_add(&t, TABLE_PLAIN, s->machines[i].name);
        table_add(&t, TABLE_PLAIN, g->user);
        table_add(&t, TABLE_PLAIN, sizes.s ? sizes.s : "any");
        table_add(&t, TABLE_PLAIN, enum_to_name(vm_priority_names, (int)g->priority));
        table_add(&t, TABLE_PLAIN, g->become ? g->become : "none");
        strbuf_free(&sizes);
    }
    const struct table_screen screen = table_screen_of(stdout);
    putchar('\n');
    table_print(&t, &screen, stdout);
    table_free(&t);
}

static int check_certificate(const struct config *c, struct err *e)
{
    int64_t ends_us;
    char when[TIMEFMT_SIZE];
    int rc = certs_site_check(c->tls_certificate, c->tls_key, &ends_us, e);
    if (rc == 0 && ends_us && ends_us <= time_now_us()) {
        timefmt_wire(ends_us, when);
        rc = err_set(e, ERR_CONFIG, NULL, "%s: the certificate ended at %s; have it renewed",
                     c->tls_certificate, when);
    }
    return rc < 0 ? err_prefix(e, "tls.certificate") : 0;
}

int cmd_check_config(const struct options *o)
{
    const char *file = o->args[0];
    struct config c;
    struct state state = {.dir = NULL};
    struct daemon_site site = {.groups = NULL};
    struct err e;
    if (config_load(file, &c, &e) < 0)
        return cli_fail(EXIT_FAILED, &e);
    int rc = config_check(&c, &e);
    if (rc == 0)
        rc = state_locate(o->state_dir, c.state_dir, &state, &e);
    if (rc == 0)
        rc = site_load(&c, &state, &site, &e);
    if (rc == 0)
        rc = check_certificate(&c, &e);
    if (rc == 0)
        (o->json ? print_json : print_table)(file, &site.site);
    site_free(&site);
    state_free(&state);
    config_free(&c);
    return rc == 0 ? EXIT_DONE : cli_fail(EXIT_FAILED, &e);
}
