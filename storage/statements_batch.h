/* SPDX-License-Identifier: MIT
 *
 * The statements about Azure Batch: a part of statements.h, which says how they are written.
 */
#ifndef STORAGE_STATEMENTS_BATCH_H
#define STORAGE_STATEMENTS_BATCH_H

#define BATCH_ACCOUNT_SELECT                                                                       \
    "SELECT {batch_account} FROM batch_account ba JOIN resource_group g ON g.id = ba.group_id "
#define MARK_BATCH_ACCOUNT "UPDATE batch_account SET prov_state = ?3, updated_us = ?2 WHERE "

/* clang-format off */
#define BATCH_STATEMENTS(X)                                                                        \
    X(ST_BATCH_ACCOUNT_INSERT, "INSERT INTO {+batch_account}")                                     \
    X(ST_BATCH_ACCOUNT_BY_NAME, BATCH_ACCOUNT_SELECT "WHERE ba.name = ?1")                         \
    X(ST_BATCH_ACCOUNT_BY_ID, BATCH_ACCOUNT_SELECT "WHERE ba.id = ?1")                             \
    X(ST_BATCH_ACCOUNT_LIST_SUBSCRIPTION,                                                          \
      BATCH_ACCOUNT_SELECT "WHERE g.subscription = ?1 AND ba.id > ?2 ORDER BY ba.id LIMIT ?3")     \
    X(ST_BATCH_ACCOUNT_LIST_GROUP,                                                                 \
      BATCH_ACCOUNT_SELECT "WHERE ba.group_id = ?1 AND ba.id > ?2 ORDER BY ba.id LIMIT ?3")        \
    X(ST_BATCH_ACCOUNT_COUNT,                                                                      \
      "SELECT count(*) FROM resource_group g JOIN batch_account ba ON ba.group_id = g.id "         \
      "WHERE g.subscription = ?1")                                                                 \
    X(ST_BATCH_ACCOUNT_UPDATE,                                                                     \
      "UPDATE batch_account SET tags = ?2, doc = ?3, updated_us = ?4 "                             \
      "WHERE id = ?1 AND prov_state <> 5")                                                         \
    X(ST_BATCH_ACCOUNT_KEYS, "SELECT keys FROM batch_account WHERE id = ?1")                       \
    X(ST_BATCH_ACCOUNT_SET_KEYS, "UPDATE batch_account SET keys = ?2 WHERE id = ?1")               \
    X(ST_MARK_BATCH_ACCOUNT, MARK_BATCH_ACCOUNT "id = ?1 " MAY_GO)                                 \
    X(ST_MARK_BATCH_ACCOUNTS_OF_GROUP, MARK_BATCH_ACCOUNT "group_id = ?1 " MAY_GO)                 \
    X(ST_REMOVE_BATCH_ACCOUNT, "DELETE FROM batch_account WHERE id = ?1")                          \
    X(ST_REMOVABLE_BATCH_ACCOUNTS,                                                                 \
      "SELECT ba.id FROM batch_account ba WHERE ba.prov_state = 5 ORDER BY ba.id")
/* clang-format on */

#endif
