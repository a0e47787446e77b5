/* SPDX-License-Identifier: MIT
 *
 * Runs git to find the files that its rules take. In a checkout these are the tracked files, and
 * new files that are not ignored. Elsewhere git runs with an empty repository, which is
 * removed afterwards, and lists the files that no .gitignore matches. The files .batchaidignore
 * have rules like .gitignore, each for its folder and the folders below; these rules apply to
 * tracked files, too. If git is not installed, a folder without ignore files is taken as a whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/cli/folder.h"
#include "daemon/cli/interrupt.h"
#include "lib/fs.h"
#include "lib/strbuf.h"

#define IGNORE    ".batchaidignore"
#define BY_IGNORE "--exclude-per-directory=.batchaidignore"
#define SHOWN     300 /* the most bytes of git's message in an error */
#define ARGS_MAX  16

struct git {
    const char *dir;
    /* an empty repository that this file has made; NULL: `dir` is in a checkout */
    char *repository;
    /* there is an IGNORE file in the folder, or in a folder above it in its checkout */
    bool has_ignore;
};

/* --- running git ------------------------------------------------------------------------------ */

static void become_git(const struct git *g, char *const *args, int out, int complaints)
{
    dup2(out, STDOUT_FILENO);
    dup2(complaints, STDERR_FILENO);
    if (chdir(g->dir) < 0)
        _exit(126);
    unsetenv("GIT_INDEX_FILE"); /* in a hook, git has set these variables */
    unsetenv("GIT_DIR");
    unsetenv("GIT_WORK_TREE");
    if (g->repository) {
        setenv("GIT_DIR", g->repository, 1);
        setenv("GIT_WORK_TREE", ".", 1);
    }
    setenv("LC_ALL", "C", 1);
    setenv("GIT_OPTIONAL_LOCKS", "0", 1);
    execvp("git", args);
    _exit(127);
}

static void read_all(int fd, struct strbuf *out)
{
    ssize_t n;
    do {
        n = read(fd, strbuf_room(out, BUFSIZ), BUFSIZ);
        out->len += n > 0 ? (size_t)n : 0;
    } while (n > 0 || (n < 0 && errno == EINTR));
}

/* Sets the error if git failed. git wrote its messages to a deleted file, so that it never waits
 * for a reader. */
static int judge(const struct git *g, int status, int complaints, struct err *e)
{
    char text[SHOWN + 1] = "";
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return err_set(e, ERR_CONFIG, NULL,
                       "%.200s has rules for ignored files, and the program git, which knows them, "
                       "is not here; install it (apt-get install git), or copy nothing (--no-copy)",
                       g->dir);
    if (pread(complaints, text, SHOWN, 0) < 0)
        *text = '\0';
    text[strcspn(text, "\n")] = '\0';
    return err_set(e, ERR_CONFIG, NULL, "git cannot list the files of %.200s: %s", g->dir,
                   *text ? text : "it gave no reason");
}

/* Runs `git ARGS`, and appends its output. */
static int run_git(const struct git *g, const char *const *args, struct strbuf *out, struct err *e)
{
    char *line[ARGS_MAX + 1] = {"git"};
    int ends[2], status = 0;
    for (int i = 0; i + 1 < ARGS_MAX && args[i]; i++)
        line[i + 1] = (char *)args[i];
    FILE *complaints = tmpfile();
    if (!complaints || pipe2(ends, O_CLOEXEC) < 0) {
        if (complaints)
            fclose(complaints);
        return err_errno(e, ERR_IO, "git cannot be started");
    }
    pid_t pid = fork();
    if (pid == 0)
        become_git(g, line, ends[1], fileno(complaints));
    close(ends[1]);
    if (pid > 0)
        read_all(ends[0], out);
    close(ends[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    int rc = pid < 0 ? err_errno(e, ERR_IO, "git cannot be started")
                     : judge(g, status, fileno(complaints), e);
    fclose(complaints);
    return rc;
}

/* --- the folder ------------------------------------------------------------------------------- */

static bool is_there(const char *dir, const char *name)
{
    char *path = fs_join(dir, name);
    bool is = access(path, F_OK) == 0;
    free(path);
    return is;
}

/* Whether the folder, or a folder above it, is a checkout. *ignores: whether one of these folders
 * contains an IGNORE file. */
static bool in_checkout(const char *dir, bool *ignores)
{
    char *at = realpath(dir, NULL);
    bool is = false;
    *ignores = false;
    while (at && !is) {
        is = is_there(at, ".git");
        *ignores = *ignores || is_there(at, IGNORE);
        char *slash = strrchr(at, '/');
        if (!slash || !at[1])
            break;
        slash[slash == at ? 1 : 0] = '\0';
    }
    free(at);
    return is;
}

/* Makes an empty repository, with which git reads the ignore rules of a folder that is not in a
 * checkout. */
static int make_repository(struct git *g, struct err *e)
{
    const char *place = getenv("TMPDIR");
    struct strbuf path = STRBUF_INIT;
    strbuf_concat(&path, place && *place ? place : "/tmp", "/batchaid-git-XXXXXX");
    if (!mkdtemp(path.s)) {
        err_errno(e, ERR_IO, "cannot make a folder at %.200s", path.s);
        strbuf_free(&path);
        return -1;
    }
    g->repository = strbuf_take(&path);
    struct strbuf out = STRBUF_INIT;
    const char *const init[] = {"init", "-q", "--template=", NULL};
    int rc = run_git(g, init, &out, e);
    strbuf_free(&out);
    return rc;
}

/* --- names ------------------------------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void split(struct strbuf *text, struct folder_names *out)
{
    size_t cap = 0;
    size_t len = text->len;
    *out = (struct folder_names){.text = strbuf_take(text)};
    for (const char *at = out->text; at < out->text + len; at += strlen(at) + 1) {
        if (out->n == cap) {
            cap = cap ? 2 * cap : 64;
            out->items = xrealloc(out->items, cap * sizeof *out->items);
        }
        out->items[out->n++] = at;
    }
    if (out->n)
        qsort(out->items, out->n, sizeof *out->items, compare);
}

static bool is_ignore(const char *name)
{
    size_t n = strlen(name), own = strlen(IGNORE);
    return n >= own && strcmp(name + n - own, IGNORE) == 0 &&
           (n == own || name[n - own - 1] == '/');
}

/* Whether an IGNORE file may match some name. */
static bool has_rules(const struct git *g, const struct folder_names *names)
{
    bool has = g->has_ignore;
    for (size_t i = 0; i < names->n && !has; i++)
        has = is_ignore(names->items[i]);
    return has;
}

/* Removes the names that IGNORE files match, even those of tracked files. */
static int leave_out(const struct git *g, struct folder_names *names, struct err *e)
{
    static const char *const ignored[] = {"ls-files", "-z", "--cached", "--others", "--ignored",
                                          BY_IGNORE,  "--", ".",        NULL};
    struct strbuf text = STRBUF_INIT;
    struct folder_names gone = {.n = 0};
    if (!has_rules(g, names))
        return 0;
    if (run_git(g, ignored, &text, e) < 0) {
        strbuf_free(&text);
        return -1;
    }
    split(&text, &gone);
    size_t kept = 0;
    for (size_t i = 0; i < names->n; i++)
        if (!folder_names_have(&gone, names->items[i]))
            names->items[kept++] = names->items[i];
    names->n = kept;
    folder_names_free(&gone);
    return 0;
}

static int ask(const struct git *g, struct folder_names *out, struct err *e)
{
    const char *taken[ARGS_MAX] = {"ls-files", "-z", "--others", "--exclude-standard"};
    struct strbuf text = STRBUF_INIT;
    if (!g->repository)
        taken[4] = "--cached";
    if (run_git(g, taken, &text, e) < 0) {
        strbuf_free(&text);
        return -1;
    }
    split(&text, out);
    return leave_out(g, out, e);
}

static bool has_git(void)
{
    const char *path = getenv("PATH");
    char *places = xstrdup(path ? path : ""), *rest = NULL;
    bool has = false;
    for (char *dir = strtok_r(places, ":", &rest); dir && !has; dir = strtok_r(NULL, ":", &rest))
        has = is_there(dir, "git");
    free(places);
    return has;
}

int folder_names_read(const char *dir, struct folder_names *out, struct err *e)
{
    struct git g = {.dir = dir};
    struct err ignored;
    *out = (struct folder_names){.all = true};
    bool above = false, checkout = in_checkout(dir, &above);
    g.has_ignore = is_there(dir, IGNORE) || (checkout && above);
    if (!checkout && !g.has_ignore && !is_there(dir, ".gitignore") && !has_git())
        return 0;
    interrupt_catch();
    int rc = checkout ? 0 : make_repository(&g, e);
    if (rc == 0)
        rc = ask(&g, out, e);
    if (g.repository && fs_remove_tree(g.repository, &ignored) < 0 && rc == 0)
        rc = err_set(e, ERR_IO, NULL, "%.900s", ignored.msg);
    interrupt_release();
    free(g.repository);
    return rc;
}

/* The index of the first name that does not sort before `path`. */
static size_t place_of(const struct folder_names *names, const char *path)
{
    size_t low = 0, high = names->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(names->items[middle], path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool folder_names_have(const struct folder_names *names, const char *path)
{
    size_t at = place_of(names, path);
    return names->all || (at < names->n && strcmp(names->items[at], path) == 0);
}

bool folder_names_below(const struct folder_names *names, const char *path)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_concat(&b, path, "/");
    size_t at = place_of(names, b.s);
    bool is = names->all || (at < names->n && strncmp(names->items[at], b.s, b.len) == 0);
    strbuf_free(&b);
    return is;
}

void folder_names_free(struct folder_names *names)
{
    free(names->items);
    free(names->text);
    *names = (struct folder_names){.n = 0};
}
