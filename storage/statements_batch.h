/* SPDX-License-Identifier: MIT
 *
 * The statements about Azure Batch: a part of statements.h, which says how they are written.
 */
#ifndef STORAGE_STATEMENTS_BATCH_H
#define STORAGE_STATEMENTS_BATCH_H

#define BATCH_ACCOUNT_SELECT                                                                       \
    "SELECT {batch_account} FROM batch_account ba JOIN resource_group g ON g.id = ba.group_id "
#define BATCH_POOL_SELECT                                                                          \
    "SELECT {batch_pool} FROM batch_pool bp CROSS JOIN pool p ON p.id = bp.id "                    \
    "CROSS JOIN batch_account ba ON ba.id = bp.account_id "
#define DELETE_BATCH_POOL                                                                          \
    "UPDATE batch_pool SET state = 2, state_us = ?2, updated_us = ?2 WHERE state = 1 AND "
/* With the parameters of all such statements: the others have a provisioning state. */
#define MARK_BATCH_POOL DELETE_BATCH_POOL "?3 = 5 AND (?4 >> ?3) & 1 AND "
#define MARK_BATCH_JOB                                                                             \
    "UPDATE batch_job SET was = state, was_us = state_us, state = 7, state_us = ?2 WHERE "         \
    "state <> 7 AND ?3 = 5 AND (?4 >> ?3) & 1 AND "
#define MARK_BATCH_ACCOUNT "UPDATE batch_account SET prov_state = ?3, updated_us = ?2 WHERE "

#define APPLICATION_SELECT "SELECT {batch_application} FROM batch_application bn "
/* CROSS JOIN: SQLite keeps this order. */
#define PACKAGE_SELECT                                                                             \
    "SELECT {batch_package} FROM batch_application bn "                                            \
    "CROSS JOIN batch_package bg ON bg.application_id = bn.id "

/* clang-format off */
#define BATCH_STATEMENTS(X)                                                                        \
    X(ST_BATCH_ACCOUNT_INSERT, "INSERT INTO {+batch_account}")                                     \
    X(ST_BATCH_ACCOUNT_BY_NAME, BATCH_ACCOUNT_SELECT "WHERE ba.name = ?1")                         \
    X(ST_BATCH_ACCOUNT_WITH_TASK,                                                                  \
      BATCH_ACCOUNT_SELECT "WHERE EXISTS (SELECT 1 FROM batch_job bj JOIN batch_task bt ON "       \
                           "bt.job_id = bj.id AND bt.name = ?2 WHERE bj.account_id = ba.id AND "   \
                           "bj.name = ?1) ORDER BY ba.name")                                       \
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
    X(ST_BATCH_POOL_INSERT, "INSERT INTO {+batch_pool}") \
    X(ST_BATCH_POOL_GET, BATCH_POOL_SELECT "WHERE bp.account_id = ?1 AND bp.name = ?2") \
    X(ST_BATCH_POOL_BY_ID, BATCH_POOL_SELECT "WHERE bp.id = ?1") \
    X(ST_BATCH_POOL_LIST, \
      BATCH_POOL_SELECT "WHERE bp.account_id = ?1 AND bp.name > ?2 AND {?} ORDER BY bp.name LIMIT ?3") \
    X(ST_BATCH_POOL_SECRETS, "SELECT secrets FROM batch_pool WHERE id = ?1") \
    X(ST_BATCH_POOL_SET_DOC, \
      "UPDATE batch_pool SET doc = ?2, secrets = ?3, updated_us = ?4 WHERE id = ?1") \
    X(ST_POOL_SET_SLOTS, "UPDATE pool SET slots = ?2, spread = ?3 WHERE id = ?1") \
    X(ST_BATCH_POOL_SET_SIZE, \
      "UPDATE batch_pool SET dedicated = ?2, low = ?3, timeout_us = ?4, alloc_state = ?5, " \
      "alloc_us = ?6, began_us = ?7, resize_errors = ?8, updated_us = ?9 WHERE id = ?1") \
    X(ST_BATCH_POOL_SET_SCALING, \
      "UPDATE batch_pool SET auto_enabled = ?2, auto_formula = ?3, auto_interval_us = ?4, " \
      "auto_us = ?5, auto_run = ?6, updated_us = ?7 WHERE id = ?1") \
    X(ST_DELETE_BATCH_POOL, DELETE_BATCH_POOL "id = ?1") \
    X(ST_MARK_BATCH_POOLS_OF_ACCOUNT, MARK_BATCH_POOL "account_id = ?1") \
    X(ST_MARK_BATCH_JOBS_OF_ACCOUNT, MARK_BATCH_JOB "account_id = ?1") \
    X(ST_MARK_BATCH_JOBS_OF_GROUP, \
      MARK_BATCH_JOB "account_id IN (SELECT id FROM batch_account WHERE group_id = ?1)") \
    X(ST_MARK_BATCH_POOLS_OF_GROUP, \
      MARK_BATCH_POOL "account_id IN (SELECT id FROM batch_account WHERE group_id = ?1)") \
    X(ST_BATCH_POOL_UNSETTLED, "SELECT id FROM batch_pool WHERE alloc_state <> 1 ORDER BY id") \
    X(ST_BATCH_POOL_DELETING, "SELECT id FROM batch_pool WHERE state = 2 ORDER BY id") \
    X(ST_BATCH_POOL_REMOVABLE, \
      "SELECT bp.id FROM batch_pool bp WHERE bp.state = 2 AND " \
      "NOT EXISTS (SELECT 1 FROM node n WHERE n.pool_id = bp.id) ORDER BY bp.id") \
    X(ST_BATCH_POOL_COUNT, "SELECT count(*) FROM batch_pool WHERE account_id = ?1") \
    X(ST_BATCH_POOL_SCALED, "SELECT id FROM batch_pool WHERE auto_enabled = 1 ORDER BY id") \
    X(ST_BATCH_USER_INSERT, "INSERT INTO {+batch_node_user}")                                      \
    X(ST_BATCH_USER_GET,                                                                           \
      "SELECT {batch_node_user} FROM batch_node_user nu WHERE nu.node_id = ?1 AND nu.name = ?2")   \
    X(ST_BATCH_USER_UPDATE,                                                                        \
      "UPDATE batch_node_user SET expiry_us = ?2, ssh_key = ?3, password = ?4 WHERE id = ?1")      \
    X(ST_BATCH_USER_REMOVE, "DELETE FROM batch_node_user WHERE id = ?1")                           \
    X(ST_BATCH_USER_LIST,                                                                          \
      "SELECT {batch_node_user} FROM batch_node_user nu "                                          \
      "WHERE nu.node_id = ?1 AND nu.expiry_us > ?2 ORDER BY nu.id")                                \
    X(ST_BATCH_USER_PASSWORD, "SELECT password FROM batch_node_user WHERE id = ?1")                \
    X(ST_BATCH_POOL_REMOVE, "DELETE FROM batch_pool WHERE id = ?1") \
    X(ST_MARK_BATCH_ACCOUNT, MARK_BATCH_ACCOUNT "id = ?1 " MAY_GO)                                 \
    X(ST_MARK_BATCH_ACCOUNTS_OF_GROUP, MARK_BATCH_ACCOUNT "group_id = ?1 " MAY_GO)                 \
    X(ST_REMOVE_BATCH_ACCOUNT, "DELETE FROM batch_account WHERE id = ?1")                          \
    X(ST_REMOVABLE_BATCH_ACCOUNTS,                                                                 \
      "SELECT ba.id FROM batch_account ba WHERE ba.prov_state = 5 AND "     \
      "NOT EXISTS (SELECT 1 FROM batch_pool bp WHERE bp.account_id = ba.id) AND "           \
      "NOT EXISTS (SELECT 1 FROM batch_job bj WHERE bj.account_id = ba.id) ORDER BY ba.id")   \
    X(ST_BATCH_APPLICATION_INSERT, "INSERT INTO {+batch_application}")                             \
    X(ST_BATCH_APPLICATION_GET, APPLICATION_SELECT "WHERE bn.account_id = ?1 AND bn.name = ?2")    \
    X(ST_BATCH_APPLICATION_LIST,                                                                   \
      APPLICATION_SELECT "WHERE bn.account_id = ?1 AND bn.id > ?2 ORDER BY bn.id LIMIT ?3")        \
    X(ST_BATCH_APPLICATION_USABLE,                                                                 \
      APPLICATION_SELECT "WHERE bn.account_id = ?1 AND bn.name > ?2 AND EXISTS (SELECT 1 FROM "    \
      "batch_package bg WHERE bg.application_id = bn.id AND bg.hash IS NOT NULL) "                 \
      "ORDER BY bn.name LIMIT ?3")                                                                 \
    X(ST_BATCH_APPLICATION_UPDATE,                                                                 \
      "UPDATE batch_application SET display_name = ?2, default_version = ?3, allow_updates = ?4, " \
      "updated_us = ?5 WHERE id = ?1")                                                             \
    X(ST_BATCH_APPLICATION_REMOVE, "DELETE FROM batch_application WHERE id = ?1")                  \
    X(ST_BATCH_PACKAGE_INSERT, "INSERT INTO {+batch_package}")                                     \
    X(ST_BATCH_PACKAGE_GET, PACKAGE_SELECT "WHERE bn.id = ?1 AND bg.name = ?2")                    \
    X(ST_BATCH_PACKAGE_LIST,                                                                       \
      PACKAGE_SELECT "WHERE bn.id = ?1 AND bg.id > ?2 ORDER BY bg.id LIMIT ?3")                    \
    X(ST_BATCH_PACKAGE_UPDATE,                                                                     \
      "UPDATE batch_package SET format = ?2, hash = ?3, size = ?4, activated_us = ?5, "            \
      "updated_us = ?6 WHERE id = ?1")                                                             \
    X(ST_BATCH_PACKAGE_REMOVE, "DELETE FROM batch_package WHERE id = ?1")                          \
    X(ST_BATCH_PACKAGE_OF_HASH, "SELECT count(*) FROM batch_package WHERE hash = ?1")
/* clang-format on */

#endif
