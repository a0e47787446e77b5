/* SPDX-License-Identifier: MIT
 *
 * Every SQL statement of the room: X(id, text). Parameters ?1.. are bound in that order, result
 * columns are read in that order by the one row-reader of the table (st_*.c). The literal
 * conditions (prov_state = 5, exec_state = 1, status = 1, ...) repeat those of the partial indexes
 * in migrations/, or the indexes would not be used; test_statements.c looks at the query plans.
 */
#ifndef STORAGE_STATEMENTS_H
#define STORAGE_STATEMENTS_H

#define GROUP_SELECT                                                                               \
    "SELECT g.id, g.subscription, g.name, g.location, g.tags, g.prov_state, g.created_us, "        \
    "g.updated_us FROM resource_group g "

#define WORKSPACE_SELECT                                                                           \
    "SELECT w.id, w.group_id, w.name, w.tags, w.prov_state, w.prov_us, w.created_us, "             \
    "w.updated_us, g.subscription, g.name, w.location "                                            \
    "FROM workspace w JOIN resource_group g ON g.id = w.group_id "

/* The workspace and group that a resource `r` with a workspace_id lives in. */
#define OF_WORKSPACE                                                                               \
    "JOIN workspace w ON w.id = r.workspace_id JOIN resource_group g ON g.id = w.group_id "

#define EXPERIMENT_SELECT                                                                          \
    "SELECT r.id, r.workspace_id, r.name, r.prov_state, r.prov_us, r.created_us, r.updated_us, "   \
    "g.subscription, g.name, w.location, w.name FROM experiment r " OF_WORKSPACE

#define FILE_SERVER_SELECT                                                                         \
    "SELECT r.id, r.workspace_id, r.name, r.guid, r.doc, r.prov_state, r.prov_us, r.created_us, "  \
    "r.updated_us, g.subscription, g.name, w.location, w.name FROM file_server r " OF_WORKSPACE

#define CLUSTER_SELECT                                                                             \
    "SELECT r.id, r.workspace_id, r.name, r.guid, r.doc, r.vm_size, r.vm_priority, r.scale_kind, " \
    "r.scale_target, r.scale_dealloc, r.scale_minimum, r.scale_maximum, r.scale_initial, "         \
    "r.auto_target, r.prov_state, r.alloc_state, r.prov_us, r.alloc_us, r.created_us, "            \
    "r.updated_us, r.errors, g.subscription, g.name, w.location, w.name "                          \
    "FROM cluster r " OF_WORKSPACE

#define JOB_SELECT                                                                                 \
    "SELECT j.id, j.experiment_id, j.cluster_id, j.name, j.guid, j.doc, j.cluster_ref, "           \
    "j.priority, j.node_count, j.max_wall_us, j.prov_state, j.exec_state, j.prov_us, j.exec_us, "  \
    "j.created_us, j.updated_us, j.start_us, j.end_us, j.exit_code, j.attempt, j.errors, "         \
    "g.subscription, g.name, w.location, w.name, r.name "                                          \
    "FROM job j JOIN experiment r ON r.id = j.experiment_id " OF_WORKSPACE

#define NODE_SELECT                                                                                \
    "SELECT id, cluster_id, name, ordinal, state, state_us, created_us, job_id, rank, "            \
    "incarnation, errors, machine_id FROM node "

#define MARK(table)                                                                                \
    "UPDATE " table " SET prov_us = CASE prov_state WHEN 5 THEN prov_us ELSE ?2 END, "             \
    "prov_state = 5 "

/* clang-format off */
#define STATEMENTS(X)                                                                              \
    X(ST_BEGIN, "BEGIN IMMEDIATE")                                                                 \
    X(ST_BEGIN_READ, "BEGIN")  \
    X(ST_COMMIT, "COMMIT")                                                                         \
    X(ST_ROLLBACK, "ROLLBACK")                                                                     \
    X(ST_SAVEPOINT, "SAVEPOINT part")                                                              \
    X(ST_ROLLBACK_PART, "ROLLBACK TO part")                                                        \
    X(ST_RELEASE, "RELEASE part")                                                                  \
    X(ST_GROUP_INSERT,                                                                             \
      "INSERT INTO resource_group (subscription, name, location, tags, prov_state, created_us, "   \
      "updated_us) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")                                           \
    X(ST_GROUP_UPDATE, "UPDATE resource_group SET tags = ?2, updated_us = ?3 WHERE id = ?1")       \
    X(ST_GROUP_GET, GROUP_SELECT "WHERE g.subscription = ?1 AND g.name = ?2")                      \
    X(ST_GROUP_BY_ID, GROUP_SELECT "WHERE g.id = ?1")                                              \
    X(ST_GROUP_LIST,                                                                               \
      GROUP_SELECT "WHERE g.subscription = ?1 AND g.id > ?2 ORDER BY g.id LIMIT ?3")               \
    X(ST_WORKSPACE_INSERT,                                                                         \
      "INSERT INTO workspace (group_id, name, location, tags, prov_state, prov_us, created_us, "   \
      "updated_us) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")                                       \
    X(ST_WORKSPACE_TAGS, "UPDATE workspace SET tags = ?2, updated_us = ?3 WHERE id = ?1")          \
    X(ST_WORKSPACE_GET, WORKSPACE_SELECT "WHERE w.group_id = ?1 AND w.name = ?2")                  \
    X(ST_WORKSPACE_BY_ID, WORKSPACE_SELECT "WHERE w.id = ?1")                                      \
    X(ST_WORKSPACE_LIST_SUBSCRIPTION,                                                              \
      WORKSPACE_SELECT "WHERE g.subscription = ?1 AND w.id > ?2 ORDER BY w.id LIMIT ?3")           \
    X(ST_WORKSPACE_LIST_GROUP,                                                                     \
      WORKSPACE_SELECT "WHERE w.group_id = ?1 AND w.id > ?2 ORDER BY w.id LIMIT ?3")               \
    X(ST_EXPERIMENT_INSERT,                                                                        \
      "INSERT INTO experiment (workspace_id, name, prov_state, prov_us, created_us, updated_us) "  \
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6)")                                                           \
    X(ST_EXPERIMENT_GET, EXPERIMENT_SELECT "WHERE r.workspace_id = ?1 AND r.name = ?2")            \
    X(ST_EXPERIMENT_BY_ID, EXPERIMENT_SELECT "WHERE r.id = ?1")                                    \
    X(ST_EXPERIMENT_LIST,                                                                          \
      EXPERIMENT_SELECT "WHERE r.workspace_id = ?1 AND r.id > ?2 ORDER BY r.id LIMIT ?3")          \
    X(ST_FILE_SERVER_INSERT,                                                                       \
      "INSERT INTO file_server (workspace_id, name, guid, doc, prov_state, prov_us, created_us, "  \
      "updated_us, secrets) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")                          \
    X(ST_FILE_SERVER_GET, FILE_SERVER_SELECT "WHERE r.workspace_id = ?1 AND r.name = ?2")          \
    X(ST_FILE_SERVER_BY_ID, FILE_SERVER_SELECT "WHERE r.id = ?1")                                  \
    X(ST_FILE_SERVER_SECRETS, "SELECT secrets FROM file_server WHERE id = ?1")                     \
    X(ST_FILE_SERVER_MOVE,                                                                         \
      "UPDATE file_server SET prov_state = ?3, prov_us = ?4 WHERE id = ?1 AND prov_state = ?2")    \
    X(ST_FILE_SERVER_STATE, "SELECT prov_state FROM file_server WHERE id = ?1")                    \
    X(ST_FILE_SERVER_CREATING, "SELECT id FROM file_server WHERE prov_state = 1 ORDER BY id")      \
    X(ST_FILE_SERVER_LIST_SUBSCRIPTION,                                                            \
      FILE_SERVER_SELECT "WHERE g.subscription = ?1 AND r.id > ?2 ORDER BY r.id LIMIT ?3")         \
    X(ST_FILE_SERVER_LIST_NAMED,                                                                   \
      FILE_SERVER_SELECT "WHERE g.subscription = ?1 AND w.name = ?2 AND r.id > ?3 "                \
      "ORDER BY r.id LIMIT ?4")                                                                    \
    X(ST_FILE_SERVER_LIST_GROUP,                                                                   \
      FILE_SERVER_SELECT "WHERE w.group_id = ?1 AND r.id > ?2 ORDER BY r.id LIMIT ?3")             \
    X(ST_FILE_SERVER_LIST_WORKSPACE,                                                               \
      FILE_SERVER_SELECT "WHERE r.workspace_id = ?1 AND r.id > ?2 ORDER BY r.id LIMIT ?3")         \
    X(ST_CLUSTER_INSERT,                                                                           \
      "INSERT INTO cluster (workspace_id, name, guid, doc, vm_size, vm_priority, scale_kind, "     \
      "scale_target, scale_dealloc, scale_minimum, scale_maximum, scale_initial, auto_target, "    \
      "prov_state, alloc_state, prov_us, alloc_us, created_us, updated_us, errors, secrets) "      \
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, "  \
      "?19, ?20, ?21)")                                                                            \
    X(ST_CLUSTER_UPDATE_SCALE,                                                                     \
      "UPDATE cluster SET doc = ?2, scale_kind = ?3, scale_target = ?4, scale_dealloc = ?5, "      \
      "scale_minimum = ?6, scale_maximum = ?7, scale_initial = ?8, updated_us = ?9 WHERE id = ?1") \
    X(ST_CLUSTER_GET, CLUSTER_SELECT "WHERE r.workspace_id = ?1 AND r.name = ?2")                  \
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
    X(ST_CLUSTER_NODE_COUNTS,                                                                      \
      "SELECT state, count(*) FROM node WHERE cluster_id = ?1 GROUP BY state")                     \
    X(ST_CLUSTER_SECRETS, "SELECT secrets FROM cluster WHERE id = ?1")                             \
    X(ST_CLUSTER_SET_ALLOC,                                                                        \
      "UPDATE cluster SET alloc_state = ?3, alloc_us = ?4 WHERE id = ?1 AND alloc_state = ?2")     \
    X(ST_CLUSTER_ALLOC, "SELECT alloc_state FROM cluster WHERE id = ?1")                           \
    X(ST_CLUSTER_SET_AUTO_TARGET, "UPDATE cluster SET auto_target = ?2 WHERE id = ?1")             \
    X(ST_CLUSTER_SET_ERRORS, "UPDATE cluster SET errors = ?2 WHERE id = ?1")                       \
    X(ST_CLUSTER_IDS, "SELECT id FROM cluster ORDER BY id")                                        \
    X(ST_CLUSTER_COUNT,                                                                            \
      "SELECT count(*) FROM resource_group g JOIN workspace w ON w.group_id = g.id "               \
      "JOIN cluster c ON c.workspace_id = w.id WHERE g.subscription = ?1")                         \
    X(ST_JOB_INSERT,                                                                               \
      "INSERT INTO job (experiment_id, cluster_id, name, guid, doc, cluster_ref, priority, "       \
      "node_count, max_wall_us, prov_state, exec_state, prov_us, exec_us, created_us, "            \
      "updated_us, start_us, end_us, exit_code, attempt, errors, secrets) VALUES (?1, ?2, ?3, "    \
      "?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)")       \
    X(ST_JOB_GET, JOB_SELECT "WHERE j.experiment_id = ?1 AND j.name = ?2")                         \
    X(ST_JOB_FIND, JOB_SELECT "WHERE g.subscription = ?1 AND g.name = ?2 AND w.name = ?3 AND r.name = ?4 AND j.name = ?5") \
    X(ST_JOB_BY_ID, JOB_SELECT "WHERE j.id = ?1")                                                  \
    X(ST_JOB_LIST, JOB_SELECT "WHERE j.experiment_id = ?1 AND j.id > ?2 ORDER BY j.id LIMIT ?3")   \
    X(ST_JOB_LIST_NAMED,                                                                           \
      JOB_SELECT "WHERE g.subscription = ?1 AND w.name = ?2 AND r.name = ?3 AND j.id > ?4 "        \
      "ORDER BY j.id LIMIT ?5")                                                                    \
    X(ST_JOB_UNFINISHED,                                                                           \
      "SELECT count(*) FROM resource_group g JOIN workspace w ON w.group_id = g.id "               \
      "JOIN cluster c ON c.workspace_id = w.id JOIN job j ON j.cluster_id = c.id "                 \
      "WHERE g.subscription = ?1 AND j.exec_state IN (1, 2, 3)")                                   \
    X(ST_JOB_SECRETS, "SELECT secrets FROM job WHERE id = ?1")                                     \
    X(ST_JOB_QUEUE,                                                                                \
      JOB_SELECT "WHERE j.cluster_id = ?1 AND j.exec_state = 1 AND j.prov_state <> 5 "             \
      "ORDER BY j.priority DESC, j.id LIMIT ?2")                                                   \
    X(ST_JOB_QUEUE_DEMAND,                                                                         \
      "SELECT coalesce(sum(node_count), 0) FROM job "                                              \
      "WHERE cluster_id = ?1 AND exec_state = 1 AND prov_state <> 5")                              \
    X(ST_JOB_ACTIVE_IDS,                                                                           \
      "SELECT id FROM job WHERE exec_state IN (2, 3) OR prov_state = 5 ORDER BY id")               \
    X(ST_JOB_MOVE,                                                                                 \
      "UPDATE job SET exec_state = ?3, exec_us = ?4, "                                             \
      "start_us = CASE ?5 WHEN 0 THEN start_us WHEN -1 THEN 0 ELSE ?5 END, "                       \
      "end_us = CASE ?6 WHEN 0 THEN end_us ELSE ?6 END, exit_code = coalesce(?7, exit_code), "     \
      "errors = coalesce(?8, errors), attempt = CASE ?9 WHEN 0 THEN attempt ELSE ?9 END "          \
      "WHERE id = ?1 AND exec_state = ?2")                                                         \
    X(ST_JOB_STATE, "SELECT exec_state FROM job WHERE id = ?1")                                    \
    X(ST_NODE_INSERT,                                                                              \
      "INSERT INTO node (cluster_id, name, ordinal, state, state_us, created_us, job_id, rank, "   \
      "incarnation, errors, machine_id) "                                                          \
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")                                     \
    X(ST_NODE_BY_ID, NODE_SELECT "WHERE id = ?1")                                                  \
    X(ST_NODE_LIST, NODE_SELECT "WHERE cluster_id = ?1 ORDER BY ordinal")                          \
    X(ST_NODE_OF_JOB, NODE_SELECT "WHERE job_id = ?1 ORDER BY rank")                               \
    X(ST_NODE_IDS, "SELECT id FROM node ORDER BY id")                                              \
    X(ST_NODE_LOCAL_TOTAL, "SELECT count(*) FROM node WHERE machine_id IS NULL")                   \
    X(ST_NODE_USES,                                                                                \
      "SELECT n.id, n.cluster_id, n.name, n.state, n.errors, n.machine_id, c.name, w.name, "       \
      "c.vm_priority, j.name FROM node n JOIN cluster c ON c.id = n.cluster_id "                   \
      "JOIN workspace w ON w.id = c.workspace_id LEFT JOIN job j ON j.id = n.job_id "              \
      "ORDER BY n.id")                                                                             \
    X(ST_NODE_MOVE,                                                                                \
      "UPDATE node SET state = ?3, state_us = ?4, job_id = ?5, rank = ?6, errors = ?7 "            \
      "WHERE id = ?1 AND state = ?2")                                                              \
    X(ST_NODE_STATE, "SELECT state FROM node WHERE id = ?1")                                       \
    X(ST_NODE_SET_INCARNATION, "UPDATE node SET incarnation = ?2 WHERE id = ?1")                   \
    X(ST_NODE_REMOVE, "DELETE FROM node WHERE id = ?1")                                            \
    X(ST_PLACE_INSERT,                                                                             \
      "INSERT OR REPLACE INTO job_place (job_id, rank, node_id, released_us, kept) "               \
      "VALUES (?1, ?2, ?3, ?4, ?5)")                                                               \
    X(ST_PLACE_OF_JOB,                                                                             \
      "SELECT job_id, rank, node_id, kept FROM job_place WHERE job_id = ?1 ORDER BY rank")         \
    X(ST_PLACE_LOST, "UPDATE job_place SET kept = 0 WHERE node_id = ?1 AND job_id = ?2")           \
    X(ST_PLACE_KEPT_DIRS,                                                                          \
      "SELECT j.id, j.guid || '-' || j.attempt FROM job_place p JOIN job j ON j.id = p.job_id "          \
      "WHERE p.node_id = ?1 AND p.kept = 1")                                                       \
    X(ST_PLACE_TRIM,                                                                               \
      "UPDATE job_place SET kept = 0 WHERE node_id = ?1 AND kept = 1 AND job_id NOT IN "           \
      "(SELECT job_id FROM job_place WHERE node_id = ?1 AND kept = 1 "                             \
      "ORDER BY released_us DESC, job_id DESC LIMIT ?2)")                                          \
    X(ST_MACHINE_ID, "SELECT id FROM machine WHERE name = ?1")                                     \
    X(ST_MACHINE_INSERT, "INSERT INTO machine (name, drained, contact_us) VALUES (?1, 0, 0)")      \
    X(ST_MACHINE_LIST,                                                                             \
      "SELECT id, name, drained, reason, facts, contact_us FROM machine ORDER BY id")              \
    X(ST_MACHINE_SET_DRAINED, "UPDATE machine SET drained = ?2, reason = ?3 WHERE id = ?1")        \
    X(ST_MACHINE_SET_CONTACT, "UPDATE machine SET contact_us = ?2, facts = ?3 WHERE id = ?1")      \
    X(ST_MACHINE_REMOVE, "DELETE FROM machine WHERE id = ?1")                                      \
    X(ST_MARK_GROUP, "UPDATE resource_group SET prov_state = 5 WHERE id = ?1")                     \
    X(ST_MARK_WORKSPACE, MARK("workspace") "WHERE id = ?1")                                        \
    X(ST_MARK_EXPERIMENT, MARK("experiment") "WHERE id = ?1")                                      \
    X(ST_MARK_CLUSTER, MARK("cluster") "WHERE id = ?1")                                            \
    X(ST_MARK_FILE_SERVER, MARK("file_server") "WHERE id = ?1")                                    \
    X(ST_MARK_JOB, MARK("job") "WHERE id = ?1")                                                    \
    X(ST_MARK_WORKSPACES_OF_GROUP, MARK("workspace") "WHERE group_id = ?1")                        \
    X(ST_MARK_EXPERIMENTS_OF_GROUP,                                                                \
      MARK("experiment") "WHERE workspace_id IN (SELECT id FROM workspace WHERE group_id = ?1)")   \
    X(ST_MARK_CLUSTERS_OF_GROUP,                                                                   \
      MARK("cluster") "WHERE workspace_id IN (SELECT id FROM workspace WHERE group_id = ?1)")      \
    X(ST_MARK_FILE_SERVERS_OF_GROUP,                                                               \
      MARK("file_server") "WHERE workspace_id IN (SELECT id FROM workspace WHERE group_id = ?1)")  \
    X(ST_MARK_JOBS_OF_GROUP,                                                                       \
      MARK("job") "WHERE experiment_id IN (SELECT x.id FROM workspace w "                          \
      "JOIN experiment x ON x.workspace_id = w.id WHERE w.group_id = ?1)")                         \
    X(ST_MARK_EXPERIMENTS_OF_WORKSPACE, MARK("experiment") "WHERE workspace_id = ?1")              \
    X(ST_MARK_CLUSTERS_OF_WORKSPACE, MARK("cluster") "WHERE workspace_id = ?1")                    \
    X(ST_MARK_FILE_SERVERS_OF_WORKSPACE, MARK("file_server") "WHERE workspace_id = ?1")            \
    X(ST_MARK_JOBS_OF_WORKSPACE,                                                                   \
      MARK("job") "WHERE experiment_id IN (SELECT id FROM experiment WHERE workspace_id = ?1)")    \
    X(ST_MARK_JOBS_OF_EXPERIMENT, MARK("job") "WHERE experiment_id = ?1")                          \
    X(ST_REMOVE_GROUP, "DELETE FROM resource_group WHERE id = ?1")                                 \
    X(ST_REMOVE_WORKSPACE, "DELETE FROM workspace WHERE id = ?1")                                  \
    X(ST_REMOVE_EXPERIMENT, "DELETE FROM experiment WHERE id = ?1")                                \
    X(ST_REMOVE_CLUSTER, "DELETE FROM cluster WHERE id = ?1")                                      \
    X(ST_REMOVE_FILE_SERVER, "DELETE FROM file_server WHERE id = ?1")                              \
    X(ST_REMOVE_JOB, "DELETE FROM job WHERE id = ?1")                                              \
    X(ST_REMOVABLE_GROUPS,                                                                         \
      "SELECT g.id FROM resource_group g WHERE g.prov_state = 5 "                                  \
      "AND NOT EXISTS (SELECT 1 FROM workspace WHERE group_id = g.id) ORDER BY g.id")              \
    X(ST_REMOVABLE_WORKSPACES,                                                                     \
      "SELECT w.id FROM workspace w WHERE w.prov_state = 5 "                                       \
      "AND NOT EXISTS (SELECT 1 FROM experiment WHERE workspace_id = w.id) "                       \
      "AND NOT EXISTS (SELECT 1 FROM cluster WHERE workspace_id = w.id) "                          \
      "AND NOT EXISTS (SELECT 1 FROM file_server WHERE workspace_id = w.id) ORDER BY w.id")        \
    X(ST_REMOVABLE_EXPERIMENTS,                                                                    \
      "SELECT x.id FROM experiment x WHERE x.prov_state = 5 "                                      \
      "AND NOT EXISTS (SELECT 1 FROM job WHERE experiment_id = x.id) ORDER BY x.id")               \
    X(ST_REMOVABLE_CLUSTERS,                                                                       \
      "SELECT c.id FROM cluster c WHERE c.prov_state = 5 "                                         \
      "AND NOT EXISTS (SELECT 1 FROM node WHERE cluster_id = c.id) ORDER BY c.id")                 \
    X(ST_REMOVABLE_FILE_SERVERS, "SELECT id FROM file_server WHERE prov_state = 5 ORDER BY id")    \
    X(ST_DELETING_CLUSTERS, "SELECT id FROM cluster WHERE prov_state = 5 ORDER BY id")             \
    X(ST_DELETING_JOBS, "SELECT id FROM job WHERE prov_state = 5 ORDER BY id")                     \
    X(ST_OP_INSERT,                                                                                \
      "INSERT INTO operation (guid, subscription, location, resource_key, api_version, kind, "     \
      "resource_id, is_delete, status, start_us, end_us, error_code, error_message) "              \
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)")                           \
    X(ST_OP_GET,                                                                                   \
      "SELECT guid, subscription, location, resource_key, api_version, kind, resource_id, "        \
      "is_delete, status, start_us, end_us, error_code, error_message FROM operation "             \
      "WHERE guid = ?1")                                                                           \
    X(ST_OP_FINISH,                                                                                \
      "UPDATE operation SET status = ?4, end_us = ?5, error_code = ?6, error_message = ?7 "        \
      "WHERE kind = ?1 AND resource_id = ?2 AND is_delete = ?3 AND status = 1")                    \
    X(ST_OP_EXPIRE,                                                                                \
      "DELETE FROM operation WHERE guid IN (SELECT guid FROM operation "                           \
      "WHERE status <> 1 AND end_us < ?1 ORDER BY end_us LIMIT ?2)")                               \
    X(ST_META_GET, "SELECT key_check, clean_close FROM meta WHERE id = 1")                         \
    X(ST_META_SET_KEY_CHECK, "UPDATE meta SET key_check = ?1 WHERE id = 1")                        \
    X(ST_META_SET_CLEAN, "UPDATE meta SET clean_close = ?1 WHERE id = 1")
/* clang-format on */

#endif
