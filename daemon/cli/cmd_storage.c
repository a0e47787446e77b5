/* SPDX-License-Identifier: MIT
 *
 * `batchaid storage`: lists deleted shares and containers, and restores them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/cli/cli.h"
#include "daemon/cli/client.h"
#include "daemon/cli/json_print.h"
#include "daemon/cli/table.h"
#include "lib/strbuf.h"

static const struct table_column columns[] = {
    {.name = "NUMBER", .right = true},
    {.name = "ACCOUNT", .elide = true},
    {.name = "KIND"},
    {.name = "NAME", .elide = true},
    {.name = "DELETED"},
};

static const char *text_of(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

/* Reads pages until no page follows. A page is empty if the caller may see no row of it. */
static int fetch(struct daemon_client *c, json_t *all, struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    json_t *reply;
    json_int_t after, next = 0;
    int rc;
    do {
        after = next;
        path.len = 0;
        strbuf_printf(&path, "/batchaid/storage/deleted?after=%" JSON_INTEGER_FORMAT, after);
        reply = NULL;
        rc = client_call(c, "GET", path.s, NULL, &reply, e);
        if (rc == 0)
            json_array_extend(all, json_object_get(reply, "value"));
        next = json_integer_value(json_object_get(reply, "next"));
        json_decref(reply);
    } while (rc == 0 && next > after);
    strbuf_free(&path);
    return rc;
}

static void print_table(const json_t *all)
{
    struct table t;
    size_t i;
    const json_t *s;
    table_init(&t, columns, sizeof columns / sizeof columns[0]);
    json_array_foreach(all, i, s) {
        table_addf(&t, "%" JSON_INTEGER_FORMAT, json_integer_value(json_object_get(s, "number")));
        table_add(&t, TABLE_PLAIN, text_of(s, "account"));
        table_add(&t, TABLE_PLAIN, text_of(s, "kind"));
        table_add(&t, TABLE_PLAIN, text_of(s, "name"));
        table_add(&t, TABLE_PLAIN, text_of(s, "deletedTime"));
    }
    struct table_screen screen = table_screen_of(stdout);
    table_print(&t, &screen, stdout);
    table_free(&t);
}

static int list_deleted(struct daemon_client *c, const struct options *o)
{
    struct err e;
    json_t *all = json_array();
    int rc = fetch(c, all, &e);
    if (rc == 0 && o->json)
        json_print_list(json_incref(all));
    else if (rc == 0)
        print_table(all);
    json_decref(all);
    return rc == 0 ? EXIT_DONE : cli_fail(EXIT_FAILED, &e);
}

static int restore(struct daemon_client *c, const char *number)
{
    struct err e;
    struct strbuf path = STRBUF_INIT;
    json_t *reply = NULL;
    char *segment = client_escape(c, number);
    strbuf_printf(&path, "/batchaid/storage/deleted/%s/restore", segment);
    int rc = client_call(c, "POST", path.s, NULL, &reply, &e);
    if (rc == 0)
        printf("%s: restored %s/%s/%s\n", number, text_of(reply, "account"), text_of(reply, "kind"),
               text_of(reply, "name"));
    json_decref(reply);
    strbuf_free(&path);
    free(segment);
    if (rc == 0)
        return EXIT_DONE;
    err_prefix(&e, "%s", number);
    return cli_fail(EXIT_FAILED, &e);
}

static int run(struct daemon_client *c, const struct options *o)
{
    int code = EXIT_DONE;
    if (strcmp(o->args[0], "deleted") == 0)
        return list_deleted(c, o);
    for (int i = 1; i < o->n_args; i++)
        if (restore(c, o->args[i]) != EXIT_DONE)
            code = EXIT_FAILED;
    return code;
}

static int check_usage(const struct options *o, struct err *e)
{
    bool lists = strcmp(o->args[0], "deleted") == 0;
    if (!lists && strcmp(o->args[0], "restore") != 0)
        return err_set(e, ERR_CONFIG, NULL,
                       "storage: unknown command '%s'; use one of deleted, restore", o->args[0]);
    if (lists && o->n_args > 1)
        return err_set(e, ERR_CONFIG, NULL, "storage deleted: unexpected argument '%s'",
                       o->args[1]);
    if (!lists && o->n_args < 2)
        return err_set(e, ERR_CONFIG, NULL,
                       "storage restore: name the numbers that `batchaid storage deleted` shows");
    if (!lists && o->json)
        return err_set(e, ERR_CONFIG, NULL, "storage restore: it does not take --json");
    return 0;
}

int cmd_storage(const struct options *o)
{
    struct state s;
    struct daemon_client *client = NULL;
    struct err e;
    if (check_usage(o, &e) < 0)
        return cli_fail(EXIT_USAGE, &e);
    if (state_locate(o->state_dir, NULL, &s, &e) < 0)
        return cli_fail(EXIT_FAILED, &e);
    int code = client_open(&s, &client, &e) < 0 ? cli_fail(EXIT_FAILED, &e) : run(client, o);
    client_close(client);
    state_free(&s);
    return code;
}
