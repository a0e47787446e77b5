/* SPDX-License-Identifier: MIT
 *
 * The table of commands: the name, options, arguments, help and function of each command. Help and
 * the manual's synopsis are made from its rows.
 */
#include "daemon/cli/commands.h"

enum { ANY_NUMBER = 1 << 20 };

static const struct cli_command commands[] = {
    {.name = "serve",
     .arguments = "",
     .options = OPT_CONFIG | OPT_STATE_DIR | OPT_LISTEN | OPT_LOG | OPT_EPHEMERAL | OPT_TESTING,
     .run = cmd_serve,
     .help = "run the daemon in the foreground",
     .details =
         "Prints `ready https://ADDR:PORT` on standard output when it serves requests, and\n"
         "logs to standard error. SIGTERM and SIGINT stop it cleanly; a second signal stops it\n"
         "at once. Without --config and --listen it serves on both loopback addresses, port\n"
         "7443. With --ephemeral, for tests: the state directory is new, or DIR of\n"
         "--state-dir, which must be empty or must not exist. It is removed with the daemon\n"
         "and all processes of local nodes, also if the daemon was killed. Nothing is synced\n"
         "to the disk. With --testing, tests may inject faults, read the requests and reset\n"
         "everything, with the key that `batchaid env` prints as BATCHAID_TESTING_KEY.\n"
         "Clusters and pools whose vmSize begins with FAKE (with --fake-nodes all) have nodes\n"
         "that run no processes: rules (--rules FILE, or by request) decide what jobs do\n"
         "there. With --strict steps take the time of the service, and requests are throttled\n"
         "as there. Variables for these switches, except --testing: BATCHAID_EPHEMERAL=true,\n"
         "BATCHAID_FAKE_NODES=true, BATCHAID_STRICT=true, BATCHAID_RULES=FILE,\n"
         "BATCHAID_SEED=FILE. Exit codes: 0 stopped, 1 failed, 2 wrong command line, 78 wrong\n"
         "configuration, or a switch that needs --testing without that.\n"},
    {.name = "env",
     .arguments = "[BATCH-ACCOUNT]",
     .options = OPT_STATE_DIR | OPT_JSON | OPT_REMOTE,
     .max_args = 1,
     .run = cmd_env,
     .help = "print the environment for clients of a running daemon",
     .details =
         "Prints export NAME='value' lines; use them with: eval \"$(batchaid env)\" With\n"
         "--endpoint or --user: lines for a shell of another machine. They fetch the\n"
         "authority's certificate, check its fingerprint and set up az. Without --user they\n"
         "contain the secret of the daemon's own principal. With the name of a Batch account:\n"
         "also AZURE_BATCH_ACCOUNT, AZURE_BATCH_ENDPOINT and, without --user, its key,\n"
         "AZURE_BATCH_ACCESS_KEY.\n"},
    {.name = "hosts",
     .arguments = "[ADDRESS [NAME]]",
     .options = OPT_STATE_DIR | OPT_JSON,
     .max_args = 2,
     .run = cmd_hosts,
     .help = "print lines for a hosts file: names of storage accounts, vaults and Batch accounts",
     .details =
         "For clients that cannot resolve names below localhost, or below the NAME of the\n"
         "daemon's machine, which is one of `tls.names`: batchaid hosts 10.0.0.5 gpu-head.lab\n"
         "Run it again for each new account or vault.\n"},
    {.name = "az-login",
     .arguments = "",
     .options = OPT_STATE_DIR,
     .run = cmd_az_login,
     .help = "log az in to a running daemon",
     .details = "Registers the cloud with az and logs in, in a configuration directory below the\n"
                "state directory, never in the user's own. It may be run again.\n"},
    {.name = "az",
     .arguments = "ARGS...",
     .options = OPT_STATE_DIR,
     .max_args = ANY_NUMBER,
     .rest = true,
     .run = cmd_az,
     .help = "run az against a running daemon",
     .details =
         "Runs `az ARGS...` in the environment that `batchaid env` prints, and first runs\n"
         "`batchaid az-login` if necessary. Options before the first argument of az are\n"
         "batchaid's.\n\n"
         "Commands of 2017 and 2018 (az batchai cluster create -l eastus -c FILE, job create -r,\n"
         "list-nodes, stream-file, list-files, file-server) become today's, which is printed on\n"
         "standard error: their place is the workspace and experiment `migrated` of the group.\n"
         "Files of -c and -f are read first; mistakes in them have line and column. Commands\n"
         "that az no longer has are requests to the daemon. guide-2018.md of the docs has the "
         "table.\n"},
    {.name = "share-path",
     .arguments = "ACCOUNT SHARE",
     .options = OPT_STATE_DIR | OPT_JSON | OPT_CONTAINER,
     .min_args = 2,
     .max_args = 2,
     .run = cmd_share_path,
     .help = "print (and make) the folder behind an Azure file share or container",
     .details =
         "Jobs that mount the share see the files of the folder. Names are not case-sensitive.\n"},
    {.name = "storage",
     .arguments = "deleted|restore [NUMBER...]",
     .options = OPT_STATE_DIR | OPT_JSON,
     .min_args = 1,
     .max_args = ANY_NUMBER,
     .run = cmd_storage,
     .help = "list and restore deleted shares and containers",
     .details =
         "deleted  Lists deleted shares and containers that can be restored, by number.\n"
         "restore  Restores them with their content, into the present storage account of the\n"
         "         old account's name in the same subscription, without their roles. Refused if "
         "the\n"
         "         name exists again.\n"},
    {.name = "keygen",
     .arguments = "[FILE]",
     .options = OPT_STATE_DIR | OPT_JSON | OPT_COMMENT,
     .max_args = 1,
     .run = cmd_keygen,
     .help = "make a key for logins to the machines of the inventory",
     .details =
         "Writes an ed25519 key into FILE (default: id_ed25519 in the state directory) and its\n"
         "public half into FILE.pub. Prints the public half on standard output, and on standard\n"
         "error how to put it on the machines. Never replaces a file.\n"},
    {.name = "check-config",
     .arguments = "FILE",
     .options = OPT_STATE_DIR | OPT_JSON,
     .min_args = 1,
     .max_args = 1,
     .run = cmd_check_config,
     .help = "check a configuration file and list its machines",
     .details = "Prints `FILE: ok` and the machines of the inventory, or the errors of the file.\n"
                "Files of keys and passwords that it names must exist. Exit code 0 or 1.\n"},
    {.name = "reload",
     .arguments = "",
     .options = OPT_STATE_DIR | OPT_JSON,
     .run = cmd_reload,
     .help = "let the running daemon read its configuration again",
     .details =
         "Reads and checks the whole file first; if it has an error nothing changes. Prints the\n"
         "machines and settings that change, and those that need a restart. `batchaid help\n"
         "config` marks settings that a reload changes. A machine that the inventory drops gets\n"
         "no further job and leaves its cluster when its job has ended. SIGHUP does the same.\n"},
    {.name = "nodes",
     .arguments = "[list|check|drain|undrain|reboot|clean] [HOST...]",
     .options =
         OPT_CONFIG | OPT_STATE_DIR | OPT_JSON | OPT_REASON | OPT_DRY_RUN | OPT_NODES | OPT_WATCH,
     .max_args = ANY_NUMBER,
     .run = cmd_nodes,
     .help = "list, check, drain, undrain, reboot and clean the machines that jobs run on",
     .details =
         "[list]   The machines and local nodes of the running daemon: state, cluster, job,\n"
         "         hardware, last contact, and why a machine cannot be used.\n"
         "check    Tries each machine of the inventory and shows which steps work: name, port,\n"
         "         host key, login, become, shell, agent, disk, clock, GPUs, containers, MPI;\n"
         "         and how to repair the rest. Needs no daemon and does not disturb one.\n"
         "         Without --config it reads the running daemon's file.\n"
         "drain    Running jobs continue, no job starts there. The list shows the --reason.\n"
         "undrain  Ends the drain; tries an unusable machine again.\n"
         "reboot   Restarts the machine; refused while a job runs there.\n"
         "clean    Lists and removes the leftovers of a lost daemon in the node root there:\n"
         "         tasks, accounts, mounts, directories, the root itself. Needs --config, and\n"
         "         no running daemon with the same --state-dir. With --dry-run it only lists.\n\n"
         "HOST is a machine as the list shows it, or several: gpu[01-16].rack1. Exit code 0 if\n"
         "all steps succeeded and, for check, all machines can be used; otherwise 1.\n"},
    {.name = "submit",
     .arguments = "[--] PROGRAM [ARGUMENTS...]",
     .options = OPT_STATE_DIR | OPT_JSON | OPT_SUBMIT | OPT_SUBMITS,
     .max_args = ANY_NUMBER,
     .rest = true,
     .run = cmd_submit,
     .help = "submit a job with a copy of the current folder",
     .details =
         "Copies the folder as it is now, without what .gitignore and .batchaidignore name,\n"
         "makes group, workspace, cluster and experiment if they are missing, and prints the\n"
         "job's name. The command runs in the copy; what it writes there stays, and\n"
         "`batchaid get JOB` fetches it. One argument is a line for the shell; several are a\n"
         "program and its arguments. Each node needs what --gpus, --cores and --memory say.\n"},
    {.name = "run",
     .arguments = "[--] PROGRAM [ARGUMENTS...]",
     .options = OPT_STATE_DIR | OPT_SUBMIT | OPT_SUBMITS,
     .max_args = ANY_NUMBER,
     .rest = true,
     .run = cmd_run,
     .help = "submit a job, show its output, and exit with its exit code",
     .details =
         "Like submit, then like logs -f. Ctrl-C leaves the job running and prints how to follow\n"
         "and how to cancel it. Exit codes: the job's; 125 if batchaid itself failed; 130 after\n"
         "Ctrl-C.\n"},
    {.name = "ps",
     .arguments = "",
     .options = OPT_STATE_DIR | OPT_JSON | OPT_WATCH,
     .run = cmd_ps,
     .help = "show your running and waiting jobs",
     .details = "Like queue, which shows everybody's.\n"},
    {.name = "top",
     .arguments = "",
     .options = OPT_STATE_DIR | OPT_JSON,
     .run = cmd_top,
     .help = "show the nodes with their GPUs, and what runs there",
     .details = "On a terminal again every two seconds, until Ctrl-C.\n"},
    {.name = "logs",
     .arguments = "JOB",
     .options = OPT_STATE_DIR | OPT_JOB | OPT_LOGS,
     .min_args = 1,
     .max_args = 1,
     .run = cmd_logs,
     .help = "print the output of a job, also after its end",
     .details =
         "If several processes write, each line begins with the number of its process.\n"
         "JOB is named as for explain; NAME[INDEX] is an index of an array. Exit codes: 0; 1\n"
         "if there is no output yet; 130 after Ctrl-C. With -f a daemon that restarts is\n"
         "waited for.\n"},
    {.name = "cancel",
     .arguments = "[JOB...]",
     .options = OPT_STATE_DIR | OPT_JOB | OPT_JSON | OPT_CANCEL,
     .max_args = ANY_NUMBER,
     .run = cmd_cancel,
     .help = "end running and waiting jobs",
     .details = "The output stays. JOB is named as for explain.\n"},
    {.name = "rerun",
     .arguments = "JOB",
     .options = OPT_STATE_DIR | OPT_JOB | OPT_JSON | OPT_AGAIN,
     .min_args = 1,
     .max_args = 1,
     .run = cmd_again,
     .help = "submit a job again, with the same copy of its folder",
     .details = "Prints the new job's name. JOB is named as for explain.\n"},
    {.name = "get",
     .arguments = "JOB [FILE...]",
     .options = OPT_STATE_DIR | OPT_JOB | OPT_JSON | OPT_GET,
     .min_args = 1,
     .max_args = ANY_NUMBER,
     .run = cmd_get,
     .help = "fetch the files that a job has written",
     .details =
         "Those that changed since its creation, or the named ones: FILE may have * and ?, and\n"
         "a folder means all in it. JOB is named as for explain.\n"},
    {.name = "exec",
     .arguments = "JOB -- PROGRAM [ARGUMENTS...]",
     .options = OPT_STATE_DIR | OPT_JOB | OPT_TERMINAL,
     .min_args = 2,
     .max_args = ANY_NUMBER,
     .run = cmd_exec,
     .help = "run a command beside a running job's processes",
     .details =
         "It has the job's account, limits, GPUs, directory and container, and ends with this\n"
         "program or the job. One argument is a line for the shell; several are a program and\n"
         "its arguments. In a terminal it has a terminal of its own, and ~. after a new line\n"
         "leaves. Exit code: the command's; 128 and its signal's number; 255: it could not be\n"
         "run, or was lost. For one's own jobs; for others see people.md of the docs.\n"
         "NAME[INDEX] is an index of an array.\n"},
    {.name = "ssh",
     .arguments = "JOB",
     .options = OPT_STATE_DIR | OPT_JOB | OPT_TERMINAL,
     .min_args = 1,
     .max_args = 1,
     .run = cmd_ssh,
     .help = "open a shell beside a running job's processes",
     .details = "As `batchaid exec` without a command.\n"},
    {.name = "shell",
     .arguments = "",
     .options = OPT_STATE_DIR | OPT_SHELL,
     .run = cmd_shell,
     .help = "open a shell on a node, in a job of its own",
     .details =
         "The job has what --gpus, --cores, --memory and --image say, no copy of a folder, and\n"
         "an hour without --time. It ends with the shell or the connection. Ctrl-C\n"
         "while it waits for its node cancels it.\n"},
    {.name = "forward",
     .arguments = "JOB [LOCAL:]PORT",
     .options = OPT_STATE_DIR | OPT_JOB | OPT_TERMINAL,
     .min_args = 2,
     .max_args = 2,
     .run = cmd_forward,
     .help = "lead a local port to a port of a running job's node",
     .details =
         "Listens at 127.0.0.1:LOCAL (default: the same number; 0: any free one) until Ctrl-C\n"
         "or the end of the job.\n"
         "On the node a process of the job's own account must listen at PORT, at a loopback\n"
         "address or all addresses.\n"},
    {.name = "queue",
     .arguments = "",
     .options = OPT_STATE_DIR | OPT_JSON | OPT_QUEUE | OPT_WATCH,
     .run = cmd_queue,
     .help = "show each cluster's running and waiting jobs",
     .details =
         "Running jobs come first, with their nodes and the end of their time limit. Waiting\n"
         "jobs follow in order, with the reason and, if time limits determine it, the expected\n"
         "start.\n"},
    {.name = "jobs",
     .arguments = "",
     .options = OPT_STATE_DIR | OPT_JSON | OPT_JOBS | OPT_WATCH,
     .run = cmd_jobs,
     .help = "list the jobs of all groups, the newest first",
     .details = "Without filters and --json: the newest hundred, or with --sort createdTime the "
                "oldest.\n"},
    {.name = "explain",
     .arguments = "JOB",
     .options = OPT_STATE_DIR | OPT_JOB | OPT_JSON,
     .min_args = 1,
     .max_args = 1,
     .run = cmd_explain,
     .help = "show the history of a job or task, in lines with times",
     .details =
         "When it was queued, why it waited, its nodes, its end; and why it waits now. JOB is\n"
         "its name, a unique beginning of it, or - for your last job; or GROUP/WORKSPACE/\n"
         "EXPERIMENT/JOB if several jobs have the name, where leading parts may be left out.\n"
         "A task of Azure Batch is JOB/TASK, or GROUP/ACCOUNT/JOB/TASK if these names are not\n"
         "unique; of another subscription than the configured one with --subscription.\n"},
    {.name = "job",
     .arguments = "JOB",
     .options = OPT_STATE_DIR | OPT_JOB | OPT_JSON,
     .min_args = 1,
     .max_args = 1,
     .run = cmd_job,
     .help = "show what a job or task was given and used, with advice",
     .details = "JOB is named as for explain.\n"},
    {.name = "report",
     .arguments = "",
     .options = OPT_STATE_DIR | OPT_JSON | OPT_REPORT,
     .run = cmd_report,
     .help = "add up who used what",
     .details =
         "Also of deleted jobs; of others' jobs where your roles allow. Hours: of nodes, of GPUs\n"
         "(BUSY, IDLE and UNKNOWN are parts of GPU-H; LOST is the time before a requeue), of\n"
         "processors, of waiting. Running jobs count until now.\n"},
    {.name = "refused",
     .arguments = "[list|allow] [NUMBER...|all]",
     .options = OPT_STATE_DIR | OPT_JSON,
     .max_args = ANY_NUMBER,
     .run = cmd_refused,
     .help = "list work that ended the daemon twice, or allow it again",
     .details = "[list]            Lists requests and steps with their numbers.\n"
                "allow NUMBER|all  Allows them again: a request at once, a step within a minute.\n"
                "                  Works without a daemon.\n"},
    {.name = "user",
     .arguments = "[list|add|remove|reset] [NAME]",
     .options = OPT_STATE_DIR | OPT_JSON | OPT_ROLE,
     .max_args = ANY_NUMBER,
     .run = cmd_user,
     .help = "list, add and remove the people who may log in",
     .details =
         "[list]       Lists the principals with their roles, the daemon's own principal\n"
         "             first.\n"
         "add NAME     Adds a user with a role, and prints the password once.\n"
         "remove NAME  Removes a user with its roles; its logins end at once. Its resources\n"
         "             stay.\n"
         "reset NAME   Gives a user a new password and prints it once.\n\n"
         "NAME is user@domain; the default domain is batchaid.\n"},
    {.name = "subscription",
     .arguments = "[list|add|delete] [NAME]",
     .options = OPT_STATE_DIR | OPT_JSON,
     .max_args = ANY_NUMBER,
     .run = cmd_subscription,
     .help = "list, add and delete subscriptions beyond the configured one",
     .details =
         "[list]               Lists the added subscriptions, the oldest first.\n"
         "add [NAME]           Adds a subscription, and prints its id.\n"
         "delete SUBSCRIPTION  Deletes a subscription; refused while it has resource groups.\n"},
    {.name = "login",
     .arguments = "URL",
     .options = OPT_JSON | OPT_LOGIN,
     .min_args = 1,
     .max_args = 1,
     .run = cmd_login,
     .help = "use the daemon of another machine from here: submit, run, logs, jobs, ...",
     .details =
         "Fetches the certificate of the daemon's authority and asks whether its fingerprint is\n"
         "right. Asks for name and password (or reads it from standard input) and keeps a token\n"
         "for 90 days in ~/.config/batchaid, for you alone. submit, run, ps, top, logs, wait JOB,\n"
         "cancel, rerun, get, exec, ssh, shell, forward, queue, jobs, explain, job, report, nodes\n"
         "(but check and clean) and open then use that daemon, unless --state-dir or\n"
         "BATCHAID_STATE_DIR names a daemon here.\n"},
    {.name = "logout",
     .arguments = "",
     .run = cmd_logout,
     .help = "forget the login",
     .details = "A new password ends it everywhere: batchaid user reset NAME.\n"},
    {.name = "open",
     .arguments = "",
     .options = OPT_STATE_DIR | OPT_JSON | OPT_OPEN,
     .run = cmd_open,
     .help = "open the daemon's page in a browser, logged in",
     .details =
         "Makes a link that logs a browser in as you, once and within a minute, and opens it\n"
         "with xdg-open; without a screen (DISPLAY, WAYLAND_DISPLAY) it prints the link. You are\n"
         "the daemon's own principal, or the user of `batchaid login`. The browser must trust the\n"
         "daemon's authority: the file ca.pem that `batchaid env` names.\n"},
    {.name = "fingerprint",
     .arguments = "",
     .options = OPT_STATE_DIR | OPT_JSON,
     .run = cmd_fingerprint,
     .help = "print the fingerprint of the daemon's authority, for `login`",
     .details = ""},
    {.name = "wait",
     .arguments = "[JOB...]",
     .options = OPT_STATE_DIR | OPT_JOB | OPT_JSON | OPT_TIMEOUT,
     .max_args = ANY_NUMBER,
     .run = cmd_wait,
     .help = "wait until a daemon is ready, or until jobs have ended",
     .details =
         "Waits until a daemon serves the state directory and is ready. On a terminal it shows\n"
         "what is missing. Exit codes: 0 ready, 1 not ready in time, with what was missing; 2\n"
         "wrong command line. With jobs: waits for their ends; exit codes: 0 if all succeeded,\n"
         "else the first failed job's; 124 not ended in time; 125 another error; 130 after\n"
         "Ctrl-C.\n"},
    {.name = "demo",
     .arguments = "",
     .options = OPT_STATE_DIR | OPT_LISTEN | OPT_JSON,
     .run = cmd_demo,
     .help = "run a cloud for tests with accounts, a pool, a job and blobs, to try",
     .details =
         "Starts a daemon for tests (`serve --ephemeral --testing`) at a free port, or at\n"
         "--listen, seeds it, prints what is there and five commands to try, and stays until\n"
         "Ctrl-C. It needs no az, no Python and no configuration, and leaves nothing. The state "
         "is\n"
         "in a new directory in TMPDIR, if that is set, or in memory (/dev/shm), if 1 GiB is free\n"
         "there, or in /tmp; or in the directory of --state-dir, which must be empty or must not\n"
         "exist.\n"},
    {.name = "seed",
     .arguments = "FILE",
     .options = OPT_STATE_DIR | OPT_JSON | OPT_SUBSCRIPTION,
     .min_args = 1,
     .max_args = 1,
     .run = cmd_seed,
     .help = "read a state from a file into a daemon for tests",
     .details =
         "FILE is YAML or JSON, or - for standard input; testing.md of the docs describes its\n"
         "form. The command creates everything or nothing; errors have line and column.\n"},
    {.name = "dump",
     .arguments = "[RESOURCE-GROUP]",
     .options = OPT_STATE_DIR | OPT_SUBSCRIPTION,
     .max_args = 1,
     .run = cmd_dump,
     .help = "print the state of a daemon for tests, in the form of `seed`",
     .details = "With its secrets. Without a group or --subscription: all subscriptions.\n"},
    {.name = "backup",
     .arguments = "FILE",
     .options = OPT_STATE_DIR | OPT_JSON,
     .min_args = 1,
     .max_args = 1,
     .run = cmd_backup,
     .help = "copy the database into a file, beside a running daemon or without one",
     .details =
         "FILE must not exist; only its owner can read it. The secrets in it are sealed with\n"
         "secret.key of the state directory, which is not in it: keep a copy of this key in\n"
         "another place. The database of an --ephemeral daemon cannot be copied: see dump.\n"},
    {.name = "restore",
     .arguments = "FILE",
     .options = OPT_STATE_DIR | OPT_JSON,
     .min_args = 1,
     .max_args = 1,
     .run = cmd_restore,
     .help = "restore a copy of the database, while no daemon runs",
     .details =
         "Keeps the old database as batchaid.db.before. Refuses a FILE that is damaged, newer\n"
         "than this program or sealed with another key than secret.key, and changes nothing\n"
         "then. The daemon ends work on nodes that no row of the copy has; work that the copy\n"
         "calls running but that does not run is lost or requeued by the cluster's rule.\n"},
    {.name = "completion",
     .arguments = "bash|zsh|fish",
     .min_args = 1,
     .max_args = 1,
     .run = cmd_completion,
     .help = "print a script with which the shell completes commands, options and names",
     .details = "Into ~/.bashrc: eval \"$(batchaid completion bash)\"; for zsh the same\n"
                "line into ~/.zshrc, with zsh; for fish: batchaid completion fish | source. Names "
                "of jobs, nodes and\n"
                "clusters come from the running daemon.\n"},
    {.name = "version",
     .arguments = "",
     .options = OPT_JSON,
     .run = cmd_version,
     .help = "print the version",
     .details = ""},
    {.name = "help",
     .arguments = "[COMMAND]",
     .max_args = 2,
     .run = cmd_help,
     .help = "print help, on a command or on `config`",
     .details = "`batchaid help config` lists the settings of the configuration file; `batchaid\n"
                "help config yaml` prints them as an example file.\n"},
};
const struct cli_table all_commands = {commands, sizeof commands / sizeof commands[0]};
