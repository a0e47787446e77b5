/* SPDX-License-Identifier: MIT
 *
 * `batchaid hosts`: prints lines for a hosts file, for clients whose DNS does not resolve the
 * daemon's names.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/cli/cli.h"
#include "daemon/cli/client.h"
#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/everywhere.h"
#include "daemon/cli/json_print.h"
#include "lib/dns_name.h"

#define ADDRESS "127.0.0.1"
#define NAME    "localhost"

/* The kinds of resources with host names, and the prefixes of their names. */
static const struct {
    const char *list; /* path in the resource manager, below the subscription */
    const char *below[3];
    bool located; /* the location follows the name */
} kinds[] = {
    {"/providers/Microsoft.Storage/storageAccounts?api-version=2022-09-01",
     {"blob.core", "file.core", NULL},
     false},
    {"/providers/Microsoft.KeyVault/vaults?api-version=2022-07-01", {"vault", NULL}, false},
    {"/providers/Microsoft.Batch/batchAccounts?api-version=2022-10-01", {"batch", NULL}, true},
};

/* Makes a line of a hosts file: {"address": A, "names": [...]}. */
static json_t *line_of(const char *address)
{
    return json_pack("{s:s, s:[]}", "address", address, "names");
}

static void add_name(json_t *line, json_t *name)
{
    json_array_append_new(json_object_get(line, "names"), name);
}

static void add_resource(const json_t *one, size_t kind, const char *address, const char *name,
                         json_t *lines)
{
    json_t *line = line_of(address);
    const char *label = json_string_value(json_object_get(one, "name"));
    const char *location = json_string_value(json_object_get(one, "location"));
    bool located = kinds[kind].located && location;
    for (const char *const *below = kinds[kind].below; *below; below++)
        add_name(line, json_sprintf("%s%s%s.%s.%s", label, located ? "." : "",
                                    located ? location : "", *below, name));
    json_array_append_new(lines, line);
}

static int add_kind(struct daemon_client *c, size_t kind, const char *address, const char *name,
                    json_t *lines, struct err *e)
{
    json_t *rows = json_array(), *one;
    size_t i;
    int rc = everywhere_list(c, kinds[kind].list, rows, e);
    json_array_foreach(rows, i, one)
        add_resource(one, kind, address, name, lines);
    json_decref(rows);
    return rc;
}

static void print_lines(const json_t *lines)
{
    const json_t *line, *name;
    size_t i, k;
    json_array_foreach(lines, i, line) {
        printf("%s", json_string_value(json_object_get(line, "address")));
        json_array_foreach(json_object_get(line, "names"), k, name)
            printf(" %s", json_string_value(name));
        putchar('\n');
    }
}

static int check_usage(const struct options *o, struct err *e)
{
    unsigned char bytes[16];
    const char *address = o->n_args > 0 ? o->args[0] : ADDRESS;
    const char *name = o->n_args > 1 ? o->args[1] : NAME;
    if (inet_pton(AF_INET, address, bytes) != 1 && inet_pton(AF_INET6, address, bytes) != 1)
        return err_set(e, ERR_CONFIG, NULL,
                       "hosts: '%.60s' is not a valid address; it must be an address of the "
                       "daemon's machine, such "
                       "as 10.0.0.5",
                       address);
    if (!is_dns_name(name))
        return err_set(e, ERR_CONFIG, NULL,
                       "hosts: '%.60s' is not a valid host name; it must be the name of the "
                       "daemon's machine for clients, such as gpu-head.lab",
                       name);
    return 0;
}

static int print_all(struct daemon_client *c, const struct options *o, struct err *e)
{
    const char *address = o->n_args > 0 ? o->args[0] : ADDRESS;
    const char *name = o->n_args > 1 ? o->args[1] : NAME;
    json_t *lines = json_array();
    int rc = 0;
    if (strcmp(name, NAME) != 0) {
        json_t *line = line_of(address);
        add_name(line, json_string(name));
        json_array_append_new(lines, line);
    }
    for (size_t i = 0; rc == 0 && i < sizeof kinds / sizeof kinds[0]; i++)
        rc = add_kind(c, i, address, name, lines, e);
    if (rc == 0 && o->json)
        json_print_list(json_incref(lines));
    else if (rc == 0)
        print_lines(lines);
    json_decref(lines);
    return rc;
}

int cmd_hosts(const struct options *o)
{
    struct err e;
    if (check_usage(o, &e) < 0)
        return cli_fail(EXIT_USAGE, &e);
    return jobs_here(o, print_all);
}
