/* SPDX-License-Identifier: MIT
 *
 * A table by limit and scope. All counts of a limit last equally long, so that in a list in the
 * order of their beginnings the first is over first. (Where the clock was set back the list is not
 * in order for a while: then is_over() says so when one is looked for.)
 */
#include "api/testing/strict_counts.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

#include "lib/arena.h"

#define BUCKETS   4096
#define SECOND_US INT64_C(1000000)

struct count {
    enum strict_limit limit;
    int n;
    int64_t since_us;
    char *of, *subscription;  /* owned */
    LIST_ENTRY(count) beside; /* in its bucket */
    TAILQ_ENTRY(count) later;
};

LIST_HEAD(bucket, count);
TAILQ_HEAD(turn, count);

struct strict_counts {
    struct bucket buckets[BUCKETS];
    struct turn turns[STRICT_LIMITS_END]; /* the oldest first */
    size_t n;
};

static const int lasts_s[STRICT_LIMITS_END] = {
#define LASTS(limit, name, n, seconds) [limit] = seconds,
    STRICT_LIMITS(LASTS)
#undef LASTS
};

struct strict_counts *strict_counts_new(void)
{
    struct strict_counts *c = xcalloc(1, sizeof *c);
    for (size_t i = 0; i < BUCKETS; i++)
        LIST_INIT(&c->buckets[i]);
    for (size_t i = 0; i < STRICT_LIMITS_END; i++)
        TAILQ_INIT(&c->turns[i]);
    return c;
}

void strict_counts_free(struct strict_counts *c)
{
    strict_counts_forget(c, NULL);
    free(c);
}

size_t strict_counts_kept(const struct strict_counts *c)
{
    return c->n;
}

static size_t bucket_of(enum strict_limit limit, const char *of)
{
    uint32_t h = 2166136261u ^ (uint32_t)limit; /* FNV-1a hash */
    for (; *of; of++)
        h = (h ^ (uint32_t)tolower((unsigned char)*of)) * 16777619u;
    return h % BUCKETS;
}

static struct count *find(const struct strict_counts *c, enum strict_limit limit, const char *of)
{
    struct count *x;
    LIST_FOREACH(x, &c->buckets[bucket_of(limit, of)], beside)
    if (x->limit == limit && strcasecmp(x->of, of) == 0)
        return x;
    return NULL;
}

static int64_t end_of(const struct count *x)
{
    return x->since_us + lasts_s[x->limit] * SECOND_US;
}

static bool is_over(const struct count *x, int64_t now_us)
{
    return now_us < x->since_us || now_us >= end_of(x);
}

static void drop(struct strict_counts *c, struct count *x)
{
    LIST_REMOVE(x, beside);
    TAILQ_REMOVE(&c->turns[x->limit], x, later);
    c->n--;
    free(x->of);
    free(x->subscription);
    free(x);
}

static void drop_those_over(struct strict_counts *c, int64_t now_us)
{
    for (size_t i = 0; i < STRICT_LIMITS_END; i++)
        for (struct count *x = TAILQ_FIRST(&c->turns[i]), *next; x && is_over(x, now_us);
             x = next) {
            next = TAILQ_NEXT(x, later);
            drop(c, x);
        }
}

int strict_counts_get(const struct strict_counts *c, enum strict_limit limit, const char *of,
                      int64_t now_us, int64_t *left_us)
{
    const struct count *x = find(c, limit, of);
    bool counts = x && !is_over(x, now_us);
    *left_us = counts ? end_of(x) - now_us : 0;
    return counts ? x->n : 0;
}

static void begin(struct strict_counts *c, enum strict_limit limit, const char *of,
                  const char *subscription, int64_t now_us)
{
    if (c->n == STRICT_COUNTS_MAX || strlen(of) >= STRICT_SCOPE_BYTES)
        return;
    struct count *x = xcalloc(1, sizeof *x);
    *x = (struct count){.limit = limit,
                        .n = 1,
                        .since_us = now_us,
                        .of = xstrdup(of),
                        .subscription = xstrdup(subscription)};
    LIST_INSERT_HEAD(&c->buckets[bucket_of(limit, of)], x, beside);
    TAILQ_INSERT_TAIL(&c->turns[limit], x, later);
    c->n++;
}

void strict_counts_add(struct strict_counts *c, enum strict_limit limit, const char *of,
                       const char *subscription, int64_t now_us)
{
    drop_those_over(c, now_us);
    struct count *x = find(c, limit, of);
    if (x && is_over(x, now_us)) {
        drop(c, x);
        x = NULL;
    }
    if (x)
        x->n++;
    else
        begin(c, limit, of, subscription, now_us);
}

void strict_counts_forget(struct strict_counts *c, const char *subscription)
{
    for (size_t i = 0; i < STRICT_LIMITS_END; i++)
        for (struct count *x = TAILQ_FIRST(&c->turns[i]), *next; x; x = next) {
            next = TAILQ_NEXT(x, later);
            if (!subscription || strcasecmp(x->subscription, subscription) == 0)
                drop(c, x);
        }
}
