/* SPDX-License-Identifier: MIT
 *
 * Every SQL statement of the room: X(id, text). Parameters ?1.. are bound in that order, result
 * columns are read in that order by the one row-reader of the table (st_*.c). The literal
 * conditions (prov_state = 5, exec_state = 1, status = 1, ...) repeat those of the partial indexes
 * in migrations/, or the indexes would not be used; test_statements.c looks at the query plans.
 * Statements that begin and end transactions come first.
 */
#ifndef STORAGE_STATEMENTS_H
#define STORAGE_STATEMENTS_H

#include "storage/statements_batch.h"
#include "storage/statements_batch_chores.h"
#include "storage/statements_batch_jobs.h"
#include "storage/statements_batch_samples.h"
#include "storage/statements_batch_schedules.h"
#include "storage/statements_burial.h"

#define GROUP_SELECT "SELECT {group} FROM resource_group g "
#define WORKSPACE_SELECT                                                                           \
    "SELECT {workspace} FROM workspace w JOIN resource_group g ON g.id = w.group_id "

/* The workspace and group that a resource `r` with a workspace_id lives in. */
#define OF_WORKSPACE                                                                               \
    "JOIN workspace w ON w.id = r.workspace_id JOIN resource_group g ON g.id = w.group_id "

#define EXPERIMENT_SELECT  "SELECT {experiment} FROM experiment r " OF_WORKSPACE
#define FILE_SERVER_SELECT "SELECT {file_server} FROM file_server r " OF_WORKSPACE
#define CLUSTER_SELECT     "SELECT {cluster} FROM cluster r JOIN pool p ON p.id = r.id " OF_WORKSPACE

/* A job and its run: 6 is RES_JOB. */
#define RUN_OF_JOB    "u.owner_kind = 6 AND u.idx = 0 AND u.owner_id = "
#define OF_EXPERIMENT "JOIN experiment r ON r.id = j.experiment_id " OF_WORKSPACE
/* CROSS JOIN: SQLite keeps this order. */
#define JOB_SELECT "SELECT {job} FROM job j CROSS JOIN run u ON " RUN_OF_JOB "j.id " OF_EXPERIMENT
#define RUN_SELECT "SELECT {run} FROM run u "

#define ACCOUNT_SELECT                                                                             \
    "SELECT {account} FROM storage_account s JOIN resource_group g ON g.id = s.group_id "
#define SHARE_SELECT    "SELECT {share} FROM share h "
#define ITEM_SELECT     "SELECT {item} FROM share_item i "
#define SNAPSHOT_SELECT "SELECT {snapshot} FROM blob_snapshot bs "

/* The allocation is live: 1 is held. Of a node's allocations the ended ones are as many as the jobs
 * that it ever ran, and SQLite would go over them: it does not know how few are live. */
#define IS_LIVE           "a.state = 1"
#define LIVE_ALLOCATION   "allocation a INDEXED BY allocation_live "
#define LIVE_OF_NODE      "FROM " LIVE_ALLOCATION "WHERE " IS_LIVE " AND a.node_id = "
#define BUSY_MACHINE      "n.machine_id IS NOT NULL AND EXISTS (SELECT 1 " LIVE_OF_NODE "n.id)"
#define ALLOCATION_SELECT "SELECT {allocation} FROM allocation a "

#define NODE_POOL   "CROSS JOIN pool np ON np.id = n.pool_id "
#define NODE_SELECT "SELECT {node} FROM node n " NODE_POOL

/* Jobs that hold nodes. */
#define HELD                                                                                       \
    "FROM allocation a CROSS JOIN run u ON u.id = a.run_id AND u.owner_kind = 6 "                  \
    "CROSS JOIN job h ON h.id = u.owner_id "
/* Their ids, with the experiment x of each. */
#define HELD_JOBS "SELECT h.id " HELD "CROSS JOIN experiment x ON x.id = h.experiment_id "
#define NOT_HELD                                                                                   \
    "AND NOT EXISTS (SELECT 1 FROM run u JOIN allocation a ON a.run_id = u.id WHERE "              \
    "u.owner_kind = 6 AND u.owner_id = j.id AND " IS_LIVE ") "
/* A run that wants more of each node than any of its pool has is passed over. */
#define SOME_NODE_FITS                                                                             \
    "EXISTS (SELECT 1 FROM node n WHERE n.pool_id = u.pool_id AND n.slots >= u.need_slots AND "    \
    "n.gpus >= u.need_gpus AND n.cores >= u.need_cores AND n.memory >= u.need_memory) "
#define FITS_SOME_NODE "AND (u.need_whole = 1 OR " SOME_NODE_FITS ") "
/* Those that wait, held or not; and those of them that nothing holds. */
#define WAITING_OF_POOL RUN_SELECT "WHERE u.pool_id = ?1 AND u.phase = 1 AND u.stop = 0 "
#define QUEUE_OF_POOL   WAITING_OF_POOL "AND u.held = 1 "

#define VAULT_SELECT "SELECT {vault} FROM vault v "
/* The vault's columns once it is soft-deleted: ?2 is now. */
#define SOFT_DELETED "group_id = NULL, deleted_us = ?2, purge_us = ?2 + retention_us "
/* The version kv of a secret k. CROSS JOIN: SQLite keeps this order. */
#define VERSION_SELECT                                                                             \
    "SELECT {secret_version} FROM secret k CROSS JOIN secret_version kv ON kv.secret_id = k.id "
#define IS_NEWEST "kv.id = (SELECT max(z.id) FROM secret_version z WHERE z.secret_id = k.id) "

#define ASSIGNMENT_SELECT "SELECT {role_assignment} FROM role_assignment ra "

/* ?3 is the state, ?4 the set of those that may go to it. */
#define MAY_GO "AND (?4 >> prov_state) & 1"
#define MARK(table, which)                                                                         \
    "UPDATE " table " SET prov_us = CASE prov_state WHEN ?3 THEN prov_us ELSE ?2 END, "            \
    "prov_state = ?3 WHERE " which " " MAY_GO

#define MARK_ACCOUNT "UPDATE storage_account SET prov_state = ?3, updated_us = ?2 WHERE "
/* Of shares: 3 is being moved away. One that was being restored stays where it was. */
#define MARK_SHARE                                                                                 \
    "UPDATE share SET state = 3, "                                                                 \
    "deleted_us = CASE deleted_us WHEN 0 THEN ?2 ELSE deleted_us END WHERE "
#define IS_HERE "AND state <> 3 AND ?3 = 5 AND ?4 <> 0" /* all marks have the same parameters */

/* clang-format off */
#define STATEMENTS(X)                                                                              \
    X(ST_BEGIN, "BEGIN IMMEDIATE")                                                                 \
    X(ST_BEGIN_READ, "BEGIN")  \
    X(ST_COMMIT, "COMMIT")                                                                         \
    X(ST_ROLLBACK, "ROLLBACK")                                                                     \
    X(ST_SAVEPOINT, "SAVEPOINT part")                                                              \
    X(ST_ROLLBACK_PART, "ROLLBACK TO part")                                                        \
    X(ST_RELEASE, "RELEASE part")                                                                  \
    X(ST_GROUP_INSERT, "INSERT INTO {+group}") \
    X(ST_GROUP_UPDATE, "UPDATE resource_group SET tags = ?2, updated_us = ?3 WHERE id = ?1")       \
    X(ST_GROUP_GET, GROUP_SELECT "WHERE g.subscription = ?1 AND g.name = ?2")                      \
    X(ST_GROUP_MAKING, "UPDATE resource_group SET prov_state = 1 WHERE id = ?1 AND prov_state = 3") \
    X(ST_GROUP_MADE, "UPDATE resource_group SET prov_state = 3 WHERE id = ?1 AND prov_state = 1") \
    X(ST_GROUP_UNMADE, GROUP_SELECT "WHERE g.prov_state = 1 AND g.subscription <> '" GROUPS_BURIED "' ORDER BY g.id") \
    X(ST_GROUP_BUSY_MACHINES,                                                                      \
      "SELECT (SELECT count(*) FROM workspace w CROSS JOIN cluster c ON c.workspace_id = w.id "    \
      "CROSS JOIN node n ON n.pool_id = c.id WHERE w.group_id = ?1 AND " BUSY_MACHINE ") + "       \
      "(SELECT count(*) FROM batch_account ba CROSS JOIN batch_pool bp ON bp.account_id = ba.id "  \
      "CROSS JOIN node n ON n.pool_id = bp.id WHERE ba.group_id = ?1 AND " BUSY_MACHINE ")")       \
    X(ST_GROUP_BY_ID, GROUP_SELECT "WHERE g.id = ?1")                                              \
    X(ST_GROUP_LIST,                                                                               \
      GROUP_SELECT "WHERE g.subscription = ?1 AND g.id > ?2 ORDER BY g.id LIMIT ?3")               \
    X(ST_WORKSPACE_INSERT, "INSERT INTO {+workspace}") \
    X(ST_WORKSPACE_TAGS, "UPDATE workspace SET tags = ?2, updated_us = ?3 WHERE id = ?1")          \
    X(ST_WORKSPACE_GET, WORKSPACE_SELECT "WHERE w.group_id = ?1 AND w.name = ?2")                  \
    X(ST_WORKSPACE_BY_ID, WORKSPACE_SELECT "WHERE w.id = ?1")                                      \
    X(ST_WORKSPACE_LIST_SUBSCRIPTION,                                                              \
      WORKSPACE_SELECT "WHERE g.subscription = ?1 AND w.id > ?2 ORDER BY w.id LIMIT ?3")           \
    X(ST_WORKSPACE_LIST_GROUP,                                                                     \
      WORKSPACE_SELECT "WHERE w.group_id = ?1 AND w.id > ?2 ORDER BY w.id LIMIT ?3")               \
    X(ST_EXPERIMENT_INSERT, "INSERT INTO {+experiment}") \
    X(ST_EXPERIMENT_GET, EXPERIMENT_SELECT "WHERE r.workspace_id = ?1 AND r.name = ?2")            \
    X(ST_EXPERIMENT_FIND, EXPERIMENT_SELECT "WHERE g.subscription = ?1 AND g.name = ?2 AND w.name = ?3 AND r.name = ?4") \
    X(ST_EXPERIMENT_BY_ID, EXPERIMENT_SELECT "WHERE r.id = ?1")                                    \
    X(ST_EXPERIMENT_LIST,                                                                          \
      EXPERIMENT_SELECT "WHERE r.workspace_id = ?1 AND r.id > ?2 ORDER BY r.id LIMIT ?3")          \
    X(ST_FILE_SERVER_INSERT, "INSERT INTO {+file_server}") \
    X(ST_FILE_SERVER_GET, FILE_SERVER_SELECT "WHERE r.workspace_id = ?1 AND r.name = ?2")          \
    X(ST_FILE_SERVER_BY_ID, FILE_SERVER_SELECT "WHERE r.id = ?1")                                  \
    X(ST_FILE_SERVER_SECRETS, "SELECT secrets FROM file_server WHERE id = ?1")                     \
    X(ST_FILE_SERVER_MOVE,                                                                         \
      "UPDATE file_server SET prov_state = ?3, prov_us = ?4 WHERE id = ?1 AND prov_state = ?2")    \
    X(ST_FILE_SERVER_STATE, "SELECT prov_state FROM file_server WHERE id = ?1")                    \
    X(ST_FILE_SERVER_CREATING, "SELECT id FROM file_server WHERE prov_state = 1 ORDER BY id")      \
    X(ST_FILE_SERVER_SERVED, "SELECT id FROM file_server WHERE prov_state = 3 ORDER BY id")        \
    X(ST_FILE_SERVER_LIST_SUBSCRIPTION,                                                            \
      FILE_SERVER_SELECT "WHERE g.subscription = ?1 AND r.id > ?2 ORDER BY r.id LIMIT ?3")         \
    X(ST_FILE_SERVER_LIST_NAMED,                                                                   \
      FILE_SERVER_SELECT "WHERE g.subscription = ?1 AND w.name = ?2 AND r.id > ?3 "                \
      "ORDER BY r.id LIMIT ?4")                                                                    \
    X(ST_FILE_SERVER_LIST_GROUP,                                                                   \
      FILE_SERVER_SELECT "WHERE w.group_id = ?1 AND r.id > ?2 ORDER BY r.id LIMIT ?3")             \
    X(ST_FILE_SERVER_LIST_WORKSPACE,                                                               \
      FILE_SERVER_SELECT "WHERE r.workspace_id = ?1 AND r.id > ?2 ORDER BY r.id LIMIT ?3")         \
    X(ST_CLUSTER_INSERT, "INSERT INTO {+cluster}") \
    X(ST_CLUSTER_UPDATE_SCALE, "UPDATE cluster SET doc = ?2, updated_us = ?3 WHERE id = ?1") \
    X(ST_CLUSTER_GET, CLUSTER_SELECT "WHERE r.workspace_id = ?1 AND r.name = ?2")                  \
    X(ST_CLUSTER_FIND, CLUSTER_SELECT "WHERE g.subscription = ?1 AND g.name = ?2 AND w.name = ?3 AND r.name = ?4") \
    X(ST_CLUSTER_BY_ID, CLUSTER_SELECT "WHERE r.id = ?1")                                          \
    X(ST_CLUSTER_LIST_SUBSCRIPTION,                                                                \
      CLUSTER_SELECT "WHERE g.subscription = ?1 AND r.id > ?2 ORDER BY r.id LIMIT ?3")             \
    X(ST_CLUSTER_LIST_NAMED,                                                                       \
      CLUSTER_SELECT "WHERE g.subscription = ?1 AND w.name = ?2 AND r.id > ?3 "                    \
      "ORDER BY r.id LIMIT ?4")                                                                    \
    X(ST_CLUSTER_LIST_GROUP,                                                                       \
      CLUSTER_SELECT "WHERE w.group_id = ?1 AND r.id > ?2 ORDER BY r.id LIMIT ?3")                 \
    X(ST_CLUSTER_LIST_WORKSPACE,                                                                   \
      CLUSTER_SELECT "WHERE r.workspace_id = ?1 AND r.id > ?2 ORDER BY r.id LIMIT ?3")             \
    X(ST_CLUSTER_NAMES, \
      "SELECT r.name, w.name FROM cluster r JOIN workspace w ON w.id = r.workspace_id WHERE r.id = ?1") \
    X(ST_CLUSTER_NODE_COUNTS, \
      "SELECT n.state, n.state = 2 AND EXISTS (SELECT 1 " LIVE_OF_NODE "n.id), count(*) FROM node n WHERE n.pool_id = ?1 GROUP BY 1, 2") \
    X(ST_CLUSTER_SECRETS, "SELECT secrets FROM cluster WHERE id = ?1")                             \
    X(ST_POOL_MOVE, "UPDATE pool SET alloc_state = ?3, alloc_us = ?4, is_new = 0 WHERE id = ?1 AND alloc_state = ?2") \
    X(ST_POOL_ALLOC, "SELECT alloc_state FROM pool WHERE id = ?1") \
    X(ST_POOL_SET_AUTO_TARGET, "UPDATE pool SET auto_target = ?2 WHERE id = ?1") \
    X(ST_POOL_SET_ERRORS, "UPDATE pool SET errors = ?2 WHERE id = ?1") \
    X(ST_POOL_KIND, "SELECT kind FROM pool WHERE id = ?1") \
    X(ST_POOL_IDS, "SELECT id FROM pool ORDER BY id")                                        \
    X(ST_CLUSTER_COUNT,                                                                            \
      "SELECT count(*) FROM resource_group g JOIN workspace w ON w.group_id = g.id "               \
      "JOIN cluster c ON c.workspace_id = w.id WHERE g.subscription = ?1")                         \
    X(ST_JOB_INSERT, "INSERT INTO {+job}") \
    X(ST_JOB_ID, "SELECT id FROM job WHERE experiment_id = ?1 AND name = ?2")                      \
    X(ST_JOB_FIND, JOB_SELECT "WHERE g.subscription = ?1 AND g.name = ?2 AND w.name = ?3 AND r.name = ?4 AND j.name = ?5") \
    X(ST_JOB_OTHERS,                                                                               \
      "SELECT EXISTS (SELECT 1 FROM job WHERE experiment_id = ?1 AND created_by IS NOT ?2)")       \
    X(ST_JOB_BY_ID, JOB_SELECT "WHERE j.id = ?1")                                                  \
    X(ST_JOB_LIST_SHOWN, "SELECT {job_shown} FROM job j WHERE j.experiment_id = ?1 AND j.id > ?2 ORDER BY j.id LIMIT ?3") \
    X(ST_JOB_LIST_NAMED,                                                                           \
      JOB_SELECT "WHERE g.subscription = ?1 AND w.name = ?2 AND r.name = ?3 AND j.id > ?4 "        \
      "ORDER BY j.id LIMIT ?5")                                                                    \
    X(ST_JOB_UNFINISHED,                                                                           \
      "SELECT count(*) FROM resource_group g JOIN workspace w ON w.group_id = g.id "               \
      "JOIN cluster c ON c.workspace_id = w.id JOIN job j ON j.cluster_id = c.id "                 \
      "WHERE g.subscription = ?1 AND j.exec_state IN (1, 2, 3)")                                   \
    X(ST_JOB_LATEST, JOB_SELECT "WHERE j.id < ?1 ORDER BY j.id DESC LIMIT ?2") \
    X(ST_JOB_SECRETS, "SELECT secrets FROM job WHERE id = ?1")                                     \
    X(ST_JOB_MOVE, \
      "UPDATE job SET exec_state = ?3, exec_us = ?4, " \
      "start_us = CASE ?5 WHEN 0 THEN start_us WHEN -1 THEN 0 ELSE ?5 END, " \
      "end_us = CASE ?6 WHEN 0 THEN end_us ELSE ?6 END, exit_code = coalesce(?7, exit_code), " \
      "errors = coalesce(?8, errors) WHERE id = ?1 AND exec_state = ?2") \
    X(ST_JOB_SET_GUID, "UPDATE job SET guid = ?2 WHERE id = ?1") \
    X(ST_JOB_STATE, "SELECT exec_state FROM job WHERE id = ?1")                                    \
    X(ST_NODE_INSERT, "INSERT INTO {+node}") \
    X(ST_NODE_BY_ID, NODE_SELECT "WHERE n.id = ?1") \
    X(ST_NODE_LIST, NODE_SELECT "WHERE n.pool_id = ?1 ORDER BY n.ordinal") \
    X(ST_NODE_OF_RUN, \
      "SELECT {node} FROM allocation a CROSS JOIN node n ON n.id = a.node_id " \
      NODE_POOL "WHERE a.run_id = ?1 AND " IS_LIVE " ORDER BY a.attempt, a.rank") \
    X(ST_NODE_IDS, "SELECT id FROM node ORDER BY id")                                              \
    X(ST_NODE_LOCAL_TOTAL, \
      "SELECT count(*) FROM node n JOIN pool p ON p.id = n.pool_id WHERE n.machine_id IS NULL "        \
      "AND upper(p.vm_size) NOT GLOB ?1")                                                              \
    X(ST_NODE_USES, \
      "SELECT {node_use} FROM node n LEFT JOIN cluster c ON c.id = n.pool_id " \
      "LEFT JOIN workspace w ON w.id = c.workspace_id LEFT JOIN batch_pool bp ON bp.id = n.pool_id " \
      "LEFT JOIN batch_account ba ON ba.id = bp.account_id ORDER BY n.id") \
    X(ST_NODE_MOVE, \
      "UPDATE node SET state = ?3, state_us = ?4, idle_us = ?5, errors = ?7, epoch = ?8, " \
      "why = ?9, failure = CASE WHEN ?3 <> 5 THEN 0 WHEN ?6 = 0 THEN failure ELSE ?6 END, " \
      "booted_us = CASE WHEN ?10 IN (5, 6) THEN ?4 ELSE booted_us END, " \
      "wish = coalesce(?10, CASE WHEN ?3 IN (2, 5) AND wish IN (5, 6) THEN 0 ELSE wish END) " \
      "WHERE id = ?1 AND state = ?2") \
    X(ST_NODE_STATE, "SELECT state FROM node WHERE id = ?1") \
    X(ST_NODE_SETUP_PUT, "INSERT OR REPLACE INTO {+node_setup}") \
    X(ST_NODE_SETUP_GET, "SELECT {node_setup} FROM node_setup ns WHERE ns.node_id = ?1") \
    X(ST_NODE_SET_WISH, "UPDATE node SET wish = ?2, how = ?3 WHERE id = ?1") \
    X(ST_NODE_SET_OFF, "UPDATE node SET off = ?2 WHERE id = ?1") \
    X(ST_NODE_SET_RECLAIMED, "UPDATE node SET reclaimed = 1 WHERE id = ?1") \
    X(ST_NODE_SET_INCARNATION, "UPDATE node SET incarnation = ?2, booted_us = ?3 WHERE id = ?1") \
    X(ST_NODE_REMOVE, "DELETE FROM node WHERE id = ?1")                                            \
    X(ST_ALLOCATION_KEPT_DIRS, \
      "SELECT {kept_dir} FROM allocation a JOIN run u ON u.id = a.run_id " \
      "WHERE a.node_id = ?1 AND a.kept > 0") \
    X(ST_ALLOCATION_TRIM, \
      "UPDATE allocation SET kept = 0 WHERE node_id = ?1 AND kept > 0 AND kept <= " \
      "(SELECT kept FROM allocation WHERE node_id = ?1 ORDER BY kept DESC LIMIT 1 OFFSET ?2)") \
    X(ST_POOL_INSERT, "INSERT INTO {+pool}") \
    X(ST_POOL_BY_ID, "SELECT {pool} FROM pool p WHERE p.id = ?1") \
    X(ST_POOL_SET_SCALE, \
      "UPDATE pool SET scale_kind = ?2, scale_target = ?3, scale_dealloc = ?4, " \
      "scale_minimum = ?5, scale_maximum = ?6, scale_initial = ?7, scale_low = ?8 WHERE id = ?1") \
    X(ST_POOL_REMOVE, "DELETE FROM pool WHERE id = ?1") \
    X(ST_RUN_INSERT, "INSERT INTO {+run}") \
    X(ST_POOL_PLACE, \
      "SELECT {pool_place} FROM pool p LEFT JOIN cluster c ON c.id = p.id " \
      "LEFT JOIN workspace w ON w.id = c.workspace_id LEFT JOIN resource_group g ON g.id = w.group_id " \
      "LEFT JOIN batch_pool bp ON bp.id = p.id LEFT JOIN batch_account ba ON ba.id = bp.account_id " \
      "LEFT JOIN resource_group bg ON bg.id = ba.group_id WHERE p.id = ?1") \
    X(ST_RUN_BY_ID, RUN_SELECT "WHERE u.id = ?1") \
    X(ST_RUN_OF, RUN_SELECT "WHERE u.owner_kind = ?1 AND u.owner_id = ?2 AND u.idx = ?3") \
    X(ST_RUN_WAITING, QUEUE_OF_POOL "UNION ALL " WAITING_OF_POOL "AND u.held > 1 LIMIT ?2") \
    X(ST_RUN_IN_TURN, QUEUE_OF_POOL "ORDER BY u.priority DESC, u.id LIMIT ?2") \
    X(ST_RUN_HELD, WAITING_OF_POOL "AND u.held > 1 ORDER BY u.id LIMIT ?2") \
    X(ST_RUN_BROKEN, WAITING_OF_POOL "AND u.held > 1 AND u.held = 3 LIMIT ?2") \
    X(ST_RUN_IDS_OF, "SELECT id FROM run WHERE owner_kind = ?1 AND owner_id = ?2 ORDER BY idx") \
    X(ST_RUN_COUNT_LEFT, \
      "SELECT count(*) FROM run WHERE owner_kind = ?1 AND owner_id = ?2 AND phase IN (1, 2)") \
    X(ST_RUN_NEXT_TURN, \
      "UPDATE run SET held = ?4 WHERE id = (SELECT u.id FROM run u WHERE u.owner_kind = ?1 AND u.owner_id = ?2 " \
      "AND u.phase = 1 AND u.held = ?3 ORDER BY u.idx LIMIT 1)") \
    X(ST_JOB_NOTE_FAILURE, "UPDATE job SET exit_code = ?2, errors = ?3 WHERE id = ?1 AND errors IS NULL") \
    X(ST_RUN_HOLD, \
      "UPDATE run SET held = ?4 WHERE owner_kind = ?1 AND owner_id = ?2 AND held = ?3 AND phase = 1") \
    X(ST_DEPENDENCY_INSERT, "INSERT INTO {+dependency}") \
    X(ST_DEPENDENCY_OF, "SELECT {dependency} FROM dependency dp WHERE dp.owner_kind = ?1 AND dp.owner_id = ?2") \
    X(ST_DEPENDENCY_AWAITING, \
      "SELECT {dependency} FROM dependency dp WHERE dp.awaited_kind = ?1 AND dp.awaited_id = ?2 AND dp.state = 1") \
    X(ST_DEPENDENCY_POOLS, \
      "SELECT DISTINCT u.pool_id FROM dependency dp CROSS JOIN run u ON u.owner_kind = dp.owner_kind " \
      "AND u.owner_id = dp.owner_id WHERE dp.awaited_kind = ?1 AND dp.awaited_id = ?2 AND dp.state = 1") \
    X(ST_DEPENDENCY_MOVE, \
      "UPDATE dependency SET state = ?6, ended = ?7 WHERE owner_kind = ?1 AND owner_id = ?2 AND awaited_kind = ?3 " \
      "AND awaited_id = ?4 AND state = ?5") \
    X(ST_DEPENDENCY_REMOVE, "DELETE FROM dependency WHERE owner_kind = ?1 AND owner_id = ?2") \
    X(ST_RUN_QUEUE, QUEUE_OF_POOL "AND u.nodes <= ?2 " FITS_SOME_NODE "ORDER BY u.priority DESC, u.id LIMIT ?3") \
    X(ST_RUN_OVERSIZED, QUEUE_OF_POOL "AND u.nodes > ?2 ORDER BY u.priority DESC, u.id LIMIT ?3") \
    X(ST_RUN_PARTS_AFTER, QUEUE_OF_POOL "AND u.need_whole = 0 AND u.id > ?2 ORDER BY u.id LIMIT ?3") \
    X(ST_RUN_QUEUE_DEMAND, \
      "SELECT coalesce(sum(nodes), 0) FROM run WHERE pool_id = ?1 AND phase = 1 AND stop = 0 AND held = 1 AND nodes <= ?2") \
    X(ST_RUN_PARTS_DEMAND, \
      "SELECT coalesce(sum(nodes), 0) FROM run WHERE pool_id = ?1 AND phase = 1 AND stop = 0 AND held = 1 " \
      "AND need_whole = 0 AND nodes <= ?2") \
    X(ST_RUN_PARTS, \
      QUEUE_OF_POOL "AND u.need_whole = 0 AND u.nodes <= ?2 ORDER BY u.priority DESC, u.id LIMIT ?3") \
    X(ST_POOL_HELD, \
      "SELECT {held_part} FROM node n CROSS JOIN " LIVE_ALLOCATION "ON a.node_id = n.id AND " IS_LIVE \
      " CROSS JOIN run u ON u.id = a.run_id WHERE n.pool_id = ?1 ORDER BY n.ordinal") \
    X(ST_RUN_LIVE_IDS, "SELECT id FROM run WHERE phase IN (2, 3) ORDER BY id") \
    X(ST_RUN_DOOMED_IDS, "SELECT id FROM run WHERE phase IN (2, 3) AND stop = 2 ORDER BY id") \
    X(ST_RUN_MOVE, \
      "UPDATE run SET phase = ?3, start_us = CASE ?4 WHEN 0 THEN start_us WHEN -1 THEN 0 ELSE ?4 END, " \
      "end_us = CASE ?5 WHEN 0 THEN end_us ELSE ?5 END, attempt = CASE ?6 WHEN 0 THEN attempt ELSE ?6 END, " \
      "failure = CASE ?7 WHEN -1 THEN failure ELSE ?7 END, retried = retried + ?8 WHERE id = ?1 AND phase = ?2") \
    X(ST_RUN_STATE, "SELECT phase FROM run WHERE id = ?1") \
    X(ST_RUN_SET_STOP, "UPDATE run SET stop = max(stop, ?2) WHERE id = ?1") \
    X(ST_RUN_REMOVE_OF, "DELETE FROM run WHERE owner_kind = ?1 AND owner_id = ?2") \
    X(ST_ALLOCATION_INSERT, "INSERT INTO {+allocation}") \
    X(ST_ALLOCATION_OF_RUN, ALLOCATION_SELECT "WHERE a.run_id = ?1 AND a.attempt = ?2 ORDER BY a.rank") \
    X(ST_ALLOCATION_OF_RUN_ALL, ALLOCATION_SELECT "WHERE a.run_id = ?1 ORDER BY a.attempt, a.rank") \
    X(ST_ALLOCATION_BEFORE, \
      ALLOCATION_SELECT "WHERE a.node_id = ?1 AND a.run_id <> ?2 AND a.released_us > ?3 AND " \
      "a.released_us <= ?4 ORDER BY a.released_us DESC LIMIT 1") \
    X(ST_ALLOCATION_OF_NODE, "SELECT {allocation} " LIVE_OF_NODE "?1") \
    X(ST_ALLOCATION_MOVE, \
      "UPDATE allocation SET state = ?5, released_us = ?6 " \
      "WHERE run_id = ?1 AND attempt = ?2 AND rank = ?3 AND state = ?4") \
    X(ST_ALLOCATION_TAKE, \
      "UPDATE node SET idle_us = 0, aside = aside + (?2 = 0) WHERE id = ?1 AND state = 2 AND slots >= ?2 AND gpus >= ?3 " \
      "AND cores >= ?4 AND memory >= ?5 AND NOT EXISTS (SELECT 1 " \
      LIVE_OF_NODE "?1 AND (?6 OR a.devices IS NULL)) " \
      "AND NOT EXISTS (SELECT 1 " LIVE_OF_NODE "?1 GROUP BY a.node_id HAVING " \
      "sum(a.slots) + ?2 > node.slots OR sum(a.gpus) + ?3 > node.gpus OR " \
      "sum(a.cores) + ?4 > node.cores OR sum(a.memory) + ?5 > node.memory)") \
    X(ST_ALLOCATION_FREE, \
      "UPDATE node SET idle_us = ?2 WHERE id = ?1 AND state = 2 AND NOT EXISTS " \
      "(SELECT 1 " LIVE_OF_NODE "?1)") \
    X(ST_ALLOCATION_FREE_ASIDE, "UPDATE node SET aside = aside - 1 WHERE id = ?1") \
    X(ST_RUN_BEGINS, "UPDATE run SET start_us = ?2 WHERE id = ?1") \
    X(ST_NODE_BAR, "INSERT OR IGNORE INTO node_bar (group_id, node_id) VALUES (?1, ?2)") \
    X(ST_NODE_BARRED, "SELECT node_id FROM node_bar WHERE group_id = ?1 ORDER BY node_id") \
    X(ST_ALLOCATION_KEEP, \
      "UPDATE allocation SET kept = CASE WHEN ?4 THEN (SELECT coalesce(max(o.kept), 0) + 1 " \
      "FROM allocation o WHERE o.node_id = allocation.node_id) ELSE 0 END " \
      "WHERE run_id = ?1 AND attempt = ?2 AND rank = ?3") \
    X(ST_NODE_SET_CAPACITY, \
      "UPDATE node SET slots = ?2, gpus = ?3, cores = ?4, memory = ?5, devices = ?6 WHERE id = ?1") \
    X(ST_EPOCH_TOUCH, "UPDATE epoch SET started_us = started_us + 1 - 2 * (started_us % 2) WHERE id = 1") \
    X(ST_EPOCH_GET, "SELECT {epoch} FROM epoch h WHERE h.id = 1") \
    X(ST_EVENT_INSERT, "INSERT INTO {+event}") \
    X(ST_EVENT_TRIM, \
      "DELETE FROM event WHERE kind = ?1 AND resource_id = ?2 AND seq <= (SELECT seq FROM event " \
      "WHERE kind = ?1 AND resource_id = ?2 ORDER BY seq DESC LIMIT 1 OFFSET ?3)") \
    X(ST_EVENT_OF, "SELECT {event} FROM event e WHERE e.kind = ?1 AND e.resource_id = ?2 ORDER BY e.seq") \
    X(ST_EVENT_SINCE, "SELECT {event} FROM event e WHERE e.seq > ?1 ORDER BY e.seq LIMIT ?2") \
    X(ST_EVENT_FORGET, "DELETE FROM event WHERE kind = ?1 AND resource_id = ?2") \
    X(ST_ACCOUNT_INSERT, "INSERT INTO {+account}") \
    X(ST_ACCOUNT_BY_NAME, ACCOUNT_SELECT "WHERE s.name = ?1") \
    X(ST_ACCOUNT_BY_ID, ACCOUNT_SELECT "WHERE s.id = ?1") \
    X(ST_ACCOUNT_LIST_SUBSCRIPTION, \
      ACCOUNT_SELECT "WHERE g.subscription = ?1 AND s.id > ?2 ORDER BY s.id LIMIT ?3") \
    X(ST_ACCOUNT_LIST_GROUP, ACCOUNT_SELECT "WHERE s.group_id = ?1 AND s.id > ?2 ORDER BY s.id LIMIT ?3") \
    X(ST_ACCOUNT_COUNT, \
      "SELECT count(*) FROM resource_group g JOIN storage_account s ON s.group_id = g.id WHERE g.subscription = ?1") \
    X(ST_ACCOUNT_UPDATE, \
      "UPDATE storage_account SET group_id = ?2, location = ?3, sku = ?4, kind = ?5, tags = ?6, doc = ?7, " \
      "created_by = ?8, prov_state = ?9, created_us = ?10, updated_us = ?11, implicit = ?12, blob_service = ?13, file_service = ?14 " \
      "WHERE id = ?1") \
    X(ST_ACCOUNT_KEYS, "SELECT keys FROM storage_account WHERE id = ?1") \
    X(ST_ACCOUNT_SET_KEYS, \
      "UPDATE storage_account SET keys = ?2, key1_us = coalesce(?3, key1_us), key2_us = coalesce(?4, key2_us) " \
      "WHERE id = ?1") \
    X(ST_SHARE_INSERT, "INSERT INTO {+share}") \
    X(ST_SHARE_BY_NAME, SHARE_SELECT "WHERE h.account_id = ?1 AND h.kind = ?2 AND h.name = ?3") \
    X(ST_SHARE_BY_ID, SHARE_SELECT "WHERE h.id = ?1") \
    X(ST_SHARE_LIST, \
      SHARE_SELECT "WHERE h.account_id = ?1 AND h.kind = ?2 AND h.name > ?3 AND h.name >= ?4 AND " \
      "h.name < ?4 || char(1114111) AND h.state = 2 ORDER BY h.name LIMIT ?5") \
    X(ST_SHARE_UPDATE, \
      "UPDATE share SET quota = ?3, metadata = ?4, acl = ?5, public_access = ?6, access_tier = ?7, " \
      "lease_state = ?8, lease_id = ?9, lease_duration_s = ?10, lease_until_us = ?11, etag = ?12, " \
      "updated_us = ?13 WHERE id = ?1 AND state = 2 AND (?2 = 0 OR etag = ?2)") \
    X(ST_SHARE_MOVE, \
      "UPDATE share SET state = ?3, account_id = ?4, deleted_us = ?5 WHERE id = ?1 AND state = ?2") \
    X(ST_SHARE_STATE, "SELECT state FROM share WHERE id = ?1") \
    X(ST_SHARE_IDS_OF_ACCOUNT, "SELECT id FROM share WHERE account_id = ?1 ORDER BY id") \
    X(ST_SHARE_UNSETTLED, "SELECT id FROM share h WHERE h.state IN (1, 3) ORDER BY id") \
    X(ST_SHARE_DELETED, \
      SHARE_SELECT "WHERE h.state = 4 AND (h.deleted_us < ?1 OR instr(h.account, '#') > 0) AND h.id > ?2 " \
      "ORDER BY h.id LIMIT ?3") \
    X(ST_SHARE_EMPTY, \
      "DELETE FROM share_item WHERE id IN (SELECT id FROM share_item WHERE share_id = ?1 LIMIT ?2)") \
    X(ST_SHARE_REMOVE, "DELETE FROM share WHERE id = ?1") \
    X(ST_ITEM_GET, ITEM_SELECT "WHERE i.share_id = ?1 AND i.path = ?2") \
    X(ST_ITEM_REPLACE, "INSERT OR REPLACE INTO {+item}") \
    X(ST_ITEM_REMOVE, "DELETE FROM share_item WHERE share_id = ?1 AND path = ?2") \
    X(ST_ITEM_REMOVE_BELOW, \
      "DELETE FROM share_item WHERE share_id = ?1 AND path >= ?2 AND path < ?3") \
    X(ST_ITEM_MOVE, \
      "UPDATE OR REPLACE share_item SET path = ?3 || substr(path, length(?2) + 1), " \
      "revision = revision + 1 WHERE share_id = ?1 AND path = ?2") \
    X(ST_ITEM_MOVE_BELOW, \
      "UPDATE OR REPLACE share_item SET path = ?4 || substr(path, length(?2) + 1) " \
      "WHERE share_id = ?1 AND path >= ?2 AND path < ?3") \
    X(ST_ITEM_LIST, ITEM_SELECT "WHERE i.share_id = ?1 AND i.path >= ?2 AND i.path < ?3 ORDER BY i.path LIMIT ?4") \
    X(ST_ITEM_ASIDE, ITEM_SELECT "WHERE i.share_id = ?1 AND i.aside IS NOT NULL AND i.path >= ?2 " \
      "AND i.path < ?3 ORDER BY i.path LIMIT ?4") \
    X(ST_KEPT_PUT_ADD, "INSERT OR REPLACE INTO kept_put " \
      "(id, share_id, path, aside, inode, mtime_ns, boot, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)") \
    X(ST_KEPT_PUT_REMOVE, "DELETE FROM kept_put WHERE id = ?1") \
    X(ST_KEPT_PUT_FORGET, "DELETE FROM kept_put WHERE share_id = ?1 AND path = ?2") \
    X(ST_KEPT_PUT_IDS, \
      "SELECT k.id FROM kept_put k JOIN share h ON h.id = k.share_id WHERE h.state = 2 ORDER BY k.id") \
    X(ST_KEPT_PUT_GET, "SELECT share_id, path, aside, inode, mtime_ns, boot, bytes FROM kept_put WHERE id = ?1") \
    X(ST_KEPT_PUT_LAST, "SELECT coalesce(max(id), 0) FROM kept_put") \
    X(ST_SNAPSHOT_GET, SNAPSHOT_SELECT "WHERE bs.share_id = ?1 AND bs.path = ?2 AND bs.taken_us = ?3") \
    X(ST_SNAPSHOT_REPLACE, "INSERT OR REPLACE INTO {+snapshot}") \
    X(ST_SNAPSHOT_REMOVE, "DELETE FROM blob_snapshot WHERE share_id = ?1 AND path = ?2 AND taken_us = ?3") \
    X(ST_SNAPSHOT_NEWEST, \
      "SELECT taken_us FROM blob_snapshot WHERE share_id = ?1 AND path = ?2 ORDER BY taken_us DESC LIMIT 1") \
    X(ST_SNAPSHOT_LIST, SNAPSHOT_SELECT "WHERE bs.share_id = ?1 AND (bs.path, bs.taken_us) > (?2, ?3) AND bs.path < ?4 " \
      "ORDER BY bs.path, bs.taken_us LIMIT ?5") \
    X(ST_SHARE_EMPTY_SNAPSHOTS, \
      "DELETE FROM blob_snapshot WHERE id IN (SELECT id FROM blob_snapshot WHERE share_id = ?1 LIMIT ?2)") \
    X(ST_MACHINE_ID, "SELECT id FROM machine WHERE name = ?1")                                     \
    X(ST_MACHINE_INSERT, "INSERT INTO machine (name, drained, contact_us) VALUES (?1, 0, 0)")      \
    X(ST_MACHINE_LIST, "SELECT {machine} FROM machine m ORDER BY m.id") \
    X(ST_MACHINE_SET_DRAINED, "UPDATE machine SET drained = ?2, reason = ?3 WHERE id = ?1")        \
    X(ST_MACHINE_SET_CONTACT, "UPDATE machine SET contact_us = ?2, facts = ?3 WHERE id = ?1")      \
    X(ST_MACHINE_REMOVE, "DELETE FROM machine WHERE id = ?1")                                      \
    X(ST_MARK_GROUP, "UPDATE resource_group SET prov_state = ?3 WHERE id = ?1 " MAY_GO)                     \
    X(ST_MARK_WORKSPACE, MARK("workspace", "id = ?1"))                                        \
    X(ST_MARK_EXPERIMENT, MARK("experiment", "id = ?1"))                                      \
    X(ST_MARK_CLUSTER, MARK("cluster", "id = ?1"))                                            \
    X(ST_MARK_FILE_SERVER, MARK("file_server", "id = ?1"))                                    \
    X(ST_MARK_JOB, MARK("job", "id = ?1"))                                                    \
    X(ST_MARK_WORKSPACES_OF_GROUP, MARK("workspace", "group_id = ?1"))                        \
    X(ST_MARK_EXPERIMENTS_OF_GROUP,                                                                \
      MARK("experiment", "workspace_id IN (SELECT id FROM workspace WHERE group_id = ?1)"))   \
    X(ST_MARK_CLUSTERS_OF_GROUP,                                                                   \
      MARK("cluster", "workspace_id IN (SELECT id FROM workspace WHERE group_id = ?1)"))      \
    X(ST_MARK_FILE_SERVERS_OF_GROUP,                                                               \
      MARK("file_server", "workspace_id IN (SELECT id FROM workspace WHERE group_id = ?1)"))  \
    X(ST_MARK_HELD_OF_GROUP,                                                                       \
      MARK("job", "id IN (" HELD_JOBS "CROSS JOIN workspace w ON w.id = x.workspace_id "           \
      "WHERE w.group_id = ?1 AND " IS_LIVE ")"))                                                                    \
    X(ST_MARK_EXPERIMENTS_OF_WORKSPACE, MARK("experiment", "workspace_id = ?1"))              \
    X(ST_MARK_CLUSTERS_OF_WORKSPACE, MARK("cluster", "workspace_id = ?1"))                    \
    X(ST_MARK_FILE_SERVERS_OF_WORKSPACE, MARK("file_server", "workspace_id = ?1"))            \
    X(ST_MARK_HELD_OF_WORKSPACE,                                                                   \
      MARK("job", "id IN (" HELD_JOBS "WHERE x.workspace_id = ?1 AND " IS_LIVE ")"))                          \
    X(ST_MARK_HELD_OF_EXPERIMENT, MARK("job", "id IN (" HELD_JOBS "WHERE x.id = ?1 AND " IS_LIVE ")"))        \
    X(ST_VAULTS_LEAVE_GROUP, "UPDATE vault SET " SOFT_DELETED "WHERE group_id = ?1")              \
    X(ST_MARK_ACCOUNT, MARK_ACCOUNT "id = ?1 " MAY_GO) \
    X(ST_MARK_ACCOUNTS_OF_GROUP, MARK_ACCOUNT "group_id = ?1 " MAY_GO) \
    X(ST_MARK_SHARES_OF_ACCOUNT, MARK_SHARE "account_id = ?1 " IS_HERE) \
    X(ST_MARK_SHARES_OF_GROUP, \
      MARK_SHARE "account_id IN (SELECT id FROM storage_account WHERE group_id = ?1) " IS_HERE) \
    X(ST_REMOVE_ACCOUNT, "DELETE FROM storage_account WHERE id = ?1") \
    X(ST_REMOVABLE_ACCOUNTS, \
      "SELECT s.id FROM storage_account s WHERE s.prov_state = 5 " \
      "AND NOT EXISTS (SELECT 1 FROM share h WHERE h.account_id = s.id) ORDER BY s.id") \
    X(ST_DELETING_ACCOUNTS, "SELECT id FROM storage_account WHERE prov_state = 5 ORDER BY id") \
    X(ST_REMOVE_GROUP, "DELETE FROM resource_group WHERE id = ?1")                                 \
    X(ST_REMOVE_WORKSPACE, "DELETE FROM workspace WHERE id = ?1")                                  \
    X(ST_REMOVE_EXPERIMENT, "DELETE FROM experiment WHERE id = ?1")                                \
    X(ST_REMOVE_CLUSTER, "DELETE FROM cluster WHERE id = ?1")                                      \
    X(ST_REMOVE_FILE_SERVER, "DELETE FROM file_server WHERE id = ?1")                              \
    X(ST_REMOVE_JOB, "DELETE FROM job WHERE id = ?1")                                              \
    X(ST_REMOVABLE_GROUPS,                                                                         \
      "SELECT g.id FROM resource_group g WHERE g.prov_state = 5 "                                  \
      "AND NOT EXISTS (SELECT 1 FROM workspace WHERE group_id = g.id) "                            \
      "AND NOT EXISTS (SELECT 1 FROM vault WHERE group_id = g.id) "                                \
      "AND NOT EXISTS (SELECT 1 FROM batch_account WHERE group_id = g.id) "                        \
      "AND NOT EXISTS (SELECT 1 FROM storage_account WHERE group_id = g.id) ORDER BY g.id")        \
    X(ST_REMOVABLE_WORKSPACES,                                                                     \
      "SELECT w.id FROM workspace w WHERE w.prov_state = 5 "                                       \
      "AND NOT EXISTS (SELECT 1 FROM experiment WHERE workspace_id = w.id) "                       \
      "AND NOT EXISTS (SELECT 1 FROM cluster WHERE workspace_id = w.id) "                          \
      "AND NOT EXISTS (SELECT 1 FROM file_server WHERE workspace_id = w.id) ORDER BY w.id")        \
    X(ST_REMOVABLE_EXPERIMENTS,                                                                    \
      "SELECT x.id FROM experiment x WHERE x.prov_state = 5 "                                      \
      "AND NOT EXISTS (SELECT 1 FROM job WHERE experiment_id = x.id) ORDER BY x.id")               \
    X(ST_REMOVABLE_CLUSTERS, \
      "SELECT c.id FROM cluster c WHERE c.prov_state = 5 " \
      "AND NOT EXISTS (SELECT 1 FROM node WHERE pool_id = c.id) ORDER BY c.id") \
    X(ST_REMOVABLE_FILE_SERVERS, "SELECT id FROM file_server WHERE prov_state = 5 ORDER BY id")    \
    X(ST_DELETING_CLUSTERS, "SELECT id FROM cluster WHERE prov_state = 5 ORDER BY id")             \
    X(ST_DOOMED_JOBS, \
      "SELECT {doomed_job} FROM job j WHERE j.prov_state = 5 " NOT_HELD \
      "UNION ALL SELECT {doomed_job} FROM experiment x JOIN job j ON j.experiment_id = x.id " \
      "WHERE x.prov_state = 5 AND j.prov_state <> 5 " NOT_HELD "LIMIT ?1") \
    X(ST_DELETING_EXPERIMENTS, "SELECT id FROM experiment WHERE prov_state = 5 AND id >= ?1 ORDER BY id LIMIT 1") \
    X(ST_DOOM_UP_TO, \
      "SELECT coalesce(max(id), 0) FROM (SELECT id FROM job WHERE experiment_id = ?1 AND id > ?2 " \
      "ORDER BY id LIMIT ?3)") \
    X(ST_DOOM_RUNS, \
      "UPDATE run SET stop = 2 WHERE stop < 2 AND phase <> 4 AND owner_kind = 6 AND owner_id IN " \
      "(SELECT id FROM job WHERE experiment_id = ?1 AND id > ?2 AND id <= ?3)") \
    X(ST_OP_INSERT, "INSERT INTO {+operation}") \
    X(ST_OP_GET, "SELECT {operation} FROM operation o WHERE o.guid = ?1") \
    X(ST_RUN_QUEUED_SINCE, \
      "SELECT coalesce(j.created_us, t.state_us) FROM run u " \
      "LEFT JOIN job j ON u.owner_kind = 6 AND j.id = u.owner_id " \
      "LEFT JOIN batch_task t ON u.owner_kind = 12 AND t.id = u.owner_id WHERE u.id = ?1") \
    X(ST_OP_UNDER_WAY, \
      "SELECT {operation} FROM operation o WHERE o.kind = ?1 AND o.resource_id = ?2 " \
      "AND o.is_delete = ?3 AND o.status = 1 ORDER BY o.start_us LIMIT 1") \
    X(ST_OP_FINISH,                                                                                \
      "UPDATE operation SET status = ?4, end_us = ?5, error_code = ?6, error_message = ?7 "        \
      "WHERE kind = ?1 AND resource_id = ?2 AND is_delete = ?3 AND status = 1")                    \
    X(ST_OP_EXPIRE,                                                                                \
      "DELETE FROM operation WHERE guid IN (SELECT guid FROM operation "                           \
      "WHERE status <> 1 AND end_us < ?1 ORDER BY end_us LIMIT ?2)")                               \
    X(ST_VAULT_INSERT, "INSERT INTO {+vault}")                                                     \
    X(ST_VAULT_GET, VAULT_SELECT "WHERE v.name = ?1")                                              \
    X(ST_VAULT_LIST_GROUP, VAULT_SELECT "WHERE v.group_id = ?1 AND v.id > ?2 ORDER BY v.id LIMIT ?3") \
    X(ST_VAULT_LIST_SUBSCRIPTION,                                                                  \
      VAULT_SELECT "WHERE v.subscription = ?1 AND v.group_id IS NOT NULL AND v.id > ?2 "           \
      "ORDER BY v.id LIMIT ?3")                                                                    \
    X(ST_VAULT_LIST_DELETED,                                                                       \
      VAULT_SELECT "WHERE v.subscription = ?1 AND v.group_id IS NULL AND v.id > ?2 "               \
      "ORDER BY v.id LIMIT ?3")                                                                    \
    X(ST_VAULT_UPDATE, "UPDATE vault SET tags = ?2, doc = ?3, updated_us = ?4 WHERE id = ?1")      \
    X(ST_VAULT_DELETE, "UPDATE vault SET " SOFT_DELETED "WHERE id = ?1 AND group_id IS NOT NULL")  \
    X(ST_VAULT_RECOVER,                                                                            \
      "UPDATE vault SET group_id = ?2, deleted_us = 0, purge_us = 0, updated_us = ?3 "             \
      "WHERE id = ?1 AND group_id IS NULL")                                                        \
    X(ST_VAULT_PURGE, "DELETE FROM vault WHERE id = ?1 AND group_id IS NULL")                      \
    X(ST_VAULT_EXPIRED,                                                                            \
      "SELECT id FROM vault WHERE purge_us > 0 AND purge_us < ?1 ORDER BY purge_us LIMIT ?2")       \
    X(ST_SECRET_INSERT, "INSERT INTO {+secret}")                                                   \
    X(ST_SECRET_GET, "SELECT {secret} FROM secret k WHERE k.vault_id = ?1 AND k.name = ?2")        \
    X(ST_SECRET_DELETE,                                                                            \
      "UPDATE secret SET deleted_us = ?2, purge_us = ?3 WHERE id = ?1 AND deleted_us = 0")         \
    X(ST_SECRET_RECOVER,                                                                           \
      "UPDATE secret SET deleted_us = 0, purge_us = 0 WHERE id = ?1 AND deleted_us > 0")           \
    X(ST_SECRET_PURGE, "DELETE FROM secret WHERE id = ?1 AND deleted_us > 0")                      \
    X(ST_SECRET_REMOVE_OF,                                                                         \
      "DELETE FROM secret WHERE id IN (SELECT id FROM secret WHERE vault_id = ?1 LIMIT ?2)")       \
    X(ST_SECRET_EXPIRED,                                                                           \
      "SELECT id FROM secret WHERE deleted_us > 0 AND purge_us < ?1 ORDER BY purge_us LIMIT ?2")   \
    X(ST_SECRET_VERSION_INSERT, "INSERT INTO {+secret_version}")                                   \
    X(ST_SECRET_VERSION_GET,                                                                       \
      VERSION_SELECT "WHERE k.vault_id = ?1 AND k.name = ?2 AND kv.version = ?3")                   \
    X(ST_SECRET_VERSION_NEWEST,                                                                    \
      VERSION_SELECT "WHERE k.vault_id = ?1 AND k.name = ?2 AND " IS_NEWEST)                       \
    X(ST_SECRET_VERSION_LIST,                                                                      \
      VERSION_SELECT "WHERE k.id = ?1 AND kv.id > ?2 ORDER BY kv.id LIMIT ?3")                       \
    X(ST_SECRET_VERSION_LIST_LIVE,                                                                 \
      VERSION_SELECT "WHERE k.vault_id = ?1 AND k.deleted_us = 0 AND k.id > ?2 AND " IS_NEWEST     \
      "ORDER BY k.id LIMIT ?3")                                                                    \
    X(ST_SECRET_VERSION_LIST_DELETED,                                                              \
      VERSION_SELECT "WHERE k.vault_id = ?1 AND k.deleted_us > 0 AND k.id > ?2 AND " IS_NEWEST     \
      "ORDER BY k.id LIMIT ?3")                                                                    \
    X(ST_SECRET_VERSION_UPDATE,                                                                    \
      "UPDATE secret_version SET enabled = ?2, not_before_s = ?3, expires_s = ?4, "                \
      "content_type = ?5, tags = ?6, updated_us = ?7 WHERE id = ?1")                               \
    X(ST_SECRET_VERSION_NAME, "UPDATE secret_version SET version = ?2 WHERE id = ?1")              \
    X(ST_SECRET_VERSION_VALUE, "SELECT value FROM secret_version WHERE id = ?1")                   \
    X(ST_IDENTITY_INSERT, "INSERT INTO {+identity}")                                               \
    X(ST_IDENTITY_GET, "SELECT {identity} FROM identity i WHERE i.object_id = ?1")                 \
    X(ST_IDENTITY_BY_APP, "SELECT {identity} FROM identity i WHERE i.kind = ?1 AND i.app_id = ?2") \
    X(ST_IDENTITY_USER, "SELECT {identity} FROM identity i WHERE i.kind = 1 AND i.name = ?1")      \
    X(ST_IDENTITY_LIST,                                                                            \
      "SELECT {identity} FROM identity i WHERE i.kind = ?1 AND i.id > ?2 ORDER BY i.id LIMIT ?3")  \
    X(ST_IDENTITY_REMOVE, "DELETE FROM identity WHERE id = ?1")                                    \
    X(ST_CREDENTIAL_INSERT, "INSERT INTO {+credential}")                                           \
    X(ST_CREDENTIAL_OF, "SELECT {credential} FROM credential y WHERE y.identity_id = ?1")          \
    X(ST_CREDENTIAL_OF_APP,                                                                        \
      "SELECT {credential} FROM identity i CROSS JOIN credential y ON y.identity_id = i.id "       \
      "WHERE i.kind IN (2, 3) AND i.app_id = ?1")                                                  \
    X(ST_CREDENTIAL_REMOVE, "DELETE FROM credential WHERE identity_id = ?1 AND key_id = ?2")       \
    X(ST_CREDENTIAL_REMOVE_ALL, "DELETE FROM credential WHERE identity_id = ?1")                   \
    X(ST_ROLE_ASSIGNMENT_INSERT, "INSERT INTO {+role_assignment}")                                 \
    X(ST_ROLE_ASSIGNMENT_GET, ASSIGNMENT_SELECT "WHERE ra.guid = ?1")                              \
    X(ST_ROLE_ASSIGNMENT_OF, ASSIGNMENT_SELECT "WHERE ra.principal = ?1 ORDER BY ra.id")           \
    X(ST_ROLE_ASSIGNMENT_LIST, ASSIGNMENT_SELECT "WHERE ra.id > ?1 ORDER BY ra.id LIMIT ?2")       \
    X(ST_ROLE_ASSIGNMENT_REMOVE, "DELETE FROM role_assignment WHERE id = ?1")                      \
    X(ST_ROLE_ASSIGNMENT_REMOVE_OF, "DELETE FROM role_assignment WHERE principal = ?1")            \
    X(ST_SUBSCRIPTION_INSERT, "INSERT INTO {+subscription}")                                       \
    X(ST_SUBSCRIPTION_GET, "SELECT {subscription} FROM subscription u WHERE u.guid = ?1")          \
    X(ST_SUBSCRIPTION_LIST, "SELECT {subscription} FROM subscription u ORDER BY u.id")             \
    X(ST_SUBSCRIPTION_REMOVE, "DELETE FROM subscription WHERE id = ?1")                            \
    X(ST_RUN_SECRET_PUT, "INSERT INTO {+run_secret} ON CONFLICT DO NOTHING")                       \
    X(ST_RUN_SECRET_GET,                                                                           \
      "SELECT value FROM run_secret WHERE run_id = ?1 AND attempt = ?2 AND url = ?3")              \
    X(ST_META_GET, "SELECT key_check, clean_close FROM meta WHERE id = 1")                         \
    X(ST_META_SET_KEY_CHECK, "UPDATE meta SET key_check = ?1 WHERE id = 1")                        \
    X(ST_META_SET_CLEAN, "UPDATE meta SET clean_close = ?1 WHERE id = 1")                          \
    BATCH_STATEMENTS(X) \
    BURIAL_STATEMENTS(X) \
    BATCH_JOB_STATEMENTS(X) \
    BATCH_CHORE_STATEMENTS(X) \
    BATCH_SAMPLE_STATEMENTS(X) \
    BATCH_SCHEDULE_STATEMENTS(X)
/* clang-format on */

#endif
