/* SPDX-License-Identifier: MIT
 *
 * The statements of burials (st_burial.c), of changes that are forgotten with them, and of seeds.
 */
#ifndef STORAGE_STATEMENTS_BURIAL_H
#define STORAGE_STATEMENTS_BURIAL_H

#include "storage/burial.h"

/* clang-format off */

/* 1: as soon as somebody looks for what has expired. */
#define BURY_VAULTS \
    "UPDATE vault SET name = name || '#' || id, subscription = '" GROUPS_BURIED "', group_id = NULL, " \
    "deleted_us = ?2, purge_us = 1 WHERE "
/* A path or scope, and what is below it. '0' is the character behind '/'. */
#define AT_OR_BELOW(column, path) \
    "(" column " = " path " OR " column " >= " path " || '/' AND " column " < " path " || '0')"
/* Whether a row of changes is forgotten. */
#define IS_FORGOTTEN(row) \
    "EXISTS (SELECT 1 FROM change_forgotten f WHERE " row ".seq <= f.up_to AND " AT_OR_BELOW(row ".path", "f.path") ")"

#define BURIAL_STATEMENTS(X)                                                                       \
    X(ST_BURY_GROUP, "UPDATE resource_group SET subscription = '" GROUPS_BURIED "', name = name || '#' || id WHERE id = ?1") \
    X(ST_BURIED_UNMARKED, \
      "SELECT id FROM resource_group WHERE subscription = '" GROUPS_BURIED "' AND prov_state <> 5 ORDER BY id LIMIT ?1") \
    X(ST_BURY_SHARES, \
      "UPDATE share SET account = account || '#' || account_id " \
      "WHERE account_id IN (SELECT id FROM storage_account WHERE group_id = ?1)") \
    X(ST_BURY_DELETED_SHARES, \
      "UPDATE share SET account = account || '#' || (SELECT s.id FROM storage_account s WHERE s.name = share.account) " \
      "WHERE state = 4 AND account_id IS NULL AND account IN (SELECT lower(name) FROM storage_account WHERE group_id = ?1)") \
    X(ST_BURY_ACCOUNTS, "UPDATE storage_account SET name = name || '#' || id WHERE group_id = ?1") \
    X(ST_BURY_BATCH_ACCOUNTS, "UPDATE batch_account SET name = name || '#' || id WHERE group_id = ?1") \
    X(ST_BURY_DELETIONS, /* keys: subscription$group$...; '%' is the character behind '$' */ \
      "UPDATE operation SET status = 2, end_us = ?2 WHERE guid IN (SELECT o.guid FROM operation o JOIN " \
      "(SELECT lower(subscription || '$' || name) AS k FROM resource_group WHERE id = ?1) " \
      "ON o.resource_key = k OR o.resource_key >= k || '$' AND o.resource_key < k || '%' " \
      "WHERE o.status = 1 AND o.is_delete = 1)") \
    X(ST_BURY_VAULTS, BURY_VAULTS "group_id = ?1") \
    X(ST_BURY_DELETED_VAULTS, \
      BURY_VAULTS "subscription = ?1 AND group_id IS NULL AND (?3 IS NULL OR group_name = ?3) AND id > ?4") \
    X(ST_LAST_VAULT, "SELECT ifnull(max(id), 0) FROM vault") \
    X(ST_BURY_ROLES, "DELETE FROM role_assignment WHERE " AT_OR_BELOW("scope", "?1")) \
    X(ST_POOL_IS_UNMADE, \
      "SELECT EXISTS (SELECT 1 FROM resource_group g WHERE g.prov_state = 1 AND g.id IN (" \
      "SELECT w.group_id FROM cluster c JOIN workspace w ON w.id = c.workspace_id WHERE c.id = ?1 UNION ALL " \
      "SELECT a.group_id FROM batch_pool p JOIN batch_account a ON a.id = p.account_id WHERE p.id = ?1))") \
    X(ST_SUBSCRIPTION_NAME, "UPDATE subscription SET name = ?2 WHERE id = ?1") \
    X(ST_CHANGE_SINCE, \
      "SELECT seq, at_us, kind, resource_id, path, what, from_state, to_state, reason FROM change " \
      "WHERE seq > ?1 AND NOT " IS_FORGOTTEN("change") " ORDER BY seq LIMIT ?2") \
    X(ST_CHANGE_FORGET, \
      "INSERT INTO change_forgotten (path, up_to) SELECT ?1, seq FROM change " \
      "WHERE seq = (SELECT max(seq) FROM change) ON CONFLICT (path) DO UPDATE SET up_to = excluded.up_to") \
    X(ST_CHANGE_FORGET_ALL, "DELETE FROM change") \
    X(ST_CHANGE_ANY_FORGOTTEN, "SELECT EXISTS (SELECT 1 FROM change_forgotten)") \
    X(ST_CHANGE_SWEEP, \
      "DELETE FROM change WHERE seq IN (SELECT c.seq FROM change_forgotten f CROSS JOIN change c ON " \
      AT_OR_BELOW("c.path", "f.path") " AND c.seq <= f.up_to LIMIT ?1)") \
    X(ST_CHANGE_SWEPT, "DELETE FROM change_forgotten")
/* clang-format on */

#endif
