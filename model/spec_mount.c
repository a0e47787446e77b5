/* SPDX-License-Identifier: MIT
 *
 * Mount volumes: decoding them, the URLs that name shares, and which volume a path is on.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model/spec_priv.h"

static const char *without_trailing_slashes(struct arena *a, const char *s)
{
    size_t n = s ? strlen(s) : 0;
    while (n > 0 && s[n - 1] == '/')
        n--;
    return arena_strndup(a, s ? s : "", n);
}

/* Of "http[s]://HOST[:PORT]/..."; brackets of an IPv6 literal stay. */
static const char *url_host(struct arena *a, const char *url)
{
    const char *host = url ? strstr(url, "://") : NULL;
    if (!host)
        return NULL;
    host += 3;
    return arena_strndup(a, host, *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/"));
}

static void decode_share(struct arena *a, const json_t *in, struct mount_volume *m)
{
    const char *account, *url = json_string_value(json_object_get(in, "azureFileUrl"));
    m->kind = MOUNT_AZURE_FILE_SHARE;
    m->host = url_host(a, url);
    m->file_mode = spec_string(a, in, "fileMode");
    m->directory_mode = spec_string(a, in, "directoryMode");
    /* The URL was checked when it was accepted; the account is accountName, which agrees. */
    if (file_share_from_url(a, url, &account, &m->share) < 0)
        m->share = NULL;
}

static void decode_blob(struct arena *a, const json_t *in, struct mount_volume *m)
{
    m->kind = MOUNT_AZURE_BLOB;
    m->share = spec_string(a, in, "containerName");
}

static void decode_file_server(struct arena *a, const json_t *in, struct mount_volume *m)
{
    m->kind = MOUNT_FILE_SERVER;
    m->source = spec_string(a, json_object_get(in, "fileServer"), "id");
    m->source_directory = spec_string(a, in, "sourceDirectory");
}

static void decode_unmanaged(struct arena *a, const json_t *in, struct mount_volume *m)
{
    m->kind = MOUNT_UNMANAGED;
    m->source = spec_string(a, in, "mountCommand");
}

static const struct {
    const char *list;
    void (*decode)(struct arena *a, const json_t *in, struct mount_volume *m);
} kinds[] = {
    {"azureFileShares", decode_share},
    {"azureBlobFileSystems", decode_blob},
    {"fileServers", decode_file_server},
    {"unmanagedFileSystems", decode_unmanaged},
};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

/* What every kind may have; absent properties stay NULL. */
static void decode_volume(struct arena *a, const json_t *in, struct mount_volume *m)
{
    const json_t *credentials = json_object_get(in, "credentials");
    const json_t *reference = json_object_get(credentials, "accountKeySecretReference");
    m->account = spec_string(a, in, "accountName");
    m->key = spec_string(a, credentials, "accountKey");
    m->secret_ref = spec_string(a, reference, "secretUrl");
    m->options = spec_string(a, in, "mountOptions");
    m->relative_path =
        without_trailing_slashes(a, json_string_value(json_object_get(in, "relativeMountPath")));
}

void spec_mounts(struct arena *a, const json_t *volumes, struct mount_list *out)
{
    size_t total = 0;
    for (int k = 0; k < N_KINDS; k++)
        total += json_array_size(json_object_get(volumes, kinds[k].list));
    *out = (struct mount_list){0};
    if (total == 0)
        return;
    out->items = arena_alloc(a, total * sizeof *out->items);
    for (int k = 0; k < N_KINDS; k++) {
        const json_t *list = json_object_get(volumes, kinds[k].list);
        for (size_t i = 0; i < json_array_size(list); i++) {
            struct mount_volume *m = &out->items[out->n++];
            decode_volume(a, json_array_get(list, i), m);
            kinds[k].decode(a, json_array_get(list, i), m);
        }
    }
}

const char account_name_rule[] = "a storage account's name: 1 to 64 letters, digits, - and _";
const char share_name_rule[] =
    "the name of a file share or container: 1 to 63 letters, digits, -, _ and $";

/* Length of the leading name. No dots, so never "..". */
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

/* s is "NAME" with any number of slashes behind it. */
static const char *last_segment(struct arena *a, const char *s)
{
    size_t n = share_length(s);
    bool last = n >= 1 && n <= SHARE_NAME_MAX && s[n + strspn(s + n, "/")] == '\0';
    return last ? arena_strndup(a, s, n) : NULL;
}

/* What follows "HOST[:PORT]/", or NULL. */
static const char *url_path(const char *host)
{
    size_t n = strcspn(host, "/?#@\\");
    return n > 0 && host[n] == '/' ? host + n + 1 : NULL;
}

int file_share_from_url(struct arena *a, const char *url, const char **account, const char **share)
{
    if (!url)
        return -1;
    const char *host = strncasecmp(url, "https://", 8) == 0  ? url + 8
                       : strncasecmp(url, "http://", 7) == 0 ? url + 7
                                                             : NULL;
    const char *path = host ? url_path(host) : NULL;
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

/* "$NAME" or "${NAME}" at the start of `path`: the text behind it, or NULL. */
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

/* `path` without "." and empty components, or NULL if it uses "..". */
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

/* The volume with the longest mount path that `path` is on. */
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

const struct mount_volume *mount_resolve(struct arena *a, const struct mount_list *cluster_mounts,
                                         const struct mount_list *job_mounts, const char *path,
                                         const char **rest)
{
    const struct mount_list *mounts = cluster_mounts;
    const char *below = after_variable(path, "AZ_BATCHAI_MOUNT_ROOT");
    if (!below) {
        mounts = job_mounts;
        below = after_variable(path, "AZ_BATCHAI_JOB_MOUNT_ROOT");
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
