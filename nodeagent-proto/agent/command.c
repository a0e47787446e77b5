/* SPDX-License-Identifier: MIT
 *
 * The steps of a supervisor's child between fork and exec, in this order: it arranges to be killed
 * with its supervisor, sets default signals, opens files with the account's rights, sets its
 * limits, becomes the account, and executes the command. It reports a failure through a pipe, as a
 * letter and a text. The child may run in the memory of its parent (spawn.h), so it allocates only
 * from the command's arena.
 */
#include "nodeagent-proto/agent/command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/confine.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/descriptors.h"
#include "nodeagent-proto/agent/simple_command.h"
#include "nodeagent-proto/wire/message.h"

/* These variables are copied from the agent's environment. Those from DOCKER_HOST on select another
 * docker or podman than the machine's default. */
static const char *const inherited[] = {"PATH",
                                        "HOME",
                                        "USER",
                                        "LANG",
                                        "SHELL",
                                        "TMPDIR",
                                        "DOCKER_HOST",
                                        "XDG_RUNTIME_DIR",
                                        "CONTAINERS_CONF",
                                        "CONTAINERS_STORAGE_CONF"};
#define N_INHERITED  (sizeof inherited / sizeof inherited[0])
#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* ---- limits (setrlimit(2)): of open files always; the others if no cgroup sets them ---- */

/* Sets a limit. If the process may not raise its limit to `value`, the lower limit remains. */
static int set_limit_value(int resource, rlim_t value)
{
    struct rlimit now, want = {.rlim_cur = value, .rlim_max = value};
    if (setrlimit(resource, &want) == 0)
        return 0;
    if (errno != EPERM || getrlimit(resource, &now) < 0)
        return -1;
    if (now.rlim_max < value)
        want.rlim_cur = want.rlim_max = now.rlim_max;
    return setrlimit(resource, &want);
}

static int set_limit(const char *name, int resource, int64_t value, struct err *e)
{
    return value <= 0 || set_limit_value(resource, (rlim_t)value) == 0
               ? 0
               : err_errno(e, ERR_NODE, "cannot limit the task's %s to %lld", name,
                           (long long)value);
}

/* Sets all limits except the limit of memory. */
static int limits_set(const struct task_limits *l, const struct cgroup *g, struct err *e)
{
    descriptors_allow_usual();
    if (set_limit("open_files", RLIMIT_NOFILE, l->open_files, e) < 0)
        return -1;
    return g->pids ? 0 : set_limit("processes", RLIMIT_NPROC, l->processes, e);
}

/* Limits the address space. This must be the last step before exec(), because afterwards the
 * process may get no more memory: with AddressSanitizer its address space is far above any
 * limit. */
static int limits_set_memory(const struct task_limits *l, const struct cgroup *g, struct err *e)
{
    return g->memory ? 0 : set_limit("memory_bytes", RLIMIT_AS, l->memory_bytes, e);
}

/* ---- the environment ---- */

/* Adds a variable, or replaces the earlier variable with its name. Takes ownership of `pair`. */
static void env_put(char **env, size_t *n, char *pair)
{
    size_t name = strcspn(pair, "=") + 1;
    for (size_t i = 0; i < *n; i++) {
        if (strncmp(env[i], pair, name) != 0)
            continue;
        explicit_bzero(env[i], strlen(env[i]));
        free(env[i]);
        env[i] = pair;
        return;
    }
    env[(*n)++] = pair;
}

static char *make_pair(const char *name, const char *value)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "%s=%s", name, value);
    return strbuf_take(&b);
}

static void put_inherited(char **env, size_t *n)
{
    for (size_t i = 0; i < N_INHERITED; i++) {
        const char *value = getenv(inherited[i]);
        if (value)
            env_put(env, n, make_pair(inherited[i], value));
        else if (strcmp(inherited[i], "PATH") == 0)
            env_put(env, n, make_pair("PATH", DEFAULT_PATH));
    }
}

/* Adds the variables of an account. TMPDIR is not inherited, because the account may lack the right
 * to write there. */
static void put_account(char **env, size_t *n, const struct account *a)
{
    static const char *const common[] = {"PATH", "LANG"};
    const struct kv own[] = {{.name = "HOME", .value = a->home},
                             {.name = "USER", .value = a->name},
                             {.name = "LOGNAME", .value = a->name},
                             {.name = "SHELL", .value = a->shell}};
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++) {
        const char *value = getenv(common[i]);
        if (value || i == 0)
            env_put(env, n, make_pair(common[i], value ? value : DEFAULT_PATH));
    }
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        env_put(env, n, make_pair(own[i].name, own[i].value));
}

/* Tells programs that make files for an account its uid and gid. They are numbers, because the
 * account may lack a name. */
static void put_ids(char **env, size_t *n, const struct account *a)
{
    char text[32];
    snprintf(text, sizeof text, "%u:%u", (unsigned)a->uid, (unsigned)a->gid);
    env_put(env, n, make_pair("BATCHAI_FILES_AS", text));
}

/* Puts `directories` in front of the PATH of the environment. */
static void put_path(char **env, size_t *n, const char *directories)
{
    const char *path = DEFAULT_PATH;
    for (size_t i = 0; i < *n; i++)
        if (strncmp(env[i], "PATH=", 5) == 0)
            path = env[i] + 5;
    struct strbuf b = STRBUF_INIT;
    strbuf_concat(&b, "PATH=", directories, ":", path);
    env_put(env, n, strbuf_take(&b));
}

char **command_environment(const struct task_spec *spec, const struct account *account,
                           const struct account *files_as, const char *marker)
{
    char **env = xcalloc(N_INHERITED + spec->n_env + 4, sizeof *env);
    size_t n = 0;
    if (account)
        put_account(env, &n, account);
    else
        put_inherited(env, &n);
    if (!account && files_as)
        put_ids(env, &n, files_as);
    for (size_t i = 0; i < spec->n_env; i++)
        env_put(env, &n, make_pair(spec->env[i].name, spec->env[i].value));
    if (spec->path)
        put_path(env, &n, spec->path);
    env_put(env, &n, xstrdup(marker));
    return env;
}

void command_environment_free(char **env)
{
    if (!env)
        return;
    for (char **p = env; *p; p++) {
        explicit_bzero(*p, strlen(*p));
        free(*p);
    }
    free(env);
}

void command_default_signals(void)
{
    sigset_t none;
    for (int s = 1; s < NSIG; s++)
        /* This fails for SIGKILL and SIGSTOP, whose action is always the default. */
        (void)signal(s, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Signals that are sent to the job, or to all processes (at a shutdown, by a terminal). The
 * supervisor ignores them, because it must survive the job's processes to record how the job
 * ended. */
static const int not_ours[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ, SIGIO};

void command_ignore_signals(void)
{
    command_default_signals();
    for (size_t i = 0; i < sizeof not_ours / sizeof not_ours[0]; i++)
        (void)signal(not_ours[i], SIG_IGN);
}

/* Sets the signals that the supervisor ignores to their default. All other signals have their
 * default already. */
static void heed_signals(void)
{
    sigset_t none;
    for (size_t i = 0; i < sizeof not_ours / sizeof not_ours[0]; i++)
        (void)signal(not_ours[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static int redirect(int out, const char *path, int fd, struct err *e)
{
    if (dup2(out, fd) < 0)
        return err_errno(e, ERR_NODE, "cannot redirect to %s", path);
    close(out);
    return 0;
}

/* Makes the kernel kill the process when its supervisor ends; if the supervisor has ended already,
 * exits. The kernel removes this setting whenever the process changes its ids. */
static void die_with(pid_t supervisor)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor)
        _exit(127);
}

static void make_folders(const char *path)
{
    char part[PATH_MAX];
    for (const char *slash = path; slash; slash = strchr(slash + 1, '/')) {
        size_t n = slash == path ? 0 : (size_t)(slash - path);
        if (n == 0 || n >= sizeof part)
            continue;
        memcpy(part, path, n);
        part[n] = '\0';
        (void)mkdir(part, 0755);
    }
    (void)mkdir(path, 0755);
}

/* Mounts v->source at v->target, in a new mount namespace for the task. Later mounts and unmounts
 * outside also apply in this namespace. */
static void show(const struct task_view *v)
{
    if (!v->source || !v->target || geteuid() != 0)
        return;
    make_folders(v->target);
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
        return;
    int ignored = mount(v->source, v->target, NULL, MS_BIND | MS_REC, NULL);
    (void)ignored;
}

static const struct cgroup *cgroup_of(const struct task_command *c)
{
    static const struct cgroup none = {.path = NULL};
    return c->in_cgroup ? c->cgroup : &none;
}

static int prepare(const struct task_command *c, struct err *e)
{
    const struct task_spec *spec = c->spec;
    struct output_files f = {.out_path = spec->stdout_path, .error_path = spec->stderr_path};
    if (c->rules >= 0 && confine_enter(c->rules, e) < 0)
        return -1;
    if (outputs_enter(&c->outputs, spec->cwd, &f, e) < 0 ||
        redirect(f.out, spec->stdout_path, STDOUT_FILENO, e) < 0 ||
        redirect(f.error, spec->stderr_path, STDERR_FILENO, e) < 0 ||
        limits_set(&spec->limits, cgroup_of(c), e) < 0)
        return -1;
    show(&spec->view);
    if (!spec->user)
        return 0;
    (void)account_umask(c->outputs.account);
    return account_become(c->outputs.account, e);
}

static size_t env_bytes(char **env)
{
    size_t n = 0;
    for (; *env; env++)
        n += strlen(*env) + 1;
    return n;
}

void command_exec_shell(const char *command_line, char **env, struct arena *a, struct err *e)
{
    const char *shell = access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
    plain_exec(command_line, env, a);
    char *argv[] = {(char *)(uintptr_t)(strrchr(shell, '/') + 1), (char *)(uintptr_t) "-c",
                    (char *)(uintptr_t)command_line, NULL};
    execve(shell, argv, env);
    err_errno(e, ERR_NODE,
              "cannot execute %s -c with a command line of %zu bytes and an environment of %zu",
              shell, strlen(command_line), env_bytes(env));
}

static const char *path_of(char **env)
{
    for (; *env; env++)
        if (strncmp(*env, "PATH=", 5) == 0)
            return *env + 5;
    return DEFAULT_PATH;
}

/* Runs a script without a #! line by the shell, as execvp(3) does. */
static void exec_script(const char *path, char *const *argv, char **env, struct arena *a)
{
    size_t n = 0;
    while (argv[n])
        n++;
    char **with_shell = arena_alloc(a, (n + 2) * sizeof *with_shell);
    with_shell[0] = (char *)(uintptr_t) "/bin/sh";
    with_shell[1] = (char *)(uintptr_t)path;
    for (size_t i = 1; i < n; i++)
        with_shell[i + 1] = argv[i];
    execve("/bin/sh", with_shell, env);
}

/* Executes the program at `path`. Returns if this fails, so that the caller tries the next
 * directory of PATH. If the program exists but could not start, sets *error to the reason. In a
 * directory that is closed to the account, the program counts as missing. */
static void try_exec(const char *path, char *const *argv, char **env, struct arena *a, int *error)
{
    execve(path, argv, env);
    if (errno == ENOEXEC)
        exec_script(path, argv, env, a);
    int failed = errno;
    if (failed == EACCES && access(path, F_OK) != 0)
        return;
    if (failed != ENOENT && failed != ENOTDIR)
        *error = failed;
}

static bool is_refused(char *const *argv)
{
    return strcmp(argv[0], TASK_NODE) == 0 && argv[1] && strcmp(argv[1], TASK_REFUSE) == 0 &&
           argv[2];
}

/* Opens the interpreter of Windows command lines, for a task that needs it. Opened with the agent's
 * rights, because the task's account may lack access to the agent's programs. */
static int open_cmd(const struct task_spec *spec, int *fd, struct err *e)
{
    static const char has_none[] =
        "this node has no batchai-cmd, which runs command lines of Windows";
    if (!spec->argv || strcmp(spec->argv[0], TASK_CMD) != 0)
        return 0;
    const char *path = getenv(NODE_CMD_VARIABLE);
    if (!path || !*path)
        return err_set(e, ERR_NODE, NULL, "%s: the site has not set batch.windows_commands",
                       has_none);
    if (*path != '/')
        return err_set(e, ERR_NODE, NULL, "%s: %s", has_none, path);
    *fd = open(path, O_PATH | O_CLOEXEC);
    return *fd < 0 ? err_errno(e, ERR_NODE, "%s: cannot open %s", has_none, path) : 0;
}

enum command_failure command_exec_argv(char *const *argv, char **env, struct arena *a,
                                       struct err *e)
{
    int error = 0;
    if (is_refused(argv)) {
        err_set(e, ERR_NODE, NULL, "%s", argv[2]);
        return COMMAND_FAILED;
    }
    if (strchr(argv[0], '/')) {
        try_exec(argv[0], argv, env, a, &error);
    } else {
        for (const char *at = path_of(env); at; at = strchr(at, ':')) {
            at += *at == ':';
            try_exec(arena_printf(a, "%.*s/%s", (int)strcspn(at, ":"), at, argv[0]), argv, env, a,
                     &error);
        }
        try_exec(argv[0], argv, env, a, &error);
    }
    errno = error ? error : ENOENT;
    err_errno(e, ERR_NODE, "cannot execute %s", argv[0]);
    return error ? COMMAND_FAILED : COMMAND_NO_PROGRAM;
}

/* Executes the command. `cmd` is the descriptor that open_cmd() opened. */
static enum command_failure exec_command(const struct task_command *c, int cmd, struct err *e)
{
    const struct task_spec *spec = c->spec;
    size_t n = spec->argv ? spec->n_argv : 0;
    char **argv = arena_alloc(c->arena, (n + 1) * sizeof *argv);
    for (size_t i = 0; i < n; i++)
        argv[i] = (char *)(uintptr_t)spec->argv[i];
    if (limits_set_memory(&spec->limits, cgroup_of(c), e) < 0)
        return COMMAND_FAILED;
    if (!spec->argv) {
        command_exec_shell(spec->command_line, c->env, c->arena, e);
        return COMMAND_FAILED;
    }
    if (cmd >= 0) {
        fexecve(cmd, argv, c->env);
        err_errno(e, ERR_NODE, "cannot execute " TASK_CMD);
        return COMMAND_FAILED;
    }
    return command_exec_argv(argv, c->env, c->arena, e);
}

void command_become(const struct task_command *c)
{
    struct err e;
    enum command_failure how = COMMAND_FAILED;
    int cmd = -1;
    die_with(c->supervisor);
    setsid();
    heed_signals();
    if (open_cmd(c->spec, &cmd, &e) == 0 && prepare(c, &e) == 0) {
        die_with(c->supervisor);
        how = exec_command(c, cmd, &e);
    }
    const char *why = arena_printf(c->arena, "%c%s", (int)how, e.msg);
    ssize_t ignored = write(c->why_fd, why, strlen(why));
    (void)ignored;
    _exit(127);
}
