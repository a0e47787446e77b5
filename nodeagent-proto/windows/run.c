/* SPDX-License-Identifier: MIT
 *
 * Executes trees: the order of commands, and the files of their input and output.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent-proto/windows/windows.h"
#include "nodeagent-proto/windows/windows_priv.h"

static int run(struct shell *sh, const struct cmd_node *n);

/* --- redirections --- */

enum { SAVED = 10 }; /* replaced descriptors are saved from this number on */

struct kept_stream {
    int fd, copy; /* -1: it was not open */
};

static int open_target(struct shell *sh, const struct redirection *r)
{
    char *target = expand_late(sh, r->target);
    const char *path = target ? path_of(sh, unquote(sh->arena, target)) : NULL;
    int flags =
        r->how == '<' ? O_RDONLY : O_WRONLY | O_CREAT | (r->how == 'a' ? O_APPEND : O_TRUNC);
    if (!path)
        return -1;
    int fd = open(path, flags | O_CLOEXEC, 0666);
    if (fd >= 0)
        return fd;
    complain("%s", errno == ENOENT   ? "The system cannot find the file specified."
                   : errno == EISDIR ? "Access is denied."
                                     : strerror(errno));
    return -1;
}

static int redirect(struct shell *sh, const struct redirection *r, struct kept_stream *kept)
{
    fflush(stdout);
    int from = r->how == '&' ? r->from : open_target(sh, r);
    if (from < 0)
        return -1;
    kept->fd = r->fd;
    kept->copy = fcntl(r->fd, F_DUPFD_CLOEXEC, SAVED);
    int rc = dup2(from, r->fd);
    if (r->how != '&')
        close(from);
    return rc < 0 ? complain("The handle could not be duplicated.") * -1 : 0;
}

static void restore(const struct kept_stream *kept)
{
    fflush(stdout);
    fflush(stderr);
    if (kept->copy < 0) {
        close(kept->fd);
        return;
    }
    dup2(kept->copy, kept->fd);
    close(kept->copy);
}

/* --- commands --- */

/* The name of a command ends at a delimiter, or before a character that cannot be in a name:
 * `echo.`, `cd\`. */
static char *command_name(struct shell *sh, const char *text, const char **rest)
{
    char *word = words_first(sh->arena, text, rest);
    size_t n = strcspn(text, " \t\r\n\"./\\(:;,=+[]");
    char *short_name = arena_strndup(sh->arena, text, n);
    if (*text == '"' || (!builtin_named(short_name) && !builtin_file_named(short_name)))
        return word;
    *rest = text + n;
    return short_name;
}

static int run_command(struct shell *sh, const char *text)
{
    char *late = expand_late(sh, text);
    const char *rest;
    if (!late)
        return complain("The input line is too long.");
    while (*late == ' ' || *late == '\t')
        late++;
    char *name = command_name(sh, late, &rest);
    if (!*name)
        return 0;
    /* Commands about files set ERRORLEVEL always, as programs do; the other builtins only if they
     * fail. */
    builtin_fn builtin = builtin_named(name);
    builtin_fn with_files = builtin ? NULL : builtin_file_named(name);
    int code = builtin      ? builtin(sh, rest)
               : with_files ? with_files(sh, rest)
                            : run_program(sh, name, rest);
    if (!builtin || code != 0)
        sh->level = code;
    return code;
}

/* --- conditions --- */

static bool as_number(const char *text, long *out)
{
    char *end;
    *out = strtol(text, &end, 0);
    return *text && !*end;
}

/* Compares as numbers if both are numbers, otherwise as texts. */
static int compare(const struct cmd_node *n, const char *a, const char *b)
{
    long x, y;
    if (as_number(a, &x) && as_number(b, &y))
        return (x > y) - (x < y);
    return n->no_case ? same_name(a, b) : strcmp(a, b);
}

static int compare_by(const struct cmd_node *n, const char *a, const char *b, bool *holds)
{
    static const struct {
        const char *word;
        bool less, equal, greater;
    } words[] = {{"EQU", false, true, false}, {"NEQ", true, false, true},
                 {"LSS", true, false, false}, {"LEQ", true, true, false},
                 {"GTR", false, false, true}, {"GEQ", false, true, true}};
    int order = compare(n, a, b);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (same_name(n->op, words[i].word) == 0) {
            *holds = order < 0 ? words[i].less : order == 0 ? words[i].equal : words[i].greater;
            return 0;
        }
    return complain("%s was unexpected at this time.", n->op);
}

static bool exists(struct shell *sh, const char *windows)
{
    char **found = path_glob(sh, unquote(sh->arena, windows));
    return found && found[0] && access(found[0], F_OK) == 0;
}

static int condition_holds(struct shell *sh, const struct cmd_node *n, bool *holds)
{
    const char *a = expand_late(sh, n->a), *b = n->b ? expand_late(sh, n->b) : "";
    if (!a || !b)
        return complain("The input line is too long.");
    switch (n->condition) {
    case IF_EQUAL:
        *holds = (n->no_case ? same_name(a, b) : strcmp(a, b)) == 0;
        return 0;
    case IF_EXIST:
        *holds = exists(sh, a);
        return 0;
    case IF_DEFINED:
        *holds = shell_value(sh, a) != NULL;
        return 0;
    case IF_ERRORLEVEL:
        *holds = sh->level >= strtol(a, NULL, 10);
        return 0;
    case IF_COMPARE:
        break;
    }
    return compare_by(n, a, b, holds);
}

static int run_if(struct shell *sh, const struct cmd_node *n)
{
    bool holds = false;
    if (condition_holds(sh, n, &holds) != 0)
        return 1;
    if (holds != n->negated)
        return run(sh, n->left);
    return n->right ? run(sh, n->right) : 0;
}

/* --- loops --- */

static int run_once(struct shell *sh, const struct cmd_node *n, const char *value)
{
    struct loop_variable v = {n->letter, value, sh->loops};
    struct arena turn, *outer = sh->arena;
    arena_init(&turn);
    sh->loops = &v;
    sh->arena = &turn;
    int code = run(sh, n->left);
    sh->arena = outer;
    sh->loops = v.outer;
    arena_free(&turn);
    return code;
}

/* (START,STEP,END). A step of 0 would never end, as in cmd, so it is refused. */
static int run_count(struct shell *sh, const struct cmd_node *n, const char *set)
{
    long number[3] = {0};
    int code = 0;
    const char *p = set;
    for (int i = 0; i < 3; i++) {
        char *end;
        number[i] = strtol(p, &end, 10);
        p = end + strspn(end, ", \t");
    }
    if (number[1] == 0)
        return complain("The step of for /l is 0.");
    for (long i = number[0]; !sh->leaving && (number[1] > 0 ? i <= number[2] : i >= number[2]);) {
        char value[24];
        snprintf(value, sizeof value, "%ld", i);
        code = run_once(sh, n, value);
        if (__builtin_add_overflow(i, number[1], &i))
            break;
    }
    return code;
}

static int run_for(struct shell *sh, const struct cmd_node *n)
{
    char *set = expand_late(sh, n->text);
    int code = 0;
    if (!set)
        return complain("The input line is too long.");
    if (n->option == 'l')
        return run_count(sh, n, set);
    for (char *p = set; *p; p++)
        if (*p == ',' || *p == ';' || *p == '=')
            *p = ' ';
    char **words = words_split(sh->arena, set);
    for (size_t i = 0; words[i]; i++) {
        char *none[] = {words[i], NULL};
        char **files = strpbrk(words[i], "*?") ? path_glob(sh, words[i]) : none;
        for (size_t k = 0; files && files[k] && !sh->leaving; k++)
            if (files == none || is_directory(files[k]) == (n->option == 'd'))
                code = run_once(sh, n, files[k]);
    }
    return code;
}

/* --- pipes --- */

/* A forked copy of the shell runs one side of a pipe; changes of its variables are lost, as in
 * cmd. */
static pid_t start_side(struct shell *sh, const struct cmd_node *n, int replace,
                        const int pipe_fds[2])
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    dup2(pipe_fds[replace == STDOUT_FILENO], replace);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    int code = run(sh, n);
    fflush(stdout);
    _exit(code & 0xff);
}

static int run_pipe(struct shell *sh, const struct cmd_node *n)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0)
        return complain("The process tried to write to a nonexistent pipe.");
    pid_t left = start_side(sh, n->left, STDOUT_FILENO, fds);
    pid_t right = start_side(sh, n->right, STDIN_FILENO, fds);
    close(fds[0]);
    close(fds[1]);
    if (left > 0)
        (void)wait_for(left);
    return right > 0 && left > 0 ? wait_for(right) : 1;
}

/* --- trees --- */

static int run_kind(struct shell *sh, const struct cmd_node *n)
{
    int code;
    switch (n->kind) {
    case NODE_COMMAND:
        return run_command(sh, n->text);
    case NODE_BLOCK:
        return run(sh, n->left);
    case NODE_SEQUENCE:
        code = run(sh, n->left);
        return sh->leaving ? code : run(sh, n->right);
    case NODE_AND:
        code = run(sh, n->left);
        return sh->leaving || code != 0 ? code : run(sh, n->right);
    case NODE_OR:
        code = run(sh, n->left);
        return sh->leaving || code == 0 ? code : run(sh, n->right);
    case NODE_PIPE:
        return run_pipe(sh, n);
    case NODE_IF:
        return run_if(sh, n);
    case NODE_FOR:
        return run_for(sh, n);
    }
    return 1;
}

static int run(struct shell *sh, const struct cmd_node *n)
{
    size_t count = 0, done = 0;
    int code = 1;
    for (const struct redirection *r = n->redirections; r; r = r->next)
        count++;
    struct kept_stream *kept = arena_alloc(sh->arena, (count + 1) * sizeof *kept);
    const struct redirection *r = n->redirections;
    while (r && redirect(sh, r, &kept[done]) == 0) {
        done++;
        r = r->next;
    }
    if (!r)
        code = run_kind(sh, n);
    while (done > 0)
        restore(&kept[--done]);
    return code;
}

static int run_text(struct shell *sh, const char *text)
{
    const struct cmd_node *n;
    const char *why;
    char *line = sh->depth < WINDOWS_DEPTH ? expand(sh, text) : NULL;
    if (!line)
        return complain("The input line is too long.");
    sh->depth++;
    int code = parse(sh->arena, line, &n, &why) < 0 ? complain("%s", why) : n ? run(sh, n) : 0;
    sh->depth--;
    return code;
}

static int run_line(struct shell *sh, const char *line)
{
    struct cmd_line cmd;
    const char *rest;
    if (!cmd_line_read(sh->arena, line, &cmd)) {
        char *name = words_first(sh->arena, line, &rest);
        return run_program(sh, name, rest);
    }
    if (!cmd.command)
        return complain("cmd without /c has nobody to ask for commands here.");
    struct shell inner = *sh;
    inner.delayed |= cmd.delayed;
    inner.loops = NULL;
    inner.line = line;
    int code = run_text(&inner, cmd.command);
    return inner.leaving ? inner.level : code;
}

int windows_run(const char *line)
{
    struct arena arena;
    arena_init(&arena);
    static const struct shell_ways ways = {run_text, run_line};
    struct shell sh = {.ways = &ways, .arena = &arena, .line = line};
    variables_init(&sh.variables, &arena, environ);
    int code = strlen(line) > WINDOWS_LONGEST ? complain("The command line is too long.")
                                              : run_line(&sh, line);
    fflush(stdout);
    arena_free(&arena);
    return code != 0 && (code & 0xff) == 0 ? 255 : code & 0xff;
}
