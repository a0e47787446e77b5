/* SPDX-License-Identifier: MIT */
#include "api/services.h"

#include <assert.h>

enum {
    PAGE, /* before ARM, whose any path is as literal as "/" */
    BATCHAI,
    ARM,
    ADMIN,
    AAD,
    AZSTORAGE,
    KEYVAULT,
    AZFILES,
    AZBLOB,
    SECRET,
    STORAGE_RM,
    BATCHRM,
    AUTHORIZATION,
    GRAPH,
    BATCH,
    BATCH_PATHS,
    UNSERVED,
    TESTING,
    HEALTH,
    SERVICES
};
static_assert(SERVICES == API_SERVICES, "api_services[] has room for all, and no more");

const struct service *const api_services[API_SERVICES] = {[BATCHAI] = &batchai_service,
                                                          [ARM] = &arm_service,
                                                          [ADMIN] = &admin_service,
                                                          [AAD] = &aad_service,
                                                          [AZSTORAGE] = &azstorage_service,
                                                          [KEYVAULT] = &keyvault_service,
                                                          [AZFILES] = &azfiles_service,
                                                          [AZBLOB] = &azblob_service,
                                                          [SECRET] = &secret_service,
                                                          [STORAGE_RM] = &storage_rm_service,
                                                          [BATCHRM] = &batchrm_service,
                                                          [AUTHORIZATION] = &authorization_service,
                                                          [GRAPH] = &graph_service,
                                                          [BATCH] = &batch_service,
                                                          [BATCH_PATHS] = &batch_paths_service,
                                                          [UNSERVED] = &unserved_service,
                                                          [TESTING] = &testing_service,
                                                          [HEALTH] = &health_service,
                                                          [PAGE] = &page_service};

/* Whose hosts a service has. */
static const enum api_hosts hosts_of[API_SERVICES] = {[AZFILES] = HOSTS_FILE,
                                                      [AZBLOB] = HOSTS_BLOB,
                                                      [SECRET] = HOSTS_VAULT,
                                                      [BATCH] = HOSTS_BATCH,
                                                      [UNSERVED] = HOSTS_UNSERVED};

void api_serve_all(const struct api_deps *deps, const char *const *const hosts[API_HOSTS],
                   struct served out[API_SERVICES])
{
    const void *const parts[API_SERVICES] = {[BATCHAI] = &deps->batchai,
                                             [ARM] = &deps->batchai.arm,
                                             [ADMIN] = &deps->admin,
                                             [AAD] = &deps->aad,
                                             [AZSTORAGE] = &deps->azstorage,
                                             [KEYVAULT] = &deps->keyvault,
                                             [AZFILES] = &deps->azstorage,
                                             [AZBLOB] = &deps->azstorage,
                                             [SECRET] = &deps->keyvault,
                                             [STORAGE_RM] = &deps->storage_rm,
                                             [BATCHRM] = &deps->batchrm,
                                             [AUTHORIZATION] = &deps->authorization,
                                             [GRAPH] = &deps->graph,
                                             [BATCH] = &deps->batch,
                                             [BATCH_PATHS] = &deps->batch,
                                             [UNSERVED] = &deps->azstorage,
                                             [TESTING] = &deps->testing,
                                             [HEALTH] = &deps->health,
                                             [PAGE] = deps};
    for (int i = 0; i < API_SERVICES; i++) {
        assert(api_services[i] && parts[i]);
        out[i] = (struct served){api_services[i], parts[i], hosts[hosts_of[i]]};
    }
}
