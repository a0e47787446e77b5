/* SPDX-License-Identifier: MIT
 *
 * A ring of samples that grows up to its bound.
 */
#include <assert.h>
#include <stdlib.h>

#include "lib/arena.h"
#include "scheduler/formula/samples.h"

struct sample {
    int64_t at_us;
    float values[SAMPLE_METRIC_COUNT]; /* float: 7 digits are enough for scaling, and take half the
                                          memory */
};

struct samples {
    struct sample *ring;
    size_t first, count, cap;
};

const char *sample_metric_name(enum sample_metric m)
{
#define SAMPLE_NAME(symbol, name) [symbol] = name,
    static const char *const names[] = {SAMPLE_METRICS(SAMPLE_NAME)};
#undef SAMPLE_NAME
    return names[m];
}

struct samples *samples_create(void)
{
    return xcalloc(1, sizeof(struct samples));
}

void samples_destroy(struct samples *s)
{
    if (!s)
        return;
    free(s->ring);
    free(s);
}

static struct sample *sample(const struct samples *s, size_t i)
{
    assert(i < s->count);
    return &s->ring[(s->first + i) % s->cap];
}

/* Invariant: the ring begins at 0 as long as it grows, so growing moves nothing. */
static struct sample *room(struct samples *s)
{
    if (s->count == SAMPLES_MOST) {
        s->first = (s->first + 1) % s->cap;
        return sample(s, s->count - 1);
    }
    if (s->count == s->cap) {
        enum { FIRST = 32 };
        size_t cap = s->cap ? s->cap * 2 : FIRST;
        s->cap = cap < SAMPLES_MOST ? cap : SAMPLES_MOST;
        s->ring = xrealloc(s->ring, s->cap * sizeof *s->ring);
    }
    return sample(s, s->count++);
}

void samples_add(struct samples *s, int64_t at_us, const double values[SAMPLE_METRIC_COUNT])
{
    if (s->count > 0 && at_us <= samples_at(s, s->count - 1))
        return;
    struct sample *to = room(s);
    to->at_us = at_us;
    for (int m = 0; m < SAMPLE_METRIC_COUNT; m++)
        to->values[m] = (float)values[m];
}

size_t samples_count(const struct samples *s)
{
    return s ? s->count : 0;
}

int64_t samples_at(const struct samples *s, size_t i)
{
    return sample(s, i)->at_us;
}

double samples_value(const struct samples *s, size_t i, enum sample_metric m)
{
    return (double)sample(s, i)->values[m];
}
