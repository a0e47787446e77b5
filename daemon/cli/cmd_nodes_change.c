/* SPDX-License-Identifier: MIT
 *
 * `batchaid nodes drain`, `undrain` and `reboot`: send one request for each machine. After an error
 * the remaining requests are still sent.
 */
#include <stdio.h>
#include <stdlib.h>

#include "daemon/cli/client.h"
#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/cmd_nodes.h"
#include "daemon/cli/json_print.h"
#include "daemon/cli/table.h"
#include "lib/strbuf.h"

/* After an undrain: prints the problem that the daemon had when it last tried to use the
 * machine. */
static void print_trouble(const char *name, const json_t *machine)
{
    const char *trouble = json_string_value(json_object_get(machine, "lastTrouble"));
    if (!trouble)
        return;
    table_say(stdout, "%s: error at the last try: %s", name, trouble);
    printf("%s: it is tried again; `batchaid nodes check %s` on the daemon's machine shows the "
           "problem\n",
           name, name);
}

/* The change to request for each machine. */
struct changing {
    const char *verb, *done; /* `done`: the text about each machine */
    json_t *body;
    json_t *rows; /* with --json, the changed machines; otherwise NULL */
};

static int change(struct daemon_client *c, const struct changing *k, const char *name,
                  struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    json_t *reply = NULL;
    char *segment = client_escape(c, name);
    strbuf_printf(&path, "/batchaid/nodes/%s/%s", segment, k->verb);
    int rc = client_call(c, "POST", path.s, k->body, &reply, e);
    if (rc == 0 && k->rows) {
        json_array_append(k->rows, reply);
    } else if (rc == 0) {
        printf("%s: %s\n", name, k->done);
        print_trouble(name, reply);
    }
    json_decref(reply);
    strbuf_free(&path);
    free(segment);
    return rc;
}

static int fail_for(const char *name, struct err *e)
{
    err_prefix(e, "%s", name);
    return cli_fail(EXIT_FAILED, e);
}

static int change_all(const struct options *o, const char *verb, const char *done)
{
    struct daemon_client *client = NULL;
    struct err e;
    const struct changing k = {.verb = verb,
                               .done = done,
                               .body = o->reason ? json_pack("{s:s}", "reason", o->reason) : NULL,
                               .rows = o->json ? json_array() : NULL};
    int code = EXIT_DONE;
    if (o->reason && !k.body) {
        err_set(&e, ERR_CONFIG, NULL, "the reason is not UTF-8");
        code = cli_fail(EXIT_USAGE, &e);
    } else if (jobs_open(o, &client, &e) < 0) {
        code = cli_fail(EXIT_FAILED, &e);
    }
    for (int i = 0; client && i < o->n_args; i++)
        if (change(client, &k, o->args[i], &e) < 0)
            code = fail_for(o->args[i], &e);
    if (client && k.rows)
        json_print_list(json_incref(k.rows));
    client_close(client);
    json_decref(k.rows);
    json_decref(k.body);
    return code;
}

int cmd_nodes_drain(const struct options *o)
{
    return change_all(o, "drain", "drained; running jobs continue");
}

int cmd_nodes_undrain(const struct options *o)
{
    return change_all(o, "undrain", "in use again");
}

int cmd_nodes_reboot(const struct options *o)
{
    return change_all(o, "reboot", "asked to restart");
}
