/* SPDX-License-Identifier: MIT
 *
 * The one list of all settings, except the settings of the lists of records (config_records.c).
 */
#include "daemon/config/config_table.h"

#include <assert.h>
#include <string.h>

#include "daemon/config/config_checks.h"

static const char *const runtimes[] = {"docker", "podman", NULL};
static const char *const container_users[] = {"account", "image", NULL};

#define AT(field) offsetof(struct config, field)
#define INT       SETTING_ROW_INT
#define BOOL      SETTING_ROW_BOOL
#define ROW       SETTING_ROW
#define CHOICE    SETTING_ROW_CHOICE
#define RECORDS   SETTING_ROW_RECORDS

static const struct setting rows[] = {
    ROW(SETTING_LIST, "", "listen", AT(listen), "localhost:7443", config_check_listen, NULL,
        "The addresses to serve HTTPS at: ADDR:PORT, IPv6 addresses in brackets. localhost means "
        "both loopback addresses; port 0 picks a free port. --listen replaces the list."),
    ROW(SETTING_STR, "", "state_dir", AT(state_dir), "", NULL, NULL,
        "The directory that holds everything the daemon keeps. Empty: $BATCHAID_STATE_DIR, else "
        "$STATE_DIRECTORY (set by systemd), else $XDG_STATE_HOME/batchaid, else "
        "~/.local/state/batchaid. --state-dir overrides these."),
    ROW(SETTING_STR, "log", "level", AT(log_level), "info", config_check_log_level, NULL,
        "The lowest level to log: debug, info, warn or error.", .live = true),
    ROW(SETTING_STR, "log", "format", AT(log_format), "text", config_check_log_format, NULL,
        "The form of log lines on standard error: text, or json, an object in each line."),
    ROW(SETTING_STR, "subscription", "id", AT(subscription_id),
        "ba7c4a1d-0000-4000-8000-000000000000", config_check_guid, NULL,
        "The GUID of the configured subscription."),
    ROW(SETTING_STR, "subscription", "name", AT(subscription_name), "batchaid",
        config_check_not_empty, NULL, "The display name of this subscription."),
    ROW(SETTING_LIST, "tls", "names", AT(tls_names), "", config_check_host_name, NULL,
        "The names of the daemon for clients, in addition to localhost and this machine's name. "
        "The "
        "daemon makes certificates for them and for all names below them."),
    ROW(SETTING_STR, "tls", "certificate", AT(tls_certificate), "", config_check_path, NULL,
        "A certificate of the site (PEM, with its chain), for clients that ask for a name in it. "
        "SIGHUP makes the daemon read it again."),
    ROW(SETTING_STR, "tls", "key", AT(tls_key), "", config_check_path, NULL,
        "The key of this certificate (PEM)."),
    ROW(SETTING_LIST, "storage", "suffixes", AT(storage_suffixes), "", config_check_host_name, NULL,
        "Further suffixes of storage accounts' hosts, in addition to core.localhost and core.NAME "
        "of each "
        "other name of the daemon. Each begins with core. With core.windows.net (and a hosts file) "
        "ACCOUNT.blob.core.windows.net is served here."),
    INT("storage", "deleted_days", AT(deleted_days), "7", 0, 36500,
        "The days for which the folder of a deleted share or container can be restored; 0: it is "
        "removed at once.",
        .live = true),
    BOOL("storage", "strict", AT(storage_strict), "false",
         "Refuse a cluster or job that mounts a share or container of an account that does not "
         "exist, or with a wrong account key. Otherwise a mount creates them."),
    BOOL("storage", "sync", AT(storage_sync), "true",
         "Acknowledge files and blobs only when they are on disk. false is for tests: a crash of "
         "the machine, not of the daemon, then loses data. The database is always synced."),
    ROW(SETTING_LIST, "storage", "blob_listen", AT(blob_listen), "", config_check_listen, NULL,
        "Addresses that serve only blobs, with the account in the path, as storage emulators do "
        "(UseDevelopmentStorage=true expects localhost:10000). They have the account "
        "devstoreaccount1 with the well-known key, and also serve plain HTTP to clients on this "
        "machine, whatever http.serve is."),
    ROW(SETTING_LIST, "storage", "file_listen", AT(file_listen), "", config_check_listen, NULL,
        "The same for file shares; clients expect localhost:10004."),
    ROW(SETTING_LIST, "storage", "queue_listen", AT(queue_listen), "", config_check_listen, NULL,
        "Addresses at which clients expect queues or tables, such as localhost:10001: each request "
        "gets 501, which clients handle better than a closed port."),
    INT("keep", "job_days", AT(keep_job_days), "366", 0, 36500,
        "The days for which an ended job is kept; then it is removed as if its user had deleted "
        "it. "
        "Reports of use keep it. 0: for ever.",
        .live = true),
    INT("keep", "jobs", AT(keep_jobs), "0", 0, 1000000000,
        "The ended jobs that are kept, of Batch AI and of Azure Batch each; the oldest go first. "
        "0: "
        "any number.",
        .live = true),
    INT("keep", "event_days", AT(keep_event_days), "366", 0, 36500,
        "The days for which events are kept, of each resource the last 100. 0: for ever.",
        .live = true),
    INT("keep", "events", AT(keep_events), "0", 0, 1000000000,
        "The events that are kept; the oldest go first. 0: any number.", .live = true),
    INT("keep", "operation_days", AT(keep_operation_days), "366", 0, 36500,
        "The days for which clients can ask for an operation that has ended. 0: for ever.",
        .live = true),
    INT("keep", "operations", AT(keep_operations), "0", 0, 1000000000,
        "The ended operations that are kept; the oldest go first. 0: any number.", .live = true),
    INT("keep", "output_days", AT(keep_output_days), "366", 0, 36500,
        "The days for which a node keeps the directory of an ended job with its logs, if output "
        "directories are in it (jobs.kept_outputs). 0: no limit by age.",
        .live = true),
    ROW(SETTING_LIST, "vault", "suffixes", AT(vault_suffixes), "", config_check_host_name, NULL,
        "Further suffixes of vaults' hosts, such as vault.azure.net, in addition to "
        "vault.localhost and "
        "vault.NAME of each other name of the daemon."),
    ROW(SETTING_LIST, "batch", "suffixes", AT(batch_suffixes), "", config_check_host_name, NULL,
        "Further suffixes of Batch accounts' hosts, such as batch.azure.com for "
        "ACCOUNT.REGION.batch.azure.com, in addition to batch.localhost and batch.NAME of each "
        "other name "
        "of the daemon."),
    BOOL("batch", "windows_commands", AT(batch_windows_commands), "false",
         "Run command lines of Windows (cmd /c ..., programs with .exe) on the Linux nodes of "
         "Batch pools that have an image of Windows, as far as windows-commands.md of the docs "
         "describes. Otherwise such a task fails, and its error names this setting."),
    BOOL("batch", "admin_is_root", AT(batch_admin_is_root), "false",
         "Run tasks of Batch pools with elevationLevel admin as root, where the node's agent is "
         "root, and accept containerRunOptions of theirs that escape the container, as far as "
         "batch.md of the docs describes. Otherwise they run as other tasks do. "
         "Start tasks of administrators have the agent's rights in any case.",
         .live = true),
    ROW(SETTING_STR, "batch", "windows_programs", AT(batch_windows_programs), "", config_check_path,
        NULL,
        "A directory on nodes with executables that replace programs of Windows in such command "
        "lines, named in lower case without .exe: msiexec."),
    BOOL("batch", "foreign_urls", AT(batch_foreign_urls), "true",
         "Let the daemon download resource files of Azure Batch from foreign hosts, and upload "
         "output files and logs to them. Users then reach every host that the daemon's machine "
         "reaches. With false only URLs of storage accounts here are accepted.",
         .live = true),
    INT("batch", "transfer_timeout_s", AT(batch_transfer_timeout_s), "60", 1, 3600,
        "The seconds without a byte after which the transfer of a resource file or an output file "
        "of Azure Batch fails."),
    BOOL("http", "serve", AT(http_serve), "false",
         "Serve plain HTTP as well, on the same ports, to clients on this machine. Clients send no "
         "tokens over it: it is for curl and for keys of storage accounts."),
    BOOL("http", "expose", AT(http_expose), "false",
         "With http.serve, serve plain HTTP to clients on other machines too: everybody on the "
         "path can read everything."),
    INT("auth", "token_lifetime_s", AT(token_lifetime_s), "3600", 60, 86400,
        "The seconds for which an access token is valid.", .live = true),
    INT("compat", "retry_after_s", AT(retry_after_s), "1", 0, 3600,
        "The seconds that clients should wait between two polls of an operation.", .live = true),
    BOOL("compat", "strict", AT(strict), "false",
         "Answer as the Azure service did. Retry-After is 15 seconds with a 202 and absent with an "
         "operation in progress. Strict-Transport-Security is sent. A failed job without an exit "
         "code of a process has none, so 'az batchai job wait' calls it a success; otherwise it "
         "has 124 after its time limit, 143 after a terminate, and else 1."),
    BOOL("compat", "newer_versions", AT(newer_versions), "false",
         "Serve an api-version that is newer than all that the daemon knows as the newest that it "
         "knows. Otherwise such a request is refused, and the error names the newest.",
         .live = true),
    INT("compat", "resizing_s", AT(resizing_s), "2", 0, 3600,
        "The seconds for which a new cluster is shown resizing although its nodes exist, because "
        "clients of the service expect that; at least twice retry_after_s. Nodes, jobs and "
        "operations do not wait for it. 0: the real state is shown."),
    ROW(SETTING_STR, "metrics", "token_file", AT(metrics_token_file), "", config_check_path, NULL,
        "A file, closed to others (mode 0600), with a token in its only line. A client that sends "
        "it as its bearer token may read /metrics, and nothing else. A reload reads it again.",
        .live = true),
    ROW(SETTING_LIST, "metrics", "networks", AT(metrics_networks), "", config_check_network, NULL,
        "Networks whose clients may read /metrics without a token: 10.1.0.0/16, fd00::/8, "
        "10.1.2.3.",
        .live = true),
    BOOL("metrics", "people", AT(metrics_people), "false",
         "Show in /metrics who used how much GPU time, by name. Otherwise it is shown by group."),
    INT("watchdog", "report_s", AT(watchdog_report_s), "10", 1, 3600,
        "The seconds after which the log reports a loop that hangs, with its current work and its "
        "stack. No request is answered meanwhile."),
    INT("watchdog", "end_s", AT(watchdog_end_s), "60", 0, 86400,
        "The seconds of a hanging loop after which the daemon ends itself and is started again, "
        "except during a system call that cannot be interrupted; 0: never."),
    BOOL("testing", "strict", AT(testing_strict), "false",
         "With --testing: steps take the time that they took in the Azure service, with its states "
         "and throttling: testing.md of the docs."),
    INT("local", "nodes", AT(nodes), "100", 0, 10000,
        "The most nodes of this machine, over all clusters; 0: jobs run on machines of the "
        "inventory only."),
    BOOL("local", "shared_user", AT(local_shared_user), "false",
         "Let others than the daemon's own principal run jobs on local nodes where the daemon's "
         "files "
         "cannot be hidden from them (the daemon's own user without Landlock, or root with "
         "jobs.uids: 0). Each of them can then become anybody."),
    ROW(SETTING_LIST, "local", "vm_sizes", AT(vm_sizes), "", config_check_vm_size, NULL,
        "The VM sizes that local nodes serve; an empty list allows any."),
    INT("local", "slots", AT(local_slots), "0", 0, 100000,
        "The slots of each local node. A job of a part of a node takes at least one slot, so this "
        "is the most jobs on a node. 0: as many as cores.",
        .live = true),
    INT("local", "cores", AT(local_cores), "0", 0, 100000,
        "The cores of each local node, for jobs of parts of nodes; 0: as many as this machine has. "
        "Local nodes together may have more cores than exist.",
        .live = true),
    INT("local", "memory_mb", AT(local_memory_mb), "0", 0, 1000000000,
        "The memory (in MiB) of each local node, for jobs of parts of nodes; 0: as much as this "
        "machine has.",
        .live = true),
    INT("local", "fake_gpus", AT(local_fake_gpus), "0", 0, 1024,
        "For tests: the fake GPUs of each local node, on a machine without GPUs. Every local node "
        "has all real GPUs: with real GPUs use one local node.",
        .live = true),
    INT("local", "min_free_disk_mb", AT(local_min_free_disk_mb), "64", 0, 1000000000,
        "The free space (in MiB) of local nodes below which they get no new work; on a disk of "
        "less than four times that size, a quarter of the disk.",
        .live = true),
    INT("local", "autoscale_idle_s", AT(autoscale_idle_s), "300", 0, 86400,
        "The idle seconds after which automatic scaling releases a node of a cluster.",
        .live = true),
    INT("quota", "clusters", AT(quota_clusters), "100", 0, 1000000,
        "The most clusters of the subscription.", .live = true),
    INT("quota", "cores", AT(quota_cores), "1000", 0, 1000000000,
        "The limit on cores that usages shows.", .live = true),
    INT("quota", "batch_jobs", AT(quota_batch_jobs), "0", 0, 1000000000,
        "The most jobs and job schedules of a Batch account that are not completed; 0: any "
        "number.",
        .live = true),
    INT("quota", "batch_pools", AT(quota_batch_pools), "0", 0, 1000000000,
        "The most pools of a Batch account; 0: any number.", .live = true),

    RECORDS("inventory", AT(inventory), &config_inventory_kind,
            "The machines that jobs may run on, reached over SSH. Each entry is a group of "
            "machines that are reached and used in the same way. A machine is in one entry only. "
            "Empty: local nodes only.",
            .live = true),
    RECORDS("mounts", AT(mounts), &config_mount_kind,
            "How shares and blob containers are mounted on machines of the inventory: the first "
            "matching rule decides. Filled in in source, options, command and unmount: {account} "
            "{share} {container} {options} {target}; {url}, the host of the account; {key}, the "
            "name of a file with the account's key. A command finds the key in $BATCHAI_KEY too.",
            .live = true),
    RECORDS(
        "file_servers", AT(file_servers), &config_file_server_kind,
        "Rules for Batch AI file servers: the first rule with a matching name decides who serves "
        "one. "
        "A rule has either nfs, or machine and directory. {workspace} and {name} are filled in.",
        .live = true),
    ROW(SETTING_STR, "shares", "address", AT(shares_address), "", NULL, NULL,
        "The name or address at which machines of the inventory reach this machine, to mount "
        "shares that no rule of mounts matches. Empty: the address that the daemon's connection "
        "to the machine has here."),
    INT("shares", "port", AT(shares_port), "7422", 0, 65535,
        "The port of the SSH server with which the daemon serves these shares. It runs while a "
        "machine has a key for one. 0: shares without a rule are not mounted."),
    CHOICE(SETTING_LIST, "containers", "runtimes", AT(runtimes), "", runtimes,
           "The container runtimes in order of preference: the first one that a machine has. "
           "Empty: podman, docker where the agent is root; docker, podman elsewhere.",
           .live = true),
    CHOICE(SETTING_STR, "containers", "user", AT(container_user), "account", container_users,
           "The user of jobs in docker, which cannot map users for one container: account is the "
           "job's own account. image is the image's user, who is the machine's user of that "
           "number, mostly root, and needs the right batchaid/nodes/runAsAdmin/action. With podman "
           "a job is the image's user inside and the job's account outside.",
           .live = true),
    BOOL("ssh", "strict_host_keys", AT(strict_host_keys), "false",
         "Refuse a machine whose host key is not in known_hosts yet. Otherwise the first key is "
         "recorded. A changed key is always refused.",
         .live = true),
    ROW(SETTING_STR, "ssh", "known_hosts", AT(known_hosts), "", config_check_path, NULL,
        "The daemon's file of host keys. Empty: known_hosts in the state directory.", .live = true),
    INT("ssh", "connect_limit", AT(connect_limit), "64", 1, 10000,
        "The most machines to connect to at the same time.", .live = true),
    INT("ssh", "connect_timeout_s", AT(connect_timeout_s), "10", 1, 600,
        "The seconds for the name lookup and the TCP connection to a machine; twice as many for "
        "each step of the login, three times as many for each step that prepares the agent.",
        .live = true),
    INT("ssh", "keepalive_s", AT(keepalive_s), "15", 1, 3600,
        "The seconds after which the daemon sends a keepalive to a silent machine.", .live = true),
    INT("ssh", "dead_after_s", AT(dead_after_s), "60", 2, 86400,
        "The seconds without a byte after which a connection is closed; more than keepalive_s.",
        .live = true),
    INT("machines", "unusable_after_s", AT(unusable_after_s), "300", 1, 86400,
        "The seconds without a connection after which a node is unusable; its job is lost or "
        "requeued, as the cluster's rule says.",
        .live = true),
    INT("machines", "health_interval_s", AT(health_interval_s), "60", 1, 86400,
        "The seconds between two checks of a machine's disk, clock and GPUs.", .live = true),
    INT("machines", "min_free_disk_mb", AT(min_free_disk_mb), "1024", 0, 1000000000,
        "The free space (in MiB) at a machine's node root below which it gets no new work.",
        .live = true),
    INT("machines", "max_clock_skew_s", AT(max_clock_skew_s), "5", 1, 86400,
        "Report a machine whose clock differs by more seconds.", .live = true),
    ROW(SETTING_STR, "machines", "gpu_jobs_directory", AT(gpu_jobs_dir), "", config_check_path,
        NULL,
        "A directory on machines of the inventory in which the agent keeps a file for each GPU, "
        "called by its number, with the names of the jobs that have it: for dcgm-exporter's "
        "--hpc-job-mapping-dir. Empty: none.",
        .live = true),
    BOOL("machines", "samples", AT(samples), "true",
         "Whether nodes, also local ones, are asked every 15 s for samples of their machine and "
         "GPUs. With GPUs each agent keeps an nvidia-smi running. Off with --testing."),
    BOOL("machines", "reclaim", AT(reclaim), "false",
         "Let machines with priority dedicated serve clusters with vmPriority lowpriority too, "
         "while no dedicated cluster lacks machines. Then the daemon takes them back, and their "
         "jobs are requeued. Otherwise priority and vmPriority must match.",
         .live = true),
    INT("jobs", "memory_mb", AT(job_memory_mb), "0", 0, 1000000000,
        "The memory (in MiB) of a job on a machine: of all its processes with cgroups of version "
        "2, otherwise the address space of each process, which CUDA needs without a limit; 0: no "
        "limit.",
        .live = true),
    INT("jobs", "cpus", AT(job_cpus), "0", 0, 100000,
        "The most CPUs of a job on a machine with cgroups; 0: no limit.", .live = true),
    INT("jobs", "processes", AT(job_processes), "0", 0, 4000000,
        "The most processes of a job on a machine; 0: no limit.", .live = true),
    INT("jobs", "open_files", AT(job_open_files), "0", 0, 1000000,
        "The most open files of each process of a job; 0: no limit.", .live = true),
    INT("jobs", "first_uid", AT(first_uid), "2100000000", 65536, 4200000000,
        "The first number of jobs' accounts, and the group of all jobs. Where a node's agent is "
        "root, each job has its own account, unless job_user of the inventory names one: a number "
        "from here up that nothing else on the machine may have."),
    INT("jobs", "uids", AT(n_uids), "40000000", 0, 4200000000,
        "The count of such numbers: at least 8192; a node has 4096 to itself. 0: jobs run as the "
        "agent, or as the account of the login."),
    ROW(SETTING_LIST, "jobs", "backfill", AT(backfill), "*", config_check_not_empty, NULL,
        "The clusters with backfill: patterns with * and ? of CLUSTER or WORKSPACE/CLUSTER. There "
        "a job may start before an earlier job that cannot start yet, if, by the jobs' "
        "maxWallClockTime, no earlier job has to wait longer. An empty list: none.",
        .may_be_empty = true, .live = true),
    INT("jobs", "kept_outputs", AT(kept_outputs), "10", 0, 1000,
        "The ended jobs whose own directory a node keeps, if output directories are in it. A "
        "directory is also removed when its job is deleted or the node leaves its cluster.",
        .live = true),
    ROW(SETTING_STR, "jobs", "shared_directory", AT(shared_directory), "", config_check_path, NULL,
        "A directory that every machine has at this path, with the same content, writable for the "
        "accounts of jobs (mode 1777): usually an NFS mount. A job on several machines has its own "
        "directory there, AZ_BATCHAI_SHARED_JOB_TEMP. Empty: the machines mount the directory of "
        "the job's first node by sshfs; if a machine cannot, the job's log says so."),
};
const struct settings config_settings = {rows, sizeof rows / sizeof rows[0]};

void config_put_type(const struct setting *s, struct strbuf *b)
{
    static const char *const names[] = {
        [SETTING_INT] = "number", [SETTING_BOOL] = "truth value",   [SETTING_STR] = "text",
        [SETTING_LIST] = "list",  [SETTING_TEXTS] = "text or list", [SETTING_RECORDS] = "list of ",
    };
    static_assert(sizeof names / sizeof names[0] == SETTING_RECORDS + 1, "a name a type");
    strbuf_puts(b, names[s->type]);
    if (s->record)
        strbuf_puts(b, s->record->noun);
}

const char *config_example(const struct setting *s)
{
    static const char *const examples[] = {
        [SETTING_INT] = "300",
        [SETTING_BOOL] = "true",
        [SETTING_STR] = "\"some text\"",
        [SETTING_LIST] = "[\"one\", \"two\"]",
        [SETTING_TEXTS] = "[\"one\", \"two\"]",
        [SETTING_RECORDS] = "[{...}, {...}]",
    };
    static_assert(sizeof examples / sizeof examples[0] == SETTING_RECORDS + 1, "one a type");
    if (s->example)
        return s->example;
    return s->choices && s->type == SETTING_STR ? s->choices[0] : examples[s->type];
}

void config_put_choices(const char *const *choices, struct strbuf *b)
{
    for (size_t i = 0; choices[i]; i++)
        strbuf_printf(b, "%s%s", i == 0 ? "" : choices[i + 1] ? ", " : " or ", choices[i]);
}
