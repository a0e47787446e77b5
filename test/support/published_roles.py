# SPDX-License-Identifier: MIT
"""Roles as they are published, typed from the publication and not from our own table: whether our daemon keeps them is
what the test of all cells finds out. https://learn.microsoft.com/azure/role-based-access-control/built-in-roles
Left out are actions of providers that are not here (Insights, ResourceHealth, Support, deployments)."""

import re
from functools import lru_cache

GROUPS = "Microsoft.Resources/subscriptions/resourceGroups/read"
AUTHORIZATION = "Microsoft.Authorization/*/read"
BLOBS = "Microsoft.Storage/storageAccounts/blobServices"
BLOB = BLOBS + "/containers/blobs"
FILES = "Microsoft.Storage/storageAccounts/fileServices"
FILE = FILES + "/fileshares/files"
BATCH = "Microsoft.Batch/batchAccounts"
JOBS = (BATCH + "/jobs/*", BATCH + "/jobSchedules/*")
DELEGATE = BLOBS + "/generateUserDelegationKey/action"
VAULT = "Microsoft.KeyVault/"
VAULTS_SEEN = (
    VAULT + "checkNameAvailability/read", VAULT + "deletedVaults/read", VAULT + "locations/*/read", VAULT + "vaults/*/read",
    VAULT + "operations/read",
)  # fmt: skip
EXPERIMENTS = "Microsoft.BatchAI/workspaces/experiments"


class Role:
    def __init__(self, *actions, but=(), data=(), own=()):
        """`own`: what may be done to what one has made oneself, or is to make; of our own role alone."""
        self.actions, self.but, self.data, self.own = actions, but, data, own

    def acts(self, action):
        return (fits(self.actions, action) and not fits(self.but, action)) or fits(self.own, action)

    def reads_data(self, action):
        return fits(self.data, action)


@lru_cache(maxsize=None)
def fits(patterns, action):
    return any(re.fullmatch(re.escape(p).replace(r"\*", ".*"), action, re.IGNORECASE) for p in patterns)


ROLES = {
    "Owner": Role("*"),
    "Contributor": Role(
        "*",
        but=("Microsoft.Authorization/*/Delete", "Microsoft.Authorization/*/Write", "Microsoft.Authorization/elevateAccess/Action"),
    ),
    "Reader": Role("*/read"),
    "User Access Administrator": Role("*/read", "Microsoft.Authorization/*"),
    "Network Contributor": Role(AUTHORIZATION, "Microsoft.Network/*", GROUPS),
    "Storage Account Contributor": Role(AUTHORIZATION, "Microsoft.Storage/storageAccounts/*", GROUPS),
    "Reader and Data Access": Role(
        "Microsoft.Storage/storageAccounts/listKeys/action",
        "Microsoft.Storage/storageAccounts/ListAccountSas/action",
        "Microsoft.Storage/storageAccounts/read",
    ),
    "Storage Blob Data Owner": Role(BLOBS + "/containers/*", DELEGATE, data=(BLOB + "/*",)),
    "Storage Blob Data Contributor": Role(
        BLOBS + "/containers/delete", BLOBS + "/containers/read", BLOBS + "/containers/write", DELEGATE,
        data=tuple(BLOB + verb for verb in ("/delete", "/read", "/write", "/move/action", "/add/action")),
    ),
    "Storage Blob Data Reader": Role(BLOBS + "/containers/read", DELEGATE, data=(BLOB + "/read",)),
    "Storage File Data Privileged Contributor": Role(
        data=(
            *(FILE + verb for verb in ("/read", "/write", "/delete", "/modifypermissions/action")),
            FILES + "/readFileBackupSemantics/action", FILES + "/writeFileBackupSemantics/action",
        ),
    ),
    "Storage File Data Privileged Reader": Role(data=(FILE + "/read", FILES + "/readFileBackupSemantics/action")),
    "Storage File Data SMB Share Contributor": Role(data=(FILE + "/read", FILE + "/write", FILE + "/delete")),
    "Storage File Data SMB Share Reader": Role(data=(FILE + "/read",)),
    "Key Vault Contributor": Role(
        AUTHORIZATION, VAULT + "*", GROUPS,
        but=(VAULT + "locations/deletedVaults/purge/action", VAULT + "hsmPools/*", VAULT + "managedHsms/*"),
    ),
    "Key Vault Administrator": Role(AUTHORIZATION, GROUPS, *VAULTS_SEEN, data=(VAULT + "vaults/*",)),
    "Key Vault Secrets Officer": Role(AUTHORIZATION, GROUPS, *VAULTS_SEEN, data=(VAULT + "vaults/secrets/*",)),
    "Key Vault Secrets User": Role(
        data=(VAULT + "vaults/secrets/getSecret/action", VAULT + "vaults/secrets/readMetadata/action"),
    ),
    "Azure Batch Account Contributor": Role(AUTHORIZATION, BATCH + "/*", GROUPS, data=(BATCH + "/*",)),
    "Azure Batch Account Reader": Role(BATCH + "/read", BATCH + "/*/read", GROUPS, data=(BATCH + "/*/read",)),
    "Azure Batch Data Contributor": Role(
        AUTHORIZATION, BATCH + "/read", BATCH + "/applications/*", BATCH + "/certificates/*",
        BATCH + "/certificateOperationResults/*", BATCH + "/pools/*", BATCH + "/poolOperationResults/*",
        "Microsoft.Batch/locations/*/read", GROUPS, data=JOBS,
    ),
    "Azure Batch Job Submitter": Role(
        BATCH + "/applications/read", BATCH + "/applications/versions/read", BATCH + "/pools/read", GROUPS, data=JOBS,
    ),
    # Ours; as docs/people.md has it.
    "Batch AI Job Submitter": Role(
        "*/read", own=(EXPERIMENTS + "/write", EXPERIMENTS + "/delete", EXPERIMENTS + "/jobs/*", "Microsoft.BatchAI/jobs/*"),
    ),
    "Batch AI Job Operator": Role("*/read", "batchaid/jobs/enter/action"),
}  # fmt: skip
