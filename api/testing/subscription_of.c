/* SPDX-License-Identifier: MIT */
#include "api/testing/subscription_of.h"

#include <string.h>
#include <strings.h>

#include "storage/accounts.h"
#include "storage/batch.h"

const char *whose_named(const struct request *r)
{
    bool named = r->n_segments > 1 && strcasecmp(r->segment[0], "subscriptions") == 0;
    return named ? r->segment[1] : NULL;
}

const char *whose_account(const struct request *r, struct arena *a)
{
    static const char shared_key[] = "SharedKey ";
    const char *by = r->label ? NULL : request_header(r, "Authorization");
    if (!by || strncasecmp(by, shared_key, sizeof shared_key - 1) != 0)
        return r->label;
    by += sizeof shared_key - 1;
    return arena_strndup(a, by, strcspn(by, ":"));
}

const char *whose_account_is(struct storage *st, struct arena *a, const struct request *r,
                             const char *account)
{
    struct err e;
    struct storage_account stored;
    struct batch_account batch;
    struct vault vault;
    unsigned audiences = r->service && account ? r->service->audiences : 0;
    if (audiences & AUDIENCE_STORAGE)
        return st_account_by_name(st, a, account, &stored, &e) == 1 ? stored.scope.subscription
                                                                    : NULL;
    if (audiences & AUDIENCE_BATCH)
        return st_batch_account_by_name(st, a, account, &batch, &e) == 1 ? batch.scope.subscription
                                                                         : NULL;
    if (audiences & AUDIENCE_VAULT)
        return st_vault_get(st, a, account, &vault, &e) == 1 ? vault.subscription : NULL;
    return NULL;
}
