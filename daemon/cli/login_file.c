/* SPDX-License-Identifier: MIT
 *
 * login.json contains the daemon's address, the user and a refresh token; ca.pem contains the
 * authority's certificate. Both are in a folder that only the user can read. A file that others can
 * read is not used.
 */
#include "daemon/cli/login_file.h"

#include <errno.h>
#include <jansson.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/jsontext.h"
#include "lib/strbuf.h"

#define FILE_MAX 65536

/* The members of the file, and their names in the environment. */
static const struct {
    const char *member, *name;
} members[] = {{"endpoint", "BATCHAID_ENDPOINT"},
               {"subscription", "AZURE_SUBSCRIPTION_ID"},
               {"user", LOGIN_USER},
               {"refreshToken", LOGIN_REFRESH}};
enum { N_MEMBERS = sizeof members / sizeof members[0] };

char *login_folder(struct err *e)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    struct strbuf b = STRBUF_INIT;
    if (config && *config == '/')
        strbuf_concat(&b, config, "/batchaid");
    else if (home && *home == '/')
        strbuf_concat(&b, home, "/.config/batchaid");
    else
        err_set(e, ERR_CONFIG, NULL,
                "there is no place for a login: set HOME or XDG_CONFIG_HOME to an absolute path");
    return b.len ? strbuf_take(&b) : NULL;
}

char *login_path(const char *folder)
{
    return fs_join(folder, "login.json");
}

char *login_authority(const char *folder)
{
    return fs_join(folder, "ca.pem");
}

static int read_members(const char *path, const char *text, struct environment *out, struct err *e)
{
    json_t *tree = json_loads(text, 0, NULL);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < N_MEMBERS; i++) {
        const char *value = json_string_value(json_object_get(tree, members[i].member));
        if (value)
            environment_add(out, members[i].name, value);
        else
            rc =
                err_set(e, ERR_CONFIG, NULL, "%.300s has no `%s`; log in again: batchaid login URL",
                        path, members[i].member);
    }
    json_decref(tree);
    return rc;
}

/* 1: it may be read; 0: it does not exist; -1: error. */
static int check_file(const char *path, struct err *e)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : err_errno(e, ERR_CONFIG, "%.300s", path);
    if (st.st_mode & 077)
        return err_set(e, ERR_CONFIG, NULL,
                       "others may read your login in %.300s, so it is not used; run: chmod 600 "
                       "%.300s, and log in again if somebody may have read it",
                       path, path);
    return 1;
}

int login_read(struct environment *out, struct err *e)
{
    struct err ignored;
    char *text = NULL, *folder = login_folder(&ignored);
    *out = (struct environment){.n = 0};
    if (!folder)
        return 0;
    char *path = login_path(folder), *authority = login_authority(folder);
    int rc = check_file(path, e);
    if (rc > 0 && fs_read(path, FILE_MAX, &text, NULL, e) < 0)
        rc = -1;
    if (rc > 0 && read_members(path, text, out, e) < 0)
        rc = -1;
    if (rc > 0) {
        environment_add(out, "SSL_CERT_FILE", authority);
        environment_add(out, "AZURE_CLIENT_ID", LOGIN_CLIENT);
    } else {
        environment_free(out);
    }
    if (text)
        sodium_memzero(text, strlen(text));
    free(text);
    free(path);
    free(authority);
    free(folder);
    return rc;
}

int login_write(const char *folder, const struct environment *env, struct err *e)
{
    json_t *tree = json_object();
    char *path = login_path(folder);
    for (size_t i = 0; i < N_MEMBERS; i++)
        json_object_set_new(tree, members[i].member,
                            json_string(environment_get(env, members[i].name)));
    char *text = jsontext(tree);
    int rc = text ? fs_write_whole(path, text, strlen(text), 0600, false, e)
                  : err_set(e, ERR_CONFIG, NULL, "the name or the address is not UTF-8");
    if (text)
        sodium_memzero(text, strlen(text));
    free(text);
    free(path);
    json_decref(tree);
    return rc;
}
