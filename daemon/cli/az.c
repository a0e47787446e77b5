/* SPDX-License-Identifier: MIT
 *
 * `batchaid az-login`: logs the real az in, with a configuration directory inside the state
 * directory.
 */
#include "daemon/cli/az.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/cli/cli.h"
#include "daemon/cli/cloud.h"
#include "daemon/cli/environment.h"
#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"

#define MAX_FILE (4 << 20)

/* --- files of az --- */

/* The value of `key` in `[section]`, or NULL. The result points into `text`, which is cut after
 * it. */
static char *ini_get(char *text, const char *section, const char *key)
{
    bool inside = false;
    size_t n = strlen(section), k = strlen(key);
    for (char *line = text; line;) {
        char *next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        if (*line == '[')
            inside = strncmp(line + 1, section, n) == 0 && line[n + 1] == ']';
        else if (inside && strncmp(line, key, k) == 0 && line[k + strspn(line + k, " ")] == '=')
            return line + k + strspn(line + k, " =");
        line = next;
    }
    return NULL;
}

char *az_setting(const struct environment *env, const char *section, const char *key)
{
    char *path = fs_join(environment_get(env, "AZURE_CONFIG_DIR"), "config"), *text, *value = NULL;
    if (fs_read(path, MAX_FILE, &text, NULL, NULL) == 0) {
        const char *found = ini_get(text, section, key);
        value = found && *found ? xstrdup(found) : NULL;
        free(text);
    }
    free(path);
    return value;
}

/* Whether the file contains `key` with this value. `value` NULL: with any value. */
static bool ini_has(const struct environment *env, const char *file, const char *section,
                    const char *key, const char *value)
{
    char *path = fs_join(environment_get(env, "AZURE_CONFIG_DIR"), file), *text;
    bool found = false;
    if (fs_read(path, MAX_FILE, &text, NULL, NULL) == 0) {
        const char *actual = ini_get(text, section, key);
        found = actual && (!value || strcmp(actual, value) == 0);
        free(text);
    }
    free(path);
    return found;
}

static bool cloud_known(const struct environment *env, const char *endpoint)
{
    bool known = true;
    for (size_t i = 0; known && i < cloud_settings(); i++) {
        char *value = cloud_value(i, endpoint);
        known = ini_has(env, "clouds.config", CLOUD_NAME, cloud_key(i), value);
        free(value);
    }
    return known;
}

static bool is_in_our_cloud(const json_t *sub)
{
    const char *cloud = json_string_value(json_object_get(sub, "environmentName"));
    return cloud && strcmp(cloud, CLOUD_NAME) == 0;
}

static bool is_our_login(const json_t *sub, const struct environment *env)
{
    const char *id = "", *user = "";
    return json_unpack((json_t *)sub, "{s:s, s:{s:s}}", "id", &id, "user", "name", &user) == 0 &&
           strcmp(id, environment_get(env, "AZURE_SUBSCRIPTION_ID")) == 0 && is_in_our_cloud(sub) &&
           strcmp(user, environment_get(env, "AZURE_CLIENT_ID")) == 0;
}

/* The profile file of az, with all its subscriptions; NULL: there is none. */
static json_t *read_profile(const struct environment *env)
{
    char *path = fs_join(environment_get(env, "AZURE_CONFIG_DIR"), "azureProfile.json"), *text;
    json_t *profile = NULL;
    if (fs_read(path, MAX_FILE, &text, NULL, NULL) == 0) {
        /* az begins the file with a byte order mark. */
        bool mark = strncmp(text, "\xef\xbb\xbf", 3) == 0;
        profile = json_loads(text + (mark ? 3 : 0), 0, NULL);
        free(text);
    }
    free(path);
    return profile;
}

static bool profile_known(const struct environment *env)
{
    json_t *profile = read_profile(env), *sub;
    bool found = false;
    size_t i;
    json_array_foreach(json_object_get(profile, "subscriptions"), i, sub)
        found = found || is_our_login(sub, env);
    json_decref(profile);
    return found;
}

char *az_subscription(const struct environment *env)
{
    json_t *profile = read_profile(env), *sub;
    const char *id = environment_get(env, "AZURE_SUBSCRIPTION_ID");
    size_t i;
    json_array_foreach(json_object_get(profile, "subscriptions"), i, sub) {
        const char *its = json_string_value(json_object_get(sub, "id"));
        if (its && json_is_true(json_object_get(sub, "isDefault")) && is_in_our_cloud(sub))
            id = its;
    }
    char *found = xstrdup(id);
    json_decref(profile);
    return found;
}

/* --- running az ----------------------------------------------------------------------------- */

/* Debian's az needs the system's Python and may start other programs, so /usr/bin goes before any
 * Python installation in the user's PATH. */
static void prefer_system_programs(void)
{
    const char *old = getenv("PATH");
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "/usr/bin:%s", old && *old ? old : "/bin");
    setenv("PATH", b.s, 1);
    strbuf_free(&b);
}

static void enter(const struct environment *env)
{
    for (size_t i = 0; i < env->n; i++)
        setenv(env->vars[i].name, env->vars[i].value, 1);
    const char *no_proxy = environment_get(env, "NO_PROXY");
    if (no_proxy)
        setenv("no_proxy", no_proxy, 1);
    /* These variables would direct az to another cloud than the registered one. */
    unsetenv("AZURE_CLOUD_NAME");
    unsetenv("ARM_CLOUD_METADATA_URL");
    prefer_system_programs();
}

int az_cannot_start(int error, struct err *e)
{
    if (error == ENOENT)
        return err_set(e, ERR_UNAVAILABLE, NULL,
                       "az is not installed; install it with: apt-get install azure-cli");
    return err_set(e, ERR_UNAVAILABLE, NULL, "cannot start az: %s", strerror(error));
}

/* Runs az. `args` ends with NULL. `input` becomes the standard input of az; -1: az inherits this
 * process's. */
static int run_az(const char *const *args, int input, struct err *e)
{
    pid_t pid;
    int status;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (input >= 0)
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    /* posix_spawn() takes writable strings for historical reasons, but does not change them. */
    int rc = posix_spawnp(&pid, "az", &actions, NULL, (char *const *)args, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (rc != 0)
        return az_cannot_start(rc, e);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_errno(e, ERR_UNAVAILABLE, "cannot wait for az");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (WIFEXITED(status))
        return err_set(e, ERR_UNAVAILABLE, NULL, "az %s %s failed with exit code %d", args[1],
                       args[2], WEXITSTATUS(status));
    return err_set(e, ERR_UNAVAILABLE, NULL, "az %s %s was ended by signal %d", args[1], args[2],
                   WTERMSIG(status));
}

static int describe_cloud(const char *verb, const char *endpoint, struct err *e)
{
    char *config = cloud_config(endpoint);
    const char *const args[] = {"az",       "cloud",          verb,   "-n",
                                CLOUD_NAME, "--cloud-config", config, "--only-show-errors",
                                "-o",       "none",           NULL};
    int rc = run_az(args, -1, e);
    free(config);
    return rc;
}

static int register_cloud(const struct environment *env, const char *endpoint, struct err *e)
{
    bool there = ini_has(env, "clouds.config", CLOUD_NAME, "endpoint_resource_manager", NULL);
    if (describe_cloud(there ? "update" : "register", endpoint, e) < 0)
        return -1;
    const char *const set[] = {"az", "cloud", "set", "-n", CLOUD_NAME, "--only-show-errors",
                               "-o", "none",  NULL};
    return run_az(set, -1, e);
}

/* A descriptor for reading `text`; the text must fit into a pipe. */
static int open_text(const char *text, struct err *e)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_errno(e, ERR_IO, "cannot make a pipe");
    int rc = fs_write_all(ends[1], text, strlen(text));
    if (rc < 0) {
        err_errno(e, ERR_IO, "cannot write to a pipe");
        close(ends[0]);
    }
    close(ends[1]);
    return rc < 0 ? -1 : ends[0];
}

/* Logs az in. Anybody may read a command line, so az gets the secret through its standard input:
 * for any argument "@FILE" az reads the value from the file, and "-" means standard input. */
static int log_in(const struct environment *env, struct err *e)
{
    const char *const args[] = {
        "az",
        "login",
        "--service-principal",
        "-u",
        environment_get(env, "AZURE_CLIENT_ID"),
        "-p",
        "@-",
        "--tenant",
        environment_get(env, "AZURE_TENANT_ID"),
        "--only-show-errors",
        "-o",
        "none",
        NULL,
    };
    int secret = open_text(environment_get(env, "AZURE_CLIENT_SECRET"), e);
    if (secret < 0)
        return -1;
    int rc = run_az(args, secret, e);
    close(secret);
    return rc;
}

/* Without the lock, two commands at once would register the cloud twice. */
static int lock_config(const struct environment *env, struct err *e)
{
    char *path = fs_join(environment_get(env, "AZURE_CONFIG_DIR"), "batchaid.lock");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX) < 0) {
        err_errno(e, ERR_IO, "cannot lock %s", path);
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    free(path);
    return fd;
}

int az_ensure_login(const struct environment *env, FILE *say, struct err *e)
{
    const char *endpoint = environment_get(env, "BATCHAID_ENDPOINT");
    int fd = lock_config(env, e);
    if (fd < 0)
        return -1;
    bool known = cloud_known(env, endpoint) && ini_has(env, "config", "cloud", "name", CLOUD_NAME);
    int rc = 0;
    if (!known && (rc = register_cloud(env, endpoint, e)) == 0 && say)
        fprintf(say, "registered the cloud %s at %s with az\n", CLOUD_NAME, endpoint);
    if (rc == 0 && known && profile_known(env)) {
        if (say)
            fprintf(say, "az is logged in to %s already\n", endpoint);
    } else if (rc == 0 && (rc = log_in(env, e)) == 0 && say) {
        fprintf(say, "logged az in as %s (AZURE_CONFIG_DIR=%s)\n",
                environment_get(env, "AZURE_CLIENT_ID"), environment_get(env, "AZURE_CONFIG_DIR"));
    }
    close(fd);
    return rc;
}

int az_enter(const struct options *o, struct environment *env, struct err *e)
{
    struct state s;
    if (state_locate(o->state_dir, NULL, &s, e) < 0)
        return -1;
    int rc = environment_build(&s, env, e);
    state_free(&s);
    if (rc == 0)
        enter(env);
    return rc;
}

int cmd_az_login(const struct options *o)
{
    struct environment env;
    struct err e;
    if (az_enter(o, &env, &e) < 0)
        return cli_fail(EXIT_FAILED, &e);
    int rc = az_ensure_login(&env, stdout, &e);
    environment_free(&env);
    return rc == 0 ? EXIT_DONE : cli_fail(EXIT_FAILED, &e);
}
