/* SPDX-License-Identifier: MIT
 *
 * Prints the route tables of all services, a row a line: service, method, path, operation id, a
 * version that serves it, or "-", and "users" if its replies have bytes of users, or "-". A test
 * holds them against the table of who may do what (test/rights.tsv).
 */
#include <stdio.h>

#include "api/http/service.h"
#include "api/services.h"

/* The last one. */
static const char *version_of(const struct service *s, unsigned versions)
{
    if (s->versions != VERSIONS_LISTED || !versions)
        return "-";
    while (versions & (versions - 1))
        versions &= versions - 1;
    return s->version_name(versions);
}

int main(void)
{
    for (size_t i = 0; i < API_SERVICES; i++) {
        const struct service *s = api_service(i);
        for (size_t k = 0; k < s->n_routes; k++) {
            const struct route *r = &s->routes[k];
            printf("%s\t%s\t%s\t%s\t%s\t%s\n", s->name, r->method, r->path, r->operation_id,
                   version_of(s, r->versions), r->flags & ROUTE_USERS_BYTES ? "users" : "-");
        }
    }
    return 0;
}
