/* SPDX-License-Identifier: MIT
 *
 * Macros for the lists of columns (rows.c, rows_storage.c, rows_vault.c): one for each kind of
 * column, and the domains of numbers. A list stands between "#define ROW struct X" and "#undef
 * ROW".
 */
#ifndef STORAGE_COLUMNS_H
#define STORAGE_COLUMNS_H

#include <limits.h>

#include "storage/rows.h"
#include "storage/sql/columns.h"
#include "storage/storage.h"

#define AT(member) offsetof(ROW, member)
#define COLUMN(kind, name, member, domain)                                                         \
    {                                                                                              \
        name, NULL, COLUMN_##kind, false, AT(member), 0, domain                                    \
    }
#define OWN(kind, name, member, domain)                                                            \
    {                                                                                              \
        name, NULL, COLUMN_##kind, true, AT(member), 0, domain                                     \
    }
#define FROM(kind, sql, member, domain)                                                            \
    {                                                                                              \
        NULL, sql, COLUMN_##kind, true, AT(member), 0, domain                                      \
    }

#define INT64(name, member, domain)     COLUMN(INT64, name, member, &(domain))
#define INT(name, member, domain)       COLUMN(INT, name, member, &(domain))
#define BOOL(name, member)              COLUMN(BOOL, name, member, NULL)
#define TEXT(name, member)              COLUMN(TEXT, name, member, NULL)
#define ID(name, member)                COLUMN(ID, name, member, &id)
#define OWN_ID(name, member)            OWN(INT64, name, member, &id)
#define FROM_INT64(sql, member, domain) FROM(INT64, sql, member, &(domain))
#define FROM_INT(sql, member, domain)   FROM(INT, sql, member, &(domain))
#define FROM_TEXT(sql, member)          FROM(TEXT, sql, member, NULL)
#define FROM_BOOL(sql, member)          FROM(BOOL, sql, member, NULL)
#define FROM_ID(sql, member)            FROM(ID, sql, member, &id)
/* A struct container_seen. */
#define CONTAINER_SEEN(member)                                                                     \
    TEXT("container_id", member.id), TEXT("container_error", member.error)
#define MAYBE(name, value, flag)                                                                   \
    {                                                                                              \
        name, NULL, COLUMN_MAYBE, false, AT(value), AT(flag), &number                              \
    }
#define BLOB(sql, value, n)                                                                        \
    {                                                                                              \
        NULL, sql, COLUMN_BLOB, true, AT(value), AT(n), NULL                                       \
    }
#define SECRET(name)                                                                               \
    {                                                                                              \
        name, NULL, COLUMN_SECRET, false, 0, 0, NULL                                               \
    }

/* The valid numbers of a column. A state that no state table contains is refused; a number that is
 * only displayed (the failure of a newer batchaid) is shown as unknown. Counters of the daemon are
 * bounded so that their sums do not overflow. */
#define DOMAIN(name, ...) static const struct st_domain name = {__VA_ARGS__}

DOMAIN(id, 0, INT64_MAX, 0);
DOMAIN(instant, 0, INT64_C(253402300799999999), 0);           /* until the end of the year 9999 */
DOMAIN(duration, 0, INT64_C(36500) * 24 * 3600 * 1000000, 0); /* a century */
DOMAIN(term, 0, INT64_C(1) << 40, 0);                         /* in seconds since 1970 */
DOMAIN(memory, 0, CAPACITY_MEMORY_MAX, 0);
DOMAIN(number, INT_MIN, INT_MAX, 0);
DOMAIN(amount, 0, USAGE_MOST, 0);
DOMAIN(wish, 0, INT_MAX, 0); /* a number from a user */
DOMAIN(count, 0, CAPACITY_MAX, 0);
DOMAIN(failure, 0, INT_MAX, 0);
DOMAIN(any_state, 0, INT_MAX, 0);
DOMAIN(prov_state, PROV_CREATING, PROV_DELETING, 0);
DOMAIN(alloc_state, ALLOC_STEADY, ALLOC_RESIZING, 0);
DOMAIN(exec_state, EXEC_QUEUED, EXEC_FAILED, 0);
DOMAIN(node_state, NODE_PREPARING, NODE_UNUSABLE, 1U << 3);
DOMAIN(node_wish, WISH_NOTHING, WISH_LEAVE_WIPE, 0);
DOMAIN(run_state, RUN_WAITING, RUN_OVER, 0);
DOMAIN(run_hold, HOLD_NOT, HOLD_TURN, 0);
DOMAIN(after, AFTER_SUCCESS, AFTER_END, 0);
DOMAIN(dependency_state, DEPENDENCY_OPEN, DEPENDENCY_BROKEN, 0);
DOMAIN(ended_how, 0, ENDED_REMOVED, 0);
DOMAIN(run_stop, STOP_NOT, STOP_AND_FORGET, 0);
DOMAIN(allocation_state, ALLOCATION_HELD, ALLOCATION_LOST, 1U << 2);
DOMAIN(vm_priority, VM_DEDICATED, VM_LOWPRIORITY, 0);
DOMAIN(scale_kind, SCALE_MANUAL, SCALE_AUTO, 0);
DOMAIN(dealloc_option, 0, DEALLOC_WAIT_FOR_DATA, 0); /* 0: with automatic scaling */
DOMAIN(op_status, OP_IN_PROGRESS, OP_FAILED, 0);
DOMAIN(kind, RES_GROUP, RES_VAULT, 0);
DOMAIN(pool_kind, RES_CLUSTER, RES_BATCH_POOL, 0x3e0U); /* no kind in between is a pool */
DOMAIN(run_kind, RES_JOB, RES_BATCH_CHORE, 0xf80U);     /* no kind in between has runs */
DOMAIN(share_kind, SHARE_FILES, SHARE_BLOBS, 0);
DOMAIN(share_state, SHARE_MAKING, SHARE_DELETED, 0);
DOMAIN(share_quota, 0, SHARE_QUOTA_MAX, 0);
DOMAIN(public_access, PUBLIC_NONE, PUBLIC_CONTAINER, 0);
DOMAIN(lease_state, LEASE_AVAILABLE, LEASE_BROKEN, 0);
DOMAIN(lease_duration, LEASE_INFINITE, 60, 0); /* in seconds */
DOMAIN(etag, 0, INT64_MAX, 0);
DOMAIN(batch_pool_state, BATCH_POOL_ACTIVE, BATCH_POOL_DELETING, 0);
DOMAIN(batch_allocation, BATCH_ALLOCATION_STEADY, BATCH_ALLOCATION_STOPPING, 0);
DOMAIN(blob_type, BLOB_NONE, BLOB_APPEND, 0);
DOMAIN(item_change_kind, CHANGE_REPLACES, CHANGE_GROWS, 0);
DOMAIN(file_size, 0, INT64_MAX, 0);
DOMAIN(bits, INT64_MIN, INT64_MAX, 0); /* only compared */

/* The columns of a struct usage_measured that is the member `used`. */
#define USED_COLUMNS                                                                               \
    BOOL("measured", used.known), INT64("user_us", used.user_us, amount),                          \
        INT64("kernel_us", used.kernel_us, amount),                                                \
        INT64("memory_peak", used.memory_peak, amount),                                            \
        INT64("memory_used", used.memory_used, amount),                                            \
        INT64("read_bytes", used.read_bytes, amount),                                              \
        INT64("write_bytes", used.write_bytes, amount), INT64("read_ops", used.read_ops, amount),  \
        INT64("write_ops", used.write_ops, amount)

#define ROW_OF(row, type, list, table, alias)                                                      \
    const struct st_row row = {#list,          table,                                              \
                               alias,          sizeof(type),                                       \
                               list##_columns, sizeof list##_columns / sizeof list##_columns[0]}

#endif
