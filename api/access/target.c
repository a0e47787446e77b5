/* SPDX-License-Identifier: MIT
 *
 * Finds the action and the scope of a path. A path contains pairs of type and name, also after
 * "providers/NAMESPACE":
 *
 * /subscriptions/S/resourceGroups/G/providers/Microsoft.BatchAI/workspaces/W/clusters/C
 *
 * The action consists of the types; the scope is the whole path. A path that ends with a type names
 * a list, or, for a POST, an action on the resource before that type.
 */
#include <string.h>
#include <strings.h>

#include "api/access/access.h"

#define IN_SUBSCRIPTION "Microsoft.Resources/subscriptions"

/* POSTs that read keys and so need a right of their own. Other POSTs with "list..." return no keys
 * and need only the right to read. */
static const char *const key_lists[] = {"listKeys", "listAccountSas", "listServiceSas"};

static bool lists_without_keys(const char *verb)
{
    for (size_t i = 0; i < sizeof key_lists / sizeof key_lists[0]; i++)
        if (strcasecmp(verb, key_lists[i]) == 0)
            return false;
    return strncasecmp(verb, "list", 4) == 0 || strcasecmp(verb, "checkNameAvailability") == 0;
}

static const char *verb_of_method(const char *method)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ? "read"
           : strcmp(method, "DELETE") == 0                           ? "delete"
                                                                     : "write";
}

/* The first `n` segments as a path. */
static const char *path_of(struct request *r, int n)
{
    struct strbuf b = STRBUF_INIT;
    for (int i = 0; i < n; i++) {
        strbuf_putc(&b, '/');
        strbuf_puts(&b, r->segment[i]);
    }
    const char *path = arena_strdup(&r->arena, b.s ? b.s : "");
    strbuf_free(&b);
    return path;
}

/* "NAMESPACE/type/type" from the segments from index `ns`, the namespace, to before `end`. */
static const char *types_of(struct request *r, int ns, int end)
{
    const char *out = r->segment[ns];
    for (int i = ns + 1; i < end; i += 2)
        out = arena_concat(&r->arena, out, "/", r->segment[i]);
    return out;
}

static bool is(const struct request *r, int i, const char *name)
{
    return i < r->n_segments && strcasecmp(r->segment[i], name) == 0;
}

/* The index of the last segment "providers" that is a type and not a name; 0: none. Types and names
 * alternate, and "subscriptions" is the first type. */
static int find_provider(const struct request *r)
{
    int at = 0;
    for (int i = 0; i < r->n_segments; i += 2)
        at = is(r, i, "providers") ? i : at;
    return at;
}

/* A path of the resource manager itself: subscriptions, groups, and lists in them. */
static void own_target(struct request *r, struct access_target *out)
{
    bool group = is(r, 2, "resourceGroups") && r->n_segments >= 4;
    int levels = group ? 4 : 2;
    const char *list = r->n_segments > levels ? r->segment[levels] : NULL;
    out->scope = path_of(r, levels);
    out->action = arena_concat(&r->arena, IN_SUBSCRIPTION, group ? "/resourceGroups/" : "/",
                               list ? list : "", list ? "/" : "", verb_of_method(r->method));
}

/* Whether the path is below "locations", such as usages or operations. Its scope is the
 * subscription. */
static bool is_in_location(const struct request *r, int ns)
{
    return is(r, ns + 1, "locations");
}

/* The target of a POST that is an action on a resource. `at` is the index of "providers". */
static void verb_target(struct request *r, int at, const char *verb, struct access_target *out)
{
    int ns = at + 1, above = r->n_segments - 1;
    bool reads = lists_without_keys(verb), whole = above <= ns + 1 || is_in_location(r, ns);
    out->scope = path_of(r, whole ? at : above);
    out->action = arena_concat(&r->arena, types_of(r, ns, above), "/", reads ? "read" : verb,
                               reads ? "" : "/action");
}

static void provider_target(struct request *r, int at, struct access_target *out)
{
    int ns = at + 1, n = r->n_segments;
    bool ends_with_type = (n - ns) % 2 == 0;
    const char *last = r->segment[n - 1];
    if (ends_with_type && (strcmp(r->method, "POST") == 0 || strncasecmp(last, "list", 4) == 0)) {
        verb_target(r, at, last, out);
        return;
    }
    bool whole = n <= ns + 2 || is_in_location(r, ns);
    out->scope = path_of(r, whole ? at : ends_with_type ? n - 1 : n);
    out->action = arena_concat(&r->arena, types_of(r, ns, n), "/", verb_of_method(r->method));
}

void access_target(struct request *r, struct access_target *out)
{
    *out = (struct access_target){.scope = ""};
    if (!is(r, 0, "subscriptions") || r->n_segments < 2)
        return;
    int provider = find_provider(r);
    if (provider > 0 && provider + 1 < r->n_segments)
        provider_target(r, provider, out);
    else
        own_target(r, out);
}
