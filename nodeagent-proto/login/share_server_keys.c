/* SPDX-License-Identifier: MIT
 *
 * A key is valid as long as its file exists: authorized_keys is made from all these files, and a
 * session is refused if its key's file is gone.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/shell.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/login/login_priv.h"
#include "nodeagent-proto/login/share_serve.h"
#include "nodeagent-proto/login/share_server_priv.h"

#define ID_MAX       200
#define KEY_FILE_MAX (1U << 20)
#define UNFINISHED   ".tmp-" /* files of fs_write_atomic() that a killed daemon has left */

bool share_id_is_plain(const char *id)
{
    size_t n = strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
    return n > 0 && n <= ID_MAX && !id[n] && *id != '.' && *id != '-';
}

int share_key_write(const struct share_place *p, const char *id, const char *public_line,
                    const char *const *folders, size_t n, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, SHARE_KEY "%.*s\n", (int)strcspn(public_line, "\n"), public_line);
    strbuf_printf(&b, SHARE_STORAGE "%s\n" SHARE_ACCOUNT "%u\n", p->storage_dir, p->account);
    for (size_t i = 0; i < n; i++)
        strbuf_printf(&b, SHARE_FOLDER "%s\n", folders[i]);
    int rc = login_write_in(p->keys, id, &b, e);
    strbuf_free(&b);
    return rc;
}

/* Appends the key's line of authorized_keys, with its command; quotes in the command get a
 * backslash. */
static int put_key(const struct share_place *p, const char *id, struct strbuf *out, struct err *e)
{
    char *path = fs_join(p->keys, id), *text = NULL;
    struct strbuf command = STRBUF_INIT;
    int rc = fs_read(path, KEY_FILE_MAX, &text, NULL, e);
    if (rc == 0 && strncmp(text, SHARE_KEY, strlen(SHARE_KEY)) == 0) {
        const char *line = text + strlen(SHARE_KEY);
        shell_quote(&command, p->program);
        strbuf_puts(&command, " share-serve ");
        shell_quote(&command, path);
        strbuf_puts(out, "restrict,command=\"");
        for (const char *c = command.s; *c; c++)
            strbuf_puts(out, *c == '"' ? "\\\"" : (const char[]){*c, '\0'});
        strbuf_printf(out, "\" %.*s\n", (int)strcspn(line, "\n"), line);
    }
    strbuf_free(&command);
    free(text);
    free(path);
    return rc;
}

int share_keys_publish(const struct share_place *p, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    struct dirent *de;
    int n = 0, rc = 0;
    DIR *d = opendir(p->keys);
    if (!d && errno != ENOENT)
        return err_errno(e, ERR_IO, "cannot read %s", p->keys);
    while (d && rc == 0 && (de = readdir(d)))
        if (share_id_is_plain(de->d_name) && !strstr(de->d_name, UNFINISHED)) {
            rc = put_key(p, de->d_name, &b, e);
            n++;
        }
    if (d) {
        closedir(d);
        rc = rc == 0 ? login_write_in(p->dir, "authorized_keys", &b, e) : rc;
    }
    strbuf_free(&b);
    return rc < 0 ? -1 : n;
}

/* The key's file is removed before its sessions are ended, so that a session that begins later is
 * refused. */
int share_keys_remove(const struct share_place *p, bool (*matches)(void *ctx, const char *id),
                      void *ctx, struct err *e)
{
    struct arena a;
    struct gone {
        struct gone *next;
        const char *id;
    } *gone = NULL;
    struct dirent *de;
    DIR *d = opendir(p->keys);
    int left = 0;
    arena_init(&a);
    while (d && (de = readdir(d))) {
        if (!share_id_is_plain(de->d_name))
            continue;
        if (strstr(de->d_name, UNFINISHED)) {
            (void)unlinkat(dirfd(d), de->d_name, 0);
            continue;
        }
        if (!matches(ctx, de->d_name) || unlinkat(dirfd(d), de->d_name, 0) < 0) {
            left++;
            continue;
        }
        struct gone *g = arena_alloc(&a, sizeof *g);
        *g = (struct gone){gone, arena_strdup(&a, de->d_name)};
        gone = g;
    }
    if (d)
        closedir(d);
    if (gone)
        left = share_keys_publish(p, e);
    for (; gone; gone = gone->next)
        share_sessions_end(p, gone->id);
    arena_free(&a);
    return left;
}
