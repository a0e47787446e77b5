/* SPDX-License-Identifier: MIT
 *
 * `batchaid subscription list`, `add` and `delete`: further subscriptions, in addition to the
 * configured one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/cli/cli.h"
#include "daemon/cli/client.h"
#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/json_print.h"
#include "daemon/cli/table.h"
#include "lib/strbuf.h"

#define PATH "/batchaid/subscriptions"

static const struct table_column columns[] = {
    {.name = "SUBSCRIPTION"}, {.name = "NAME", .elide = true}, {.name = "MADE"}};

static void print_table(const json_t *list)
{
    static const char *const shown[] = {"subscriptionId", "displayName", "createdTime"};
    struct table t;
    size_t i;
    json_t *one;
    table_init(&t, columns, sizeof columns / sizeof columns[0]);
    json_array_foreach(list, i, one)
        for (size_t k = 0; k < sizeof shown / sizeof shown[0]; k++)
            table_add(&t, TABLE_PLAIN, json_string_value(json_object_get(one, shown[k])));
    struct table_screen screen = table_screen_of(stdout);
    table_print(&t, &screen, stdout);
    table_free(&t);
}

static int list(struct daemon_client *c, const struct options *o, struct err *e)
{
    json_t *reply = NULL;
    if (client_call(c, "GET", PATH, NULL, &reply, e) < 0)
        return -1;
    if (o->json)
        json_print(reply);
    else
        print_table(json_object_get(reply, "value"));
    json_decref(reply);
    return 0;
}

/* Adds a subscription, and prints only its id, for scripts. */
static int add(struct daemon_client *c, const struct options *o, struct err *e)
{
    json_t *reply = NULL, *body = json_object();
    if (o->n_args > 0 && json_object_set_new(body, "displayName", json_string(o->args[0])) < 0) {
        json_decref(body);
        return err_set(e, ERR_CONFIG, NULL, "the name is not UTF-8");
    }
    int rc = client_call(c, "POST", PATH, body, &reply, e);
    json_decref(body);
    if (rc == 0 && o->json)
        json_print(reply);
    else if (rc == 0)
        printf("%s\n", json_string_value(json_object_get(reply, "subscriptionId")));
    json_decref(reply);
    return rc;
}

static int delete_one(struct daemon_client *c, const struct options *o, struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    json_t *reply = NULL;
    char *segment = client_escape(c, o->args[0]);
    strbuf_concat(&path, PATH "/", segment, "");
    int rc = client_call(c, "DELETE", path.s, NULL, &reply, e);
    if (rc == 0)
        printf("%s is deleted\n", o->args[0]);
    json_decref(reply);
    free(segment);
    strbuf_free(&path);
    return rc;
}

static const struct subscription_verb {
    const char *name, *usage;
    bool json;
    int min_args, max_args;
    int (*run)(struct daemon_client *c, const struct options *o, struct err *e);
} verbs[] = {
    {"list", "", true, 0, 0, list},
    {"add", " [NAME]", true, 0, 1, add},
    {"delete", " SUBSCRIPTION", false, 1, 1, delete_one},
};
enum { N_VERBS = sizeof verbs / sizeof verbs[0] };

static int check_usage(const struct subscription_verb *v, const struct options *o, struct err *e)
{
    if (o->json && !v->json)
        return err_set(e, ERR_CONFIG, NULL, "subscription %s: it does not take --json", v->name);
    if (o->n_args < v->min_args || o->n_args > v->max_args)
        return err_set(e, ERR_CONFIG, NULL, "subscription %s: use: batchaid subscription %s%s",
                       v->name, v->name, v->usage);
    return 0;
}

int cmd_subscription(const struct options *o)
{
    struct options rest = *o;
    struct err e;
    const char *name = o->n_args > 0 ? o->args[0] : verbs[0].name;
    const struct subscription_verb *v = verbs;
    while (v < verbs + N_VERBS && strcmp(v->name, name) != 0)
        v++;
    if (v == verbs + N_VERBS) {
        err_set(&e, ERR_CONFIG, NULL,
                "there is no command 'subscription %.100s'; use: batchaid subscription "
                "[list|add|delete] [NAME]",
                name);
        return cli_fail(EXIT_USAGE, &e);
    }
    rest.args += o->n_args > 0;
    rest.n_args -= o->n_args > 0;
    if (check_usage(v, &rest, &e) < 0)
        return cli_fail(EXIT_USAGE, &e);
    return jobs_here(&rest, v->run);
}
