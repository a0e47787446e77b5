/* SPDX-License-Identifier: MIT
 *
 * Commands inside cmd about files: copy, move, del, ren, mkdir, rmdir, type, dir, xcopy.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/fs.h"
#include "nodeagent-proto/windows/windows_priv.h"

/* The switches (/y) of a command in lower case, and its other words unchanged. */
struct operands {
    char **words; /* NULL-terminated */
    size_t count;
    const char *switches;
};

static bool is_switch(const char *word)
{
    return word[0] == '/' && isalpha((unsigned char)word[1]) && !strpbrk(word + 1, "/\\.");
}

static struct operands read_operands(struct shell *sh, const char *rest)
{
    struct operands o = {.words = words_split(sh->arena, rest), .switches = ""};
    for (size_t i = 0; o.words[i]; i++)
        if (is_switch(o.words[i]) && access(o.words[i], F_OK) < 0)
            o.switches =
                arena_concat(sh->arena, o.switches, arena_lower(sh->arena, o.words[i]), " ");
        else
            o.words[o.count++] = o.words[i];
    o.words[o.count] = NULL;
    return o;
}

static bool given(const struct operands *o, const char *name)
{
    const char *at = strstr(o->switches, name);
    return at && !isalpha((unsigned char)at[strlen(name)]);
}

static int syntax(void)
{
    return complain("The syntax of the command is incorrect.");
}

static int not_found(void)
{
    return complain("The system cannot find the file specified.");
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The target path of a file: if `to` is a folder, the file's own name in that folder; otherwise
 * `to` itself. */
static const char *destination(struct shell *sh, const char *from, const char *to)
{
    size_t n = strlen(to);
    if (!is_directory(to))
        return to;
    return arena_concat(sh->arena, to, n > 0 && to[n - 1] == '/' ? "" : "/", last_part(from));
}

static int copy_bytes(int from, int to)
{
    enum { PIECE = 65536 };
    char *piece = xcalloc(1, PIECE);
    ssize_t n;
    int rc = 0;
    while (rc == 0 && (n = read(from, piece, PIECE)) != 0)
        if (n < 0)
            rc = errno == EINTR ? 0 : -1;
        else
            rc = fs_write_all(to, piece, (size_t)n);
    free(piece);
    return rc;
}

static int copy_file(const char *from, const char *to, bool append)
{
    struct stat st, there;
    int in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0)
        return not_found();
    bool same = fstat(in, &st) == 0 && stat(to, &there) == 0 && st.st_dev == there.st_dev &&
                st.st_ino == there.st_ino && S_ISREG(st.st_mode);
    int out = same ? -1
                   : open(to, O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC),
                          st.st_mode & 0777);
    int rc = out < 0 ? -1 : copy_bytes(in, out);
    if (out >= 0 && close(out) < 0)
        rc = -1;
    close(in);
    if (same)
        return complain("The file cannot be copied onto itself.");
    return rc == 0 ? 0 : complain("The system cannot find the path specified.");
}

/* All files of a folder, or the files that match a pattern. */
static char **sources(struct shell *sh, const char *windows)
{
    char **found = path_glob(sh, windows);
    if (found && found[0] && !found[1] && is_directory(found[0]))
        return path_glob(sh, arena_concat(sh->arena, found[0], "/*"));
    return found;
}

static int copy_group(struct shell *sh, char **from, const char *to, bool joined, size_t *done)
{
    for (size_t i = 0; from[i]; i++) {
        if (is_directory(from[i]))
            continue;
        const char *target = joined ? to : destination(sh, from[i], to);
        if (copy_file(from[i], target, joined && *done > 0) != 0)
            return 1;
        ++*done;
    }
    return 0;
}

/* copy [/y] A[+B] [TO] */
static int copy(struct shell *sh, const char *rest)
{
    struct operands o = read_operands(sh, rest);
    size_t done = 0;
    if (o.count < 1 || o.count > 2)
        return syntax();
    const char *to = o.count == 2 ? path_of(sh, o.words[1]) : ".";
    if (!to)
        return 1;
    bool joined = strchr(o.words[0], '+') && access(o.words[0], F_OK) < 0;
    char *save = NULL;
    for (char *one = strtok_r(o.words[0], joined ? "+" : "", &save); one;
         one = strtok_r(NULL, "+", &save)) {
        char **from = sources(sh, one);
        if (!from || !from[0])
            return not_found();
        if (copy_group(sh, from, to, joined, &done) != 0)
            return 1;
    }
    printf("        %zu file(s) copied.\n", joined ? 1 : done);
    return done > 0 ? 0 : 1;
}

static int copy_tree(struct shell *sh, const char *from, const char *to, int depth, bool folders,
                     size_t *done)
{
    struct err e;
    if (depth > WINDOWS_DEPTH || fs_mkdirs(to, 0777, &e) < 0)
        return complain("Unable to create directory - %s", to);
    char **all = path_glob(sh, arena_concat(sh->arena, from, "/*"));
    int code = 0;
    for (size_t i = 0; all && all[i] && code == 0; i++) {
        const char *target = arena_concat(sh->arena, to, "/", last_part(all[i]));
        struct stat st;
        if (lstat(all[i], &st) < 0)
            continue;
        if (S_ISDIR(st.st_mode)) {
            code = folders ? copy_tree(sh, all[i], target, depth + 1, folders, done) : 0;
        } else if (S_ISREG(st.st_mode)) {
            code = copy_file(all[i], target, false);
            *done += code == 0;
        }
    }
    return code;
}

/* xcopy [/s] [/e] [/y] [/i] FROM [TO] */
static int xcopy(struct shell *sh, const char *rest)
{
    struct operands o = read_operands(sh, rest);
    size_t done = 0;
    int code = 0;
    if (o.count < 1 || o.count > 2)
        return syntax();
    const char *to = o.count == 2 ? path_of(sh, o.words[1]) : ".";
    char **from = path_glob(sh, o.words[0]);
    if (!to || !from)
        return 4;
    for (size_t i = 0; from[i] && code == 0; i++) {
        if (is_directory(from[i])) {
            const char *target = from[1] ? destination(sh, from[i], to) : to;
            code = copy_tree(sh, from[i], target, 0, given(&o, "/s") || given(&o, "/e"), &done);
        } else {
            code = copy_file(from[i], destination(sh, from[i], to), false);
            done += code == 0;
        }
    }
    printf("%zu File(s) copied\n", done);
    return code == 0 && done == 0 && !from[0] ? 4 : code;
}

static int move_one(struct shell *sh, const char *from, const char *to)
{
    const char *target = destination(sh, from, to);
    struct err e;
    size_t done = 0;
    if (rename(from, target) == 0)
        return 0;
    if (errno != EXDEV)
        return complain(errno == ENOENT ? "The system cannot find the file specified."
                                        : "Access is denied.");
    int code = is_directory(from) ? copy_tree(sh, from, target, 0, true, &done)
                                  : copy_file(from, target, false);
    if (code == 0 && fs_remove_tree(from, &e) < 0)
        return complain("Access is denied.");
    return code;
}

/* move [/y] FROM TO */
static int move(struct shell *sh, const char *rest)
{
    struct operands o = read_operands(sh, rest);
    size_t done = 0;
    if (o.count != 2)
        return syntax();
    const char *to = path_of(sh, o.words[1]);
    char **from = path_glob(sh, o.words[0]);
    if (!to || !from)
        return 1;
    if (!from[0])
        return not_found();
    for (; from[done]; done++)
        if (move_one(sh, from[done], to) != 0)
            return 1;
    printf("        %zu %s(s) moved.\n", done, done == 1 && is_directory(to) ? "dir" : "file");
    return 0;
}

/* ren FROM NAME: renames a file within its folder. */
static int ren(struct shell *sh, const char *rest)
{
    struct operands o = read_operands(sh, rest);
    if (o.count != 2 || strpbrk(o.words[1], "/\\*?"))
        return syntax();
    const char *from = path_of(sh, o.words[0]);
    if (!from)
        return 1;
    const char *to = arena_concat(
        sh->arena, arena_strndup(sh->arena, from, (size_t)(last_part(from) - from)), o.words[1]);
    if (access(to, F_OK) == 0)
        return complain("A duplicate file name exists, or the file cannot be found.");
    return rename(from, to) == 0 ? 0 : not_found();
}

/* del [/q] [/f] FILE...: for a folder, deletes the files in it. A missing file is reported, but is
 * not a failure. */
static int del(struct shell *sh, const char *rest)
{
    struct operands o = read_operands(sh, rest);
    int code = o.count > 0 ? 0 : syntax();
    for (size_t i = 0; i < o.count; i++) {
        char **found = sources(sh, o.words[i]);
        if (!found)
            return 1;
        if (!found[0] || access(found[0], F_OK) < 0)
            complain("Could Not Find %s", o.words[i]);
        for (size_t k = 0; found[k]; k++)
            if (!is_directory(found[k]) && unlink(found[k]) < 0 && errno != ENOENT)
                code = complain("%s\nAccess is denied.", found[k]);
    }
    return code;
}

/* mkdir FOLDER...: also makes missing parents. */
static int make_folder(struct shell *sh, const char *rest)
{
    struct operands o = read_operands(sh, rest);
    int code = o.count > 0 ? 0 : syntax();
    for (size_t i = 0; i < o.count; i++) {
        struct err e;
        const char *path = path_of(sh, o.words[i]);
        if (!path)
            code = 1;
        else if (access(path, F_OK) == 0)
            code = complain("A subdirectory or file %s already exists.", o.words[i]);
        else if (fs_mkdirs(path, 0777, &e) < 0)
            code = complain("Access is denied.");
    }
    return code;
}

/* rmdir [/s] [/q] FOLDER... */
static int remove_folder(struct shell *sh, const char *rest)
{
    struct operands o = read_operands(sh, rest);
    int code = o.count > 0 ? 0 : syntax();
    for (size_t i = 0; i < o.count; i++) {
        struct err e;
        const char *path = path_of(sh, o.words[i]);
        if (!path)
            code = 1;
        else if (!is_directory(path))
            code = not_found();
        else if (given(&o, "/s") ? fs_remove_tree(path, &e) < 0 : rmdir(path) < 0)
            code =
                complain(errno == ENOTEMPTY ? "The directory is not empty." : "Access is denied.");
    }
    return code;
}

/* type FILE... */
static int type(struct shell *sh, const char *rest)
{
    struct operands o = read_operands(sh, rest);
    int code = o.count > 0 ? 0 : syntax();
    fflush(stdout);
    for (size_t i = 0; i < o.count; i++) {
        char **found = path_glob(sh, o.words[i]);
        if (!found)
            return 1;
        if (!found[0])
            code = not_found();
        for (size_t k = 0; found[k]; k++) {
            int fd = open(found[k], O_RDONLY | O_CLOEXEC);
            if (fd < 0 || copy_bytes(fd, STDOUT_FILENO) < 0)
                code = fd < 0 ? not_found() : complain("Access is denied.");
            if (fd >= 0)
                close(fd);
        }
    }
    return code;
}

static void show_entry(const char *path)
{
    struct stat st;
    struct tm tm;
    char when[32], size[32];
    if (stat(path, &st) < 0)
        return;
    localtime_r(&st.st_mtime, &tm);
    strftime(when, sizeof when, "%m/%d/%Y  %I:%M %p", &tm);
    snprintf(size, sizeof size, "%18lld", (long long)st.st_size);
    printf("%s %s %s\n", when, S_ISDIR(st.st_mode) ? "   <DIR>         " : size, last_part(path));
}

static void show_folder(struct shell *sh, const struct operands *o, char **found, int depth)
{
    bool bare = given(o, "/b"), below = given(o, "/s");
    for (size_t i = 0; found && found[i]; i++) {
        if (!bare)
            show_entry(found[i]);
        else
            puts(below ? found[i] : last_part(found[i]));
    }
    for (size_t i = 0; below && depth < WINDOWS_DEPTH && found && found[i]; i++)
        if (is_directory(found[i]))
            show_folder(sh, o, path_glob(sh, arena_concat(sh->arena, found[i], "/*")), depth + 1);
}

/* dir [/b] [/s] [WHAT] */
static int dir(struct shell *sh, const char *rest)
{
    struct operands o = read_operands(sh, rest);
    const char *what = o.count > 0 ? o.words[0] : ".";
    char **found = path_glob(sh, what);
    if (!found)
        return 1;
    if (!found[0] || access(found[0], F_OK) < 0)
        return complain("File Not Found");
    if (!given(&o, "/b"))
        printf(" Directory of %s\n\n", what);
    if (!found[1] && is_directory(found[0]))
        found = path_glob(sh, arena_concat(sh->arena, found[0], "/*"));
    show_folder(sh, &o, found, 0);
    return 0;
}

builtin_fn builtin_file_named(const char *name)
{
    static const struct {
        const char *name;
        builtin_fn run;
    } all[] = {
        {"copy", copy},        {"xcopy", xcopy},
        {"move", move},        {"ren", ren},
        {"rename", ren},       {"del", del},
        {"erase", del},        {"mkdir", make_folder},
        {"md", make_folder},   {"rmdir", remove_folder},
        {"rd", remove_folder}, {"type", type},
        {"dir", dir},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (same_name(name, all[i].name) == 0)
            return all[i].run;
    return NULL;
}
