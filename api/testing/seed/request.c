/* SPDX-License-Identifier: MIT
 *
 * Builds the two kinds of requests that a seed or dump makes: to create a resource, and to list
 * resources. Each has a principal, a target and a body.
 */
#include <stdlib.h>
#include <string.h>

#include "api/access/access.h"
#include "api/http/auth.h"
#include "api/testing/seed/steps.h"
#include "lib/jsontext.h"

/* --- paths ------------------------------------------------------------------------------------ */

static const char *escaped(struct arena *a, const char *name)
{
    struct strbuf b = STRBUF_INIT;
    for (const char *c = name; *c; c++)
        if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~$", *c))
            strbuf_putc(&b, *c);
        else
            strbuf_printf(&b, "%%%02X", (unsigned)(unsigned char)*c);
    const char *out = arena_strdup(a, b.s ? b.s : "");
    strbuf_free(&b);
    return out;
}

static const char *path_of(struct arena *a, const struct seed_step *s);

/* The scope at which a role is assigned: the resource that contains the role in the seed, unless
 * the role names another scope below it. */
static const char *scope_above(struct arena *a, const struct seed_step *s)
{
    return s->above ? path_of(a, s->above) : arena_concat(a, "/subscriptions/", s->subscription);
}

static const char *scope_of(struct arena *a, const struct seed_step *s)
{
    const char *given = json_string_value(json_object_get(s->given, "scope"));
    return given ? seed_filled(a, given, s->subscription) : scope_above(a, s);
}

const char *seed_path_above(struct arena *a, const struct seed_step *s)
{
    return scope_above(a, s);
}

bool seed_is_role(const struct seed_step *s)
{
    return s->kind == &seed_kinds[SEED_ROLE] || s->kind == &seed_kinds[SEED_SUBSCRIPTION_ROLE];
}

int seed_role_check(struct arena *a, const struct seed_step *s, struct err *e)
{
    const char *scope = scope_of(a, s), *above = scope_above(a, s);
    if (scope_within(scope, above) && !strchr(scope, '?'))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, "scope",
                   "scope is '%.200s'; it must be %s or below it.", scope, above);
}

/* The path of the step's request, without the host. */
static const char *path_of(struct arena *a, const struct seed_step *s)
{
    const char *name = escaped(a, s->name);
    if (seed_is_role(s))
        return arena_concat(a, scope_of(a, s), s->kind->below, name);
    if (!s->above)
        return arena_concat(a, "/subscriptions/", s->subscription, s->kind->below, name);
    bool new_host = s->kind->plane != s->above->kind->plane;
    const char *above = new_host ? "" : path_of(a, s->above);
    return arena_concat(a, above, s->kind->below, s->kind->posted ? "/" : "", name);
}

/* --- hosts ------------------------------------------------------------------------------------ */

/* A host name of the service: `first` replaces the first * of the service's pattern, `second` the
 * second *. */
static const char *host_of(const struct request *r, struct arena *a, const char *service,
                           const char *first, const char *second)
{
    for (size_t i = 0; i < r->config->n_services; i++) {
        const struct served *s = &r->config->services[i];
        if (strcmp(s->service->name, service) != 0 || !s->hosts || !s->hosts[0])
            continue;
        const char *p = s->hosts[0], *out = "";
        for (const char *with = first; *p; with = second) {
            size_t n = strcspn(p, "*");
            out = arena_concat(a, out, arena_strndup(a, p, n), p[n] ? with : "");
            p += n + (p[n] == '*');
        }
        return out;
    }
    return r->host;
}

static const char *text_at(const struct seed_step *s, const char *member)
{
    const char *text = json_string_value(json_object_get(s->given, member));
    return text ? text : "";
}

static const char *step_host(const struct request *r, struct arena *a, const struct seed_step *s)
{
    const struct seed_step *vault = seed_step_in(s, SEED_VAULT);
    const struct seed_step *account = seed_step_in(s, SEED_BATCH_ACCOUNT);
    if (s->kind->plane == SEED_AT_VAULT)
        return host_of(r, a, "vault", vault->name, "");
    if (s->kind->plane == SEED_AT_BATCH)
        return host_of(r, a, "batch", account->name, arena_lower(a, text_at(account, "location")));
    return NULL;
}

/* --- the request ------------------------------------------------------------------------------ */

static const char *posted_name(struct arena *a, const struct seed_step *s)
{
    return seed_job_of_schedule(s) ? seed_job_alias(a, s->name) : s->name;
}

static void drop_default(json_t *body)
{
    json_t *properties = json_copy(json_object_get(body, "properties"));
    if (!json_is_object(properties)) {
        json_decref(properties);
        return;
    }
    json_object_del(properties, "defaultVersion");
    json_object_set_new(body, "properties", properties);
}

static const char *body_of(struct arena *a, const struct seed_step *s, const json_t *given)
{
    json_t *body = json_object(), *v;
    const char *name;
    json_object_foreach((json_t *)given, name, v) {
        if (!seed_is_own(s->kind, name))
            json_object_set(body, name, v);
    }
    /* the packages, one of which is the default, are created later */
    if (s->kind == &seed_kinds[SEED_APPLICATION])
        drop_default(body);
    if (s->kind->posted)
        json_object_set_new(body, s->kind->posted, json_string(posted_name(a, s)));
    char *text = jsontext(body);
    const char *kept = seed_filled(a, text, s->subscription);
    free(text);
    json_decref(body);
    return kept;
}

struct inner_head seed_head(const struct request *r, struct arena *a, const struct seed_step *s,
                            const json_t *given)
{
    const char *path = path_of(a, s);
    if (s->kind->posted)
        path = arena_strndup(a, path, (size_t)(strrchr(path, '/') - path));
    return (struct inner_head){.method = s->kind->posted ? "POST" : "PUT",
                               .target = arena_concat(a, path, "?api-version=", s->kind->version),
                               .path = path,
                               .host = step_host(r, a, s),
                               .body = body_of(a, s, given)};
}

/* The query of a dump. It asks for the members that a seed may contain, and for the state. */
static const char *selection(struct arena *a, const struct seed_kind *kind)
{
    struct strbuf b = STRBUF_INIT;
    schema_given_names(kind->shown, (enum api_version)kind->shown_in, &b);
    strbuf_puts(&b, ",state");
    for (const struct seed_state *row = kind->state; row && row->member; row++)
        strbuf_printf(&b, ",%.*s", (int)strcspn(row->place, "."), row->place);
    const char *names = arena_strdup(a, b.s);
    strbuf_free(&b);
    return arena_concat(a, "&$select=", names);
}

struct inner_head seed_list_head(const struct request *r, struct arena *a,
                                 const struct seed_step *s)
{
    const char *one = path_of(a, s);
    const char *path = arena_strndup(a, one, (size_t)(strrchr(one, '/') - one));
    return (struct inner_head){
        .method = "GET",
        .target = arena_concat(a, path, "?api-version=", s->kind->version,
                               s->kind->plane == SEED_AT_BATCH ? selection(a, s->kind) : ""),
        .path = path,
        .host = step_host(r, a, s)};
}

int seed_log_in(const struct seed *seed, struct request *r, struct named_value header[SEED_PLANES],
                struct err *e)
{
    static const char *const audience[SEED_PLANES] = {[SEED_ARM] = "https://management.azure.com",
                                                      [SEED_AT_VAULT] = "https://vault.azure.net",
                                                      [SEED_AT_BATCH] =
                                                          "https://batch.core.windows.net"};
    struct principal who;
    const struct api_config *c = r->config;
    int seconds;
    int rc = c->directory->find(c->directory->ctx, seed->arm.access->first_id, &who, e);
    if (rc <= 0)
        return rc < 0 ? -1 : err_set(e, ERR_INTERNAL, NULL, "The daemon's own principal is gone.");
    for (int i = 0; i < SEED_PLANES; i++) {
        char *token = auth_issue(c, &who, who.app_id, audience[i], false, r->now_us, &seconds);
        header[i] =
            (struct named_value){"Authorization", arena_concat(&r->arena, "Bearer ", token)};
        free(token);
    }
    return 0;
}
