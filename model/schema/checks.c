/* SPDX-License-Identifier: MIT
 *
 * Checks of single values, used by rows of the tables. The engine has checked the type and the
 * length of the value before.
 */
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "model/schema/tables.h"
#include "model/spec.h"

static int refuse(const json_t *value, const char *path, struct err *e, const char *expected)
{
    char shown[VALUE_TEXT_SIZE];
    return err_set(e, ERR_INVALID_PROPERTY, path, "%s is %s; it must be %s", path,
                   value_text(value, shown), expected);
}

bool has(const json_t *obj, const char *name)
{
    const json_t *v = json_object_get(obj, name);
    return v && !(json_is_string(v) && json_string_length(v) == 0);
}

static bool all_of(const char *s, const char *more)
{
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && !strchr(more, *s))
            return false;
    return true;
}

static bool has_control(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            return true;
    return false;
}

int check_env_name(const json_t *value, const char *path, struct err *e)
{
    const char *s = json_string_value(value);
    if (*s && !isdigit((unsigned char)*s) && all_of(s, "_"))
        return 0;
    return refuse(value, path, e,
                  "a variable name: letters, digits and _, not starting with a digit");
}

int check_directory_id(const json_t *value, const char *path, struct err *e)
{
    if (all_of(json_string_value(value), "_"))
        return 0;
    return refuse(value, path, e,
                  "made of letters, digits and _, as it becomes part of a variable's name");
}

int check_output_id(const json_t *value, const char *path, struct err *e)
{
    if (strcasecmp(json_string_value(value), "stdouterr") == 0)
        return refuse(value, path, e,
                      "another id: this one stands for the job's standard output and error");
    return check_directory_id(value, path, e);
}

/* True: the path is safe by fs_path_is_safe(), apart from slashes at its end, which are common and
 * harmless. */
static bool safe_trimmed(const char *s, bool may_be_root)
{
    size_t n = strlen(s);
    while (n > 1 && s[n - 1] == '/')
        n--;
    char *copy = xcalloc(1, n + 1);
    memcpy(copy, s, n);
    bool root = n == 0 || strcmp(copy, ".") == 0;
    bool safe = fs_path_is_safe(copy) && !has_control(copy) && (may_be_root || !root);
    free(copy);
    return safe;
}

int check_relative_path(const json_t *value, const char *path, struct err *e)
{
    if (safe_trimmed(json_string_value(value), true))
        return 0;
    return refuse(value, path, e, "a relative path without \"..\", \".\" and empty components");
}

int check_mount_path(const json_t *value, const char *path, struct err *e)
{
    if (safe_trimmed(json_string_value(value), false))
        return 0;
    return refuse(value, path, e,
                  "a relative path without \"..\", \".\" and empty components, below the mount "
                  "root");
}

int check_clean_text(const json_t *value, const char *path, struct err *e)
{
    if (!has_control(json_string_value(value)))
        return 0;
    return refuse(value, path, e, "free of control characters");
}

/* The value becomes an argument of docker or podman, so it must not look like an option or split
 * into several arguments. */
int check_image(const json_t *value, const char *path, struct err *e)
{
    const char *text = json_string_value(value), *scheme = strstr(text, "://");
    const char *name = scheme ? scheme + 3 : text;
    if (*text != '-' && *name != '-' && !strpbrk(text, " \t\r\n\v\f") && !has_control(text))
        return 0;
    return refuse(value, path, e, "a name without blanks that does not begin with '-'");
}

/* The value becomes a segment of the URLs of operations. */
int check_location(const json_t *value, const char *path, struct err *e)
{
    if (all_of(json_string_value(value), " -_."))
        return 0;
    return refuse(value, path, e,
                  "the name of a region, such as eastus: letters, digits, spaces, -, _ and .");
}

/* Checks a prefix for output: a path that is absolute, relative or starts with a variable, but has
 * no part "..". */
int check_output_prefix(const json_t *value, const char *path, struct err *e)
{
    const char *s = json_string_value(value);
    for (size_t n; *s; s += n + (s[n] == '/')) {
        n = strcspn(s, "/");
        if (n == 2 && s[0] == '.' && s[1] == '.')
            return refuse(value, path, e, "a path without \"..\"");
    }
    return check_clean_text(value, path, e);
}

/* True: the id has the form ".../<kind>/NAME", and NAME is a valid name of a resource. */
static bool is_resource_id(const char *id, const char *kind)
{
    const char *name = strrchr(id, '/');
    size_t n = strlen(kind);
    return name && name[1] && strlen(name + 1) <= 64 && name[1] != '.' && all_of(name + 1, "-_.") &&
           strncasecmp(id, "/subscriptions/", 15) == 0 && (size_t)(name - id) > n + 1 &&
           strncasecmp(name - n, kind, n) == 0 && name[-(ptrdiff_t)n - 1] == '/' &&
           !has_control(id);
}

int check_cluster_id(const json_t *value, const char *path, struct err *e)
{
    if (is_resource_id(json_string_value(value), "clusters"))
        return 0;
    return refuse(value, path, e,
                  "a cluster's resource id: /subscriptions/S/resourceGroups/G/providers/"
                  "Microsoft.BatchAI/workspaces/W/clusters/NAME");
}

int check_file_server_id(const json_t *value, const char *path, struct err *e)
{
    if (is_resource_id(json_string_value(value), "fileServers"))
        return 0;
    return refuse(value, path, e,
                  "a file server's resource id: /subscriptions/S/resourceGroups/G/providers/"
                  "Microsoft.BatchAI/workspaces/W/fileServers/NAME");
}

int check_account_name(const json_t *value, const char *path, struct err *e)
{
    if (account_name_valid(json_string_value(value)))
        return 0;
    return refuse(value, path, e, account_name_rule);
}

int check_share_name(const json_t *value, const char *path, struct err *e)
{
    if (share_name_valid(json_string_value(value)))
        return 0;
    return refuse(value, path, e, share_name_rule);
}

int check_share_url(const json_t *value, const char *path, struct err *e)
{
    struct arena a;
    arena_init(&a);
    const char *account, *share;
    int rc = file_share_from_url(&a, json_string_value(value), &account, &share);
    arena_free(&a);
    if (rc == 0)
        return 0;
    return refuse(value, path, e,
                  "the URL of a file share: https://ACCOUNT.file.SUFFIX/SHARE or "
                  "https://HOST:PORT/files/ACCOUNT/SHARE");
}

int check_http_url(const json_t *value, const char *path, struct err *e)
{
    const char *s = json_string_value(value);
    if ((strncasecmp(s, "https://", 8) == 0 && s[8] && s[8] != '/') ||
        (strncasecmp(s, "http://", 7) == 0 && s[7] && s[7] != '/'))
        return 0;
    return refuse(value, path, e, "an http or https URL");
}

int check_mode(const json_t *value, const char *path, struct err *e)
{
    const char *s = json_string_value(value);
    size_t n = strspn(s, "01234567");
    if (s[n] == '\0' && n >= 3 && n <= 5)
        return 0;
    return refuse(value, path, e, "an octal file mode such as \"0777\"");
}

int check_user_name(const json_t *value, const char *path, struct err *e)
{
    const char *s = json_string_value(value);
    if (strcasecmp(s, "root") == 0 || strcasecmp(s, "admin") == 0)
        return refuse(value, path, e, "another name: this one is reserved on the nodes");
    if ((isalpha((unsigned char)*s) || *s == '_') && all_of(s, "_-."))
        return 0;
    return refuse(value, path, e,
                  "a Linux user name: letters, digits, _, - and ., starting with a letter or _");
}

/* Permits only one line, because a second line would be a second entry in authorized_keys. */
int check_ssh_key(const json_t *value, const char *path, struct err *e)
{
    const char *s = json_string_value(value);
    size_t n = strcspn(s, "\r\n");
    if (n > 0 && strspn(s + n, "\r\n") == strlen(s + n))
        return 0;
    return refuse(value, path, e,
                  "one SSH public key on one line, such as \"ssh-ed25519 AAAA...\"");
}

int check_shm_size(const json_t *value, const char *path, struct err *e)
{
    const char *s = json_string_value(value);
    size_t n = strspn(s, "0123456789");
    if (n > 0 && n <= 15 && (!s[n] || (strchr("bkmgBKMG", s[n]) && !s[n + 1])))
        return 0;
    return refuse(value, path, e,
                  "a number of bytes, or a number with b, k, m or g, such as \"16g\"");
}

int check_cntk_language(const json_t *value, const char *path, struct err *e)
{
    const char *s = json_string_value(value);
    if (strcasecmp(s, "Python") == 0 || strcasecmp(s, "BrainScript") == 0)
        return 0;
    return refuse(value, path, e, "Python or BrainScript");
}

int check_backend(const json_t *value, const char *path, struct err *e)
{
    static const char *const known[] = {"tcp", "gloo", "mpi", "nccl"};
    const char *s = json_string_value(value);
    bool found = *s == '\0'; /* an empty text counts as absent */
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        found = found || strcasecmp(s, known[i]) == 0;
    return found ? 0 : refuse(value, path, e, "tcp, gloo, mpi or nccl");
}

int check_unique(const json_t *obj, const char *list, const char *key, json_t *seen,
                 const char *path, struct err *e)
{
    const json_t *items = json_object_get(obj, list);
    for (size_t i = 0; i < json_array_size(items); i++) {
        const char *value = json_string_value(json_object_get(json_array_get(items, i), key));
        if (value && json_object_get(seen, value)) {
            char child[PLACE_SIZE], where[PLACE_SIZE];
            snprintf(child, sizeof child, "%s[%zu].%s", list, i, key);
            path_join(where, path, child);
            return err_set(e, ERR_INVALID_PROPERTY, where,
                           "%s is \"%.80s\", which was used before; each must be different", where,
                           value);
        }
        if (value)
            json_object_set_new_nocheck(seen, value, json_true());
    }
    return 0;
}

int check_env(json_t *obj, const char *path, struct err *e)
{
    json_t *seen = json_object();
    int rc = check_unique(obj, "environmentVariables", "name", seen, path, e);
    if (rc == 0)
        rc = check_unique(obj, "secrets", "name", seen, path, e);
    json_decref(seen);
    return rc;
}
