/* SPDX-License-Identifier: MIT
 *
 * Measures a task from its start to its end: it reads the counts of the cgroup and of the ended
 * children before and after, and takes samples of the memory at growing intervals. A file beside
 * the container's note contains which counts of the container's cgroup earlier tasks have got; a
 * lock protects it. The supervisor owns the struct. Sources: cgroup-v2.rst of Linux; getrusage(2),
 * whose blocks have 512 bytes.
 */
#include "nodeagent-proto/agent/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/cgroup.h"
#include "nodeagent-proto/agent/file_text.h"
#include "nodeagent-proto/agent/monotonic.h"
#include "nodeagent-proto/agent/procs.h"

#define BLOCK_BYTES 512
/* The pauses between samples, in ms: they grow, so that short tasks are sampled soon and long tasks
 * seldom. */
#define FIRST_PAUSE 500
#define LAST_PAUSE  16000
/* Waits up to a second for the lock of another task that is taking its counts. */
#define LOCK_TRIES 100
#define LOCK_STEP                                                                                  \
    (struct timespec)                                                                              \
    {                                                                                              \
        .tv_nsec = 10000000                                                                        \
    }
#define NOTE_MAX   65536
#define TOLD_MAX   160
#define TOLD_WRITE "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n"

static int64_t us_of(struct timeval t)
{
    return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

static struct cgroup_counts of_children(void)
{
    struct rusage u = {0};
    getrusage(RUSAGE_CHILDREN, &u);
    return (struct cgroup_counts){.user_us = us_of(u.ru_utime),
                                  .kernel_us = us_of(u.ru_stime),
                                  .read_bytes = u.ru_inblock * (int64_t)BLOCK_BYTES,
                                  .write_bytes = u.ru_oublock * (int64_t)BLOCK_BYTES};
}

static void begin(struct measure *m)
{
    *m = (struct measure){
        .peak_fd = -1, .pause = FIRST_PAUSE, .next_ms = monotonic_ms() + FIRST_PAUSE};
}

void measure_begin(struct measure *m, const char *cgroup)
{
    begin(m);
    m->known = true;
    cgroup_files_in(cgroup, &m->files);
    m->cgroup_before = cgroup_files_counts(&m->files);
    m->children_before = of_children();
    m->peak_before = cgroup_files_peak(&m->files);
    if (m->peak_before > 0)
        m->peak_fd = cgroup_reset_peak(cgroup);
}

/* Returns the text of the note; NULL: it is not a regular file. Users of the container may be able
 * to replace the note by something whose opening or reading blocks, such as a FIFO. */
static char *read_note(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    char *text =
        fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? xcalloc(1, NOTE_MAX) : NULL;
    ssize_t n = text ? read(fd, text, NOTE_MAX - 1) : 0;
    if (fd >= 0)
        close(fd);
    if (n > 0)
        return text;
    free(text);
    return NULL;
}

void measure_begin_in_container(struct measure *m, const char *note)
{
    struct strbuf told = STRBUF_INIT;
    begin(m);
    char *lines = note ? read_note(note) : NULL, *mounts = file_text("/proc/self", "mountinfo");
    if (mounts && lines)
        cgroup_files_find(lines, mounts, &m->files);
    cgroup_files_keep_real(&m->files);
    m->known = cgroup_files_any(&m->files);
    if (m->known)
        strbuf_concat(&told, note, ".counted");
    m->told_path = m->known ? strbuf_take(&told) : NULL;
    free(lines);
    free(mounts);
}

int64_t measure_tick(struct measure *m)
{
    int64_t now = monotonic_ms();
    if (now < m->next_ms)
        return m->next_ms - now;
    int64_t used = m->told_path ? cgroup_files_memory(&m->files)
                   : m->known   ? procs_memory_below(getpid())
                                : 0;
    if (used > m->memory_used)
        m->memory_used = used;
    int64_t pause = m->pause;
    m->next_ms = now + pause;
    if (m->pause < LAST_PAUSE)
        m->pause *= 2;
    return pause;
}

/* Returns the larger of the two differences, or 0 if both are negative, because a file may be gone
 * at the end. */
static int64_t more(int64_t a, int64_t a_before, int64_t b, int64_t b_before)
{
    int64_t most = a - a_before > b - b_before ? a - a_before : b - b_before;
    return most > 0 ? most : 0;
}

/* Reads the peak from the descriptor of cgroup_reset_peak(), and closes it. */
static int64_t peak_since(int fd)
{
    char text[32] = "";
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    close(fd);
    return n > 0 ? strtoll(text, NULL, 10) : 0;
}

/* Returns the peak of this task; 0: unknown. If the cgroup's count could not be restarted, the peak
 * belongs to this task only if it is higher than before the task. */
static int64_t own_peak(struct measure *m)
{
    int fd = m->peak_fd;
    int64_t peak = fd >= 0 ? 0 : cgroup_files_peak(&m->files);
    m->peak_fd = -1;
    return fd >= 0 ? peak_since(fd) : peak > m->peak_before ? peak : 0;
}

/* Takes the lock; false: not within the time limit, because any process that may open the file can
 * hold its lock. */
static bool lock_soon(int fd)
{
    int rc = flock(fd, LOCK_EX | LOCK_NB);
    for (int i = 0; rc < 0 && errno == EWOULDBLOCK && i < LOCK_TRIES; i++) {
        nanosleep(&LOCK_STEP, NULL);
        rc = flock(fd, LOCK_EX | LOCK_NB);
    }
    return rc == 0;
}

static struct cgroup_counts read_told(int fd)
{
    struct cgroup_counts c = {0};
    char text[TOLD_MAX] = "";
    char *at = text;
    int64_t *const all[] = {&c.user_us,     &c.kernel_us, &c.read_bytes,
                            &c.write_bytes, &c.read_ops,  &c.write_ops};
    if (pread(fd, text, sizeof text - 1, 0) > 0)
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
            *all[i] = strtoll(at, &at, 10);
    return c;
}

static bool write_told(int fd, const struct cgroup_counts *c)
{
    char text[TOLD_MAX];
    int n = snprintf(text, sizeof text, TOLD_WRITE, c->user_us, c->kernel_us, c->read_bytes,
                     c->write_bytes, c->read_ops, c->write_ops);
    return pwrite(fd, text, (size_t)n, 0) == n;
}

/* Takes the counts of the container that no earlier task has got. The container's start makes the
 * file, and it is removed with the container. False: the counts are unknown, because they cannot be
 * written to the file, so that a later task would get them again, or because the cgroup is gone. */
static bool take_untold(struct measure *m)
{
    int fd = open(m->told_path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool taken = false;
    if (fd >= 0 && lock_soon(fd)) {
        m->cgroup_before = read_told(fd);
        m->cgroup_after = cgroup_files_counts(&m->files);
        cgroup_files_keep_real(&m->files);
        taken = cgroup_files_any(&m->files) && write_told(fd, &m->cgroup_after);
    }
    if (fd >= 0)
        close(fd);
    return taken;
}

void measure_stop(struct measure *m)
{
    if (m->stopped)
        return;
    m->stopped = true;
    m->cgroup_after = cgroup_files_counts(&m->files);
    m->children_after = m->told_path ? m->children_before : of_children();
    m->peak_after = own_peak(m);
    if (m->told_path && !take_untold(m))
        m->known = false;
    cgroup_files_free(&m->files);
    free(m->told_path);
    m->told_path = NULL;
}

void measure_tell(const struct measure *m, struct task_status *out)
{
    const struct cgroup_counts *c = &m->cgroup_after, *p = &m->children_after;
    const struct cgroup_counts *cb = &m->cgroup_before, *pb = &m->children_before;
    if (!m->stopped || !m->known)
        return;
    out->measured = true;
    out->user_us = more(c->user_us, cb->user_us, p->user_us, pb->user_us);
    out->kernel_us = more(c->kernel_us, cb->kernel_us, p->kernel_us, pb->kernel_us);
    out->read_bytes = more(c->read_bytes, cb->read_bytes, p->read_bytes, pb->read_bytes);
    out->write_bytes = more(c->write_bytes, cb->write_bytes, p->write_bytes, pb->write_bytes);
    out->read_ops = more(c->read_ops, cb->read_ops, 0, 0);
    out->write_ops = more(c->write_ops, cb->write_ops, 0, 0);
    out->memory_used = m->memory_used;
    out->memory_peak = m->peak_after > m->memory_used ? m->peak_after : m->memory_used;
}
