/* SPDX-License-Identifier: MIT
 *
 * The numbers of strict mode: how long operations take in Azure, and how many requests it allows.
 * docs/testing.md has the source of each number.
 */
#ifndef API_TESTING_STRICT_TABLE_H
#define API_TESTING_STRICT_TABLE_H

/* step, name, milliseconds */
#define STRICT_SPANS(X)                                                                            \
    X(PACE_CLUSTER_CREATION, "clusterCreation", 2000)                                              \
    X(PACE_FILE_SERVER_CREATION, "fileServerCreation", 210000)                                     \
    X(PACE_JOB_CREATION, "jobCreation", 1000)                                                      \
    X(PACE_STORAGE_CREATION, "storageAccountCreation", 17000)                                      \
    X(PACE_VAULT_CREATION, "vaultCreation", 5000)                                                  \
    X(PACE_BATCH_CREATION, "batchAccountCreation", 15000)                                          \
    X(PACE_GROUP_DELETION, "groupDeletion", 15000)                                                 \
    X(PACE_WORKSPACE_DELETION, "workspaceDeletion", 3000)                                          \
    X(PACE_EXPERIMENT_DELETION, "experimentDeletion", 400)                                         \
    X(PACE_CLUSTER_DELETION, "clusterDeletion", 30000)                                             \
    X(PACE_FILE_SERVER_DELETION, "fileServerDeletion", 420000)                                     \
    X(PACE_JOB_DELETION, "jobDeletion", 1000)                                                      \
    X(PACE_BATCH_DELETION, "batchAccountDeletion", 15000)                                          \
    X(PACE_SHARE_DELETION, "shareDeletion", 30000)                                                 \
    X(PACE_SECRET_DELETION, "secretDeletion", 5000)                                                \
    X(PACE_REHYDRATION, "rehydration", 54000000)                                                   \
    X(PACE_REHYDRATION_HIGH, "rehydrationHigh", 3600000)                                           \
    X(PACE_ALLOCATION, "allocation", 90000)                                                        \
    X(PACE_AUTO_ALLOCATION, "autoScaleAllocation", 690000)                                         \
    X(PACE_AUTO_IDLE, "autoScaleIdle", 330000)                                                     \
    X(PACE_NODE_CREATION, "nodeCreation", 90000)                                                   \
    X(PACE_NODE_START, "nodeStart", 30000)                                                         \
    X(PACE_NODE_SETUP, "nodeSetup", 30000)                                                         \
    X(PACE_NODE_LEAVING, "nodeLeaving", 270000)                                                    \
    X(PACE_POOL_DELETION, "poolDeletion", 30000)                                                   \
    X(PACE_JOB_START, "jobStart", 3000)                                                            \
    X(PACE_JOB_TERMINATION, "jobTermination", 2000)                                                \
    X(PACE_TASK_START, "taskStart", 2000)                                                          \
    X(PACE_BATCH_JOB_CHANGE, "batchJobChange", 2000)                                               \
    X(PACE_BATCH_JOB_DELETION, "batchJobDeletion", 2000)

/* limit, name, number of requests, seconds; 0 requests: no limit */
#define STRICT_LIMITS(X)                                                                           \
    X(LIMIT_READS, "readsPerHour", 12000, 3600)                                                    \
    X(LIMIT_WRITES, "writesPerHour", 1200, 3600)                                                   \
    X(LIMIT_DELETES, "deletesPerHour", 15000, 3600)                                                \
    X(LIMIT_TENANT_READS, "tenantReadsPerHour", 12000, 3600)                                       \
    X(LIMIT_TENANT_WRITES, "tenantWritesPerHour", 1200, 3600)                                      \
    X(LIMIT_ACCOUNT_READS, "storageAccountReadsPer5Minutes", 800, 300)                             \
    X(LIMIT_ACCOUNT_LISTS, "storageAccountListsPer5Minutes", 100, 300)                             \
    X(LIMIT_STORAGE, "storageRequestsPerSecond", 20000, 1)                                         \
    X(LIMIT_SECRETS, "secretRequestsPer10Seconds", 4000, 10)                                       \
    X(LIMIT_BATCH, "batchRequestsPerSecond", 0, 1)                                                 \
    X(LIMIT_FORMULAS, "enableAutoScalePer30Seconds", 1, 30)

#define STRICT_ENUM(limit, name, n, seconds) limit,
enum strict_limit { STRICT_LIMITS(STRICT_ENUM) STRICT_LIMITS_END };
#undef STRICT_ENUM

#endif
