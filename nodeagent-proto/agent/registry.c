/* SPDX-License-Identifier: MIT
 *
 * Reads, adds and removes entries of the registry, and takes its lock. Other agents of the machine
 * may change it between any two calls without the lock.
 */
#include "nodeagent-proto/agent/registry.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "lib/fs.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/small_record.h"

static int open_it(void)
{
    return open(REGISTRY, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int registry_lock(struct err *e)
{
    int fd = open_it();
    if (fd < 0 && errno == ENOENT) {
        if (fs_mkdirs(REGISTRY, 0700, e) < 0)
            return -1;
        fd = open_it();
    }
    if (fd >= 0 && flock(fd, LOCK_EX) == 0)
        return fd;
    err_errno(e, ERR_IO, "cannot open " REGISTRY);
    if (fd >= 0)
        close(fd);
    return -1;
}

int registry_look(void)
{
    return open_it();
}

static bool parse(const char *file, const char *name, int registry, struct registry_entry *out)
{
    char *end;
    const char *at = strchr(file, '@');
    if (!at || slip_read(registry, file, name, out->text, sizeof out->text) <= 0)
        return false;
    snprintf(out->file, sizeof out->file, "%s", file);
    snprintf(out->name, sizeof out->name, "%.*s", (int)(at - file), file);
    snprintf(out->incarnation, sizeof out->incarnation, "%s", at + 1);
    char *mark = strchr(out->incarnation, REGISTRY_ENDING);
    out->ending = mark != NULL;
    if (mark)
        *mark = '\0';
    out->uid = (uid_t)strtoul(out->text, &end, 10);
    out->root = *end == ' ' ? end + 1 : end;
    return true;
}

bool registry_read(int registry, const char *file, struct registry_entry *out)
{
    char name[NAME_MAX + 1];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(file, (const char[]){REGISTRY_ENDING, '\0'}),
             file);
    return parse(file, name, registry, out);
}

static char *mark_of(const struct uid_holder *h)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "@%s", h->incarnation);
    return strbuf_take(&b);
}

int registry_note(int registry, const struct uid_holder *h, const char *name, uid_t uid)
{
    struct strbuf text = STRBUF_INIT;
    char *file = registry_file(h, name, false), *mark = mark_of(h);
    strbuf_printf(&text, "%u %s", (unsigned)uid, h->root);
    int rc = slip_write(registry, mark, file, text.s);
    int saved = errno;
    free(mark);
    free(file);
    strbuf_free(&text);
    errno = saved;
    return rc;
}

static bool is_of(const char *file, const char *name, size_t n)
{
    return file[0] != '.' && (n == 0 || (strncmp(file, name, n) == 0 && file[n] == '@'));
}

bool registry_each(int registry, const char *name,
                   bool (*fn)(void *ctx, int registry, const struct registry_entry *en), void *ctx)
{
    int fd = openat(registry, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    size_t n = name ? strlen(name) : 0;
    struct registry_entry en;
    struct dirent *de;
    bool enough = false;
    while (d && !enough && (de = readdir(d)))
        if (is_of(de->d_name, name, n) && registry_read(registry, de->d_name, &en))
            enough = fn(ctx, registry, &en);
    if (d)
        closedir(d);
    return enough;
}

bool entry_is_held_by(const struct registry_entry *en, const struct uid_holder *h)
{
    return strcmp(en->incarnation, h->incarnation) == 0 && strcmp(en->root, h->root) == 0;
}

bool entry_is_gone(const struct registry_entry *en)
{
    char *path = fs_join(en->root, "incarnation"), text[256] = "";
    size_t n = strlen(en->incarnation);
    /* The root's path may belong to another user now, and that user may have put a pipe there, so
     * the open must not wait. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool gone = fd < 0 && (errno == ENOENT || errno == ENOTDIR);
    if (fd >= 0) {
        gone = read(fd, text, sizeof text - 1) >= 0 && strncmp(text, en->incarnation, n) != 0;
        close(fd);
    }
    free(path);
    return gone;
}

char *registry_file(const struct uid_holder *h, const char *name, bool ending)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "%s@%s", name, h->incarnation);
    if (ending)
        strbuf_putc(&b, REGISTRY_ENDING);
    return strbuf_take(&b);
}

void registry_forget(int registry, const struct uid_holder *h, const char *name)
{
    char *mark = mark_of(h);
    for (int ending = 0; ending < 2; ending++) {
        char *file = registry_file(h, name, ending);
        if (slip_drop(registry, mark, file) < 0 && errno != ENOENT)
            (void)unlinkat(registry, file, 0);
        free(file);
    }
    free(mark);
}

void registry_remove(int registry, const struct registry_entry *en)
{
    (void)unlinkat(registry, en->file, 0);
}

void registry_remove_spares(int registry, bool (*fn)(void *ctx, const struct registry_entry *en),
                            void *ctx)
{
    int fd = openat(registry, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *de;
    struct registry_entry en;
    while (d && (de = readdir(d))) {
        bool spare = strncmp(de->d_name, SLIP_SPARE "@", strlen(SLIP_SPARE "@")) == 0 ||
                     strncmp(de->d_name, SLIP_NEW "@", strlen(SLIP_NEW "@")) == 0;
        if (spare && parse(de->d_name, NULL, registry, &en) && fn(ctx, &en))
            registry_remove(registry, &en);
    }
    if (d)
        closedir(d);
}
