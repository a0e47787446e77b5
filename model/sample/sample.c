/* SPDX-License-Identifier: MIT
 *
 * Checks values against their bounds, decides on the states of GPUs, and computes averages. Loops
 * over values use the macros of sample.h, which list all values.
 */
#include "model/sample/sample.h"

#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"

const char *const gpu_state_names[GPU_STATES] = {"free", "used", "busy", "idle", "unusable"};

void gpu_sample_clear(struct gpu_sample *g)
{
    memset(g, 0, sizeof *g);
#define CLEAR(member, name, most) g->member = SAMPLE_UNKNOWN;
    SAMPLE_GPU_VALUES(CLEAR)
}

void sample_clear(struct node_sample *s)
{
    struct node_sample *g = s; /* the name in the macro CLEAR */
    memset(s, 0, sizeof *s);
    SAMPLE_NODE_VALUES(CLEAR)
#undef CLEAR
}

void sample_copy(struct node_sample *to, const struct node_sample *from)
{
    struct gpu_sample *gpus = NULL;
    if (from->n_gpus > 0) {
        gpus = xcalloc((size_t)from->n_gpus, sizeof *gpus);
        memcpy(gpus, from->gpus, (size_t)from->n_gpus * sizeof *gpus);
    }
    free(to->gpus);
    *to = *from;
    to->gpus = gpus;
}

void sample_free(struct node_sample *s)
{
    free(s->gpus);
    sample_clear(s);
}

static void believe(int64_t *value, int64_t most)
{
    if (*value < 0 || *value > most)
        *value = SAMPLE_UNKNOWN;
}

static void believe_gpu(struct gpu_sample *g)
{
#define BELIEVE(member, name, most) believe(&g->member, most);
    SAMPLE_GPU_VALUES(BELIEVE)
    if (g->listed < 0 || g->listed > SAMPLE_PROCESSES)
        g->listed = 0;
    for (int i = 0; i < g->listed; i++)
        believe(&g->processes[i].memory, SAMPLE_BYTES_MOST);
}

void sample_believe(struct node_sample *s)
{
    struct node_sample *g = s;
    SAMPLE_NODE_VALUES(BELIEVE)
#undef BELIEVE
    for (int i = 0; i < s->n_gpus; i++)
        believe_gpu(&s->gpus[i]);
}

int gpu_sample_works(const struct gpu_sample *g)
{
    return g->busy_permille == SAMPLE_UNKNOWN ? -1 : g->busy_permille >= SAMPLE_BUSY_FROM;
}

bool gpu_is_among(const char *numbers, int number)
{
    for (const char *at = numbers; *at;) {
        char *end;
        long n = strtol(at, &end, 10);
        if (end > at && n == number)
            return true;
        at = *end == ',' ? end + 1 : "";
    }
    return false;
}

enum gpu_state gpu_state_of(const struct gpu_sample *last, bool taken, bool usable)
{
    int works = last ? gpu_sample_works(last) : -1;
    if (!usable)
        return GPU_UNUSABLE;
    if (works == 1)
        return GPU_BUSY;
    if (!taken)
        return GPU_FREE;
    return works == 0 ? GPU_IDLE : GPU_USED;
}

bool gpu_is_used_outside(const struct gpu_sample *last, bool taken)
{
    return !taken && last && (gpu_sample_works(last) == 1 || last->n_processes > 0);
}

const struct gpu_sample *sample_gpu(const struct node_sample *s, int index)
{
    for (int i = 0; s && i < s->n_gpus; i++)
        if (s->gpus[i].index == index)
            return &s->gpus[i];
    return NULL;
}

static bool is_known(const struct gpu_sample *g)
{
#define OR_KNOWN(member, name, most) || g->member != SAMPLE_UNKNOWN
    return false SAMPLE_GPU_VALUES(OR_KNOWN);
#undef OR_KNOWN
}

bool sample_gpu_is_lost(const struct node_sample *s, const struct gpu_sample *g)
{
    if (is_known(g))
        return false;
    for (int i = 0; i < s->n_gpus; i++)
        if (is_known(&s->gpus[i]))
            return true;
    return false;
}

/* --- averages --------------------------------------------------------------------------------- */

#define COUNT(member, name, most) +1
enum { NODE_VALUES = 0 SAMPLE_NODE_VALUES(COUNT), GPU_VALUES = 0 SAMPLE_GPU_VALUES(COUNT) };
#undef COUNT

struct mean {
    double sum;
    int n;
};

struct gpu_mean {
    int index;
    char uuid[SAMPLE_UUID_SIZE];
    struct mean values[GPU_VALUES];
};

struct sample_mean {
    int n;
    int64_t at_us;
    struct mean values[NODE_VALUES];
    int n_gpus;
    struct gpu_mean gpus[SAMPLE_GPUS];
};

struct sample_mean *sample_mean_new(void)
{
    return xcalloc(1, sizeof(struct sample_mean));
}

void sample_mean_free(struct sample_mean *m)
{
    free(m);
}

static void add(struct mean *m, int64_t value)
{
    if (value == SAMPLE_UNKNOWN)
        return;
    m->sum += (double)value;
    m->n++;
}

static int64_t take(const struct mean *m)
{
    return m->n == 0 ? SAMPLE_UNKNOWN : (int64_t)(m->sum / m->n + 0.5);
}

static struct gpu_mean *mean_of(struct sample_mean *m, const struct gpu_sample *g)
{
    for (int i = 0; i < m->n_gpus; i++)
        if (m->gpus[i].index == g->index)
            return &m->gpus[i];
    if (m->n_gpus == SAMPLE_GPUS)
        return NULL;
    struct gpu_mean *more = &m->gpus[m->n_gpus++];
    memset(more, 0, sizeof *more);
    more->index = g->index;
    return more;
}

static void add_gpu(struct sample_mean *m, const struct gpu_sample *g)
{
    struct gpu_mean *to = mean_of(m, g);
    int k = 0;
    if (!to)
        return;
    memcpy(to->uuid, g->uuid, sizeof to->uuid);
#define ADD(member, name, most) add(&to->values[k++], g->member);
    SAMPLE_GPU_VALUES(ADD)
}

void sample_mean_add(struct sample_mean *m, const struct node_sample *s)
{
    struct sample_mean *to = m; /* the names in the macro ADD */
    const struct node_sample *g = s;
    int k = 0;
    if (m->n++ == 0)
        m->at_us = s->at_us;
    SAMPLE_NODE_VALUES(ADD)
#undef ADD
    for (int i = 0; i < s->n_gpus; i++)
        add_gpu(m, &s->gpus[i]);
}

static void take_gpu(const struct gpu_mean *from, struct gpu_sample *g)
{
    int k = 0;
    gpu_sample_clear(g);
    g->index = from->index;
    memcpy(g->uuid, from->uuid, sizeof g->uuid);
#define TAKE(member, name, most) g->member = take(&from->values[k++]);
    SAMPLE_GPU_VALUES(TAKE)
}

int sample_mean_take(struct sample_mean *m, struct node_sample *out)
{
    struct sample_mean *from = m;
    struct node_sample *g = out;
    int k = 0, n = m->n;
    sample_clear(out);
    if (n == 0)
        return 0;
    out->at_us = m->at_us;
    SAMPLE_NODE_VALUES(TAKE)
#undef TAKE
    out->n_gpus = m->n_gpus;
    out->gpus = m->n_gpus ? xcalloc((size_t)m->n_gpus, sizeof *out->gpus) : NULL;
    for (int i = 0; i < m->n_gpus; i++)
        take_gpu(&m->gpus[i], &out->gpus[i]);
    memset(m, 0, sizeof *m);
    return n;
}
