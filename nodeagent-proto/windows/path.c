/* SPDX-License-Identifier: MIT
 *
 * Converts paths of Windows to paths of Linux: slashes, devices, the root of nodes, and names in
 * another case, which are looked up on disk. Finds the files that a pattern matches. Results are in
 * the shell's arena.
 */
#include <ctype.h>
#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent-proto/windows/windows_priv.h"

/* The node root directory of Azure Batch's Windows nodes. */
static const char windows_root[] = "D:/batch/tasks";

bool is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool path_is_device(const char *windows, const char **device)
{
    bool nul = same_name(windows, "nul") == 0;
    *device = nul ? "/dev/null" : "/dev/stdout";
    return nul || same_name(windows, "con") == 0;
}

/* The path with forward slashes; repeated slashes become one slash. */
static char *with_slashes(struct arena *a, const char *windows)
{
    char *out = arena_alloc(a, strlen(windows) + 1), *to = out;
    if (strncmp(windows, "\\\\?\\", 4) == 0)
        windows += 4;
    for (; *windows; windows++) {
        char c = *windows == '\\' ? '/' : *windows;
        if (c != '/' || to == out || to[-1] != '/')
            *to++ = c;
    }
    return out;
}

/* D:/batch/tasks/x -> ROOT/x; NULL: the path is elsewhere. */
static char *below_root(struct shell *sh, const char *path)
{
    size_t n = sizeof windows_root - 1;
    const char *root = variables_get(&sh->variables, "AZ_BATCH_NODE_ROOT_DIR");
    if (!root || strncasecmp(path, windows_root, n) != 0 || (path[n] && path[n] != '/'))
        return NULL;
    return arena_concat(sh->arena, root, path + n);
}

static bool has_drive(const char *path)
{
    return isalpha((unsigned char)path[0]) && path[1] == ':';
}

/* The entry of a folder with this name, without regard to case; NULL: none. */
static char *entry_without_case(struct arena *a, const char *folder, const char *name)
{
    DIR *d = opendir(folder);
    char *found = NULL;
    if (!d)
        return NULL;
    for (struct dirent *e; !found && (e = readdir(d));)
        if (same_name(e->d_name, name) == 0)
            found = arena_strdup(a, e->d_name);
    closedir(d);
    return found;
}

/* The path: its existing part in upper and lower case as on disk, the rest unchanged. */
static char *on_disk(struct shell *sh, char *path)
{
    struct stat st;
    if (!*path || lstat(path, &st) == 0)
        return path;
    char *so_far = *path == '/' ? "/" : "";
    for (const char *p = path + (*path == '/'); *p;) {
        size_t n = strcspn(p, "/");
        char *name = arena_strndup(sh->arena, p, n);
        char *next = arena_concat(sh->arena, so_far, name);
        if (lstat(next, &st) < 0) {
            char *other = entry_without_case(sh->arena, *so_far ? so_far : ".", name);
            if (other)
                next = arena_concat(sh->arena, so_far, other);
        }
        p += n;
        so_far = *p == '/' ? arena_concat(sh->arena, next, "/") : next;
        p += *p == '/';
    }
    return so_far;
}

char *path_of(struct shell *sh, const char *windows)
{
    const char *device;
    if (path_is_device(windows, &device))
        return arena_strdup(sh->arena, device);
    char *path = with_slashes(sh->arena, windows), *below = below_root(sh, path);
    if (below)
        return on_disk(sh, below);
    if (has_drive(path)) {
        complain("The system cannot find the drive specified: %.100s", windows);
        return NULL;
    }
    return on_disk(sh, path);
}

/* Whether a text with backslashes is likely a path: absolute, relative to the current folder ("."),
 * or below an existing folder. */
static bool looks_like_path(const char *slashed)
{
    if (*slashed == '/' || *slashed == '.')
        return true;
    size_t n = strcspn(slashed, "/");
    char first[256];
    if (n == 0 || n >= sizeof first)
        return false;
    memcpy(first, slashed, n);
    first[n] = '\0';
    return is_directory(first);
}

char *path_argument(struct shell *sh, const char *text)
{
    const char *equals = strchr(text, '='), *value = equals ? equals + 1 : text;
    char *before = arena_strndup(sh->arena, text, (size_t)(value - text));
    char *path = with_slashes(sh->arena, value), *below = below_root(sh, path);
    if (below)
        return arena_concat(sh->arena, before, on_disk(sh, below));
    if (!strchr(value, '\\') || has_drive(value) || !looks_like_path(path))
        return arena_strdup(sh->arena, text);
    return arena_concat(sh->arena, before, on_disk(sh, path));
}

char **path_folders(struct shell *sh)
{
    const char *path = variables_get(&sh->variables, "PATH");
    char *list = arena_strdup(sh->arena, path ? path : "/usr/local/bin:/usr/bin:/bin");
    char **out = arena_alloc(sh->arena, (strlen(list) + 2) * sizeof *out), *save;
    size_t n = 0;
    for (char *part = strtok_r(list, ";", &save); part; part = strtok_r(NULL, ";", &save)) {
        char *rest = NULL;
        if (has_drive(part)) {
            char *below = below_root(sh, with_slashes(sh->arena, part));
            if (below) /* other drives do not exist */
                out[n++] = on_disk(sh, below);
            continue;
        }
        for (char *one = strtok_r(part, ":", &rest); one; one = strtok_r(NULL, ":", &rest))
            out[n++] = with_slashes(sh->arena, one);
    }
    return out;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of the entries of a folder that match a pattern. *.* matches all. */
static char **matching(struct shell *sh, const char *folder, const char *pattern,
                       const char *before)
{
    size_t n = 0, room = 64;
    char **out = arena_alloc(sh->arena, (room + 1) * sizeof *out);
    DIR *d = opendir(folder);
    if (strcmp(pattern, "*.*") == 0)
        pattern = "*";
    for (struct dirent *e; d && (e = readdir(d));) {
        if (fnmatch(pattern, e->d_name, FNM_CASEFOLD | FNM_NOESCAPE) != 0 ||
            strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (n == room) {
            char **more = arena_alloc(sh->arena, (2 * room + 1) * sizeof *more);
            memcpy(more, out, n * sizeof *out);
            out = more;
            room *= 2;
        }
        out[n++] = arena_concat(sh->arena, before, e->d_name);
    }
    if (d)
        closedir(d);
    if (n > 0)
        qsort(out, n, sizeof *out, by_name);
    return out;
}

char **path_glob(struct shell *sh, const char *windows)
{
    char *path = path_of(sh, windows);
    if (!path)
        return NULL;
    char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (!strpbrk(name, "*?")) {
        char **one = arena_alloc(sh->arena, 2 * sizeof *one);
        one[0] = path;
        return one;
    }
    char *before = arena_strndup(sh->arena, path, (size_t)(name - path));
    return matching(sh, *before ? before : ".", name, before);
}
