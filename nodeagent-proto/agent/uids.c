/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/agent/uids.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "lib/fs.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/files.h"
#include "nodeagent-proto/agent/names.h"
#include "nodeagent-proto/agent/procs.h"
#include "nodeagent-proto/wire/message.h"

/* The registry has a symbolic link "NAME@INCARNATION" with the target "UID ROOT" for each job and
 * root; making a link is atomic. ENDING behind the name: let go. The directory is locked while it
 * is read and changed. Nothing here waits for the disk: numbers that were given out right before a
 * power cut are skipped, see BOOT_STEP. */
#define REGISTRY "/var/lib/batchai-node/accounts"
#define NEXT                                                                                       \
    ".next" /* the number behind the last that was given out, and the boot in which that was */
#define ENDING '~'

/* More numbers than are given out in the seconds that a power cut may lose; even. */
#define BOOT_STEP 10000U

#define LOWEST       ((unsigned)NODE_UID_LOWEST)
#define HIGHEST      ((unsigned)NODE_UID_HIGHEST)
#define DATABASE_MAX (16U * 1024 * 1024)

int uids_check(const struct uid_range *r, struct err *e)
{
    if (r->first >= LOWEST && r->count >= NODE_UIDS_MIN && r->count <= HIGHEST - r->first)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, "first",
                   "%u numbers from %u on cannot be those of accounts: at least %d are needed, "
                   "from %u on and below %u",
                   r->count, (unsigned)r->first, NODE_UIDS_MIN, LOWEST, HIGHEST);
}

/* ---- what is noted ---- */

struct entry {
    char file[NAME_MAX + 1], text[PATH_MAX];
    char name[TASK_ID_MAX + 1];
    const char *incarnation; /* in `file` */
    bool ending;
    uid_t uid;
    const char *root; /* in `text` */
};

static bool read_entry(int registry, const char *file, struct entry *out)
{
    char *end;
    snprintf(out->file, sizeof out->file, "%s", file);
    char *at = strchr(out->file, '@'), *mark = strchr(out->file, ENDING);
    ssize_t n = at ? readlinkat(registry, file, out->text, sizeof out->text - 1) : -1;
    if (n <= 0)
        return false;
    out->text[n] = '\0';
    snprintf(out->name, sizeof out->name, "%.*s", (int)(at - out->file), out->file);
    out->incarnation = at + 1;
    out->ending = mark != NULL;
    if (mark)
        *mark = '\0';
    out->uid = (uid_t)strtoul(out->text, &end, 10);
    out->root = *end == ' ' ? end + 1 : end;
    return true;
}

static struct uid_holder holder_of(const struct entry *en)
{
    return (struct uid_holder){en->root, en->incarnation};
}

static bool is_held_by(const struct entry *en, const struct uid_holder *h)
{
    return strcmp(en->incarnation, h->incarnation) == 0 && strcmp(en->root, h->root) == 0;
}

/* Whether its root exists and has the same incarnation. */
static bool has_root(const struct entry *en)
{
    char *path = fs_join(en->root, "incarnation"), *text = NULL;
    size_t n = strlen(en->incarnation);
    bool has = fs_read(path, 256, &text, NULL, NULL) == 0 && strncmp(text, en->incarnation, n) == 0;
    free(text);
    free(path);
    return has;
}

/* Calls fn with each entry, until it returns that it has enough. */
static bool each(int registry, bool (*fn)(void *ctx, int registry, const struct entry *en),
                 void *ctx)
{
    int fd = openat(registry, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *de;
    bool enough = false;
    while (d && !enough && (de = readdir(d))) {
        struct entry en = {.uid = 0};
        if (read_entry(registry, de->d_name, &en))
            enough = fn(ctx, registry, &en);
    }
    if (d)
        closedir(d);
    return enough;
}

/* Caller frees. */
static char *file_of(const struct uid_holder *h, const char *name, bool ending)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "%s@%s", name, h->incarnation);
    if (ending)
        strbuf_putc(&b, ENDING);
    return strbuf_take(&b);
}

static void forget_at(int registry, const struct uid_holder *h, const char *name)
{
    for (int ending = 0; ending < 2; ending++) {
        char *file = file_of(h, name, ending);
        (void)unlinkat(registry, file, 0);
        free(file);
    }
}

static int open_registry(struct err *e)
{
    if (fs_mkdirs(REGISTRY, 0700, e) < 0)
        return -1;
    int fd = open(REGISTRY, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return err_errno(e, ERR_IO, "cannot open " REGISTRY);
}

/* ---- choosing ---- */

/* Whether a line of `path` has `uid` or its successor in field `at`. With `counted`, the next field
 * is the length of a range (subuid(5)). */
static bool file_has(const char *path, int at, bool counted, uid_t uid)
{
    char *text, *save = NULL;
    bool has = false;
    if (fs_read(path, DATABASE_MAX, &text, NULL, NULL) < 0)
        return false;
    for (char *line = strtok_r(text, "\n", &save); line && !has;
         line = strtok_r(NULL, "\n", &save)) {
        char *field = line, *end;
        for (int i = 0; i < at && field; i++)
            field = strchr(field, ':') ? strchr(field, ':') + 1 : NULL;
        if (!field)
            continue;
        unsigned long long first = strtoull(field, &end, 10), n = 1;
        if (end == field)
            continue;
        if (counted && *end == ':')
            n = strtoull(end + 1, NULL, 10);
        has = first < uid + 2ULL && uid < first + n;
    }
    free(text);
    return has;
}

static bool is_known(uid_t uid)
{
    return file_has("/etc/passwd", 2, false, uid) || file_has("/etc/group", 2, false, uid) ||
           file_has("/etc/subuid", 1, true, uid) || file_has("/etc/subgid", 1, true, uid);
}

struct search {
    const struct uid_holder *holder;
    const char *name;
    uid_t uid; /* found, or searched for */
    bool held; /* by the holder */
};

static bool find_job(void *ctx, int registry, const struct entry *en)
{
    struct search *s = ctx;
    (void)registry;
    if (strcmp(en->name, s->name) != 0 || !has_root(en))
        return false;
    s->uid = en->uid;
    s->held = !en->ending && is_held_by(en, s->holder);
    return s->held;
}

static bool find_uid(void *ctx, int registry, const struct entry *en)
{
    const struct search *s = ctx;
    if (en->uid != s->uid)
        return false;
    if (has_root(en) || procs_run_as(en->uid, 2))
        return true;
    const struct uid_holder gone = holder_of(en);
    forget_at(registry, &gone, en->name);
    name_take_back(en->uid);
    return false;
}

static void read_boot(char *out, size_t size)
{
    char *text = NULL;
    *out = '\0';
    if (fs_read("/proc/sys/kernel/random/boot_id", 256, &text, NULL, NULL) == 0)
        snprintf(out, size, "%.*s", (int)strcspn(text, "\n"), text);
    free(text);
}

/* The last notes of an earlier boot may have been lost in a power cut. */
static unsigned read_next(void)
{
    char *text, boot[64];
    if (fs_read(REGISTRY "/" NEXT, 256, &text, NULL, NULL) < 0)
        return 0;
    unsigned next = (unsigned)strtoul(text, NULL, 10);
    read_boot(boot, sizeof boot);
    if (!strstr(text, boot))
        next += BOOT_STEP;
    free(text);
    return next;
}

static int write_next(uid_t next, struct err *e)
{
    char text[128], boot[64];
    read_boot(boot, sizeof boot);
    int n = snprintf(text, sizeof text, "%u %s\n", (unsigned)next, boot);
    return file_replace(REGISTRY "/" NEXT, text, (size_t)n, 0600, e);
}

static int choose(int registry, const struct uid_range *r, uid_t *out, struct err *e)
{
    const unsigned pairs = (r->count - 2) / 2;
    unsigned next = read_next(), from = 0;
    if (next >= r->first + 2 && next - r->first - 2 < 2 * pairs)
        from = (next - r->first - 2) / 2;
    for (unsigned i = 0; i < pairs; i++) {
        struct search s = {.uid = r->first + 2 + 2 * ((from + i) % pairs)};
        if (is_known(s.uid) || each(registry, find_uid, &s))
            continue;
        *out = s.uid;
        return write_next(s.uid + 2, e);
    }
    return err_set(e, ERR_IO, "first",
                   "all of the %u numbers from %u on are taken on this machine: see " REGISTRY
                   ", /etc/passwd and /etc/subuid, and configure more (jobs.first_uid, jobs.uids)",
                   r->count, (unsigned)r->first);
}

static int note(int registry, const struct uid_holder *h, const char *name, uid_t uid,
                struct err *e)
{
    struct strbuf text = STRBUF_INIT;
    char *file = file_of(h, name, false);
    strbuf_printf(&text, "%u %s", (unsigned)uid, h->root);
    forget_at(registry, h, name); /* the entry with the former path of the root */
    int rc = symlinkat(text.s, registry, file) == 0
                 ? 0
                 : err_errno(e, ERR_IO, "cannot note in " REGISTRY " whose a number is");
    free(file);
    strbuf_free(&text);
    return rc;
}

/* ---- the calls ---- */

int uids_take(const struct uid_range *range, const struct uid_holder *h, const char *name,
              uid_t *out, struct err *e)
{
    struct search s = {.holder = h, .name = name};
    int registry = open_registry(e), rc = 0;
    if (registry < 0)
        return -1;
    (void)each(registry, find_job, &s);
    if (s.uid == 0)
        rc = choose(registry, range, &s.uid, e);
    if (rc == 0 && !s.held)
        rc = note(registry, h, name, s.uid, e);
    *out = s.uid;
    close(registry);
    return rc;
}

static bool is_held(void *ctx, int registry, const struct entry *en)
{
    const struct search *s = ctx;
    (void)registry;
    return !en->ending && strcmp(en->name, s->name) == 0 && has_root(en);
}

int uids_let_go(const struct uid_holder *h, const char *name, struct err *e)
{
    struct search s = {.name = name};
    int registry = open_registry(e), rc = 0;
    if (registry < 0)
        return -1;
    char *held = file_of(h, name, false), *ending = file_of(h, name, true);
    if (renameat(registry, held, registry, ending) < 0 && errno != ENOENT)
        rc = err_errno(e, ERR_IO, "cannot rename %s in " REGISTRY, held);
    if (rc == 0)
        rc = each(registry, is_held, &s) ? 0 : 1;
    free(ending);
    free(held);
    close(registry);
    return rc;
}

void uids_forget(const struct uid_holder *h, const char *name)
{
    int registry = open(REGISTRY, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (registry < 0)
        return;
    forget_at(registry, h, name);
    close(registry);
}

struct tidying {
    const struct uid_holder *holder;
    bool (*knows)(const char *root, const char *name);
};

static bool tidy_one(void *ctx, int registry, const struct entry *en)
{
    const struct tidying *t = ctx;
    if (is_held_by(en, t->holder) && !t->knows(t->holder->root, en->name))
        forget_at(registry, t->holder, en->name);
    return false;
}

void uids_tidy(const struct uid_holder *h, bool (*knows)(const char *root, const char *name))
{
    struct tidying t = {h, knows};
    int registry = open(REGISTRY, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (registry >= 0 && flock(registry, LOCK_EX) == 0)
        (void)each(registry, tidy_one, &t);
    if (registry >= 0)
        close(registry);
}
