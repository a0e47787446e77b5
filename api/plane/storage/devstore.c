/* SPDX-License-Identifier: MIT */
#include "api/plane/storage/devstore.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "lib/arena.h"
#include "storage/shares/shares.h"
#include "storage/storage.h"

#define LOCATION "eastus"
#define KEY                                                                                        \
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

void devstore_key(unsigned char out[ACCOUNT_KEY_BYTES])
{
    size_t n = 0;
    int rc = sodium_base642bin(out, ACCOUNT_KEY_BYTES, KEY, strlen(KEY), NULL, &n, NULL,
                               sodium_base64_VARIANT_ORIGINAL);
    assert(rc == 0 && n == ACCOUNT_KEY_BYTES);
    (void)rc;
}

static int make(struct storage *st, struct arena *a, const char *subscription,
                const char *principal, int64_t now_us, struct err *e)
{
    struct account_keys keys;
    struct storage_account s = {.scope = {.location = LOCATION},
                                .name = DEVSTORE_ACCOUNT,
                                .sku = "Standard_LRS",
                                .kind = "StorageV2",
                                .doc = "{}",
                                .created_by = principal,
                                .prov_state = PROV_SUCCEEDED,
                                .created_us = now_us,
                                .updated_us = now_us,
                                .key1_us = now_us,
                                .key2_us = now_us,
                                .implicit = true};
    int64_t id;
    if (shares_implicit_group(st, a, subscription, principal, now_us, &s.group_id, e) < 0)
        return -1;
    st_account_new_keys(&keys);
    int rc = st_account_insert(st, &s, &keys, &id, e);
    st_account_forget_keys(&keys);
    return rc;
}

int devstore_open(struct storage *st, const char *subscription, const char *principal,
                  int64_t now_us, struct err *e)
{
    struct arena a;
    struct storage_account s;
    arena_init(&a);
    int rc = st_account_by_name(st, &a, DEVSTORE_ACCOUNT, &s, e);
    if (rc == 0)
        rc = make(st, &a, subscription, principal, now_us, e);
    arena_free(&a);
    return rc < 0 ? -1 : 0;
}
