/* SPDX-License-Identifier: MIT
 *
 * Machines of the inventory.
 */
#include "storage/storage_priv.h"

int st_machine_put(struct storage *st, const char *name, int64_t *id, struct err *e)
{
    int rc = st_machine_id(st, name, id, e);
    return rc == 0 ? st_machine_insert(st, name, id, e) : rc < 0 ? -1 : 0;
}
