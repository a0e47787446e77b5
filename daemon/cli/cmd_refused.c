/* SPDX-License-Identifier: MIT
 *
 * `batchaid refused`: lists work that has crashed the daemon twice, and that the daemon therefore
 * does not begin again. The list is a file in the state directory, so the command works without a
 * daemon; a running daemon reads changes at once.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "daemon/cli/cli.h"
#include "daemon/cli/json_print.h"
#include "daemon/cli/table.h"
#include "daemon/config/state.h"
#include "daemon/serve/under_way.h"
#include "lib/jsontext.h"
#include "lib/timefmt.h"

static const struct table_column columns[] = {
    {.name = "NUMBER"}, {.name = "TIMES", .right = true}, {.name = "LAST"},
    {.name = "BY"},     {.name = "WORK", .elide = true},
};

static void print_table(const struct under_way_refused *all, size_t n)
{
    struct table t;
    char when[TIMEFMT_SIZE];
    table_init(&t, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < n; i++) {
        timefmt_fixed(all[i].last_us, when);
        table_addf(&t, "%016" PRIx64, all[i].key);
        table_addf(&t, "%u", all[i].ends);
        table_add(&t, TABLE_PLAIN, when);
        table_add(&t, TABLE_PLAIN, all[i].why);
        table_add(&t, TABLE_PLAIN, all[i].what);
    }
    struct table_screen screen = table_screen_of(stdout);
    table_print(&t, &screen, stdout);
    table_free(&t);
}

static void print_json(const struct under_way_refused *all, size_t n)
{
    json_t *out = json_array();
    char when[TIMEFMT_SIZE], key[24];
    for (size_t i = 0; i < n; i++) {
        timefmt_fixed(all[i].last_us, when);
        snprintf(key, sizeof key, "%016" PRIx64, all[i].key);
        json_array_append_new(out, json_pack("{s:s, s:i, s:s, s:s, s:o}", "number", key, "times",
                                             (int)all[i].ends, "last", when, "by", all[i].why,
                                             "work", jsontext_string(all[i].what)));
    }
    json_print_list(out);
}

static int list(const struct options *o, const struct state *s, struct err *e)
{
    struct under_way_refused *all = calloc(UNDER_WAY_MOST, sizeof *all);
    size_t n;
    if (!all || under_way_list(s->under_way, all, &n, e) < 0) {
        free(all);
        return -1;
    }
    if (o->json)
        print_json(all, n);
    else
        print_table(all, n);
    free(all);
    return 0;
}

static int allow(const struct state *s, const char *which, struct err *e)
{
    char *end = NULL;
    size_t n;
    bool all = strcmp(which, "all") == 0;
    uint64_t key = all ? 0 : strtoull(which, &end, 16);
    if (!all && (*end || key == 0))
        return err_set(
            e, ERR_CONFIG, NULL,
            "'%s' is not a number from `batchaid refused`; use one of these numbers, or all",
            which);
    if (under_way_allow(s->under_way, key, &n, e) < 0)
        return -1;
    if (n == 0 && !all)
        return err_set(e, ERR_CONFIG, NULL, "%s is not refused", which);
    printf("%zu allowed\n", n);
    return 0;
}

int cmd_refused(const struct options *o)
{
    struct state s = {.dir = NULL};
    struct err e;
    const char *verb = o->n_args > 0 ? o->args[0] : "list";
    bool lists = strcmp(verb, "list") == 0 && o->n_args <= 1;
    if (!lists && (strcmp(verb, "allow") != 0 || o->n_args < 2)) {
        err_set(&e, ERR_CONFIG, NULL, "refused: use list, allow NUMBER... or allow all");
        return cli_fail(EXIT_USAGE, &e);
    }
    int rc = state_locate(o->state_dir, NULL, &s, &e);
    if (rc == 0 && lists)
        rc = list(o, &s, &e);
    for (int i = 1; rc == 0 && i < o->n_args; i++)
        rc = allow(&s, o->args[i], &e);
    state_free(&s);
    return rc == 0 ? EXIT_DONE : cli_fail(EXIT_FAILED, &e);
}
