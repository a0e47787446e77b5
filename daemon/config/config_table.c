/* SPDX-License-Identifier: MIT
 *
 * The one list of all settings, except those of the lists of records (config_records.c).
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
        "Where to serve HTTPS: a list of ADDR:PORT, IPv6 addresses in brackets. localhost means "
        "both "
        "loopback addresses; port 0 picks a free one. --listen replaces the list."),
    ROW(SETTING_STR, "", "state_dir", AT(state_dir), "", NULL, NULL,
        "The directory that holds everything the daemon keeps. Empty: $BATCHAID_STATE_DIR, else "
        "$STATE_DIRECTORY (set by systemd), else $XDG_STATE_HOME/batchaid, else "
        "~/.local/state/batchaid. --state-dir goes before all of these."),
    ROW(SETTING_STR, "log", "level", AT(log_level), "info", config_check_log_level, NULL,
        "What to log: debug, info, warn or error, and everything above it."),
    ROW(SETTING_STR, "log", "format", AT(log_format), "text", config_check_log_format, NULL,
        "How a log line on standard error looks: text, or json for one JSON object a line."),
    ROW(SETTING_STR, "subscription", "id", AT(subscription_id),
        "ba7c4a1d-0000-4000-8000-000000000000", config_check_guid, NULL,
        "The GUID of the one subscription that is served."),
    ROW(SETTING_STR, "subscription", "name", AT(subscription_name), "batchaid",
        config_check_not_empty, NULL, "The display name of that subscription."),
    ROW(SETTING_LIST, "tls", "names", AT(tls_names), "", config_check_host_name, NULL,
        "The names that clients reach the daemon by, besides localhost and this machine's own. "
        "Certificates are made for them and for all names below them."),
    ROW(SETTING_STR, "tls", "certificate", AT(tls_certificate), "", config_check_path, NULL,
        "A certificate of the site for such names (PEM, with its chain), shown to clients that ask "
        "for a name that is in it. It is read again on SIGHUP."),
    ROW(SETTING_STR, "tls", "key", AT(tls_key), "", config_check_path, NULL,
        "The key of that certificate (PEM)."),
    ROW(SETTING_LIST, "storage", "suffixes", AT(storage_suffixes), "", config_check_host_name, NULL,
        "More suffixes of storage accounts' hosts, besides core.localhost and core.NAME of each "
        "other name of the daemon: with core.windows.net (and a hosts file) "
        "ACCOUNT.blob.core.windows.net is served here. Each must begin with core."),
    INT("storage", "deleted_days", AT(deleted_days), "7", 0, 36500,
        "How many days the folder of a deleted share or container is kept, and can be restored; 0: "
        "it is removed at once."),
    BOOL("storage", "strict", AT(storage_strict), "false",
         "Nothing is made by being named: a cluster or job that mounts a share or container of an "
         "account that is not there is refused, and so is a wrong account key. Otherwise accounts, "
         "shares and containers that are mounted exist from then on."),
    BOOL("storage", "sync", AT(storage_sync), "true",
         "What is written to files and blobs is on disk before it is acknowledged. false is for "
         "tests: a crash of the machine then takes what the kernel had not written yet; a crash of "
         "the daemon takes nothing. The daemon's database is synced in any case."),
    ROW(SETTING_LIST, "storage", "blob_listen", AT(blob_listen), "", config_check_listen, NULL,
        "Addresses where only blobs are served, with the account in the path, as emulators of "
        "storage do: localhost:10000 is where UseDevelopmentStorage=true looks. Plain HTTP is "
        "served there to clients on this machine, whatever http.serve says, and the account "
        "devstoreaccount1 with the key that everybody knows."),
    ROW(SETTING_LIST, "storage", "file_listen", AT(file_listen), "", config_check_listen, NULL,
        "The same for file shares; clients expect localhost:10004."),
    ROW(SETTING_LIST, "storage", "queue_listen", AT(queue_listen), "", config_check_listen, NULL,
        "Addresses where clients look for queues or tables, such as localhost:10001: each request "
        "is told that these are not served (501), which it understands better than a closed port."),
    ROW(SETTING_LIST, "vault", "suffixes", AT(vault_suffixes), "", config_check_host_name, NULL,
        "More suffixes of vaults' hosts, besides vault.localhost and vault.NAME of each other name "
        "of the daemon, such as vault.azure.net."),
    ROW(SETTING_LIST, "batch", "suffixes", AT(batch_suffixes), "", config_check_host_name, NULL,
        "More suffixes of Batch accounts' hosts, besides batch.localhost and batch.NAME of each "
        "other name of the daemon: with batch.azure.com (and a hosts file) "
        "ACCOUNT.REGION.batch.azure.com is served here."),
    BOOL(
        "batch", "windows_commands", AT(batch_windows_commands), "false",
        "Run command lines of Windows (cmd /c ..., programs by their names with .exe) on the Linux "
        "nodes of Batch pools that have an image of Windows, as far as walkthroughs use them: "
        "windows-commands.md of the docs. Otherwise a task there fails and says why."),
    BOOL("batch", "admin_is_root", AT(batch_admin_is_root), "false",
         "Run tasks of Batch pools that ask for elevationLevel admin as root, where the node's "
         "agent is root, and take all of their containerRunOptions. Otherwise they run as other "
         "tasks do; their sudo runs what it is given, with the rights that they have. Start tasks "
         "are the administrator's of the node in any case."),
    ROW(SETTING_STR, "batch", "windows_programs", AT(batch_windows_programs), "", config_check_path,
        NULL,
        "A directory of nodes with executables that take the place of programs of Windows in such "
        "command lines, called as these are, in lower case and without .exe: msiexec."),
    BOOL("batch", "foreign_urls", AT(batch_foreign_urls), "true",
         "Let the daemon fetch resource files from, and put output files and logs of nodes to, "
         "hosts "
         "that are not its own, as tasks of Azure Batch name them: whatever its machine reaches, "
         "users reach. With false the URLs of storage accounts here are good, and no others."),
    INT("batch", "transfer_timeout_s", AT(batch_transfer_timeout_s), "60", 1, 3600,
        "After how many seconds without a byte from the other end a resource file or an output "
        "file of a task of Azure Batch is given up."),
    BOOL("http", "serve", AT(http_serve), "false",
         "Serve plain HTTP as well, on the same ports, to clients on this machine. Clients refuse "
         "to send tokens over it, so it is for curl and for keys of storage accounts."),
    BOOL("http", "expose", AT(http_expose), "false",
         "Serve plain HTTP, if it is served, to clients of other machines too: whoever is in "
         "between reads everything."),
    INT("auth", "token_lifetime_s", AT(token_lifetime_s), "3600", 60, 86400,
        "How many seconds an access token is good for."),
    INT("compat", "retry_after_s", AT(retry_after_s), "1", 0, 3600,
        "How many seconds a client is asked to wait between two looks at an operation in "
        "progress."),
    BOOL("compat", "strict", AT(strict), "false",
         "Answer as the Azure service did where that is of little use: Retry-After is 15 seconds "
         "with "
         "a 202 and absent with an operation in progress, instead of retry_after_s; "
         "Strict-Transport-Security is sent; a failed job that no process gave an exit code has "
         "none, and so 'az batchai job wait' calls it a success. Otherwise it has 124 after its "
         "time "
         "limit, 143 after a terminate, and else 1."),
    INT("compat", "resizing_s", AT(resizing_s), "2", 0, 3600,
        "How many seconds a new cluster is shown resizing although its nodes are there already, "
        "twice retry_after_s if that is more: clients of the service expect to see that, as it "
        "took "
        "minutes. Nodes, jobs and operations do not wait for it. 0: it is shown as it is."),
    INT("watchdog", "report_s", AT(watchdog_report_s), "10", 1, 3600,
        "After how many seconds in which the daemon's loop stands still, and nobody is answered, "
        "the log says what it is in, with its stack."),
    INT("watchdog", "end_s", AT(watchdog_end_s), "60", 0, 86400,
        "After how many such seconds the daemon ends itself, and is started again; 0: it never "
        "does. Not in a call of the kernel that cannot be interrupted."),
    BOOL("testing", "strict", AT(testing_strict), "false",
         "With --testing: things take the time that they took in the Azure service, pass through "
         "its states, and are throttled as they were there: testing.md of the docs."),
    INT("local", "nodes", AT(nodes), "100", 0, 10000,
        "How many nodes this machine may pretend to be, over all clusters; 0: jobs run on machines "
        "of "
        "the inventory only."),
    BOOL("local", "shared_user", AT(local_shared_user), "false",
         "Where jobs on local nodes run as the daemon's own user, and the kernel cannot hide the "
         "daemon's files from them (no Landlock), or as root (jobs.uids: 0): let others than the "
         "first principal run them, though each of them then can become anybody."),
    ROW(SETTING_LIST, "local", "vm_sizes", AT(vm_sizes), "", config_check_vm_size, NULL,
        "The VM sizes that local nodes may have; an empty list allows any."),
    INT("local", "slots", AT(local_slots), "0", 0, 100000,
        "How many slots each local node has: jobs that take a part of it take at least one, so no "
        "more jobs share it. 0: as many as it has cores."),
    INT("local", "cores", AT(local_cores), "0", 0, 100000,
        "How many cores each local node pretends to have, for jobs that take a part of it; 0: as "
        "many as this machine has. All local nodes are on this machine, so what they have "
        "together may be more than there is."),
    INT("local", "memory_mb", AT(local_memory_mb), "0", 0, 1000000000,
        "How much memory (in MiB) each local node pretends to have; 0: as much as this machine "
        "has."),
    INT("local", "fake_gpus", AT(local_fake_gpus), "0", 0, 1024,
        "For tests: how many GPUs each local node pretends to have, on a machine without any. "
        "Real GPUs are those of every local node: with them, use one local node."),
    INT("local", "min_free_disk_mb", AT(local_min_free_disk_mb), "64", 0, 1000000000,
        "With less free space where the nodes' directories are (in MiB) local nodes get no new "
        "work until there is more; on a disk of less than four times that with less than a quarter "
        "of it."),
    INT("local", "autoscale_idle_s", AT(autoscale_idle_s), "300", 0, 86400,
        "How many seconds a node of an automatically scaled cluster idles before it is let go."),
    INT("quota", "clusters", AT(quota_clusters), "100", 0, 1000000,
        "How many clusters the subscription may have."),
    INT("quota", "cores", AT(quota_cores), "1000", 0, 1000000000,
        "The limit on cores that usages shows."),
    INT("quota", "batch_jobs", AT(quota_batch_jobs), "0", 0, 1000000000,
        "How many jobs and job schedules that are not completed a Batch account may have; 0: any "
        "number."),
    INT("quota", "batch_pools", AT(quota_batch_pools), "0", 0, 1000000000,
        "How many pools a Batch account may have; 0: any number."),

    RECORDS("inventory", AT(inventory), &config_inventory_kind,
            "The machines that jobs may run on besides this one, reached by SSH. Each entry is a "
            "group of machines that are reached and used in the same way; a machine is in one "
            "entry only. Empty: local nodes only."),
    RECORDS("mounts", AT(mounts), &config_mount_kind,
            "How Azure file shares and blob containers come to machines of the inventory: the "
            "first rule that matches counts. In source, options, command and unmount {account} "
            "{share} {container} {options} {target} and {url}, the host that serves the account, "
            "are filled in; {key} is the name of a file with the account's key. A command finds "
            "the key in $BATCHAI_KEY, too."),
    RECORDS("file_servers", AT(file_servers), &config_file_server_kind,
            "Who serves a Batch AI file server resource: the first rule whose name matches counts. "
            "Either nfs, or machine and directory. {workspace} and {name} are filled in."),
    CHOICE(
        SETTING_LIST, "containers", "runtimes", AT(runtimes), "", runtimes,
        "What runs containers, in order of choice: the first one that a machine has. Empty: podman "
        "and then docker where the agent is root, docker and then podman elsewhere."),
    CHOICE(
        SETTING_STR, "containers", "user", AT(container_user), "account", container_users,
        "Who jobs are in containers of docker, which cannot map users for one container: the "
        "job's own account, or with image the image's user, who is the machine's user of that "
        "number, mostly root. That takes the right batchaid/nodes/runAsAdmin/action. With podman "
        "jobs are the image's user inside and their account outside."),
    BOOL("ssh", "strict_host_keys", AT(strict_host_keys), "false",
         "Refuse a machine whose host key is not in known_hosts yet. Otherwise the key is recorded "
         "at first sight. A key that changed is always refused."),
    ROW(SETTING_STR, "ssh", "known_hosts", AT(known_hosts), "", config_check_path, NULL,
        "The daemon's own file of host keys. Empty: known_hosts in the state directory."),
    INT("ssh", "connect_limit", AT(connect_limit), "64", 1, 10000,
        "How many machines may be connected to at the same time, until each is ready."),
    INT("ssh", "connect_timeout_s", AT(connect_timeout_s), "10", 1, 600,
        "How many seconds a machine has for its name to be found and TCP to connect; twice as many "
        "for each step of logging in, three times as many for each that prepares the agent."),
    INT("ssh", "keepalive_s", AT(keepalive_s), "15", 1, 3600,
        "After how many seconds a silent machine is asked whether it is still there."),
    INT("ssh", "dead_after_s", AT(dead_after_s), "60", 2, 86400,
        "After how many seconds without a byte a connection is given up; more than keepalive_s."),
    INT("machines", "unusable_after_s", AT(unusable_after_s), "300", 1, 86400,
        "After how many seconds without a connection a node is unusable and its job lost or "
        "requeued, as the cluster says."),
    INT("machines", "health_interval_s", AT(health_interval_s), "60", 1, 86400,
        "How often disk, clock and GPUs of a machine are looked at, in seconds."),
    INT("machines", "min_free_disk_mb", AT(min_free_disk_mb), "1024", 0, 1000000000,
        "With less free space at its node root (in MiB) a machine gets no new work until there is "
        "more."),
    INT("machines", "max_clock_skew_s", AT(max_clock_skew_s), "5", 1, 86400,
        "With a clock further from ours than so many seconds a machine is reported."),
    BOOL("machines", "reclaim", AT(reclaim), "false",
         "Machines whose priority is dedicated serve clusters with vmPriority lowpriority too, as "
         "long as no dedicated cluster is short of them. Then they are taken back: jobs that run "
         "there are queued again and run from what they left, as a new attempt. Otherwise priority "
         "and vmPriority must match."),
    INT("jobs", "memory_mb", AT(job_memory_mb), "0", 0, 1000000000,
        "How much memory (in MiB) a job may use on a machine: all its processes together where "
        "there are cgroups of version 2, else the address space of each of them, which CUDA needs "
        "without limit; 0: no limit."),
    INT("jobs", "cpus", AT(job_cpus), "0", 0, 100000,
        "How many CPUs a job may use on a machine, where there are cgroups; 0: no limit."),
    INT("jobs", "processes", AT(job_processes), "0", 0, 4000000,
        "How many processes a job may have on a machine; 0: no limit."),
    INT("jobs", "open_files", AT(job_open_files), "0", 0, 1000000,
        "How many files each process of a job may have open; 0: no limit."),
    INT("jobs", "first_uid", AT(first_uid), "2100000000", 65536, 4200000000,
        "Where a node's agent is root each job has an account of its own, unless job_user of the "
        "inventory names one: a number from this on, which nothing else on the machine may have. "
        "The number itself is the group of all jobs."),
    INT("jobs", "uids", AT(n_uids), "40000000", 0, 4200000000,
        "How many such numbers there are: 8192 at least; a node has 4096 to itself. 0: jobs have "
        "no "
        "accounts of their own; they run as the agent does, or as the account that is logged in "
        "as."),
    ROW(SETTING_LIST, "jobs", "backfill", AT(backfill), "*", config_check_not_empty, NULL,
        "In which clusters a job may start before one that comes first and cannot start yet, where "
        "no job that comes first has to wait longer for that, as far as the jobs' "
        "maxWallClockTime tells: patterns with * and ? of CLUSTER or WORKSPACE/CLUSTER; an empty "
        "list: in none."),
    INT("jobs", "kept_outputs", AT(kept_outputs), "10", 0, 1000,
        "Of how many ended jobs a node keeps the job's own directory, if output directories are in "
        "it. They also go when the job is deleted or the node leaves its cluster."),
    ROW(SETTING_STR, "jobs", "shared_directory", AT(shared_directory), "", config_check_path, NULL,
        "A directory that every machine has at this path, with the same contents, and that the "
        "accounts of jobs may write to (mode 1777): an NFS mount, say. A job on several machines "
        "has a directory of its own there, AZ_BATCHAI_SHARED_JOB_TEMP, as long as it runs. Empty: "
        "the machines mount that of the job's first node, by sshfs; where one cannot, the job's "
        "log "
        "says so."),
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
