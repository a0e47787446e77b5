/* SPDX-License-Identifier: MIT
 *
 * Sends requests in place of commands that az does not have, and prints replies as az would: the
 * members of "properties" beside the other members, and "resourceGroup" beside each id.
 */
#include "daemon/cli/az_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "daemon/cli/client.h"
#include "daemon/cli/table.h"
#include "lib/jsontext.h"

#define OUTPUT  "-o --output"
#define POLL_NS 100000000L

/* The members that az shows, besides the members of "properties". */
#define FLAT                                                                                       \
    "merge({id: id, name: name, type: type, location: location, tags: tags}, properties || `{}`)"

int az_daemon_look(const struct az_daemon *d, const char *path, long *status, json_t **out,
                   struct err *e)
{
    return d->look(d->ctx, path, status, out, e);
}

/* --- as a line of az -------------------------------------------------------------------------- */

struct az_line az_request_line(const struct az_request *r, const struct az_line *from,
                               const char *subscription, bool for_az)
{
    static const char *const kept[] = {OUTPUT, "--debug", "--verbose", "--only-show-errors"};
    struct arena *a = from->arena;
    struct az_line line;
    az_line_of(a, "rest", &line);
    const char *prefix = arena_concat(a, "/subscriptions/", subscription), *path = r->path;
    if (strncmp(path, prefix, strlen(prefix)) == 0)
        path = arena_concat(a, "/subscriptions/{subscriptionId}", path + strlen(prefix));
    az_line_put(&line, "--method", r->method);
    az_line_put(&line, "--url", path);
    if (r->resource)
        az_line_put(&line, "--resource", r->resource);
    if (r->body)
        az_line_put(&line, "--body", for_az ? "@-" : jsontext_in(a, r->body));
    const char *query = az_line_value(from, "--query");
    const char *flat = r->resource ? "@" : r->list ? "value[]." FLAT : FLAT;
    if (query)
        az_line_put(&line, "--query", arena_concat(a, flat, " | ", query));
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        const struct az_option *o = az_line_find(from, kept[i]);
        if (o)
            az_line_put(&line, o->name, o->n ? o->values[0] : NULL);
    }
    return line;
}

bool az_request_needs_az(const struct az_request *r, const struct az_line *from)
{
    static const char *const ours[] = {"json", "jsonc", "none", "table"};
    const char *output = az_line_value(from, OUTPUT);
    bool own = !output;
    for (size_t i = 0; output && i < sizeof ours / sizeof ours[0]; i++)
        own = own || strcasecmp(output, ours[i]) == 0;
    return r->resource || az_line_find(from, "--query") || !own;
}

/* --- printing --------------------------------------------------------------------------------- */

/* Adds "resourceGroup" to every object with the id of a resource. */
static void add_groups(json_t *v)
{
    static const char before[] = "/resourceGroups/";
    const char *name, *id = json_string_value(json_object_get(v, "id"));
    const char *group = id ? strstr(id, before) : NULL;
    json_t *member;
    size_t i;
    if (group) {
        group += strlen(before);
        json_object_set_new(v, "resourceGroup", json_stringn(group, strcspn(group, "/")));
    }
    json_object_foreach(v, name, member)
        add_groups(member);
    json_array_foreach(v, i, member)
        add_groups(member);
}

static void flatten(json_t *resource)
{
    json_t *properties = json_incref(json_object_get(resource, "properties"));
    json_object_del(resource, "properties");
    json_object_update(resource, properties);
    json_decref(properties);
    add_groups(resource);
}

static void add_member(struct strbuf *b, const json_t *resource, const char *path, size_t n)
{
    char name[64];
    const json_t *v = resource;
    bool last = n > 0 && path[n - 1] == '/';
    n -= last;
    for (size_t at = 0; at < n; at += strcspn(path + at, ".}/") + 1) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(path + at, ".}/"), path + at);
        v = json_object_get(v, name);
    }
    const char *text = json_string_value(v), *part = last && text ? strrchr(text, '/') : NULL;
    if (text)
        strbuf_puts(b, part ? part + 1 : text);
    else if (json_is_integer(v))
        strbuf_int(b, json_integer_value(v));
}

static void add_cell(struct table *t, const struct az_column *column, const json_t *resource)
{
    struct strbuf b = STRBUF_INIT;
    for (const char *s = column->text; *s;) {
        size_t plain = strcspn(s, "{");
        strbuf_add(&b, s, plain);
        s += plain;
        if (!*s)
            break;
        size_t n = strcspn(s, "}");
        add_member(&b, resource, s + 1, n - 1);
        s += n + 1;
    }
    table_add(t, TABLE_PLAIN, b.s);
    strbuf_free(&b);
}

#define COLUMNS_MAX 12

static void print_table(const struct az_column *columns, const json_t *resources)
{
    struct table_column heads[COLUMNS_MAX];
    struct table t;
    size_t n = 0, i;
    json_t *resource;
    for (; columns[n].name; n++)
        heads[n] = (struct table_column){.name = columns[n].name};
    table_init(&t, heads, n);
    json_array_foreach(resources, i, resource)
        for (size_t k = 0; k < n; k++)
            add_cell(&t, &columns[k], resource);
    struct table_screen screen = table_screen_of(stdout);
    table_print(&t, &screen, stdout);
    table_free(&t);
}

static void print(const struct az_request *r, const struct az_line *from, json_t *reply)
{
    const char *output = az_line_value(from, OUTPUT);
    json_t *resource;
    size_t i;
    if (!r->list && reply)
        flatten(reply);
    json_array_foreach(r->list ? reply : NULL, i, resource)
        flatten(resource);
    if ((output && strcasecmp(output, "none") == 0) || !reply)
        return;
    if (output && strcasecmp(output, "table") == 0 && r->columns) {
        json_t *list = r->list ? json_incref(reply) : json_pack("[O]", reply);
        print_table(r->columns, list);
        json_decref(list);
        return;
    }
    json_dumpf(reply, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
    putchar('\n');
}

/* --- sending ---------------------------------------------------------------------------------- */

static int read_pages(const struct az_request *r, const struct az_daemon *d, json_t **out,
                      struct err *e)
{
    char *path = xstrdup(r->path);
    int rc = 0;
    *out = json_array();
    while (rc == 0 && path) {
        json_t *page = NULL;
        rc = d->send(d->ctx, "GET", path, NULL, &page, e);
        json_array_extend(*out, json_object_get(page, "value"));
        const char *next = json_string_value(json_object_get(page, "nextLink"));
        const char *host = next ? strstr(next, "://") : NULL;
        const char *rest = host ? strchr(host + 3, '/') : NULL;
        free(path);
        path = rest ? xstrdup(rest) : NULL;
        json_decref(page);
    }
    free(path);
    return rc;
}

static bool is_state(const json_t *reply, const char *state)
{
    const char *now = "";
    (void)json_unpack((json_t *)reply, "{s:{s:s}}", "properties", "provisioningState", &now);
    return strcasecmp(now, state) == 0;
}

/* Waits while the resource is "creating" or "deleting"; *out is the last reply, NULL if the
 * resource is gone. */
static int wait_for(const struct az_request *r, const struct az_daemon *d, json_t **out,
                    struct err *e)
{
    const struct timespec pause = {.tv_nsec = POLL_NS};
    long status = 0;
    for (;;) {
        json_decref(*out);
        *out = NULL;
        if (d->look(d->ctx, r->path, &status, out, e) < 0)
            return -1;
        if (status >= HTTP_REFUSE) {
            json_decref(*out);
            *out = NULL;
            return status == HTTP_NOT_FOUND
                       ? 0
                       : err_set(e, ERR_UNAVAILABLE, NULL, "GET %s: status %ld", r->path, status);
        }
        if (!is_state(*out, "creating") && !is_state(*out, "deleting"))
            return 0;
        nanosleep(&pause, NULL);
    }
}

int az_request_run(const struct az_request *r, const struct az_line *from,
                   const struct az_daemon *d, struct err *e)
{
    json_t *reply = NULL;
    int rc = r->list ? read_pages(r, d, &reply, e)
                     : d->send(d->ctx, r->method, r->path, r->body, &reply, e);
    if (rc == 0 && r->waits && !az_line_find(from, "--no-wait"))
        rc = wait_for(r, d, &reply, e);
    if (rc == 0)
        print(r, from, reply);
    json_decref(reply);
    return rc;
}
