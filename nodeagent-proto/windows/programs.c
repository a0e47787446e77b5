/* SPDX-License-Identifier: MIT
 *
 * Finds the file of a program by its name, and runs it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent-proto/windows/windows_priv.h"

/* Exit codes of cmd for an unknown name, and for a file that is not a program. */
enum { CODE_UNKNOWN = 1, CODE_NO_PROGRAM = 193 };

enum file_kind { FILE_NONE, FILE_RUNS, FILE_SCRIPT, FILE_BATCH, FILE_WINDOWS, FILE_OTHER };

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);
    return n > k && same_name(name + n - k, end) == 0;
}

/* Decides by the file's first bytes, because files from an archive made on Windows have no execute
 * permission. */
static enum file_kind kind_of(const char *path)
{
    struct stat st;
    char head[4] = "";
    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return FILE_NONE;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, head, sizeof head);
    if (fd >= 0)
        close(fd);
    if (n >= 2 && memcmp(head, "MZ", 2) == 0)
        return FILE_WINDOWS;
    if (ends_with(path, ".cmd") || ends_with(path, ".bat"))
        return FILE_BATCH;
    if (access(path, X_OK) == 0)
        return FILE_RUNS;
    return n >= 2 && memcmp(head, "#!", 2) == 0 ? FILE_SCRIPT : FILE_OTHER;
}

static char *base_name(struct arena *a, const char *name)
{
    const char *slash = strrchr(name, '/');
    char *base = arena_lower(a, slash ? slash + 1 : name);
    if (ends_with(base, ".exe"))
        base[strlen(base) - 4] = '\0';
    return base;
}

/* Finds a file in a folder (or by its path if the folder is ""): the name itself, with or without
 * ".exe", or a batch file. */
static enum file_kind find_in(struct shell *sh, const char *folder, const char *name, char **out)
{
    const char *names[] = {
        name,
        ends_with(name, ".exe") ? arena_strndup(sh->arena, name, strlen(name) - 4)
                                : arena_concat(sh->arena, name, ".exe"),
        arena_concat(sh->arena, name, ".cmd"), arena_concat(sh->arena, name, ".bat")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = path_of(sh, arena_concat(sh->arena, folder, *folder ? "/" : "", names[i]));
        enum file_kind kind = path ? kind_of(path) : FILE_NONE;
        if (kind != FILE_NONE) {
            *out = path;
            return kind;
        }
    }
    return FILE_NONE;
}

/* Searches the current folder first, as Windows does, and then the folders of PATH. */
static enum file_kind find(struct shell *sh, const char *name, char **out)
{
    if (strpbrk(name, "/\\"))
        return find_in(sh, "", name, out);
    enum file_kind kind = find_in(sh, ".", name, out);
    for (char **folder = path_folders(sh); *folder && kind == FILE_NONE; folder++)
        kind = find_in(sh, *folder, name, out);
    return kind;
}

/* The program of that name in the site's folder BATCHAI_WINDOWS_PROGRAMS; NULL: there is none. */
static char *of_the_site(struct shell *sh, const char *base)
{
    const char *folder = variables_get(&sh->variables, "BATCHAI_WINDOWS_PROGRAMS");
    if (!folder || !*folder || !*base)
        return NULL;
    char *path = arena_concat(sh->arena, folder, "/", base);
    return kind_of(path) == FILE_RUNS ? path : NULL;
}

static const char *path_list(struct shell *sh)
{
    const char *list = "";
    for (char **folder = path_folders(sh); *folder; folder++)
        list = arena_concat(sh->arena, list, *list ? ":" : "", *folder);
    return list;
}

/* For a script, argv[0] is its interpreter, which reads the script even if the script is not
 * executable. */
static void become(struct shell *sh, const char *path, enum file_kind kind, char **argv)
{
    char **env = variables_environment(&sh->variables, path_list(sh));
    char line[256] = "";
    if (kind == FILE_RUNS)
        execve(path, argv, env);
    int fd = kind == FILE_SCRIPT ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0 && read(fd, line, sizeof line - 1) > 2) {
        line[strcspn(line, "\r\n")] = '\0';
        const char *rest;
        char *program = words_first(sh->arena, line + 2, &rest);
        while (*rest == ' ' || *rest == '\t')
            rest++;
        size_t n = 0;
        while (argv[n])
            n++;
        char **with = arena_alloc(sh->arena, (n + 3) * sizeof *with);
        size_t k = 0;
        with[k++] = program;
        if (*rest)
            with[k++] = arena_strdup(sh->arena, rest);
        with[k++] = arena_strdup(sh->arena, path);
        memcpy(with + k, argv + 1, n * sizeof *with); /* including the NULL at its end */
        execve(program, with, env);
    }
    complain("%s: %s", path, strerror(errno));
    _exit(126);
}

static int start(struct shell *sh, const char *path, enum file_kind kind, const char *name,
                 const char *rest)
{
    char **words = words_split(sh->arena, rest);
    char **argv = arena_alloc(sh->arena, (WINDOWS_WORDS + 2) * sizeof *argv);
    argv[0] = arena_strdup(sh->arena, name);
    for (size_t i = 0; words[i]; i++)
        argv[i + 1] = path_argument(sh, words[i]);
    fflush(stdout);
    fflush(stderr);
    pid_t pid = fork();
    if (pid == 0)
        become(sh, path, kind, argv);
    return pid < 0 ? complain("Not enough memory resources are available.") : wait_for(pid);
}

/* Starts another cmd in a separate process, with its own folder and variables. */
static int start_cmd(struct shell *sh, const char *rest)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        int code = ++sh->depth > WINDOWS_DEPTH
                       ? complain("Too many command processors in one another.")
                       : sh->ways->run_line(sh, arena_concat(sh->arena, "cmd ", rest));
        fflush(stdout);
        _exit(code != 0 && (code & 0xff) == 0 ? 255 : code & 0xff);
    }
    return pid < 0 ? complain("Not enough memory resources are available.") : wait_for(pid);
}

static int no_program(const char *name, enum file_kind kind)
{
    if (kind == FILE_WINDOWS)
        complain("%s is a program for Windows, which this Linux node cannot run.", name);
    else if (kind == FILE_OTHER)
        complain("%s is not executable.", name);
    else
        complain("'%s' is not recognized as an internal or external command,\n"
                 "operable program or batch file.",
                 name);
    return kind == FILE_NONE ? CODE_UNKNOWN : CODE_NO_PROGRAM;
}

int run_program(struct shell *sh, const char *name, const char *rest)
{
    char *path = NULL, *slashed = arena_strdup(sh->arena, name);
    for (char *p = slashed; *p; p++)
        if (*p == '\\')
            *p = '/';
    char *base = base_name(sh->arena, slashed), *site = of_the_site(sh, base);
    if (site)
        return start(sh, site, FILE_RUNS, name, rest);
    if (strcmp(base, "cmd") == 0)
        return start_cmd(sh, rest);
    builtin_fn stub = stub_named(base);
    enum file_kind kind = find(sh, name, &path);
    if (stub && strcmp(base, "ping") == 0)
        return stub(sh, rest);
    if (kind == FILE_RUNS || kind == FILE_SCRIPT)
        return start(sh, path, kind, name, rest);
    if (kind == FILE_BATCH)
        return run_batch(sh, path, rest);
    return stub ? stub(sh, rest) : no_program(name, kind);
}
