/* SPDX-License-Identifier: MIT
 *
 * Which clients were seen to use an operation, for the pages of coverage: {client: {api-version:
 * [operation, ...]}}, written and checked by the tests of clients.
 */
#ifndef TEST_TOOLS_CLIENTS_SEEN_H
#define TEST_TOOLS_CLIENTS_SEEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/service.h"

/* The file, from the top of the tree; the caller gives it back. */
static inline json_t *clients_read(const char *file)
{
    json_error_t why;
    json_t *seen = json_load_file(file, 0, &why);
    if (seen)
        return seen;
    fprintf(stderr, "%s: %s (run from the top of the tree)\n", file, why.text);
    exit(1);
}

static inline bool client_speaks(const json_t *by_version, const struct service *s,
                                 const struct route *route)
{
    const char *version;
    json_t *operations;
    json_object_foreach((json_t *)(uintptr_t)by_version, version, operations)
        if (route->versions & s->version_of(version))
            return true;
    return false;
}

static inline bool client_was_seen(const json_t *by_version, const struct service *s,
                                   const struct route *route)
{
    const char *version;
    json_t *operations, *name;
    size_t i;
    json_object_foreach((json_t *)(uintptr_t)by_version, version, operations)
        if (route->versions & s->version_of(version))
            json_array_foreach(operations, i, name)
                if (strcmp(json_string_value(name), route->operation_id) == 0)
                    return true;
    return false;
}

/* The last column of a row: "all" stands for every client that speaks a version of the row. */
static inline void clients_column(const json_t *seen, const struct service *s,
                                  const struct route *route)
{
    const char *client;
    json_t *by_version;
    int n = 0, missing = 0;
    json_object_foreach((json_t *)(uintptr_t)seen, client, by_version)
        if (client_speaks(by_version, s, route))
            client_was_seen(by_version, s, route) ? n++ : missing++;
    if (n == 0 || missing == 0) {
        printf(" %s |\n", n ? "all" : "-");
        return;
    }
    n = 0;
    json_object_foreach((json_t *)(uintptr_t)seen, client, by_version)
        if (client_was_seen(by_version, s, route))
            printf("%s%s", n++ ? ", " : " ", client);
    printf(" |\n");
}

static inline int route_order(const void *a, const void *b)
{
    const struct route *x = *(const struct route *const *)a, *y = *(const struct route *const *)b;
    int order = strcmp(x->operation_id, y->operation_id);
    return order ? order : strcmp(x->path, y->path);
}

/* The rows that have versions, by operation; the caller frees them. */
static inline const struct route **routes_sorted(const struct service *s, size_t *n)
{
    const struct route **rows = calloc(s->n_routes, sizeof(struct route *));
    if (!rows)
        abort();
    *n = 0;
    for (size_t i = 0; i < s->n_routes; i++)
        if (s->routes[i].versions)
            rows[(*n)++] = &s->routes[i];
    qsort(rows, *n, sizeof(struct route *), route_order);
    return rows;
}

#endif
