/* SPDX-License-Identifier: MIT
 *
 * Microsoft Graph as a service: its routes, and who may use them.
 */
#include <string.h>

#include "api/graph/handlers.h"
#include "api/http/auth.h"

#define USERS    "/v1.0/users"
#define SERVICES "/v1.0/servicePrincipals"
#define APPS     "/v1.0/applications"

static const struct route routes[] = {
    {"GET", "/v1.0/me", 0, 0, graph_me, "Graph_Me"},
    {"GET", USERS, 0, 0, graph_users_list, "Graph_ListUsers"},
    {"GET", USERS "/{id}", 0, 0, graph_users_get, "Graph_GetUser"},
    {"DELETE", USERS "/{id}", 0, 0, graph_remove, "Graph_DeleteUser"},
    {"GET", SERVICES, 0, 0, graph_services_list, "Graph_ListServicePrincipals"},
    {"POST", SERVICES, 0, ROUTE_JSON, graph_services_create, "Graph_CreateServicePrincipal"},
    {"GET", SERVICES "/{id}", 0, 0, graph_services_get, "Graph_GetServicePrincipal"},
    {"DELETE", SERVICES "/{id}", 0, 0, graph_remove, "Graph_DeleteServicePrincipal"},
    {"GET", SERVICES "/{id}/owners", 0, 0, graph_nobody, "Graph_ListServicePrincipalOwners"},
    {"POST", SERVICES "/{id}/addPassword", 0, ROUTE_JSON_OPTIONAL, graph_add_password,
     "Graph_AddServicePrincipalPassword"},
    {"POST", SERVICES "/{id}/removePassword", 0, ROUTE_JSON, graph_remove_password,
     "Graph_RemoveServicePrincipalPassword"},
    {"GET", APPS, 0, 0, graph_apps_list, "Graph_ListApplications"},
    {"POST", APPS, 0, ROUTE_JSON, graph_apps_create, "Graph_CreateApplication"},
    {"GET", APPS "/{id}", 0, 0, graph_apps_get, "Graph_GetApplication"},
    {"DELETE", APPS "/{id}", 0, 0, graph_remove, "Graph_DeleteApplication"},
    {"GET", APPS "/{id}/owners", 0, 0, graph_nobody, "Graph_ListApplicationOwners"},
    {"POST", APPS "/{id}/addPassword", 0, ROUTE_JSON_OPTIONAL, graph_add_password,
     "Graph_AddApplicationPassword"},
    {"POST", APPS "/{id}/removePassword", 0, ROUTE_JSON, graph_remove_password,
     "Graph_RemoveApplicationPassword"},
    {"POST", "/v1.0/directoryObjects/getByIds", 0, ROUTE_JSON | ROUTE_PARTIAL, graph_by_ids,
     "Graph_GetByIds"},
};

static const char *const paths[] = {"/v1.0/{rest*}", NULL};

#define GRAPH_ERRORS(X) HTTP_ERRORS(X) NO_CORE_ERRORS(X)
static ERROR_TABLE(graph_words, GRAPH_ERRORS, GRAPH_OWN)

    /* Every logged-in principal may read. Only a principal who may assign roles in the subscription
     * may change the directory, because a new secret of an object gives all its roles. */
    static int may(struct request *r, struct err *e)
{
    const struct access *x = graph_of(r)->access;
    struct grants g;
    if (auth_check(r, e) < 0)
        return -1;
    if (r->who->first || strcmp(r->method, "GET") == 0 || (r->route->flags & ROUTE_PARTIAL))
        return 0;
    const char *scope = arena_concat(&r->arena, "/subscriptions/", x->subscription_id);
    if (access_load(x, &r->arena, r->who, &g, e) < 0)
        return -1;
    if (access_verdict(&g, "Microsoft.Authorization/users/write", scope) == ACCESS_YES)
        return 0;
    return err_set(e, GRAPH_DENIED, NULL, "Insufficient privileges to complete the operation.");
}

const struct service graph_service = {
    .name = "graph",
    .deps = "graph",
    .paths = paths,
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_NONE,
    .may = may,
    .audiences = AUDIENCE_GRAPH,
    .body_max = 64 * 1024,
    .words = graph_words,
};
