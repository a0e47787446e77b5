/* SPDX-License-Identifier: MIT
 *
 * The list of the provider's operations, one row each.
 */
#include "api/arm/batchai/batchai.h"
#include "api/arm/batchai/routes.h"
#include "api/arm/kind.h"

struct operation_row {
    unsigned versions;
    const char *name, *resource, *operation, *description;
};

#define P "Microsoft.BatchAI/"
static const struct operation_row rows[] = {
    {V_2018_05_01, P "workspaces/read", "Workspaces", "List or get workspaces", "Reads workspaces"},
    {V_2018_05_01, P "workspaces/write", "Workspaces", "Create or update a workspace",
     "Writes a workspace"},
    {V_2018_05_01, P "workspaces/delete", "Workspaces", "Delete a workspace",
     "Deletes a workspace and what is in it"},
    {V_2018_05_01, P "workspaces/experiments/read", "Experiments", "List or get experiments",
     "Reads experiments"},
    {V_2018_05_01, P "workspaces/experiments/write", "Experiments", "Create an experiment",
     "Writes an experiment"},
    {V_2018_05_01, P "workspaces/experiments/delete", "Experiments", "Delete an experiment",
     "Deletes an experiment and its jobs"},
    {V_2018_05_01, P "workspaces/clusters/read", "Clusters", "List or get clusters",
     "Reads clusters"},
    {V_2018_05_01, P "workspaces/clusters/write", "Clusters", "Create or resize a cluster",
     "Writes a cluster"},
    {V_2018_05_01, P "workspaces/clusters/delete", "Clusters", "Delete a cluster",
     "Deletes a cluster and frees its nodes"},
    {V_2018_05_01, P "workspaces/clusters/remoteLoginInformation/action", "Clusters",
     "List a cluster's remote login information", "Shows the addresses of a cluster's nodes"},
    {V_2018_05_01, P "workspaces/fileservers/read", "File Servers", "List or get file servers",
     "Reads file servers"},
    {V_2018_05_01, P "workspaces/fileservers/write", "File Servers", "Create a file server",
     "Writes a file server"},
    {V_2018_05_01, P "workspaces/fileservers/delete", "File Servers", "Delete a file server",
     "Deletes a file server"},
    {V_2018_05_01, P "workspaces/experiments/jobs/read", "Jobs", "List or get jobs", "Reads jobs"},
    {V_2018_05_01, P "workspaces/experiments/jobs/write", "Jobs", "Create a job", "Queues a job"},
    {V_2018_05_01, P "workspaces/experiments/jobs/delete", "Jobs", "Delete a job",
     "Stops and deletes a job"},
    {V_2018_05_01, P "workspaces/experiments/jobs/terminate/action", "Jobs", "Terminate a job",
     "Stops a job"},
    {V_2018_05_01, P "workspaces/experiments/jobs/listoutputfiles/action", "Jobs",
     "List a job's output files",
     "Lists the files of an output directory with links to download them"},
    {V_2018_05_01, P "workspaces/experiments/jobs/remoteLoginInformation/action", "Jobs",
     "List a job's remote login information", "Shows the addresses of the nodes a job runs on"},
    {V_2018_05_01, P "clusters/read", "Clusters", "List clusters",
     "Reads the clusters of all workspaces"},
    {V_2018_05_01, P "fileservers/read", "File Servers", "List file servers",
     "Reads the file servers of all workspaces"},
    {V_2018_05_01, P "locations/usages/read", "Usages", "List usages",
     "Reads usage against quotas"},
    {V_2018_05_01, P "locations/operationresults/read", "Operation Results",
     "Get an operation's result", "Reads how an asynchronous operation went"},
    {V_2018_05_01, P "locations/operationstatuses/read", "Operation Statuses",
     "Get an operation's status", "Reads whether an asynchronous operation is under way"},
    {V_2018_05_01, P "register/action", "Resource Provider", "Register the provider",
     "Registers the provider with a subscription"},
    {V_FLAT, P "clusters/read", "Clusters", "List or get clusters", "Reads clusters"},
    {V_FLAT, P "clusters/write", "Clusters", "Create or resize a cluster", "Writes a cluster"},
    {V_FLAT, P "clusters/delete", "Clusters", "Delete a cluster",
     "Deletes a cluster and frees its nodes"},
    {V_FLAT, P "clusters/listRemoteLoginInformation", "Clusters",
     "List a cluster's remote login information", "Shows the addresses of a cluster's nodes"},
    {V_FLAT, P "jobs/read", "Jobs", "List or get jobs", "Reads jobs"},
    {V_FLAT, P "jobs/write", "Jobs", "Create a job", "Queues a job"},
    {V_FLAT, P "jobs/delete", "Jobs", "Delete a job", "Stops and deletes a job"},
    {V_FLAT, P "jobs/terminate/action", "Jobs", "Terminate a job", "Stops a job"},
    {V_FLAT, P "jobs/listRemoteLoginInformation", "Jobs", "List a job's remote login information",
     "Shows the addresses of the nodes a job runs on"},
    {V_FLAT, P "fileservers/read", "File Servers", "List or get file servers",
     "Reads file servers"},
    {V_FLAT, P "fileservers/write", "File Servers", "Create a file server", "Writes a file server"},
    {V_FLAT, P "fileservers/delete", "File Servers", "Delete a file server",
     "Deletes a file server"},
};
#undef P

struct replied *operations_list(struct request *r)
{
    json_t *value = json_array();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!(rows[i].versions & (unsigned)r->version))
            continue;
        json_t *display = json_pack("{s:s, s:s, s:s, s:s}", "provider", "Microsoft Batch AI",
                                    "resource", rows[i].resource, "operation", rows[i].operation,
                                    "description", rows[i].description);
        json_array_append_new(value, json_pack("{s:s, s:o, s:s}", "name", rows[i].name, "display",
                                               display, "origin", "user,system"));
    }
    return reply_json(r, 200, json_pack("{s:o}", "value", value));
}
