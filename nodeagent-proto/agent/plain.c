/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/agent/plain.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/strbuf.h"

/* None of these means anything to a shell, but for a '=' in the first word. */
#define PLAIN                                                                                      \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"                               \
    "_-./,:@%+="
#define BLANKS " \t"

/* Builtins and keywords of bash 5.2 that PLAIN can spell, in the order of strcmp(). "true" and
 * "false" are missing: the programs do the same. */
static const char *const shells_own[] = {
    ".",       ":",     "alias",    "bg",      "bind",      "break",    "builtin",  "caller",
    "case",    "cd",    "command",  "compgen", "complete",  "compopt",  "continue", "coproc",
    "declare", "dirs",  "disown",   "do",      "done",      "echo",     "elif",     "else",
    "enable",  "esac",  "eval",     "exec",    "exit",      "export",   "fc",       "fg",
    "fi",      "for",   "function", "getopts", "hash",      "help",     "history",  "if",
    "in",      "jobs",  "kill",     "let",     "local",     "logout",   "mapfile",  "popd",
    "printf",  "pushd", "pwd",      "read",    "readarray", "readonly", "return",   "select",
    "set",     "shift", "shopt",    "source",  "suspend",   "test",     "then",     "time",
    "times",   "trap",  "type",     "typeset", "ulimit",    "umask",    "unalias",  "unset",
    "until",   "wait",  "while"};

/* How the names of variables begin that a shell heeds before its first command or hands on changed.
 */
static const char *const heeded[] = {"BASH", "SHELLOPTS=", "SHLVL=", "PWD=", "OLDPWD=", "_="};

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_shells_own(const char *word)
{
    return bsearch(&word, shells_own, sizeof shells_own / sizeof *shells_own, sizeof *shells_own,
                   by_name) != NULL;
}

static bool is_plain_environment(char *const *env)
{
    for (; *env; env++)
        for (size_t i = 0; i < sizeof heeded / sizeof *heeded; i++)
            if (strncmp(*env, heeded[i], strlen(heeded[i])) == 0)
                return false;
    return true;
}

/* The words of the line, which it cuts, with a NULL behind them; or NULL. The caller frees it. */
static char **words_of(char *line)
{
    if (line[strspn(line, PLAIN BLANKS)] != '\0')
        return NULL;
    char **argv = xcalloc(strlen(line) / 2 + 2, sizeof *argv);
    size_t n = 0;
    char *at = NULL;
    for (char *word = strtok_r(line, BLANKS, &at); word; word = strtok_r(NULL, BLANKS, &at))
        argv[n++] = word;
    if (n > 0 && !strchr(argv[0], '=') && !is_shells_own(argv[0]))
        return argv;
    free(argv);
    return NULL;
}

/* The first program of that name in the directories of PATH, or an empty `found`. An empty
 * directory is the current one to a shell, and a file that cannot be executed is spoken of by it:
 * neither is for us. */
static void find(const char *name, char *const *env, struct strbuf *found)
{
    for (; *env && strncmp(*env, "PATH=", 5) != 0; env++)
        ;
    const char *at = *env ? *env + 5 : "";
    while (*at == '/') {
        struct stat st;
        size_t n = strcspn(at, ":");
        strbuf_reset(found);
        strbuf_printf(found, "%.*s/%s", (int)n, at, name);
        if (stat(found->s, &st) == 0 && !S_ISDIR(st.st_mode)) {
            if (access(found->s, X_OK) != 0)
                break;
            return;
        }
        at += n;
        at += *at == ':';
    }
    strbuf_reset(found);
}

static void exec_in(const char *path, char *const *argv, char *const *env)
{
    char cwd[PATH_MAX];
    size_t n = 0;
    if (!getcwd(cwd, sizeof cwd) || cwd[0] != '/')
        return;
    while (env[n])
        n++;
    struct strbuf pwd_pair = STRBUF_INIT, self = STRBUF_INIT;
    strbuf_concat(&pwd_pair, "PWD=", cwd);
    strbuf_concat(&self, "_=", path);
    char **full = xcalloc(n + 4, sizeof *full);
    memcpy(full, env, n * sizeof *env);
    full[n] = pwd_pair.s;
    full[n + 1] = (char *)(uintptr_t) "SHLVL=0";
    full[n + 2] = self.s;
    execve(path, argv, full);
    free(full);
    strbuf_free(&self);
    strbuf_free(&pwd_pair);
}

void plain_exec(const char *command_line, char **env)
{
    char *line = xstrdup(command_line);
    char **argv = is_plain_environment(env) ? words_of(line) : NULL;
    if (argv) {
        struct strbuf path = STRBUF_INIT;
        if (strchr(argv[0], '/'))
            strbuf_puts(&path, argv[0]);
        else
            find(argv[0], env, &path);
        if (path.len > 0)
            exec_in(path.s, argv, env);
        strbuf_free(&path);
    }
    free(argv);
    free(line);
}
