/* SPDX-License-Identifier: MIT
 *
 * Whether a new pool, job or schedule may be made in an account.
 */
#include "scheduler/front/batch/front_priv.h"

int batch_account_accepts(const struct batch_front *f, int64_t account_id, struct err *e)
{
    struct arena a;
    struct batch_account account;
    arena_init(&a);
    int rc = st_batch_account_by_id(f->st, &a, account_id, &account, e);
    if (rc == 0)
        err_set(e, ERR_RESOURCE_NOT_FOUND, NULL, "The Batch account has been deleted.");
    if (rc == 1 && account.prov_state == PROV_DELETING)
        rc = err_set(e, ERR_BEING_DELETED, NULL, "The Batch account '%s' is being deleted.",
                     account.name);
    arena_free(&a);
    return rc == 1 ? 0 : -1;
}
