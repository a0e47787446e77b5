/* SPDX-License-Identifier: MIT
 *
 * Sources: cgroups(7) and Documentation/admin-guide/cgroup-v2.rst of Linux; getrusage(2), whose
 * blocks have 512 bytes.
 */
#include "nodeagent-proto/agent/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "nodeagent-proto/agent/file_text.h"
#include "nodeagent-proto/agent/monotonic.h"
#include "nodeagent-proto/agent/procs.h"

#define BLOCK_BYTES 512
/* ms: short tasks are sampled soon, long ones seldom */
#define FIRST_PAUSE 500
#define LAST_PAUSE  16000

/* The sum of the numbers behind `label`, wherever a word begins with it. */
static int64_t sum_of(const char *text, const char *label)
{
    int64_t sum = 0;
    size_t n = strlen(label);
    for (const char *at = text; (at = strstr(at, label)); at += n)
        if (at == text || at[-1] == '\n' || at[-1] == ' ')
            sum += strtoll(at + n, NULL, 10);
    return sum;
}

void measure_read_cpu(const char *text, struct measure_counts *out)
{
    out->user_us = sum_of(text, "user_usec ");
    out->kernel_us = sum_of(text, "system_usec ");
}

void measure_read_io(const char *text, struct measure_counts *out)
{
    out->read_bytes = sum_of(text, "rbytes=");
    out->write_bytes = sum_of(text, "wbytes=");
    out->read_ops = sum_of(text, "rios=");
    out->write_ops = sum_of(text, "wios=");
}

static struct measure_counts of_cgroup(const char *path)
{
    struct measure_counts c = {0};
    char *cpu = path ? file_text(path, "cpu.stat") : NULL;
    char *io = path ? file_text(path, "io.stat") : NULL;
    if (cpu)
        measure_read_cpu(cpu, &c);
    if (io)
        measure_read_io(io, &c);
    free(cpu);
    free(io);
    return c;
}

static int64_t us_of(struct timeval t)
{
    return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

static struct measure_counts of_children(void)
{
    struct rusage u = {0};
    getrusage(RUSAGE_CHILDREN, &u);
    return (struct measure_counts){.user_us = us_of(u.ru_utime),
                                   .kernel_us = us_of(u.ru_stime),
                                   .read_bytes = u.ru_inblock * (int64_t)BLOCK_BYTES,
                                   .write_bytes = u.ru_oublock * (int64_t)BLOCK_BYTES};
}

static int64_t peak_of(const char *path)
{
    int64_t peak = path ? file_number(path, "memory.peak", 0) : 0;
    return peak > 0 || !path ? peak : file_number(path, "memory.max_usage_in_bytes", 0);
}

void measure_begin(struct measure *m, const char *cgroup)
{
    *m = (struct measure){.cgroup = cgroup,
                          .cgroup_before = of_cgroup(cgroup),
                          .children_before = of_children(),
                          .peak_before = peak_of(cgroup),
                          .pause = FIRST_PAUSE,
                          .next_ms = monotonic_ms() + FIRST_PAUSE};
}

int64_t measure_tick(struct measure *m)
{
    int64_t now = monotonic_ms();
    if (now < m->next_ms)
        return m->next_ms - now;
    int64_t used = procs_memory_below(getpid());
    if (used > m->memory_used)
        m->memory_used = used;
    int64_t pause = m->pause;
    m->next_ms = now + pause;
    if (m->pause < LAST_PAUSE)
        m->pause *= 2;
    return pause;
}

/* The larger difference, at least 0: a file may be gone at the end. */
static int64_t more(int64_t a, int64_t a_before, int64_t b, int64_t b_before)
{
    int64_t most = a - a_before > b - b_before ? a - a_before : b - b_before;
    return most > 0 ? most : 0;
}

void measure_stop(struct measure *m)
{
    m->cgroup_after = of_cgroup(m->cgroup);
    m->children_after = of_children();
    m->peak_after = peak_of(m->cgroup);
    m->stopped = true;
}

void measure_tell(const struct measure *m, struct task_status *out)
{
    const struct measure_counts *c = &m->cgroup_after, *p = &m->children_after;
    const struct measure_counts *cb = &m->cgroup_before, *pb = &m->children_before;
    if (!m->stopped)
        return;
    out->measured = true;
    out->user_us = more(c->user_us, cb->user_us, p->user_us, pb->user_us);
    out->kernel_us = more(c->kernel_us, cb->kernel_us, p->kernel_us, pb->kernel_us);
    out->read_bytes = more(c->read_bytes, cb->read_bytes, p->read_bytes, pb->read_bytes);
    out->write_bytes = more(c->write_bytes, cb->write_bytes, p->write_bytes, pb->write_bytes);
    out->read_ops = more(c->read_ops, cb->read_ops, 0, 0);
    out->write_ops = more(c->write_ops, cb->write_ops, 0, 0);
    out->memory_used = m->memory_used;
    out->memory_peak = m->peak_after > m->peak_before ? m->peak_after : m->memory_used;
    if (out->memory_peak < m->memory_used)
        out->memory_peak = m->memory_used;
}
