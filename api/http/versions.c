/* SPDX-License-Identifier: MIT */
#include "api/http/versions.h"

#include <string.h>

#include "api/http/http.h"
#include "api/http/service.h"
#include "api/http/template.h"

#define VERSION_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

/* The name of an api-version begins with a date of this length ("2018-05-01"). */
#define DATE_LENGTH 10

static unsigned newest(const struct service *s)
{
    unsigned all = 0, last = 0;
    for (size_t i = 0; i < s->n_routes; i++)
        all |= s->routes[i].versions;
    for (unsigned v = 1; v && v <= all; v <<= 1)
        if (all & v)
            last = v;
    return last;
}

static bool is_date(const char *name)
{
    static const char form[] = "dddd-dd-dd";
    for (size_t i = 0; i < DATE_LENGTH; i++)
        if (form[i] == 'd' ? name[i] < '0' || name[i] > '9' : name[i] != form[i])
            return false;
    return true;
}

bool version_is_newer(const struct request *r)
{
    const struct service *s = r->service;
    unsigned last = s->versions == VERSIONS_LISTED ? newest(s) : 0;
    return last && r->version_name && is_date(r->version_name) &&
           strncmp(r->version_name, s->version_name(last), DATE_LENGTH) > 0;
}

unsigned version_of_request(const struct request *r)
{
    unsigned v = r->service->version_of(r->version_name);
    if (v && (r->seeds || r->dumps))
        return v | r->service->seeded;
    return !v && r->config->settings.newer_versions && version_is_newer(r) ? newest(r->service) : v;
}

unsigned versions_here(const struct request *r)
{
    unsigned served = 0;
    for (size_t i = 0; i < r->service->n_routes; i++) {
        const struct route *route = &r->service->routes[i];
        if (strcmp(route->method, r->method) == 0 && template_fits_path(route->path, r))
            served |= route->versions;
    }
    return served;
}

const char *version_advice(struct request *r)
{
    const char *name = r->service->version_name(newest(r->service));
    return arena_printf(&r->arena,
                        "It is newer than all that this daemon knows; the newest is '%s'. Pass "
                        "that to the client (in Python api_version=\"%s\"), or set "
                        "compat.newer_versions, which serves newer versions as the newest.",
                        name, name);
}

int version_check_form(const struct request *r, struct err *e)
{
    if (strspn(r->version_name, VERSION_CHARS) == strlen(r->version_name))
        return 0;
    return err_set(e, ERR_INVALID_QUERY, "api-version",
                   "The api-version '%.100s' is malformed; it must be a date such as 2018-05-01.",
                   r->version_name);
}

int version_refuse(struct request *r, struct err *e)
{
    char list[400] = "";
    unsigned served = versions_here(r);
    bool newer = version_is_newer(r);
    for (unsigned v = 1; v && v <= served; v <<= 1) {
        if (!(served & v))
            continue;
        if (list[0])
            strncat(list, ", ", sizeof list - strlen(list) - 1);
        strncat(list, r->service->version_name(v), sizeof list - strlen(list) - 1);
    }
    return err_set(e, ERR_UNKNOWN_API_VERSION, "api-version",
                   "No registered resource provider found for API version '%.100s'. "
                   "The supported api-versions are '%s'.%s%s",
                   r->version_name, list, newer ? " " : "", newer ? version_advice(r) : "");
}
