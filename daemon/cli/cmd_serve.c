/* SPDX-License-Identifier: MIT
 *
 * `batchaid serve`: reads the configuration, opens the state directory and the keys, and then calls
 * serve_run().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/access/access.h"
#include "daemon/cli/cli.h"
#include "daemon/cli/progress.h"
#include "daemon/config/site.h"
#include "daemon/serve/agent_path.h"
#include "daemon/serve/ephemeral.h"
#include "daemon/serve/fatal.h"
#include "daemon/serve/fault_hook.h"
#include "daemon/serve/hosts.h"
#include "daemon/serve/serve.h"
#include "daemon/serve/under_way.h"
#include "daemon/serve/watching.h"
#include "lib/arena.h"
#include "lib/footprint.h"
#include "lib/fs.h"
#include "lib/jsontext.h"
#include "lib/log_kept.h"
#include "lib/strbuf.h"
#include "lib/timefmt.h"

/* The most bytes of log lines about nodes that are kept in memory for clients. */
#define LOG_KEPT_BYTES ((size_t)1024 * 1024)
/* Clusters and pools whose vmSize matches have fake nodes. */
#define FAKE_SIZES "FAKE*"
#define US_PER_S   1000000

static void replace(char **at, const char *value)
{
    if (!value)
        return;
    free(*at);
    *at = xstrdup(value);
}

static const char *config_file(const struct options *o)
{
    const char *file = getenv("BATCHAID_CONFIG");
    return o->config ? o->config : file && *file ? file : NULL;
}

/* The command line overrides the file and the environment. */
static void apply_options(struct config *c, const struct options *o)
{
    replace(&c->log_format, o->log_format);
    replace(&c->log_level, o->log_level);
    c->testing_strict = c->testing_strict || o->strict;
    if (o->n_listen == 0)
        return;
    for (size_t i = 0; i < c->listen.n; i++)
        free(c->listen.items[i]);
    free(c->listen.items);
    c->listen.items = xcalloc(o->n_listen, sizeof(char *));
    c->listen.n = o->n_listen;
    for (size_t i = 0; i < o->n_listen; i++)
        c->listen.items[i] = xstrdup(o->listen[i]);
}

/* Collects the IP addresses of the listen list, for which the certificate must be valid. */
static int listen_addresses(const struct config *c, struct config_list *out, struct err *e)
{
    out->items = xcalloc(c->listen.n, sizeof(char *));
    for (size_t i = 0; i < c->listen.n; i++) {
        char host[CONFIG_HOST_SIZE];
        int port;
        if (config_parse_listen(c->listen.items[i], host, &port, e) < 0)
            return -1;
        bool wildcard = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
        if (strcmp(host, "localhost") != 0 && !wildcard)
            out->items[out->n++] = xstrdup(host);
    }
    return 0;
}

static int open_certs(const struct config *c, const struct state *s,
                      const struct config_list *addresses, int64_t now_us, struct certs **out,
                      struct err *e)
{
    const struct config_list names = hosts_certified(c);
    const struct certs_config cc = {
        .files = {s->ca_cert, s->ca_key, s->server_cert, s->server_key, s->without_sync},
        .addresses = addresses->items,
        .n_addresses = addresses->n,
        .names = names.items,
        .n_names = names.n,
        .site_cert = c->tls_certificate,
        .site_key = c->tls_key};
    int rc = certs_open(&cc, now_us, out, e);
    free(names.items);
    return rc;
}

/* Whether the site's certificate can be used. An expired certificate is no error here: the log has
 * a warning, and clients refuse it. */
static bool certificate_fits(const struct config *c, struct err *e)
{
    int64_t ends_us;
    if (certs_site_check(c->tls_certificate, c->tls_key, &ends_us, e) == 0)
        return true;
    err_prefix(e, "tls.certificate");
    return false;
}

/* The key from the environment, or a new one. */
static const char *testing_key(char made[ACCESS_SECRET_SIZE])
{
    const char *given = getenv("BATCHAID_TESTING_KEY");
    if (given && *given)
        return given;
    access_make_secret(made);
    return made;
}

/* Watches for crashes. After a crash the program executes itself again, unless a service manager
 * restarts it, or the daemon is ephemeral and so has no state with which it could continue. */
static int watch_ends(const struct options *o, const struct state *s, const struct log *log,
                      struct err *e)
{
    fault_hook hook = NULL;
    if (o->testing && fault_hook_find(&hook, e) < 0)
        return -1;
    under_way_open(s->under_way, log);
    if (under_way_is_again())
        orphans_find();
    under_way_judge(hook);
    fatal_watch(!o->ephemeral && !getenv("NOTIFY_SOCKET"));
    return 0;
}

static void unwatch_ends(void)
{
    fatal_unwatch();
    under_way_close();
}

/* The inputs of the daemon; owned by cmd_serve(). */
struct serve_setup {
    struct config config;
    struct state state;
    struct daemon_site site;
    int64_t started_us;
    size_t left_behind; /* number of threads that are blocked in a system call */
};

/* The absolute path of the configuration file; NULL: none. Caller frees. */
static char *absolute_config(const struct options *o)
{
    const char *file = config_file(o);
    return file ? realpath(file, NULL) : NULL;
}

/* The path of batchai-cmd, if the site runs Windows command lines; NULL: it does not. Caller
 * frees. */
static char *cmd_path(const struct config *c, const char *agent, const struct log *log)
{
    char *path = c->batch_windows_commands ? agent_path_of_cmd(agent) : NULL;
    if (path && access(path, X_OK) != 0)
        LOG_WARN(log, "local_nodes.windows_interpreter_missing", LF_STR("path", path),
                 LF_STR("why", "tasks with command lines of Windows will fail on local nodes"));
    return path;
}

/* Logs where the local nodes are if not at the configured place, and who may use them. */
static void log_site(const struct serve_setup *with, const struct log *log)
{
    const struct open_place *place = &with->site.open_place;
    if (place->gone)
        LOG_WARN(log, "local_nodes.directory_missing", LF_STR("missing", place->gone),
                 LF_STR("directory", place->made),
                 LF_STR("why", "the directory of nodes and shares is not there, so a new and "
                               "empty one is in use: all shares are empty"));
    else if (place->made)
        LOG_INFO(log, "local_nodes.relocated", LF_STR("directory", place->made),
                 LF_STR("why",
                        "nodes and shares are in this directory now, because a directory "
                        "above the state directory is closed to the users that jobs run as"));
    if (with->site.site.first_alone && with->config.nodes > 0)
        LOG_INFO(log, "local_nodes.restricted",
                 LF_STR("why", "jobs on local nodes can read the daemon's files, so only the "
                               "daemon's own principal may use local nodes; local.shared_user: "
                               "true lets all users use local nodes"));
}

/* Reads the file, the environment and the command line; each overrides the earlier ones. */
static int load_config(const struct options *o, struct config *out, struct err *e)
{
    if (config_load(config_file(o), out, e) < 0)
        return -1;
    int rc = config_from_environment(out, e);
    if (rc == 0)
        apply_options(out, o);
    if (rc == 0 && out->testing_strict && !o->testing)
        rc = err_set(e, ERR_CONFIG, NULL, "testing.strict needs --testing");
    if (rc < 0)
        config_free(out);
    return rc;
}

static int load_again(const void *load_ctx, struct config *out, struct err *e)
{
    return load_config(load_ctx, out, e);
}

static void show_opening(void *ctx, const char *doing)
{
    struct progress *p = ctx;
    if (doing)
        progress_say(p, "%s, %lld s", doing, (long long)(progress_us(p) / US_PER_S));
    else
        progress_end(p);
}

/* Runs the daemon while the state directory is locked. */
static int serve_locked(struct serve_setup *with, const struct options *o, struct err *e)
{
    const struct config *c = &with->config;
    const struct state *s = &with->state;
    struct credentials credentials = {.client_id = NULL};
    struct certs *certs = NULL;
    struct progress progress;
    struct config_list addresses = {.n = 0};
    char key[ACCESS_SECRET_SIZE];
    int rc = -1;
    char *agent = agent_path_find(e);
    if (!agent)
        return -1;
    struct log log = {.fd = STDERR_FILENO,
                      .level = config_log_level(c->log_level),
                      .format = config_log_format(c->log_format),
                      .kept = log_kept_create(LOG_KEPT_BYTES)};
    char *cmd = cmd_path(c, agent, &log);
    char *path = absolute_config(o);
    site_decide_accounts(&with->site, c, s);
    bool watched = watch_ends(o, s, &log, e) == 0;
    if (watched && site_load_agents(&with->site, agent, c->batch_windows_commands, e) == 0 &&
        state_make_dirs(s, (gid_t)(with->site.site.local_accounts ? c->first_uid : 0), e) == 0 &&
        credentials_load(s, &credentials, e) == 0 && listen_addresses(c, &addresses, e) == 0 &&
        open_certs(c, s, &addresses, with->started_us, &certs, e) == 0) {
        const struct serve_config sc = {.config = c,
                                        .config_path = path,
                                        .state = s,
                                        .credentials = &credentials,
                                        .certs = certs,
                                        .load = load_again,
                                        .load_ctx = o,
                                        .site = &with->site,
                                        .agent_path = agent,
                                        .cmd_path = cmd,
                                        .log = &log,
                                        .ephemeral = o->ephemeral,
                                        .testing_key = o->testing ? testing_key(key) : NULL,
                                        .fake_sizes = o->fake_nodes ? "*" : FAKE_SIZES,
                                        .rules_file = o->rules,
                                        .seed_file = o->seed,
                                        .started_us = with->started_us,
                                        .opening = &(struct st_opening){show_opening, &progress},
                                        .left_behind = &with->left_behind};
        progress_begin_unless(&progress, log.format != LOG_FMT_TEXT);
        log_site(with, &log);
        endpoint_withdraw(s); /* removes the file of a daemon that was killed */
        rc = serve_run(&sc, e);
    }
    if (watched)
        unwatch_ends();
    config_list_free(&addresses);
    certs_close(certs);
    credentials_free(&credentials);
    log_kept_destroy(log.kept);
    free(path);
    free(agent);
    free(cmd);
    return rc;
}

/* Refuses options that need --testing if it is missing. */
static int check_testing(const struct options *o, struct err *e)
{
    const char *alone = o->fake_nodes ? "--fake-nodes"
                        : o->rules    ? "--rules"
                        : o->seed     ? "--seed"
                        : o->strict   ? "--strict"
                                      : NULL;
    if (!o->testing && getenv("BATCHAID_TESTING"))
        return err_set(
            e, ERR_CONFIG, NULL,
            "$BATCHAID_TESTING alone has no effect; use the option: batchaid serve --testing");
    if (!o->testing && alone)
        return err_set(e, ERR_CONFIG, NULL, "%s needs --testing, and so does its variable", alone);
    if (o->seed && strcmp(o->seed, "-") == 0)
        return err_set(e, ERR_CONFIG, NULL,
                       "--seed needs a file; send standard input with: batchaid seed -");
    return 0;
}

/* Refuses texts that the file `endpoint`, which is JSON, cannot contain. */
static int check_utf8(const struct options *o, struct err *e)
{
    char *path = absolute_config(o);
    const char *key = o->testing ? getenv("BATCHAID_TESTING_KEY") : NULL;
    bool path_fits = !path || jsontext_is_utf8(path, strlen(path));
    bool key_fits = !key || jsontext_is_utf8(key, strlen(key));
    free(path);
    if (!path_fits)
        return err_set(e, ERR_CONFIG, NULL,
                       "the name of the configuration file is not UTF-8; rename the file or its "
                       "directory");
    return key_fits ? 0 : err_set(e, ERR_CONFIG, NULL, "$BATCHAID_TESTING_KEY is not UTF-8");
}

int cmd_serve(const struct options *o)
{
    struct serve_setup with = {.started_us = time_now_us()};
    struct err e;
    struct state_lock lock = STATE_LOCK_NONE;
    struct ephemeral ephemeral = EPHEMERAL_NONE;
    if (check_testing(o, &e) < 0 || check_utf8(o, &e) < 0 || load_config(o, &with.config, &e) < 0)
        return cli_fail(EXIT_CONFIGURATION, &e);
    footprint_between(); /* frees memory that loading the program and its libraries took */
    int rc = o->ephemeral ? ephemeral_begin(o->state_dir, &ephemeral, &e) : 0;
    if (rc == 0)
        rc = state_locate(ephemeral.dir ? ephemeral.dir : o->state_dir, with.config.state_dir,
                          &with.state, &e);
    with.state.without_sync = o->ephemeral;
    bool wrong_site = rc == 0 && (site_load(&with.config, &with.state, &with.site, &e) < 0 ||
                                  !certificate_fits(&with.config, &e));
    if (wrong_site)
        rc = -1;
    if (rc == 0)
        rc = state_acquire(&with.state, &lock, &e);
    if (rc == 0 && site_open_place(&with.site, &with.config, &with.state, o->ephemeral, &e) < 0) {
        wrong_site = true;
        rc = -1;
    }
    if (rc == 0)
        rc = serve_locked(&with, o, &e);
    state_release(&lock);
    site_free(&with.site);
    state_free(&with.state);
    config_free(&with.config);
    ephemeral_end(&ephemeral);
    if (with.left_behind > 0) { /* exit() would wait for the blocked threads */
        fflush(NULL);
        _exit(rc == 0 ? EXIT_DONE : EXIT_FAILED);
    }
    if (rc == 0)
        return EXIT_DONE;
    bool again_is_no_help =
        wrong_site || e.code == ERR_SCHEMA_TOO_NEW || e.code == ERR_SCHEMA_TOO_OLD;
    return cli_fail(again_is_no_help ? EXIT_CONFIGURATION : EXIT_FAILED, &e);
}
