/* SPDX-License-Identifier: MIT
 *
 * Users, service principals and applications, and their credentials.
 */
#include "storage/seeding.h"
#include "storage/storage_priv.h"

static int remove_in_tx(struct storage *st, void *ctx, struct err *e)
{
    const struct identity *i = ctx;
    int gone;
    if (st_credential_remove(st, i->id, NULL, &gone, e) < 0 ||
        st_role_assignment_remove_of(st, i->object_id, e) < 0)
        return -1;
    return st_identity_remove_row(st, i->id, e);
}

int st_identity_remove(struct storage *st, const struct identity *i, struct err *e)
{
    struct identity copy = *i;
    return st_tx(st, "identity remove", remove_in_tx, &copy, e);
}

int st_credential_any(struct storage *st, struct err *e)
{
    bool any;
    return st_credential_exists(st, &any, e) < 0 ? -1 : any;
}
