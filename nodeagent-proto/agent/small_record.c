/* SPDX-License-Identifier: MIT
 *
 * Writes a slip into the spare file, or a new file, and renames it to its name, never over another
 * slip; drops a slip by renaming its file to the spare name. No fsync.
 */
#include "nodeagent-proto/agent/small_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/fs.h"
#include "lib/strbuf.h"

static char *marked(const char *name, const char *mark)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "%s%s", name, mark);
    return strbuf_take(&b);
}

/* Renames the spare file to `fresh` and opens it; without a spare file, makes `fresh`. */
static int open_file(int dir, const char *spare, const char *fresh)
{
    if (renameat(dir, spare, dir, fresh) == 0) {
        int fd = openat(dir, fresh, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0)
            return fd;
    }
    if (unlinkat(dir, fresh, 0) < 0 && errno != ENOENT)
        return -1;
    return openat(dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

/* The file is truncated only after the text was overwritten, so that its disk block stays. */
static int fill(int fd, const struct strbuf *text)
{
    return fs_write_all(fd, text->s, text->len) < 0 || ftruncate(fd, (off_t)text->len) < 0 ? -1 : 0;
}

static int publish(int dir, const char *fresh, const char *name)
{
    if (renameat2(dir, fresh, dir, name, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    return linkat(dir, fresh, dir, name, 0) == 0 ? unlinkat(dir, fresh, 0) : -1;
}

int slip_write(int dir, const char *mark, const char *name, const char *text)
{
    char *spare = marked(SLIP_SPARE, mark), *fresh = marked(SLIP_NEW, mark);
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "%s\n%s\n", name, text);
    int fd = open_file(dir, spare, fresh);
    int rc = fd >= 0 && fill(fd, &b) == 0 ? publish(dir, fresh, name) : -1;
    int saved = errno;
    if (fd >= 0)
        close(fd);
    errno = saved;
    strbuf_free(&b);
    free(fresh);
    free(spare);
    return rc;
}

/* Expects "NAME\nTEXT\n" in `s`, and moves TEXT to the start of `s`. Returns the length of TEXT, or
 * -1 with errno. */
static ssize_t take_text(char *s, const char *name)
{
    char *text = strchr(s, '\n'), *end = text ? strchr(text + 1, '\n') : NULL;
    if (!text && *s) {
        errno = EINVAL;
        return -1;
    }
    bool is_it =
        end && (!name || (strncmp(s, name, (size_t)(text - s)) == 0 && name[text - s] == '\0'));
    if (!is_it) {
        errno = ENODATA;
        return -1;
    }
    ssize_t n = end - text - 1;
    memmove(s, text + 1, (size_t)n);
    s[n] = '\0';
    return n;
}

static ssize_t read_link(int dir, const char *file, char *out, size_t size)
{
    ssize_t n = readlinkat(dir, file, out, size - 1);
    if (n >= 0)
        out[n] = '\0';
    return n;
}

ssize_t slip_read(int dir, const char *file, const char *name, char *out, size_t size)
{
    int fd = openat(dir, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return errno == ELOOP ? read_link(dir, file, out, size) : -1;
    ssize_t n = read(fd, out, size - 1);
    int saved = errno;
    close(fd);
    errno = saved;
    if (n < 0)
        return -1;
    out[n] = '\0';
    return take_text(out, name);
}

int slip_drop(int dir, const char *mark, const char *file)
{
    char *spare = marked(SLIP_SPARE, mark);
    int rc = renameat(dir, file, dir, spare);
    int saved = errno;
    free(spare);
    errno = saved;
    return rc;
}
