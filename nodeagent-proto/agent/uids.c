/* SPDX-License-Identifier: MIT
 *
 * Chooses numbers: the next number in ascending order that is neither in the registry nor in the
 * machine's databases, under the registry's lock. The file NEXT contains the position. Runs as
 * root.
 */
#include "nodeagent-proto/agent/uids.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "nodeagent-proto/agent/names.h"
#include "nodeagent-proto/agent/procs.h"
#include "nodeagent-proto/agent/registry.h"

/* A file of the registry, "NUMBER BOOT FREE": the number after the last assigned number; the boot
 * of that assignment; and FREE, the lowest recorded number from NUMBER on, so that the numbers from
 * NUMBER to FREE - 1 may be assigned without reading all entries. This holds because every process
 * that records a new number also rewrites this file. Older agents write no FREE and ignore it: then
 * FREE is computed again.
 *
 * The file is overwritten in place: readers never see half a line, the write needs no space on a
 * full disk, and it frees no blocks, which can be slow (mount option discard). The write is not
 * flushed to the disk: after a reboot, numbers that may have been assigned right before it are
 * skipped (BOOT_STEP). */
#define NEXT ".next"
/* A file of the registry: the index of the last assigned account with room (uids.h). */
#define ROOM ".room"

/* After a reboot, so many numbers are skipped: more than are assigned in the seconds of records
 * that a power cut may lose. An even number. */
#define BOOT_STEP 10000U

#define LOWEST       ((unsigned)NODE_UID_LOWEST)
#define HIGHEST      ((unsigned)NODE_UID_HIGHEST)
#define DATABASE_MAX (16U * 1024 * 1024)

int uids_check(const struct uid_range *r, struct err *e)
{
    if (r->first >= LOWEST && r->count >= NODE_UIDS_MIN && r->count <= HIGHEST - r->first)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, "first",
                   "%u account numbers from %u on are not a valid range; use at least %d numbers, "
                   "from %u on and below %u",
                   r->count, (unsigned)r->first, NODE_UIDS_MIN, LOWEST, HIGHEST);
}

/* ---- the next number ---- */

struct next {
    unsigned number, free_to;
    char boot[64];
};

static void read_boot(char *out, size_t size)
{
    char *text = NULL;
    *out = '\0';
    if (fs_read("/proc/sys/kernel/random/boot_id", 256, &text, NULL, NULL) == 0)
        snprintf(out, size, "%.*s", (int)strcspn(text, "\n"), text);
    free(text);
}

/* Reads NEXT. If an earlier boot wrote it, its last changes may have been lost in a power cut, so
 * numbers are skipped. */
static void read_next(struct next *out)
{
    char *text;
    *out = (struct next){.number = 0};
    read_boot(out->boot, sizeof out->boot);
    if (fs_read(REGISTRY "/" NEXT, 256, &text, NULL, NULL) < 0)
        return;
    const char *boot = strstr(text, out->boot);
    out->number = (unsigned)strtoul(text, NULL, 10);
    if (boot)
        out->free_to = (unsigned)strtoul(boot + strlen(out->boot), NULL, 10);
    else
        out->number += BOOT_STEP;
    free(text);
}

static int write_next(int registry, const struct next *n, struct err *e)
{
    char text[128];
    int len = snprintf(text, sizeof text, "%010u %s %010u\n", n->number, n->boot, n->free_to);
    int fd = openat(registry, NEXT, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    int rc = fd >= 0 && pwrite(fd, text, (size_t)len, 0) == len
                 ? 0
                 : err_errno(e, ERR_IO, "cannot write " REGISTRY "/" NEXT);
    if (fd >= 0)
        close(fd);
    return rc;
}

/* ---- choosing ---- */

/* Whether field `at` of any line of `path` is one of the `len` numbers from `uid` on. `counted`:
 * the field begins a range, and the next field is the range's length (subuid(5)). */
static bool file_has(const char *path, int at, bool counted, uid_t uid, unsigned len)
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
        has = first < uid + (unsigned long long)len && uid < first + n;
    }
    free(text);
    return has;
}

static bool is_known(uid_t uid, unsigned len)
{
    return file_has("/etc/passwd", 2, false, uid, len) ||
           file_has("/etc/group", 2, false, uid, len) ||
           file_has("/etc/subuid", 1, true, uid, len) || file_has("/etc/subgid", 1, true, uid, len);
}

/* The numbers of all entries, ascending. */
struct numbers {
    uid_t *items;
    size_t n, cap;
};

static bool add_number(void *ctx, int registry, const struct registry_entry *en)
{
    struct numbers *all = ctx;
    (void)registry;
    if (all->n == all->cap) {
        all->cap = all->cap ? all->cap * 2 : 256;
        all->items = xrealloc(all->items, all->cap * sizeof *all->items);
    }
    all->items[all->n++] = en->uid;
    return false;
}

static int compare_numbers(const void *a, const void *b)
{
    uid_t x = *(const uid_t *)a, y = *(const uid_t *)b;
    return (x > y) - (x < y);
}

static void read_numbers(int registry, struct numbers *out)
{
    (void)registry_each(registry, NULL, add_number, out);
    if (out->n > 0)
        qsort(out->items, out->n, sizeof *out->items, compare_numbers);
}

/* The lowest recorded number that is at least `uid`; HIGHEST if there is none. */
static uid_t noted_from(const struct numbers *all, uid_t uid)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i] >= uid)
            return all->items[i];
    return HIGHEST;
}

struct stretch {
    uid_t first;
    unsigned len;
};

/* Whether an entry takes a number of the stretch. An entry of a removed root with no process
 * running with its number is removed. */
static bool is_needed(void *ctx, int registry, const struct registry_entry *en)
{
    const struct stretch *s = ctx;
    if (en->uid < s->first || en->uid - s->first >= s->len)
        return false;
    if (!entry_is_gone(en) || procs_run_as(en->uid, 2))
        return true;
    registry_remove(registry, en);
    name_take_back(en->uid);
    return false;
}

/* ---- accounts with room ---- */

bool uid_has_room(uid_t uid)
{
    return uid % (2 * NODE_UID_ROOM) == NODE_UID_ROOM;
}

/* Returns how many accounts with room the upper half of the range has; *first is the number of the
 * first account. */
static unsigned rooms_of(const struct uid_range *r, uid_t *first)
{
    const uint64_t step = 2 * NODE_UID_ROOM, from = r->first + (uint64_t)r->count / 2,
                   to = r->first + (uint64_t)r->count;
    uint64_t slot = (from + step - 1) / step * step;
    *first = (uid_t)(slot + NODE_UID_ROOM);
    return slot + step <= to ? (unsigned)((to - slot) / step) : 0;
}

/* How many numbers accounts without room may have. */
static unsigned plain_count(const struct uid_range *r)
{
    uid_t first;
    return rooms_of(r, &first) > 0 ? r->count / 2 : r->count;
}

/* The index after the last assigned account with room, from the file ROOM; without the file, some
 * accounts are reused early. */
static unsigned last_room(int registry, unsigned rooms)
{
    char *text;
    unsigned n = 0;
    (void)registry;
    if (fs_read(REGISTRY "/" ROOM, 64, &text, NULL, NULL) == 0) {
        n = (unsigned)strtoul(text, NULL, 10) + 1;
        free(text);
    }
    return n % rooms;
}

static void note_room(int registry, unsigned i)
{
    char text[32];
    int len = snprintf(text, sizeof text, "%010u\n", i);
    int fd = openat(registry, ROOM, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    ssize_t ignored = pwrite(fd, text, (size_t)len, 0);
    (void)ignored;
    close(fd);
}

static int choose_room(int registry, const struct uid_range *r, uid_t *out, struct err *e)
{
    uid_t first;
    unsigned rooms = rooms_of(r, &first), from = last_room(registry, rooms);
    for (unsigned i = 0; i < rooms; i++) {
        unsigned at = (from + i) % rooms;
        uid_t uid = first + at * 2 * NODE_UID_ROOM;
        struct stretch s = {uid - NODE_UID_ROOM, 2 * NODE_UID_ROOM};
        if (is_known(s.first, s.len) || registry_each(registry, NULL, is_needed, &s))
            continue;
        note_room(registry, at);
        *out = uid;
        return 0;
    }
    return err_set(
        e, ERR_IO, "first",
        "all of the %u accounts for containers from %u on are taken on this machine: see " REGISTRY
        ", /etc/passwd and /etc/subuid, and configure more (jobs.uids)",
        rooms, (unsigned)first);
}

/* ---- accounts without room ---- */

/* Finds the first free number from next->number on, and advances *next. Reads all entries at most
 * once, and not at all as long as NEXT shows that the number is free. */
static int choose_next(int registry, const struct uid_range *r, struct next *next,
                       struct numbers *all, struct err *e)
{
    const unsigned pairs = (plain_count(r) - 2) / 2;
    unsigned from = 0;
    bool has_read = false;
    if (next->number >= r->first + 2 && next->number - r->first - 2 < 2 * pairs)
        from = (next->number - r->first - 2) / 2;
    for (unsigned i = 0; i < pairs; i++) {
        uid_t uid = r->first + 2 + 2 * ((from + i) % pairs);
        bool is_free = uid >= next->number && uid < next->free_to;
        if (!is_free && !has_read)
            read_numbers(registry, all);
        has_read = has_read || !is_free;
        struct stretch s = {uid, 1};
        if (uid_has_room(uid) || is_known(uid, 2) ||
            (!is_free && noted_from(all, uid) == uid &&
             registry_each(registry, NULL, is_needed, &s)))
            continue;
        if (!is_free)
            next->free_to = noted_from(all, uid + 1);
        next->number = uid + 2;
        return 0;
    }
    return err_set(e, ERR_IO, "first",
                   "all of the %u numbers from %u on are taken on this machine: see " REGISTRY
                   ", /etc/passwd and /etc/subuid, and configure more (jobs.first_uid, jobs.uids)",
                   r->count, (unsigned)r->first);
}

static int choose(int registry, const struct uid_range *r, uid_t *out, struct err *e)
{
    struct numbers all = {0};
    struct next next;
    read_next(&next);
    int rc = choose_next(registry, r, &next, &all, e);
    if (rc == 0)
        rc = write_next(registry, &next, e);
    *out = next.number - 2;
    free(all.items);
    return rc;
}

static int note(int registry, const struct uid_holder *h, const char *name, uid_t uid,
                struct err *e)
{
    return registry_note(registry, h, name, uid) == 0
               ? 0
               : err_errno(e, ERR_IO,
                           "cannot record in " REGISTRY " to whom an account number belongs");
}

/* ---- the calls ---- */

struct uid_search {
    const struct uid_holder *holder;
    uid_t uid;     /* 0: not found yet */
    bool is_noted; /* an entry of a root, removed or not, has a number for the job */
    bool held;     /* the holder's root already holds `uid` */
};

static bool find_job(void *ctx, int registry, const struct registry_entry *en)
{
    struct uid_search *s = ctx;
    (void)registry;
    s->is_noted = true;
    if (entry_is_gone(en))
        return false;
    s->uid = en->uid;
    s->held = !en->ending && entry_is_held_by(en, s->holder);
    return s->held;
}

int uids_take(const struct uid_range *range, bool room, const struct uid_holder *h,
              const char *name, uid_t *out, struct err *e)
{
    struct uid_search s = {.holder = h};
    uid_t ignored;
    int registry = registry_lock(e), rc = 0;
    if (registry < 0)
        return -1;
    (void)registry_each(registry, name, find_job, &s);
    if (s.uid == 0)
        rc = room && rooms_of(range, &ignored) > 0 ? choose_room(registry, range, &s.uid, e)
                                                   : choose(registry, range, &s.uid, e);
    if (rc == 0 && s.is_noted && !s.held)
        registry_forget(registry, h, name); /* removes the entry with the former path of the root */
    if (rc == 0 && !s.held)
        rc = note(registry, h, name, s.uid, e);
    *out = s.uid;
    close(registry);
    return rc;
}

static bool is_held(void *ctx, int registry, const struct registry_entry *en)
{
    (void)ctx;
    (void)registry;
    return !en->ending && !entry_is_gone(en);
}

int uids_let_go(const struct uid_holder *h, const char *name, struct err *e)
{
    int registry = registry_lock(e), rc = 0;
    if (registry < 0)
        return -1;
    char *held = registry_file(h, name, false), *ending = registry_file(h, name, true);
    if (renameat(registry, held, registry, ending) < 0 && errno != ENOENT)
        rc = err_errno(e, ERR_IO, "cannot rename %s in " REGISTRY, held);
    if (rc == 0)
        rc = registry_each(registry, name, is_held, NULL) ? 0 : 1;
    free(ending);
    free(held);
    close(registry);
    return rc;
}

void uids_forget(const struct uid_holder *h, const char *name)
{
    int registry = registry_look();
    if (registry < 0)
        return;
    registry_forget(registry, h, name);
    close(registry);
}

static bool is_there(int registry, const struct uid_holder *h, const char *name)
{
    bool there = false;
    struct registry_entry en;
    for (int ending = 0; ending < 2 && !there; ending++) {
        char *file = registry_file(h, name, ending);
        there = registry_read(registry, file, &en);
        free(file);
    }
    return there;
}

/* Records a number that was assigned earlier. This may make FREE in NEXT wrong, so FREE is
 * reset. */
static int note_again(int registry, const struct uid_holder *h, const char *name, uid_t uid,
                      struct err *e)
{
    struct next next;
    read_next(&next);
    next.free_to = 0;
    return write_next(registry, &next, e) < 0 ? -1 : note(registry, h, name, uid, e);
}

int uids_keep(const struct uid_holder *h, const char *name, uid_t uid, struct err *e)
{
    int registry = registry_look(), rc = 0;
    bool there = registry >= 0 && is_there(registry, h, name);
    if (registry >= 0)
        close(registry);
    if (there)
        return 0;
    registry = registry_lock(e);
    if (registry < 0)
        return -1;
    if (!is_there(registry, h, name))
        rc = note_again(registry, h, name, uid, e);
    close(registry);
    return rc;
}

struct other_job {
    const char *name;
    uid_t uid;
};

/* Whether the entry belongs to another job of an existing root, and its numbers (with its room, or
 * its second number) include o->uid. */
static bool is_anothers(void *ctx, int registry, const struct registry_entry *en)
{
    const struct other_job *o = ctx;
    unsigned below = uid_has_room(en->uid) ? NODE_UID_ROOM : 0,
             above = uid_has_room(en->uid) ? NODE_UID_ROOM : 2;
    (void)registry;
    return strcmp(en->name, o->name) != 0 && o->uid >= en->uid - below &&
           o->uid < en->uid + above && !entry_is_gone(en);
}

int uids_take_back(const struct uid_holder *h, const char *name, uid_t uid, struct err *e)
{
    struct other_job o = {name, uid};
    int registry = registry_lock(e), rc = 0;
    if (registry < 0)
        return -1;
    if (registry_each(registry, NULL, is_anothers, &o))
        rc = 1;
    else if (!is_there(registry, h, name))
        rc = note_again(registry, h, name, uid, e);
    close(registry);
    return rc;
}

struct tidying {
    const struct uid_holder *holder;
    bool (*knows)(const char *root, const char *name);
    bool has_others;
};

static bool tidy_one(void *ctx, int registry, const struct registry_entry *en)
{
    struct tidying *t = ctx;
    if (!entry_is_held_by(en, t->holder))
        t->has_others = true;
    else if (!t->knows(t->holder->root, en->name))
        registry_forget(registry, t->holder, en->name);
    return false;
}

bool uids_tidy(const struct uid_holder *h, bool (*knows)(const char *root, const char *name))
{
    struct tidying t = {.holder = h, .knows = knows};
    struct err e;
    int registry = registry_look();
    if (registry < 0)
        return false;
    close(registry);
    registry = registry_lock(&e);
    if (registry < 0)
        return false;
    (void)registry_each(registry, NULL, tidy_one, &t);
    /* older agents wrote a temporary file and renamed it to NEXT */
    fs_remove_leftovers(REGISTRY "/" NEXT);
    close(registry);
    return t.has_others;
}
