/* SPDX-License-Identifier: MIT
 *
 * Splits the line at blanks and gives up at the first character or word that means something to a
 * shell. So a line is executed here only if every shell would execute it like this. This runs in a
 * child, right before its exec.
 */
#include "nodeagent-proto/agent/simple_command.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Characters without a meaning to a shell, except a '=' in the first word. */
#define PLAIN                                                                                      \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"                               \
    "_-./,:@%+="
#define BLANKS " \t"

/* Builtins and keywords of bash 5.2 that PLAIN can spell, in the order of strcmp(). "true" and
 * "false" are missing: as programs they do what the builtins do. */
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

/* Prefixes of variables that bash reads before its first command, or changes for its children. */
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

/* The words of the line, followed by a NULL; modifies the line. NULL: the line needs a shell. */
static char **words_of(char *line, struct arena *a)
{
    if (line[strspn(line, PLAIN BLANKS)] != '\0')
        return NULL;
    char **argv = arena_alloc(a, (strlen(line) / 2 + 2) * sizeof *argv);
    size_t n = 0;
    char *at = NULL;
    for (char *word = strtok_r(line, BLANKS, &at); word; word = strtok_r(NULL, BLANKS, &at))
        argv[n++] = word;
    return n > 0 && !strchr(argv[0], '=') && !is_shells_own(argv[0]) ? argv : NULL;
}

/* The first program of that name in the directories of PATH, or NULL. For an empty directory (the
 * current one) and a file that cannot be executed the shell has own rules and messages, so the
 * answer is NULL. */
static const char *find(const char *name, char *const *env, struct arena *a)
{
    for (; *env && strncmp(*env, "PATH=", 5) != 0; env++)
        ;
    const char *at = *env ? *env + 5 : "";
    while (*at == '/') {
        struct stat st;
        size_t n = strcspn(at, ":");
        const char *found = arena_printf(a, "%.*s/%s", (int)n, at, name);
        if (stat(found, &st) == 0 && !S_ISDIR(st.st_mode))
            return access(found, X_OK) == 0 ? found : NULL;
        at += n;
        at += *at == ':';
    }
    return NULL;
}

static void exec_in(const char *path, char *const *argv, char *const *env, struct arena *a)
{
    char cwd[PATH_MAX];
    size_t n = 0;
    if (!getcwd(cwd, sizeof cwd) || cwd[0] != '/')
        return;
    while (env[n])
        n++;
    char **full = arena_alloc(a, (n + 4) * sizeof *full);
    memcpy(full, env, n * sizeof *env);
    full[n] = arena_concat(a, "PWD=", cwd);
    full[n + 1] = (char *)(uintptr_t) "SHLVL=0";
    full[n + 2] = arena_concat(a, "_=", path);
    execve(path, argv, full);
}

void plain_exec(const char *command_line, char **env, struct arena *a)
{
    char **argv = is_plain_environment(env) ? words_of(arena_strdup(a, command_line), a) : NULL;
    if (!argv)
        return;
    const char *path = strchr(argv[0], '/') ? argv[0] : find(argv[0], env, a);
    if (path)
        exec_in(path, argv, env, a);
}
