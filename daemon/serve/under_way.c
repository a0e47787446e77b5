/* SPDX-License-Identifier: MIT
 *
 * The daemon, its signal handler and the command `batchaid refused` share the mapped file without a
 * lock: the daemon adds records, and the command sets keys to 0.
 */
#include "daemon/serve/under_way.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/hash.h"
#include "lib/strbuf.h"
#include "lib/timefmt.h"
#include "lib/version.h"

#define MAGIC "batchaid under way 1"
enum { LAST = 6, AGAIN_MOST = 3, AGAIN_S = 600, FILE_SIZE = 16 * 1024 };

struct last {
    uint64_t key;
    char what[WORK_TEXT_SIZE];
};

struct map {
    char magic[24];
    uint64_t program;            /* identifies the build of the program that has counted */
    int64_t again_s[AGAIN_MOST]; /* when this process executed itself again, in monotonic seconds */
    int32_t again_pid;           /* the process that has just executed itself again; 0: none */
    int32_t port;
    int32_t signo; /* the signal of the recorded end; 0: none was recorded */
    int32_t by_watchdog;
    uint32_t n_last, n;
    struct last last[LAST];
    struct under_way_refused all[UNDER_WAY_MOST]; /* a key 0 marks a free place */
};
_Static_assert(sizeof(struct map) <= FILE_SIZE, "it fits");

static struct map *map; /* NULL: there is no file */
static bool again;

/* --- the file ------------------------------------------------------------------------------------
 */

/* Maps the file, with its space allocated on the disk: access to a page without space would cause
 * SIGBUS. */
static struct map *map_file(const char *path, bool make)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | (make ? O_CREAT : 0), 0600);
    struct stat st;
    if (fd < 0)
        return NULL;
    void *at = MAP_FAILED;
    if (fstat(fd, &st) == 0 &&
        (st.st_size == FILE_SIZE ||
         (make && ftruncate(fd, 0) == 0 && posix_fallocate(fd, 0, FILE_SIZE) == 0)))
        at = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    else
        errno = EINVAL;
    close(fd);
    if (at == MAP_FAILED && make)
        (void)unlink(path);
    return at == MAP_FAILED ? NULL : at;
}

static bool is_sound(const struct map *m)
{
    return memcmp(m->magic, MAGIC, sizeof MAGIC) == 0 && m->n_last <= LAST &&
           m->n <= UNDER_WAY_MOST;
}

/* Identifies the build: two builds of one version have different files. */
static uint64_t this_program(void)
{
    struct stat st = {0};
    char text[128];
    (void)stat("/proc/self/exe", &st);
    int n = snprintf(text, sizeof text, "%s %lld %lld", BATCHAID_VERSION, (long long)st.st_size,
                     (long long)st.st_mtime);
    return text_hash(text, (size_t)n);
}

/* --- the last end --------------------------------------------------------------------------------
 */

static struct under_way_refused *find(struct map *m, uint64_t key)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->all[i].key == key)
            return &m->all[i];
    return NULL;
}

/* Returns a free place, or the place with the oldest crash. */
static struct under_way_refused *place(struct map *m)
{
    if (m->n < UNDER_WAY_MOST)
        return &m->all[m->n++];
    struct under_way_refused *oldest = &m->all[0];
    for (size_t i = 1; i < UNDER_WAY_MOST; i++)
        if (m->all[i].key == 0 || (oldest->key != 0 && m->all[i].last_us < oldest->last_us))
            oldest = &m->all[i];
    return oldest;
}

static void why_text(const struct map *m, char out[48])
{
    const char *name = sigabbrev_np(m->signo);
    if (m->by_watchdog)
        snprintf(out, 48, "the watchdog");
    else
        snprintf(out, 48, "%s%s", name ? "SIG" : "a signal", name ? name : "");
}

static void count(struct map *m, const struct last *one, const struct log *log)
{
    char what[WORK_TEXT_SIZE], why[48];
    memcpy(what, one->what, sizeof what);
    what[sizeof what - 1] = '\0';
    struct under_way_refused *r = find(m, one->key);
    if (!r) {
        r = place(m);
        *r = (struct under_way_refused){.key = one->key};
    }
    r->ends++;
    r->last_us = time_now_us();
    why_text(m, why);
    memcpy(r->why, why, sizeof why);
    memcpy(r->what, what, sizeof what);
    LOG_ERROR(log, "work.crashed_daemon", LF_STR("work", what), LF_INT("times", r->ends),
              LF_STR("cause", why),
              LF_STR("remedy", r->ends < UNDER_WAY_ENDS
                                   ? NULL
                                   : "it is refused from now on; `batchaid refused` shows and "
                                     "allows it"));
}

static void count_last(struct map *m, const struct log *log)
{
    char why[48];
    if (m->signo == 0)
        return;
    why_text(m, why);
    LOG_ERROR(log, "daemon.crashed", LF_STR("cause", why), LF_INT("work_in_progress", m->n_last));
    for (size_t i = 0; i < m->n_last; i++)
        if (m->last[i].key != 0)
            count(m, &m->last[i], log);
    m->signo = 0;
    /* Synced, because after a power cut this crash must not be counted again. */
    (void)msync(m, FILE_SIZE, MS_SYNC);
}

/* --- while it serves
 * ------------------------------------------------------------------------------ */

static int judge(void *ctx, const struct work_item *w, struct err *e)
{
    (void)ctx;
    if (__atomic_load_n(&map->n, __ATOMIC_RELAXED) == 0)
        return 0;
    const struct under_way_refused *r = find(map, work_key(w));
    if (!r || r->ends < UNDER_WAY_ENDS)
        return 0;
    char when[TIMEFMT_SIZE];
    timefmt_fixed(r->last_us, when);
    return err_set(e, ERR_ENDED_DAEMON, NULL,
                   "The daemon has crashed %u times during this work, last at %s by %s (%s), so it "
                   "is refused until an operator allows it: batchaid refused allow %016llx.",
                   r->ends, when, r->why, r->what, (unsigned long long)r->key);
}

void under_way_open(const char *path, const struct log *log)
{
    uint64_t program = this_program();
    again = false;
    map = map_file(path, true);
    if (!map) {
        LOG_INFO(log, "work.not_recorded", LF_STR("path", path), LF_STR("why", strerror(errno)));
        return;
    }
    if (!is_sound(map)) {
        memset(map, 0, sizeof *map);
        memcpy(map->magic, MAGIC, sizeof MAGIC);
    }
    again = map->again_pid == getpid();
    if (!again)
        memset(map->again_s, 0, sizeof map->again_s);
    map->again_pid = 0;
    if (map->program != program) {
        map->program = program;
        map->n = map->n_last = 0;
    }
    count_last(map, log);
    map->n_last = 0;
    map->by_watchdog = 0;
}

void under_way_judge(fault_hook begins)
{
    const struct work_judge j = {.judge = map ? judge : NULL, .begins = begins};
    work_set_judge(&j);
}

void under_way_close(void)
{
    work_set_judge(NULL);
    if (map)
        munmap(map, FILE_SIZE);
    map = NULL;
}

bool under_way_is_again(void)
{
    return again;
}

int under_way_port(int port)
{
    return port == 0 && again && map ? map->port : port;
}

void under_way_listens(const char *endpoint)
{
    const char *colon = strrchr(endpoint, ':');
    if (map && colon)
        map->port = (int32_t)strtol(colon + 1, NULL, 10);
}

/* --- in signal handlers: no lock, no allocation --- */

static void note(const struct work_item *w)
{
    if (map->n_last == LAST)
        return;
    struct last *l = &map->last[map->n_last];
    l->key = work_key(w);
    work_text(w, l->what);
    map->n_last++;
}

/* Records the loop's present work, because it is more likely the cause than work that waits; if
 * there is none, all work that waits. */
void under_way_note_end(int signo, bool loop, bool watchdog)
{
    if (!map)
        return;
    map->n_last = 0;
    map->by_watchdog = watchdog;
    map->signo = signo;
    const struct work_item *w = loop ? work_now() : NULL;
    if (w) {
        note(w);
        return;
    }
    for (w = work_first_open(); w; w = w->next)
        note(w);
}

bool under_way_may_go_again(int64_t now_s)
{
    if (!map)
        return false;
    for (size_t i = 0; i < AGAIN_MOST; i++) {
        if (map->again_s[i] != 0 && now_s - map->again_s[i] < AGAIN_S)
            continue;
        map->again_s[i] = now_s > 0 ? now_s : 1;
        map->again_pid = getpid();
        return true;
    }
    return false;
}

/* --- the command
 * ------------------------------------------------------------------------------------ */

/* 1: *out is the file; 0: there is no file, or it has other contents; -1: it cannot be read. */
static int open_for_command(const char *path, struct map **out, struct err *e)
{
    *out = map_file(path, false);
    if (*out && is_sound(*out))
        return 1;
    int error = errno;
    if (*out) {
        munmap(*out, FILE_SIZE);
        return 0;
    }
    errno = error;
    return error == ENOENT || error == EINVAL ? 0 : err_errno(e, ERR_IO, "cannot read %s", path);
}

int under_way_list(const char *path, struct under_way_refused out[UNDER_WAY_MOST], size_t *n,
                   struct err *e)
{
    struct map *m;
    int rc = open_for_command(path, &m, e);
    *n = 0;
    for (size_t i = 0; rc == 1 && i < m->n; i++)
        if (m->all[i].key != 0 && m->all[i].ends >= UNDER_WAY_ENDS)
            out[(*n)++] = m->all[i];
    if (rc == 1)
        munmap(m, FILE_SIZE);
    return rc < 0 ? -1 : 0;
}

int under_way_allow(const char *path, uint64_t key, size_t *n, struct err *e)
{
    struct map *m;
    int rc = open_for_command(path, &m, e);
    *n = 0;
    for (size_t i = 0; rc == 1 && i < m->n; i++)
        if (m->all[i].key != 0 && m->all[i].ends >= UNDER_WAY_ENDS &&
            (key == 0 || m->all[i].key == key)) {
            __atomic_store_n(&m->all[i].key, 0, __ATOMIC_RELAXED);
            (*n)++;
        }
    if (rc == 1)
        munmap(m, FILE_SIZE);
    return rc < 0 ? -1 : 0;
}
