/* SPDX-License-Identifier: MIT
 *
 * The table of all options: for each option the commands that accept it, where its value is stored,
 * and the function that checks the value.
 */
#include "daemon/cli/options.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/cli/cmd_nodes.h"
#include "daemon/cli/job_wish.h"
#include "daemon/cli/remote.h"
#include "daemon/config/config.h"

static int take_listen(struct options *o, const char *value, struct err *e)
{
    if (o->n_listen == CLI_LISTEN_MAX)
        return err_set(e, ERR_CONFIG, NULL, "--listen is given more than %d times", CLI_LISTEN_MAX);
    o->listen[o->n_listen++] = value;
    return 0;
}

#define TIMEOUT_MAX_S 86400

static int check_timeout(const char *value, struct err *e)
{
    char *end;
    long s = strtol(value, &end, 10);
    if (*end || end == value || s < 0 || s > TIMEOUT_MAX_S)
        return err_set(e, ERR_CONFIG, NULL, "--timeout is '%.100s'; it must be 0 to %d seconds",
                       value, TIMEOUT_MAX_S);
    return 0;
}

static int check_tail(const char *value, struct err *e)
{
    char *end;
    errno = 0;
    long n = strtol(value, &end, 10);
    if (*end || end == value || errno || n < 0)
        return err_set(e, ERR_CONFIG, NULL,
                       "--tail is '%.100s'; it must be a number of lines, 0 or more", value);
    return 0;
}

static int add_value(struct option_values *values, const char *name, const char *value,
                     struct err *e)
{
    if (values->n == CLI_VALUES_MAX)
        return err_set(e, ERR_CONFIG, NULL, "--%s is given more than %d times", name,
                       CLI_VALUES_MAX);
    values->text[values->n++] = value;
    return 0;
}

static int take_env(struct options *o, const char *value, struct err *e)
{
    return add_value(&o->env, "env", value, e);
}

static int take_secret(struct options *o, const char *value, struct err *e)
{
    return add_value(&o->secrets, "secret", value, e);
}

#define AT(field) offsetof(struct options, field)

const struct cli_option known_options[] = {
    {"config", "FILE", OPT_CONFIG, AT(config), NULL, NULL,
     "read this configuration file (default: none; `nodes check`: the daemon's)"},
    {"state-dir", "DIR", OPT_STATE_DIR, AT(state_dir), NULL, NULL,
     "the state directory (default: see `batchaid help config`)"},
    {"listen", "ADDR:PORT", OPT_LISTEN, 0, config_check_listen, take_listen,
     "serve at this address; may be repeated; port 0 picks a free port"},
    {"log-format", "FORMAT", OPT_LOG, AT(log_format), config_check_log_format, NULL, "text or json",
     .values = "text json"},
    {"log-level", "LEVEL", OPT_LOG, AT(log_level), config_check_log_level, NULL,
     "debug, info, warn or error", .values = "debug info warn error"},
    {"ephemeral", "", OPT_EPHEMERAL, AT(ephemeral), NULL, NULL,
     "keep nothing: the state is removed with the daemon"},
    {"testing", "", OPT_TESTING, AT(testing), NULL, NULL,
     "serve requests of tests: faults, a log, reset (testing.md of the docs)"},
    {"fake-nodes", "", OPT_EPHEMERAL, AT(fake_nodes), NULL, NULL,
     "with --testing: no local node runs processes, whatever its vmSize"},
    {"strict", "", OPT_EPHEMERAL, AT(strict), NULL, NULL,
     "with --testing: the times and limits of the service (testing.md of the docs)"},
    {"rules", "FILE", OPT_EPHEMERAL, AT(rules), NULL, NULL,
     "with --testing: rules for the jobs of fake nodes"},
    {"seed", "FILE", OPT_EPHEMERAL, AT(seed), NULL, NULL,
     "with --testing: begin with the state in this file (testing.md of the docs)"},
    {"subscription", "ID", OPT_SUBSCRIPTION, AT(subscription), NULL, NULL,
     "the subscription (default: seed: the configured one; dump: all)"},
    {"subscription", "ID", OPT_JOB, AT(subscription), NULL, NULL,
     "the subscription of the job (default: all, and of equal names the job in your own)"},
    {"timeout", "SECONDS", OPT_TIMEOUT, AT(timeout), check_timeout, NULL,
     "the most seconds to wait (default: 60, for jobs without limit; 0: check once)"},
    {"follow", "", OPT_LOGS, AT(follow), NULL, NULL, "until the job ends", 'f'},
    {"node", "N", OPT_LOGS, AT(node), NULL, NULL,
     "only of this process: the number of the node, or the index of an array"},
    {"tail", "N", OPT_LOGS, AT(tail), check_tail, NULL, "only the last N lines of each file"},
    {"mine", "", OPT_CANCEL, AT(mine), NULL, NULL, "all your running and waiting jobs"},
    {"queued", "", OPT_CANCEL, AT(queued), NULL, NULL, "all your waiting jobs"},
    {"failed", "", OPT_AGAIN, AT(failed), NULL, NULL, "only the failed indexes of an array"},
    {"to", "DIR", OPT_GET, AT(folder_to), NULL, NULL,
     "into this folder (default: one with the job's name)"},
    {"json", "", OPT_JSON, AT(json), NULL, NULL, "print JSON"},
    {"node", "NODE", OPT_TERMINAL, AT(node), NULL, NULL,
     "a node of the job by its name, address, host name or number (default: the first)"},
    {"file", "FILE", OPT_SUBMITS, AT(file), NULL, NULL,
     "read the job from this YAML file, whose members are named like the options; `command` is "
     "its command"},
    {"dry-run", "", OPT_SUBMITS, AT(dry_run), NULL, NULL,
     "print the job and what would be copied and made, and do nothing"},
    {"yes", "", OPT_SUBMITS, AT(yes), NULL, NULL, "copy the folder although it is over 1 GB"},
    {"name", "NAME", OPT_SUBMIT | OPT_SHELL, AT(name), job_check_name, NULL,
     "the job's name (default: from the command)"},
    {"nodes", "N", OPT_SUBMIT | OPT_SHELL, AT(nodes), job_check_nodes, NULL,
     "run the command on N nodes, once on each (default: 1)"},
    {"gpus", "N", OPT_SUBMIT | OPT_SHELL, AT(gpus), job_check_gpus, NULL,
     "GPUs on each node (default: none, and the job sees none)"},
    {"cores", "N", OPT_SUBMIT | OPT_SHELL, AT(cores), job_check_cores, NULL, "cores on each node"},
    {"memory", "SIZE", OPT_SUBMIT | OPT_SHELL, AT(memory), job_check_memory, NULL,
     "memory on each node: 512M, 32G"},
    {"time", "TIME", OPT_SUBMIT | OPT_SHELL, AT(time), job_check_time, NULL,
     "the most time that it may run: 30m, 4h, 1d12h"},
    {"image", "IMAGE", OPT_SUBMIT | OPT_SHELL, AT(image), NULL, NULL,
     "run the command in this container image"},
    {"array", "INDEXES", OPT_SUBMIT, AT(array), job_check_array, NULL,
     "run it once for each index, in $BATCHAID_ARRAY_INDEX: 1-20, 0-9:3 or 1,5,7"},
    {"after", "JOB", OPT_SUBMIT | OPT_SHELL, AT(after), NULL, NULL,
     "start after the success of this job, or JOB:failure, JOB:end; several with commas"},
    {"env", "NAME=VALUE", OPT_SUBMIT | OPT_SHELL, AT(env), job_check_env, take_env,
     "a variable of the command; may be repeated"},
    {"secret", "NAME=VAULT/SECRET", OPT_SUBMIT | OPT_SHELL, AT(secrets), job_check_secret,
     take_secret, "a variable with a secret of a vault; may be repeated"},
    {"cluster", "NAME", OPT_SUBMIT | OPT_SHELL, AT(cluster), NULL, NULL,
     "run it in this cluster (default: by what it needs)"},
    {"group", "GROUP", OPT_SUBMIT | OPT_SHELL, AT(group), job_check_group, NULL,
     "the resource group, or GROUP/WORKSPACE (default: jobs/jobs)"},
    {"experiment", "NAME", OPT_SUBMIT | OPT_SHELL, AT(experiment), NULL, NULL,
     "the experiment (default: your name)"},
    {"folder", "DIR", OPT_SUBMIT, AT(folder), NULL, NULL,
     "copy this folder (default: the current one)"},
    {"no-copy", "", OPT_SUBMIT, AT(no_copy), NULL, NULL, "copy no folder"},
    {"dry-run", "", OPT_DRY_RUN, AT(dry_run), NULL, NULL, "list only, remove nothing"},
    {"reason", "TEXT", OPT_REASON, AT(reason), NULL, NULL, "the reason of the drain"},
    {"role", "ROLE", OPT_ROLE, AT(role), NULL, NULL,
     "the user's role, or none (default: Batch AI Job Submitter)"},
    {"scope", "SCOPE", OPT_ROLE, AT(scope), NULL, NULL,
     "the scope: a resource group or a path (default: the whole subscription)"},
    {"endpoint", "URL", OPT_REMOTE, AT(endpoint), remote_check_endpoint, NULL,
     "the daemon's address for that machine: https://gpu-head.lab:7443"},
    {"user", "NAME", OPT_REMOTE, AT(user), NULL, NULL, "the user on that machine"},
    {"user", "NAME", OPT_LOGIN, AT(user), NULL, NULL,
     "your name there; the domain may be left out (default: it asks)"},
    {"fingerprint", "SHA256", OPT_LOGIN, AT(fingerprint), NULL, NULL,
     "what `batchaid fingerprint` prints on the daemon's machine (default: it asks)"},
    {"ca", "FILE", OPT_LOGIN, AT(ca), NULL, NULL,
     "the certificate of the daemon's authority, instead of fetching it"},
    {"print", "", OPT_OPEN, AT(print), NULL, NULL, "print the link, instead of opening it"},
    {"cluster", "NAME", OPT_QUEUE | OPT_JOBS, AT(cluster), NULL, NULL,
     "only jobs of clusters with this name"},
    {"cluster", "NAME", OPT_NODES, AT(cluster), NULL, NULL,
     "only nodes of clusters with this name"},
    {"user", "NAME", OPT_QUEUE | OPT_JOBS, AT(user), NULL, NULL,
     "only jobs of this user; the domain may be left out"},
    {"mine", "", OPT_QUEUE | OPT_JOBS, AT(mine), NULL, NULL, "only your own jobs"},
    {"begins", "TEXT", OPT_JOBS, AT(begins), NULL, NULL,
     "only jobs whose name begins with this text"},
    {"begins", "TEXT", OPT_NODES, AT(begins), NULL, NULL,
     "only nodes whose name begins with this text"},
    {"sort", "ORDER", OPT_NODES, AT(sort), NULL, NULL,
     "in this order; a - in front begins with the last",
     .values = "name state cluster -name -state -cluster"},
    {"sort", "ORDER", OPT_JOBS, AT(sort), NULL, NULL,
     "createdTime: the oldest first; -createdTime: the newest first, as without it",
     .values = "createdTime -createdTime"},
    {"state", "STATE", OPT_JOBS, AT(job_state), NULL, NULL,
     "only queued, running, terminating, succeeded or failed ones",
     .values = "queued running terminating succeeded failed"},
    {"state", "STATE", OPT_NODES, AT(node_state), nodes_check_state, NULL,
     "only those in this state, as the list shows it, or drained",
     .values = "unknown free unreachable preparing idle running unusable leaving drained"},
    {"watch", "", OPT_WATCH, AT(watch), NULL, NULL, "show it again every two seconds"},
    {"experiment", "NAME", OPT_JOBS, AT(experiment), NULL, NULL,
     "only jobs of experiments with this name"},
    {"since", "TIME", OPT_JOBS, AT(since), NULL, NULL,
     "only jobs made since then: 2h (ago; s, m, h, d, w), or 2026-11-23T09:00:00Z"},
    {"by", "WHAT", OPT_REPORT, AT(by), NULL, NULL,
     "add up by user (default), group, cluster, gpu or experiment",
     .values = "user group cluster gpu experiment"},
    {"from", "TIME", OPT_REPORT, AT(from), NULL, NULL,
     "since then: 2026-11, 2026-11-23 or 2026-11-23T09:00:00Z (UTC; default: the beginning)"},
    {"to", "TIME", OPT_REPORT, AT(to), NULL, NULL, "before then (default: now)"},
    {"csv", "", OPT_REPORT, AT(csv), NULL, NULL, "print CSV, with all digits"},
    {"comment", "TEXT", OPT_COMMENT, AT(comment), NULL, NULL,
     "the name of the key (default: batchaid@HOSTNAME)"},
    {"container", "", OPT_CONTAINER, AT(container), NULL, NULL,
     "SHARE is the name of a blob container"},
};
_Static_assert(sizeof known_options / sizeof known_options[0] == N_OPTIONS, "N_OPTIONS is wrong");

int option_take(struct options *o, const struct cli_option *known, const char *value, struct err *e)
{
    void *at = (char *)o + known->at;
    if (!value) {
        *(bool *)at = true;
        return 0;
    }
    if (!*value)
        return err_set(e, ERR_CONFIG, NULL, "--%s needs a value that is not empty", known->name);
    if (known->check && known->check(value, e) < 0)
        return -1;
    if (known->take)
        return known->take(o, value, e);
    *(const char **)at = value;
    return 0;
}
