/* SPDX-License-Identifier: MIT
 *
 * Machines of the inventory.
 */
#include "storage/storage_priv.h"

int st_machine_put(struct storage *st, const char *name, int64_t *id, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_MACHINE_ID);
    q_text(&q, name);
    int rc = q_one_int(&q, id, e);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    if (q_write(&q, st, ST_MACHINE_INSERT, e) < 0)
        return -1;
    q_text(&q, name);
    return q_insert(&q, id, e);
}

int st_machine_list(struct storage *st, struct arena *a, struct machine_row **rows, size_t *n,
                    struct err *e)
{
    struct q q;
    q_read(&q, st, ST_MACHINE_LIST);
    void *items;
    if (q_rows(&q, a, &machine_row_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_machine_set_drained(struct storage *st, int64_t id, bool drained, const char *reason,
                           struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_MACHINE_SET_DRAINED, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, drained);
    q_text(&q, drained ? reason : NULL);
    return q_change(&q, "machine", id, e);
}

int st_machine_set_contact(struct storage *st, int64_t id, int64_t contact_us, const char *facts,
                           struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_MACHINE_SET_CONTACT, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, contact_us);
    q_text(&q, facts);
    return q_change(&q, "machine", id, e);
}

int st_machine_remove(struct storage *st, int64_t id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_MACHINE_REMOVE, e) < 0)
        return -1;
    q_int(&q, id);
    return q_change(&q, "machine", id, e);
}
