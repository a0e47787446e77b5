/* SPDX-License-Identifier: MIT
 *
 * The table of roles with their actions, and the match of an action with a pattern with *. The data
 * is constant; any thread may use it.
 */
#include "api/access/roles.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define BLOBS   "Microsoft.Storage/storageAccounts/blobServices"
#define FILES   "Microsoft.Storage/storageAccounts/fileServices"
#define BLOB    BLOBS "/containers/blobs"
#define FILE_   FILES "/fileshares/files"
#define SECRETS "Microsoft.KeyVault/vaults/secrets"
#define EXP     "Microsoft.BatchAI/workspaces/experiments"
#define BATCH   "Microsoft.Batch/batchAccounts"
#define GROUPS  "Microsoft.Resources/subscriptions/resourceGroups/read"
#define ALERTS  "Microsoft.Insights/alertRules/*"
#define DEPLOYS "Microsoft.Resources/deployments/*"
#define VAULTS_SEEN                                                                                \
    GROUPS, "Microsoft.KeyVault/checkNameAvailability/read",                                       \
        "Microsoft.KeyVault/deletedVaults/read", "Microsoft.KeyVault/locations/*/read",            \
        "Microsoft.KeyVault/vaults/*/read", "Microsoft.KeyVault/operations/read"
#define DELEGATE BLOBS "/generateUserDelegationKey/action"

const struct role roles[] = {
    {.guid = ROLE_OWNER,
     .name = "Owner",
     .description = "Grants full access, and may give roles to others.",
     .actions = {"*"}},
    {.guid = "b24988ac-6180-42a0-ab88-20f7382dd24c",
     .name = "Contributor",
     .description = "Grants full access, except that it gives no roles to others.",
     .actions = {"*"},
     .not_actions = {"Microsoft.Authorization/*/Delete", "Microsoft.Authorization/*/Write",
                     "Microsoft.Authorization/elevateAccess/Action"}},
    {.guid = ROLE_READER,
     .name = "Reader",
     .description = "Views everything, changes nothing, and sees no keys.",
     .actions = {"*/read"}},
    {.guid = "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9",
     .name = "User Access Administrator",
     .description = "Views everything, and gives roles to others.",
     .actions = {"*/read", "Microsoft.Authorization/*"}},
    {.guid = ROLE_SUBMITTER,
     .name = "Batch AI Job Submitter",
     .description = "Views everything and runs jobs; ends and deletes only its own. Of batchaid.",
     .actions = {"*/read"},
     .own_actions = {EXP "/write", EXP "/delete", EXP "/jobs/*", "Microsoft.BatchAI/jobs/*"}},
    {.guid = ROLE_ENTERER,
     .name = "Batch AI Job Operator",
     .description = "Views everything, and has terminals in running jobs of others. Of batchaid.",
     .actions = {"*/read", ACTION_ENTER_JOBS}},
    {.guid = "4d97b98b-1d4f-4787-a291-c67834d212e7",
     .name = "Network Contributor",
     .description = "Manages networks, of which there are none here.",
     .actions = {"Microsoft.Authorization/*/read", "Microsoft.Network/*",
                 "Microsoft.Resources/subscriptions/resourceGroups/read"}},
    {.guid = "17d1049b-9a84-46fb-8f53-869881c3d3ab",
     .name = "Storage Account Contributor",
     .description = "Manages storage accounts, their keys included.",
     .actions = {"Microsoft.Authorization/*/read", "Microsoft.Storage/storageAccounts/*",
                 "Microsoft.Resources/subscriptions/resourceGroups/read"}},
    {.guid = "c12c1c16-33a1-487b-954d-41c89c60f349",
     .name = "Reader and Data Access",
     .description = "Views storage accounts and gets their keys, but changes no account.",
     .actions = {"Microsoft.Storage/storageAccounts/listKeys/action",
                 "Microsoft.Storage/storageAccounts/ListAccountSas/action",
                 "Microsoft.Storage/storageAccounts/read"}},
    {.guid = "b7e6dc6d-f1e8-4753-8033-0f276bb0955b",
     .name = "Storage Blob Data Owner",
     .description = "Reads, writes and deletes containers and blobs.",
     .actions = {BLOBS "/containers/*", DELEGATE},
     .data_actions = {BLOB "/*"}},
    {.guid = "ba92f5b4-2d11-453d-a403-e96b0029c9fe",
     .name = "Storage Blob Data Contributor",
     .description = "Reads, writes and deletes containers and blobs.",
     .actions = {BLOBS "/containers/delete", BLOBS "/containers/read", BLOBS "/containers/write",
                 DELEGATE},
     .data_actions = {BLOB "/delete", BLOB "/read", BLOB "/write", BLOB "/move/action",
                      BLOB "/add/action"}},
    {.guid = "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1",
     .name = "Storage Blob Data Reader",
     .description = "Reads containers and blobs.",
     .actions = {BLOBS "/containers/read", DELEGATE},
     .data_actions = {BLOB "/read"}},
    {.guid = "69566ab7-960f-475b-8e7c-b3118f30c6bd",
     .name = "Storage File Data Privileged Contributor",
     .description = "Reads, writes and deletes files whatever their permissions.",
     .data_actions = {FILE_ "/*", FILES "/readFileBackupSemantics/action",
                      FILES "/writeFileBackupSemantics/action"}},
    {.guid = "b8eda974-7b85-4f76-af95-65846b26df6d",
     .name = "Storage File Data Privileged Reader",
     .description = "Reads files whatever their permissions.",
     .data_actions = {FILE_ "/read", FILES "/readFileBackupSemantics/action"}},
    {.guid = "0c867c2a-1d8c-454a-a3db-ab2ea1bdc8bb",
     .name = "Storage File Data SMB Share Contributor",
     .description = "Reads, writes and deletes files.",
     .data_actions = {FILE_ "/read", FILE_ "/write", FILE_ "/delete"}},
    {.guid = "aba4ae5f-2193-4029-9191-0cb91df5e314",
     .name = "Storage File Data SMB Share Reader",
     .description = "Reads files.",
     .data_actions = {FILE_ "/read"}},
    {.guid = "f25e0fa2-a7c8-4377-a976-54943a77a395",
     .name = "Key Vault Contributor",
     .description = "Manages vaults, but sees nothing in them.",
     .actions = {"Microsoft.Authorization/*/read", "Microsoft.KeyVault/*", ALERTS, DEPLOYS, GROUPS},
     .not_actions = {"Microsoft.KeyVault/locations/deletedVaults/purge/action",
                     "Microsoft.KeyVault/hsmPools/*", "Microsoft.KeyVault/managedHsms/*"}},
    {.guid = "29fe4964-1e60-436b-bd3a-77fd4c178b3c",
     .name = "Azure Batch Account Contributor",
     .description = "Manages Batch accounts, their keys included, and all that is in them.",
     .actions = {"Microsoft.Authorization/*/read", "Microsoft.Batch/batchAccounts/*", ALERTS,
                 DEPLOYS, GROUPS, ACTION_RUN_AS_ADMIN},
     .data_actions = {BATCH "/*"}},
    {.guid = "11076f67-66f6-4be0-8f6b-f0609fd05cc9",
     .name = "Azure Batch Account Reader",
     .description = "Views Batch accounts and what is in them, but no keys.",
     .actions = {BATCH "/read", BATCH "/*/read", GROUPS},
     .data_actions = {BATCH "/*/read"}},
    {.guid = "6aaa78f1-f7de-44ca-8722-c64a23943cae",
     .name = "Azure Batch Data Contributor",
     .description = "Manages applications, pools, jobs and tasks, but no accounts.",
     .actions = {"Microsoft.Authorization/*/read", BATCH "/read", BATCH "/applications/*",
                 BATCH "/certificates/*", BATCH "/certificateOperationResults/*", BATCH "/pools/*",
                 BATCH "/poolOperationResults/*", "Microsoft.Batch/locations/*/read", ALERTS,
                 DEPLOYS, GROUPS, ACTION_RUN_AS_ADMIN},
     .data_actions = {BATCH "/jobs/*", BATCH "/jobSchedules/*"}},
    {.guid = "48e5e92e-a480-4e71-aa9c-2778f4c13781",
     .name = "Azure Batch Job Submitter",
     .description = "Runs jobs and tasks on pools that are there.",
     .actions = {BATCH "/applications/read", BATCH "/applications/versions/read",
                 BATCH "/pools/read", ALERTS, GROUPS},
     .data_actions = {BATCH "/jobs/*", BATCH "/jobSchedules/*"}},
    {.guid = "00482a5a-887f-4fb3-b363-3b7fe8e74483",
     .name = "Key Vault Administrator",
     .description = "Manages all that is in vaults.",
     .actions = {"Microsoft.Authorization/*/read", ALERTS, DEPLOYS, VAULTS_SEEN},
     .data_actions = {"Microsoft.KeyVault/vaults/*"}},
    {.guid = "b86a8fe4-44ce-4948-aee5-eccb2c155cd7",
     .name = "Key Vault Secrets Officer",
     .description = "Manages the secrets of vaults.",
     .actions = {"Microsoft.Authorization/*/read", ALERTS, DEPLOYS, VAULTS_SEEN},
     .data_actions = {SECRETS "/*"}},
    {.guid = "4633458b-17de-408a-b874-0445c86b69e6",
     .name = "Key Vault Secrets User",
     .description = "Reads the secrets of vaults.",
     .data_actions = {SECRETS "/getSecret/action", SECRETS "/readMetadata/action"}},
};
const size_t n_roles = sizeof roles / sizeof roles[0];

const struct role *role_by_guid(const char *guid)
{
    for (size_t i = 0; i < n_roles; i++)
        if (strcasecmp(roles[i].guid, guid) == 0)
            return &roles[i];
    return NULL;
}

const struct role *role_by_name(const char *name)
{
    for (size_t i = 0; i < n_roles; i++)
        if (strcasecmp(roles[i].name, name) == 0)
            return &roles[i];
    return NULL;
}

/* After a mismatch only the text of the last `*` is made longer: the time is at most the product of
 * both lengths. */
static bool fits(const char *pattern, const char *s)
{
    const char *star = NULL, *from = NULL;
    while (*s) {
        if (*pattern == '*') {
            star = ++pattern;
            from = s;
        } else if (tolower((unsigned char)*pattern) == tolower((unsigned char)*s)) {
            pattern++;
            s++;
        } else if (star) {
            pattern = star;
            s = ++from;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

bool role_patterns_fit(const char *const *patterns, const char *action)
{
    for (; *patterns; patterns++)
        if (fits(*patterns, action))
            return true;
    return false;
}
