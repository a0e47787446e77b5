/* SPDX-License-Identifier: MIT
 *
 * Reads and writes the records of leases, as slips (small_record.h). A record that is another file
 * was written by an older agent, or on a file system that cannot rename without replacing. A record
 * that cannot be parsed is an error; its number never counts as free.
 */
#include "nodeagent-proto/agent/lease_record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/files.h"
#include "nodeagent-proto/agent/small_record.h"
#include "nodeagent-proto/wire/message.h"

#define DIR_NAME   "accounts"
#define GROUP      ".group"
#define RECORD_MAX 8192

char *lease_path(const char *root, const char *name)
{
    char *dir = fs_join(root, DIR_NAME), *path = fs_join(dir, name);
    free(dir);
    return path;
}

bool lease_name_valid(const char *name)
{
    return task_id_valid(name) && name[0] != '.';
}

gid_t lease_group(const char *root)
{
    char *path = lease_path(root, GROUP), *text = NULL;
    gid_t group = 0;
    if (fs_read(path, 64, &text, NULL, NULL) == 0)
        group = (gid_t)strtoul(text, NULL, 10);
    free(text);
    free(path);
    return group;
}

int lease_set_group(const char *root, gid_t group, struct err *e)
{
    char *path = lease_path(root, GROUP), text[16];
    int len = snprintf(text, sizeof text, "%u\n", (unsigned)group);
    int rc = file_replace(path, text, (size_t)len, 0600, e);
    free(path);
    return rc;
}

static int open_records(const char *root)
{
    char *dir = fs_join(root, DIR_NAME);
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(dir);
    return fd;
}

/* Reads a record. 1: *text is its text; 0: there is no record; -1: an error. Also reads the
 * symbolic links and files of older agents. */
static int record_text(const char *path, const char *name, char **text, struct err *e)
{
    char said[RECORD_MAX];
    ssize_t n = slip_read(AT_FDCWD, path, name, said, sizeof said);
    if (n >= 0) {
        *text = xstrdup(said);
        return 1;
    }
    if (errno == ENOENT || errno == ENODATA)
        return 0;
    return fs_read(path, RECORD_MAX, text, NULL, e) == 0 ? 1 : -1;
}

/* Reads "NUMBER GROUP DIRECTORY" or "NUMBER GROUP UID:GID DIRECTORY". False: the text has another
 * form. */
static bool parse_lease(const char *text, struct agent_lease *out)
{
    char *end;
    out->uid = out->number = (uid_t)strtoul(text, &end, 10);
    out->gid = out->group = *end == ' ' ? (gid_t)strtoul(end + 1, &end, 10) : 0;
    if (end[0] == ' ' && end[1] != '/') {
        out->uid = (uid_t)strtoul(end + 1, &end, 10);
        out->gid = *end == ':' ? (gid_t)strtoul(end + 1, &end, 10) : 0;
    }
    if (out->group == 0 || out->gid == 0 || end[0] != ' ' || end[1] != '/')
        return false;
    out->dir = xstrdup(end + 1);
    return true;
}

/* 1: the record was read; 0: there is none. */
int lease_read(const char *root, const char *name, struct agent_lease *out, struct err *e)
{
    char *path = lease_path(root, name), *text = NULL;
    memset(out, 0, sizeof *out);
    int rc = record_text(path, name, &text, e);
    if (rc > 0 && !parse_lease(text, out))
        rc = err_set(e, ERR_IO, "name", "%s is not the record of an account", path);
    free(text);
    free(path);
    return rc;
}

/* Does not sync the record: if it is lost in a power cut, the owner of the directory still shows
 * the number (owner_of()). */
int lease_write(const char *root, const char *name, const struct agent_lease *l, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "%u %u ", (unsigned)l->number, (unsigned)l->group);
    if (lease_is_chosen(l))
        strbuf_printf(&b, "%u:%u ", (unsigned)l->uid, (unsigned)l->gid);
    strbuf_puts(&b, l->dir);
    int dir = open_records(root);
    int rc = dir >= 0 ? slip_write(dir, "", name, b.s) : -1;
    if (dir >= 0)
        close(dir);
    if (rc < 0) {
        char *path = lease_path(root, name);
        rc = fs_write_atomic(path, b.s, b.len, 0600, e);
        free(path);
    }
    strbuf_free(&b);
    return rc;
}

int lease_forget(const char *root, const char *name, struct err *e)
{
    int dir = open_records(root);
    int rc = dir >= 0 ? slip_drop(dir, "", name) : -1;
    if (rc < 0 && errno != ENOENT)
        rc = err_errno(e, ERR_IO, "cannot remove the record of the account of %s", name);
    if (dir >= 0)
        close(dir);
    return rc < 0 && errno != ENOENT ? -1 : 0;
}

void lease_free(struct agent_lease *l)
{
    free(l->dir);
}

/* Calls fn with each lease; ends at the first failure. Skips temporary files of interrupted writes,
 * whose names contain ".tmp-". */
int lease_each(const char *root,
               int (*fn)(void *ctx, const char *root, const char *name, const struct agent_lease *l,
                         struct err *e),
               void *ctx, struct err *e)
{
    char *dir = fs_join(root, DIR_NAME);
    DIR *d = opendir(dir);
    struct dirent *de;
    int rc = d || errno == ENOENT ? 0 : err_errno(e, ERR_IO, "cannot list %s", dir);
    while (d && rc == 0 && (de = readdir(d))) {
        struct agent_lease l;
        if (!lease_name_valid(de->d_name) || strstr(de->d_name, FS_UNFINISHED))
            continue;
        rc = lease_read(root, de->d_name, &l, e);
        if (rc > 0)
            rc = fn(ctx, root, de->d_name, &l, e);
        lease_free(&l);
    }
    if (d)
        closedir(d);
    free(dir);
    return rc;
}

int lease_make_records(const char *root, struct err *e)
{
    char *dir = fs_join(root, DIR_NAME);
    int rc = fs_mkdirs(dir, 0700, e);
    free(dir);
    return rc;
}
