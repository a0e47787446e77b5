/* SPDX-License-Identifier: MIT
 *
 * Parses URLs of shares, and finds the mount volume that contains a path.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model/spec_priv.h"

const char account_name_rule[] = "a storage account's name: 1 to 64 letters, digits, - and _";
const char share_name_rule[] =
    "the name of a file share or container: 1 to 63 letters, digits, -, _ and $";

/* Returns the length of the name at the beginning of s. A name contains no dots, so it is never
 * "..". */
static size_t name_length(const char *s, const char *more)
{
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || (s[n] && strchr(more, s[n])))
        n++;
    return n;
}

static size_t account_length(const char *s)
{
    return name_length(s, "-_");
}

static size_t share_length(const char *s)
{
    return name_length(s, "-_$");
}

bool account_name_valid(const char *name)
{
    size_t n = account_length(name);
    return n >= 1 && n <= ACCOUNT_NAME_MAX && !name[n];
}

bool share_name_valid(const char *name)
{
    size_t n = share_length(name);
    return n >= 1 && n <= SHARE_NAME_MAX && !name[n];
}

/* https://learn.microsoft.com/rest/api/storageservices/naming-and-referencing-containers--blobs--and-metadata
 */
const char container_name_rule[] =
    "3 to 63 lower-case letters, digits and single hyphens, and begin and end with a letter or "
    "digit";

bool container_name_valid(const char *name)
{
    size_t n = strlen(name);
    bool good = n >= 3 && n <= 63 && name[0] != '-' && name[n - 1] != '-' && !strstr(name, "--");
    for (const char *p = name; good && *p; p++)
        good = (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '-';
    return good || strcmp(name, "$root") == 0 || strcmp(name, "$web") == 0 ||
           strcmp(name, "$logs") == 0;
}

const char *share_folder(struct arena *a, const char *storage_dir, const char *account,
                         enum share_kind kind, const char *share)
{
    return arena_printf(a, "%s/%s/%s/%s", storage_dir, arena_lower(a, account),
                        enum_to_name(share_kind_names, (int)kind), arena_lower(a, share));
}

const char *share_hidden_folder(struct arena *a, const char *storage_dir, const char *account,
                                const char *which, int64_t share_id)
{
    return arena_printf(a, "%s/%s/%s/%lld", storage_dir, arena_lower(a, account), which,
                        (long long)share_id);
}

/* Returns NAME if s is "NAME" followed by any number of slashes, otherwise NULL. */
static const char *last_segment(struct arena *a, const char *s)
{
    size_t n = share_length(s);
    bool last = n >= 1 && n <= SHARE_NAME_MAX && s[n + strspn(s + n, "/")] == '\0';
    return last ? arena_strndup(a, s, n) : NULL;
}

/* Returns the text behind "HOST[:PORT]/", or NULL if the text does not begin like this. */
static const char *url_path(const char *host)
{
    size_t n = strcspn(host, "/?#@\\");
    return n > 0 && host[n] == '/' ? host + n + 1 : NULL;
}

static const char *url_host(const char *url)
{
    return strncasecmp(url, "https://", 8) == 0  ? url + 8
           : strncasecmp(url, "http://", 7) == 0 ? url + 7
                                                 : NULL;
}

const char *container_from_text(struct arena *a, const char *text)
{
    const char *host = text ? url_host(text) : NULL, *path = host ? url_path(host) : NULL;
    const char *name = path ? last_segment(a, path) : NULL;
    return name ? name : text;
}

int file_share_from_url(struct arena *a, const char *url, const char **account, const char **share)
{
    const char *host = url ? url_host(url) : NULL, *path = host ? url_path(host) : NULL;
    if (!path)
        return -1;
    size_t label = account_length(host);
    if (label == 0)
        return -1;
    if (strncasecmp(host + label, ".file.", 6) == 0 && isalnum((unsigned char)host[label + 6])) {
        *account = arena_strndup(a, host, label);
        *share = last_segment(a, path);
        return *share ? 0 : -1;
    }
    if (strncmp(path, "files/", 6) != 0)
        return -1;
    path += 6;
    label = account_length(path);
    if (label == 0 || path[label] != '/')
        return -1;
    *account = arena_strndup(a, path, label);
    *share = last_segment(a, path + label + 1);
    return *share ? 0 : -1;
}

/* If `path` begins with "$NAME" or "${NAME}", returns the text after it, otherwise NULL. */
static const char *after_variable(const char *path, const char *name)
{
    size_t n = strlen(name);
    if (*path++ != '$')
        return NULL;
    bool braces = *path == '{';
    path += braces;
    if (strncmp(path, name, n) != 0)
        return NULL;
    path += n;
    if (braces && *path++ != '}')
        return NULL;
    return *path == '/' || *path == '\0' ? path : NULL;
}

/* Returns a copy of `path` without "." and empty components, or NULL if it contains "..". */
static char *clean_path(struct arena *a, const char *path)
{
    char *out = arena_alloc(a, strlen(path) + 1), *end = out;
    while (*(path += strspn(path, "/"))) {
        size_t n = strcspn(path, "/");
        if (n == 2 && path[0] == '.' && path[1] == '.')
            return NULL;
        if (n != 1 || path[0] != '.') {
            if (end > out)
                *end++ = '/';
            memcpy(end, path, n);
            end += n;
        }
        path += n;
    }
    *end = '\0';
    return out;
}

/* Returns the volume that contains `path`; of several, the one with the longest mount path. */
static const struct mount_volume *longest_match(const struct mount_list *mounts, const char *path,
                                                size_t *matched)
{
    const struct mount_volume *best = NULL;
    *matched = 0;
    for (size_t i = 0; i < mounts->n; i++) {
        const char *mount = mounts->items[i].relative_path;
        size_t n = strlen(mount);
        if (n > *matched && strncmp(path, mount, n) == 0 && (path[n] == '/' || path[n] == '\0')) {
            best = &mounts->items[i];
            *matched = n;
        }
    }
    return best;
}

/* Like after_variable(), for any of the front's names of a variable. */
static const char *after_var(const char *path, const struct front_words *words, enum front_var var)
{
    size_t i = 0;
    const char *name, *below = NULL;
    while (!below && (name = front_var_next(words, var, &i)))
        below = after_variable(path, name);
    return below;
}

const struct mount_volume *mount_resolve(struct arena *a, const struct front_words *words,
                                         const struct mount_list *pool_mounts,
                                         const struct mount_list *run_mounts, const char *path,
                                         const char **rest)
{
    const struct mount_list *mounts = pool_mounts;
    const char *below = after_var(path, words, VAR_POOL_MOUNTS);
    if (!below) {
        mounts = run_mounts;
        below = after_var(path, words, VAR_RUN_MOUNTS);
    }
    const char *clean = below && mounts ? clean_path(a, below) : NULL;
    if (!clean)
        return NULL;
    size_t matched;
    const struct mount_volume *found = longest_match(mounts, clean, &matched);
    if (found)
        *rest = clean[matched] == '/' ? clean + matched + 1 : clean + matched;
    return found;
}
