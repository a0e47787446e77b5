/* SPDX-License-Identifier: MIT
 *
 * Every failure of a run, a node, a cluster or a file server: X(id, number, name on the wire, party
 * at fault, heals by itself, another machine may take over). The numbers are in databases: never
 * renumber, only append. Names from the Azure service have its spelling.
 *
 * "Heals by itself": the daemon prepares the unusable node again as soon as it can be reached.
 * After all other failures a person must start this, by a resize or `undrain`. "Another machine may
 * take over": if the node never became usable, a free machine replaces it.
 */
#ifndef MODEL_FAILURE_TABLE_H
#define MODEL_FAILURE_TABLE_H

/* clang-format off */
#define FAILURES(X) \
    X(FAIL_NODE_LOST, 1, "NodeLost", FAULT_NODE, true, false) \
    X(FAIL_NODE_UNREACHABLE, 2, "NodeUnreachable", FAULT_NODE, true, true) \
    X(FAIL_NODE_REFUSED, 3, "NodeRefused", FAULT_SITE, true, true) \
    X(FAIL_NODE_REBOOTED, 4, "NodeRebooted", FAULT_NODE, true, false) \
    X(FAIL_NODE_REBOOTING, 5, "NodeRebooting", FAULT_OPERATOR, true, false) \
    X(FAIL_NODE_ROOT_REPLACED, 6, "NodeRootReplaced", FAULT_NODE, true, false) \
    X(FAIL_NODE_NOT_IN_INVENTORY, 7, "NodeNotInInventory", FAULT_SITE, true, false) \
    X(FAIL_NODE_DRAINED, 8, "NodeDrained", FAULT_OPERATOR, false, false) \
    X(FAIL_NODE_CAPACITY_REACHED, 9, "NodeCapacityReached", FAULT_SITE, false, false) \
    X(FAIL_NODE_DEALLOCATED, 10, "NodeDeallocated", FAULT_CLIENT, false, false) \
    X(FAIL_NODE_PREPARATION_FAILED, 11, "NodePreparationFailed", FAULT_NODE, false, false) \
    X(FAIL_NODE_SETUP_FAILED, 12, "NodeSetupFailed", FAULT_CLIENT, false, false) \
    X(FAIL_NODE_HAS_NO_ROOT, 13, "NodeHasNoRoot", FAULT_SITE, false, false) \
    X(FAIL_NODE_RELEASE_FAILED, 14, "NodeReleaseFailed", FAULT_NODE, false, false) \
    X(FAIL_TASK_NOT_KILLED, 15, "TaskNotKilled", FAULT_NODE, false, false) \
    X(FAIL_ADMIN_USER_NOT_MADE, 16, "AdminUserNotMade", FAULT_NODE, false, false) \
    X(FAIL_RUN_FAILED, 17, "JobFailed", FAULT_CLIENT, false, false) \
    X(FAIL_RUN_PREPARATION_FAILED, 18, "JobPreparationFailed", FAULT_CLIENT, false, false) \
    X(FAIL_RUN_TERMINATED, 19, "JobTerminated", FAULT_CLIENT, false, false) \
    X(FAIL_RUN_TIMED_OUT, 20, "JobTimedOut", FAULT_CLIENT, false, false) \
    X(FAIL_RUN_START_FAILED, 21, "JobStartFailed", FAULT_NODE, false, false) \
    X(FAIL_RUN_STOP_FAILED, 22, "JobStopFailed", FAULT_NODE, false, false) \
    X(FAIL_RUN_DIRECTORY_FAILED, 23, "JobDirectoryFailed", FAULT_SITE, false, false) \
    X(FAIL_RUN_PATH_NOT_RESOLVED, 24, "JobPathNotResolved", FAULT_CLIENT, false, false) \
    X(FAIL_RUN_NOT_UNDERSTOOD, 25, "JobNotUnderstood", FAULT_CLIENT, false, false) \
    X(FAIL_POOL_DELETED, 26, "ClusterDeleted", FAULT_CLIENT, false, false) \
    X(FAIL_TOOLKIT_NOT_SUPPORTED, 27, "ToolkitNotSupported", FAULT_CLIENT, false, false) \
    X(FAIL_SECRET_REFERENCE_NOT_SUPPORTED, 28, "SecretReferenceNotSupported", FAULT_CLIENT, false, false) \
    X(FAIL_CONTAINER_RUNTIME_NOT_FOUND, 29, "ContainerRuntimeNotFound", FAULT_SITE, false, false) \
    X(FAIL_CONTAINER_NOT_REMOVED, 30, "ContainerNotRemoved", FAULT_NODE, false, false) \
    X(FAIL_FAILED_STARTING_CONTAINER, 31, "FailedStartingContainer", FAULT_CLIENT, false, false) \
    X(FAIL_FAILED_PULLING_CONTAINER_IMAGE, 32, "FailedPullingContainerImage", FAULT_CLIENT, false, false) \
    X(FAIL_MOUNT_NOT_CONFIGURED, 33, "MountNotConfigured", FAULT_SITE, false, false) \
    X(FAIL_AZF_MOUNT_ERROR, 34, "AZFMountError", FAULT_SITE, false, false) \
    X(FAIL_BFS_MOUNT_ERROR, 35, "BFSMountError", FAULT_SITE, false, false) \
    X(FAIL_UNMANAGED_MOUNT_ERROR, 36, "UnmanagedMountError", FAULT_CLIENT, false, false) \
    X(FAIL_UNMOUNT_FAILED, 37, "UnmountFailed", FAULT_NODE, false, false) \
    X(FAIL_FILE_SERVER_MOUNT_ERROR, 38, "FileServerMountError", FAULT_SITE, false, false) \
    X(FAIL_FILE_SERVER_NOT_CONFIGURED, 39, "FileServerNotConfigured", FAULT_SITE, false, false) \
    X(FAIL_FILE_SERVER_NOT_FOUND, 40, "FileServerNotFound", FAULT_CLIENT, false, false) \
    X(FAIL_FILE_SERVER_NOT_REACHED, 41, "FileServerNotReached", FAULT_SITE, false, false) \
    X(FAIL_FILE_SERVER_EXPORT_FAILED, 42, "FileServerExportFailed", FAULT_SITE, false, false) \
    X(FAIL_FILE_SERVER_NOT_REMOVED, 43, "FileServerNotRemoved", FAULT_NODE, false, false) \
    X(FAIL_SECRET_NOT_READ, 44, "KeyVaultSecretNotRead", FAULT_CLIENT, false, false) \
    X(FAIL_DEPENDENCY, 45, "JobDependencyFailed", FAULT_CLIENT, false, false) \
    X(FAIL_NODE_RECLAIMED, 46, "NodeReclaimed", FAULT_SITE, true, false) \
    X(FAIL_NO_PROGRAM, 47, "ProgramNotFound", FAULT_CLIENT, false, false) \
    X(FAIL_INPUT_NOT_FOUND, 48, "InputFileNotFound", FAULT_CLIENT, false, false) \
    X(FAIL_INPUT_DENIED, 49, "InputFileDenied", FAULT_CLIENT, false, false) \
    X(FAIL_INPUT_FAILED, 50, "InputFileFailed", FAULT_SITE, false, false) \
    X(FAIL_NOT_SERVED, 51, "NotServed", FAULT_CLIENT, false, false) \
    X(FAIL_INPUT_TIMED_OUT, 52, "InputFileTimedOut", FAULT_SITE, false, false) \
    X(FAIL_NO_ROOM, 53, "NoRoomOnNode", FAULT_NODE, false, false) \
    X(FAIL_PACKAGE, 54, "PackageFailed", FAULT_CLIENT, false, false) \
    X(FAIL_OUTPUT_NO_CONTAINER, 55, "OutputContainerNotFound", FAULT_CLIENT, false, false) \
    X(FAIL_OUTPUT_DENIED, 56, "OutputDenied", FAULT_CLIENT, false, false) \
    X(FAIL_OUTPUT_FAILED, 57, "OutputFailed", FAULT_SITE, false, false) \
    X(FAIL_NO_ACCOUNT, 58, "UserAccountNotFound", FAULT_CLIENT, false, false) \
    X(FAIL_NODE_DISK, 59, "NodeDiskUnusable", FAULT_SITE, true, false) \
    X(FAIL_ENDED_DAEMON, 60, "DaemonEndedDuringStep", FAULT_SITE, true, false)
/* clang-format on */

#endif
