/* SPDX-License-Identifier: MIT
 *
 * Selects the service of a request. A port with only one service selects that service, and the
 * first segment of the path is the account. Otherwise host and path select the service.
 */
#include <assert.h>
#include <string.h>
#include <strings.h>

#include "api/http/http_priv.h"
#include "api/http/template.h"

/* The length of `host` without its port. */
static size_t host_length(const char *host)
{
    const char *colon = strrchr(host, ':');
    return colon && strspn(colon + 1, "0123456789") == strlen(colon + 1) ? (size_t)(colon - host)
                                                                         : strlen(host);
}

/* The length of the part of `host` that the pattern's first * matches (0 without *); -1: no match.
 * Each * matches one label. */
static int host_fits(const char *pattern, const char *host)
{
    size_t n = host_length(host), first = 0;
    for (const char *at = host; strncmp(pattern, "*.", 2) == 0; pattern += 2) {
        size_t label = strcspn(at, ".");
        if (label == 0 || label >= n)
            return -1;
        first = first ? first : label;
        at += label + 1;
        n -= label + 1;
        host = at;
    }
    return n == strlen(pattern) && strncasecmp(host, pattern, n) == 0 ? (int)first : -1;
}

static int served_fits(const struct served *s, const char *host)
{
    for (size_t i = 0; s->hosts && s->hosts[i]; i++) {
        int label = host_fits(s->hosts[i], host);
        if (label >= 0)
            return label;
    }
    return s->hosts ? -1 : 0;
}

bool host_is_one_of(const char *const *hosts, const char *host)
{
    const struct served s = {.hosts = hosts};
    return hosts && served_fits(&s, host) >= 0;
}

/* The most literal matching template of the service; NULL: none matches. */
static const char *path_fits(const struct service *s, const struct request *r)
{
    const char *best = s->paths ? NULL : "";
    for (size_t i = 0; s->paths && s->paths[i]; i++)
        if (template_fits_path(s->paths[i], r) &&
            (!best || template_more_literal(s->paths[i], best)))
            best = s->paths[i];
    return best;
}

static void take(struct request *r, const struct served *s)
{
    r->service = s->service;
    r->deps = s->deps;
}

const struct served *served_at(const struct api_config *c, const struct api_listen *door,
                               const char *host)
{
    for (size_t i = 0; i < c->n_services; i++) {
        const struct served *s = &c->services[i];
        if (door->service ? strcmp(s->service->name, door->service) == 0
                          : s->hosts && served_fits(s, host) >= 0)
            return s;
    }
    assert(!door->service);
    return NULL;
}

const struct served *served_named(const struct api_config *c, const char *host, size_t *account)
{
    for (size_t i = 0; i < c->n_services; i++) {
        const struct served *s = &c->services[i];
        for (size_t k = 0; s->hosts && s->hosts[k]; k++) {
            int label = host_fits(s->hosts[k], host);
            for (const char *p = s->hosts[k]; label < 0 && strncmp(p, "*.", 2) == 0; p += 2)
                label = host_fits(p + 2, host) >= 0 ? 0 : -1; /* the host for all accounts */
            if (label < 0)
                continue;
            *account = (size_t)label;
            return s;
        }
    }
    return NULL;
}

void find_service_of_host(struct request *r)
{
    const struct served *s = r->service ? NULL : served_at(r->config, r->door, r->host);
    if (s)
        take(r, s);
}

/* The index of the last segment "providers" with a name after it; -1: none. */
static int last_provider(const struct request *r)
{
    for (int i = r->n_segments - 2; i >= 0; i--)
        if (r->segment_len[i] == strlen("providers") && strcasecmp(r->segment[i], "providers") == 0)
            return i;
    return -1;
}

/* Removes the segments before `at` from r->segment, and sets r->scope to them. */
static void split_scope(struct request *r, int at)
{
    struct strbuf b = STRBUF_INIT;
    for (int i = 0; i < at; i++) {
        strbuf_putc(&b, '/');
        strbuf_puts(&b, r->segment[i]);
    }
    r->scope = arena_strdup(&r->arena, b.len ? b.s : "");
    strbuf_free(&b);
    r->n_segments -= at;
    memmove(r->segment, r->segment + at, (size_t)r->n_segments * sizeof *r->segment);
    memmove(r->segment_len, r->segment_len + at, (size_t)r->n_segments * sizeof *r->segment_len);
}

static void take_service_of_provider(struct request *r)
{
    int at = last_provider(r);
    for (size_t i = 0; at >= 0 && i < r->config->n_services; i++) {
        const char *provider = r->config->services[i].service->provider;
        if (!provider || strcasecmp(provider, r->segment[at + 1]) != 0)
            continue;
        take(r, &r->config->services[i]);
        split_scope(r, at);
        return;
    }
}

void find_service(struct request *r)
{
    const char *best = NULL;
    bool by_host = false;
    if (r->door->service) {
        take(r, served_at(r->config, r->door, r->host));
        return;
    }
    for (size_t i = 0; i < r->config->n_services; i++) {
        const struct served *served = &r->config->services[i];
        if (served->service->provider)
            continue;
        int label = served_fits(served, r->host);
        const char *path = label >= 0 ? path_fits(served->service, r) : NULL;
        if (!path)
            continue;
        bool both = by_host == (served->hosts != NULL);
        if (best && (both ? !template_more_literal(path, best) : by_host))
            continue;
        best = path;
        by_host = served->hosts != NULL;
        r->label = label > 0
                       ? arena_lower(&r->arena, arena_strndup(&r->arena, r->host, (size_t)label))
                       : NULL;
        take(r, served);
    }
    if (!by_host)
        take_service_of_provider(r);
}
