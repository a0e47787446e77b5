/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/agent/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/files.h"

static const char *const inherited[] = {"PATH", "HOME", "USER", "LANG", "SHELL", "TMPDIR"};
#define N_INHERITED  (sizeof inherited / sizeof inherited[0])
#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Later ones replace earlier ones of the same name. Takes over `pair`. */
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

char **command_environment(const struct task_spec *spec, const char *marker)
{
    char **env = xcalloc(N_INHERITED + spec->n_env + 2, sizeof *env);
    size_t n = 0;
    for (size_t i = 0; i < N_INHERITED; i++) {
        const char *value = getenv(inherited[i]);
        if (value)
            env_put(env, &n, make_pair(inherited[i], value));
        else if (strcmp(inherited[i], "PATH") == 0)
            env_put(env, &n, make_pair("PATH", DEFAULT_PATH));
    }
    for (size_t i = 0; i < spec->n_env; i++)
        env_put(env, &n, make_pair(spec->env[i].name, spec->env[i].value));
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

static void default_signals(void)
{
    sigset_t none;
    for (int s = 1; s < NSIG; s++)
        (void)signal(s, SIG_DFL); /* those that cannot be set are at their default anyway */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static int redirect(const char *path, int fd, struct err *e)
{
    if (file_make_parents(path, e) < 0)
        return -1;
    int out = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
    if (out < 0)
        return err_errno(e, ERR_NODE, "cannot open the output file %s", path);
    if (dup2(out, fd) < 0)
        return err_errno(e, ERR_NODE, "cannot redirect to %s", path);
    close(out);
    return 0;
}

static int prepare(const struct task_spec *spec, struct err *e)
{
    if (access(spec->cwd, F_OK) < 0 && fs_mkdirs(spec->cwd, 0777, e) < 0)
        return err_prefix(e, "cannot make the working directory");
    if (chdir(spec->cwd) < 0)
        return err_errno(e, ERR_NODE, "cannot enter the working directory %s", spec->cwd);
    if (redirect(spec->stdout_path, STDOUT_FILENO, e) < 0)
        return -1;
    return redirect(spec->stderr_path, STDERR_FILENO, e);
}

void command_become(const struct task_spec *spec, char **env, int why_fd, pid_t supervisor)
{
    struct err e;
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor)
        _exit(127);
    default_signals();
    if (prepare(spec, &e) == 0) {
        const char *shell = access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
        char *argv[] = {(char *)(uintptr_t)(strrchr(shell, '/') + 1), (char *)(uintptr_t) "-c",
                        (char *)(uintptr_t)spec->command_line, NULL};
        execve(shell, argv, env);
        err_errno(&e, ERR_NODE, "cannot execute %s -c with a command line of %zu characters", shell,
                  strlen(spec->command_line));
    }
    ssize_t ignored = write(why_fd, e.msg, strlen(e.msg));
    (void)ignored;
    _exit(127);
}
