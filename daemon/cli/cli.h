/* SPDX-License-Identifier: MIT
 *
 * The command line: a table of commands, each with its options. A command function gets parsed
 * options and the number of its arguments, reports errors with cli_fail(), and returns the exit
 * code.
 */
#ifndef DAEMON_CLI_CLI_H
#define DAEMON_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "daemon/cli/table.h"
#include "daemon/serve/exit_code.h"
#include "lib/err.h"

#define CLI_LISTEN_MAX 16

/* Groups of options, one bit each. */
enum {
    OPT_CONFIG = 1,
    OPT_STATE_DIR = 2,
    OPT_LISTEN = 4,
    OPT_LOG = 8,
    OPT_CONTAINER = 16,
    OPT_JSON = 32,
    OPT_COMMENT = 64,
    OPT_REASON = 128,
    OPT_DRY_RUN = 256,
    OPT_ROLE = 512,    /* --role and --scope */
    OPT_REMOTE = 1024, /* --endpoint and --user */
    OPT_QUEUE = 2048,  /* --cluster, --user and --mine of jobs */
    /* the options of OPT_QUEUE, and --state, --experiment, --begins, --since and --sort of jobs */
    OPT_JOBS = 4096,
    /* --ephemeral and further options for tests; each may also be an environment variable */
    OPT_EPHEMERAL = 8192,
    OPT_TIMEOUT = 16384,
    OPT_SUBSCRIPTION = 32768,
    OPT_TESTING = 65536,
    OPT_REPORT = 131072, /* --by, --from, --to and --csv */
    OPT_WATCH = 262144,
    OPT_NODES = 524288,      /* --state, --cluster, --begins and --sort of machines */
    OPT_SUBMIT = 1048576,    /* the options that a job file may set, too */
    OPT_SUBMITS = 2097152,   /* --file, --dry-run and --yes */
    OPT_LOGS = 4194304,      /* --follow, --node and --tail */
    OPT_CANCEL = 8388608,    /* --mine and --queued */
    OPT_AGAIN = 16777216,    /* --failed */
    OPT_GET = 33554432,      /* --to, of a folder */
    OPT_TERMINAL = 67108864, /* --node, a node of the job */
    OPT_LOGIN = 134217728,   /* --user, --fingerprint and --ca */
    OPT_OPEN = 268435456,    /* --print */
    OPT_SHELL = 536870912,   /* the options of OPT_SUBMIT that fit the job of a shell */
    OPT_JOB = 1073741824     /* --subscription, in which the named JOB is */
};

/* The values of an option that may be repeated. */
#define CLI_VALUES_MAX 100
struct option_values {
    const char *text[CLI_VALUES_MAX];
    size_t n;
};

struct cli_table;

struct options {
    const struct cli_table *table;                           /* the table of all commands */
    const char *config, *state_dir, *log_format, *log_level; /* NULL: not given */
    const char *listen[CLI_LISTEN_MAX];
    size_t n_listen;
    const char *comment, *reason, *role, *scope, *endpoint, *user;
    const char *cluster, *experiment, *job_state, *node_state, *since, *timeout, *by, *from, *to;
    const char *begins, *sort;
    bool container, json, csv, watch, dry_run, ephemeral, testing, fake_nodes, strict;
    const char *rules, *seed, *subscription;
    /* Of a job that is to be submitted: */
    const char *file, *name, *gpus, *cores, *memory, *nodes, *time, *image, *array, *after;
    const char *group, *folder;
    struct option_values env, secrets; /* NAME=VALUE; NAME=VAULT/SECRET */
    bool no_copy, yes;
    const char *node, *tail, *folder_to;
    const char *fingerprint, *ca; /* of the certificate of a daemon's authority */
    bool follow, mine, queued, failed, print;
    /* Only for `nodes` with names but without a command: the list of commands for nodes. Otherwise
     * NULL. */
    const char *commands;
    char **args; /* the arguments after the options, NULL-terminated; borrowed from main() */
    int n_args;
};

int cli_main(const struct cli_table *t, int argc, char **argv);

/* Prints "batchaid: MESSAGE" on standard error; returns `code`. The message may quote names that
 * others have chosen: table_say() replaces characters that could control the terminal. */
static inline int cli_fail(enum exit_code code, const struct err *e)
{
    table_say(stderr, "batchaid: %s", e->msg);
    return code;
}

int cmd_serve(const struct options *o);
int cmd_env(const struct options *o);
int cmd_submit(const struct options *o);
int cmd_run(const struct options *o);
int cmd_ps(const struct options *o);
int cmd_top(const struct options *o);
int cmd_logs(const struct options *o);
int cmd_cancel(const struct options *o);
int cmd_again(const struct options *o);
int cmd_get(const struct options *o);
int cmd_az_login(const struct options *o);
int cmd_az(const struct options *o);
int cmd_share_path(const struct options *o);
int cmd_storage(const struct options *o);
int cmd_hosts(const struct options *o);
int cmd_nodes(const struct options *o);
int cmd_exec(const struct options *o);
int cmd_ssh(const struct options *o);
int cmd_shell(const struct options *o);
int cmd_forward(const struct options *o);
int cmd_queue(const struct options *o);
int cmd_reload(const struct options *o);
int cmd_jobs(const struct options *o);
int cmd_explain(const struct options *o);
int cmd_job(const struct options *o);
int cmd_report(const struct options *o);
int cmd_user(const struct options *o);
int cmd_subscription(const struct options *o);
int cmd_refused(const struct options *o);
int cmd_demo(const struct options *o);
int cmd_wait(const struct options *o);
int cmd_seed(const struct options *o);
int cmd_dump(const struct options *o);
int cmd_check_config(const struct options *o);
int cmd_keygen(const struct options *o);
int cmd_backup(const struct options *o);
int cmd_restore(const struct options *o);
/* A command without a row in the table: sshd runs it for the key of a machine. */
#define SHARE_SERVE_COMMAND "share-serve"
int cmd_share_serve(int argc, char **argv);
int cmd_login(const struct options *o);
int cmd_logout(const struct options *o);
int cmd_open(const struct options *o);
int cmd_fingerprint(const struct options *o);
int cmd_completion(const struct options *o);
int cmd_version(const struct options *o);
int cmd_help(const struct options *o);

/* `wait JOB...` (cmd_logs.c). */
int cmd_wait_for_jobs(const struct options *o);

#endif
