/* SPDX-License-Identifier: MIT
 *
 * A row for each service: the service, the part of struct api_deps for its handlers, and its hosts.
 * The page is before ARM in the table: ARM serves all paths, and of two paths that match equally
 * well the first one is taken.
 */
#include "api/services.h"

#include <assert.h>
#include <stddef.h>

/* The member of struct api_deps, which is a struct `type`: the compiler checks that. */
#define PART(type, member)                                                                         \
    offsetof(struct api_deps, member) +                                                            \
        0 * sizeof(&((struct api_deps *)0)->member == (struct type *)0),                           \
        #type

static const struct {
    const struct service *service;
    size_t part;
    const char *type; /* of the part; NULL: the handlers use none */
    enum api_hosts hosts;
} rows[] = {
    {&page_service, 0, NULL, HOSTS_ANY},
    {&batchai_service, PART(batchai, batchai), HOSTS_ANY},
    {&arm_service, PART(arm, batchai.arm), HOSTS_ANY},
    {&admin_service, PART(admin, admin), HOSTS_ANY},
    {&browse_service, PART(azstorage, azstorage), HOSTS_ANY},
    {&aad_service, PART(aad, aad), HOSTS_ANY},
    {&session_service, PART(aad, aad), HOSTS_ANY},
    {&azstorage_service, PART(azstorage, azstorage), HOSTS_ANY},
    {&keyvault_service, PART(keyvault, keyvault), HOSTS_ANY},
    {&azfiles_service, PART(azstorage, azstorage), HOSTS_FILE},
    {&azblob_service, PART(azstorage, azstorage), HOSTS_BLOB},
    {&secret_service, PART(keyvault, keyvault), HOSTS_VAULT},
    {&storage_rm_service, PART(arm, storage_rm), HOSTS_ANY},
    {&batchrm_service, PART(batchrm, batchrm), HOSTS_ANY},
    {&authorization_service, PART(authorization, authorization), HOSTS_ANY},
    {&graph_service, PART(graph, graph), HOSTS_ANY},
    {&batch_service, PART(batch, batch), HOSTS_BATCH},
    {&batch_paths_service, PART(batch, batch), HOSTS_ANY},
    {&batch_actions_service, PART(batch, batch), HOSTS_ANY},
    {&unserved_service, PART(azstorage, azstorage), HOSTS_UNSERVED},
    {&testing_service, PART(testing, testing), HOSTS_ANY},
    {&health_service, PART(daemon_health, health), HOSTS_ANY},
    {&metrics_service, PART(metrics, metrics), HOSTS_ANY},
};
static_assert(sizeof rows / sizeof *rows == API_SERVICES, "a row a service");

const struct service *api_service(size_t i)
{
    return rows[i].service;
}

void api_serve_all(const struct api_deps *deps, const char *const *const hosts[API_HOSTS],
                   struct served out[API_SERVICES])
{
    for (size_t i = 0; i < API_SERVICES; i++) {
        assert(rows[i].type ? service_deps_are(rows[i].service, rows[i].type)
                            : !rows[i].service->deps);
        out[i] = (struct served){rows[i].service, (const char *)deps + rows[i].part,
                                 hosts[rows[i].hosts]};
    }
}
