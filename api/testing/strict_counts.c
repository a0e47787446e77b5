/* SPDX-License-Identifier: MIT
 *
 * Keeps the counts in a table by limit and scope. All counts of one limit last equally long, so in
 * a list ordered by their beginnings the first count also ends first. (If the clock was set back, a
 * list is out of order for a while; is_over() still decides correctly when a count is looked up.)
 */
#include "api/testing/strict_counts.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

#include "lib/arena.h"
#include "lib/cache.h"

#define SECOND_US INT64_C(1000000)

struct count {
    enum strict_limit limit;
    int n;
    int64_t since_us;
    char *of, *subscription; /* owned */
    struct turn *turn;       /* the list of its limit that contains it */
    TAILQ_ENTRY(count) later;
};

TAILQ_HEAD(turn, count);

struct strict_counts {
    struct cache *counts;
    struct turn turns[STRICT_LIMITS_END]; /* the oldest first */
};

static const int lasts_s[STRICT_LIMITS_END] = {
#define LASTS(limit, name, n, seconds) [limit] = seconds,
    STRICT_LIMITS(LASTS)
#undef LASTS
};

static void drop_count(void *value)
{
    struct count *x = value;
    TAILQ_REMOVE(x->turn, x, later);
    free(x->of);
    free(x->subscription);
}

static const struct cache_kind kind = {.value_size = sizeof(struct count), .drop = drop_count};

struct strict_counts *strict_counts_new(void)
{
    struct strict_counts *c = xcalloc(1, sizeof *c);
    c->counts = cache_new(&kind);
    for (size_t i = 0; i < STRICT_LIMITS_END; i++)
        TAILQ_INIT(&c->turns[i]);
    return c;
}

void strict_counts_free(struct strict_counts *c)
{
    cache_free(c->counts);
    free(c);
}

size_t strict_counts_kept(const struct strict_counts *c)
{
    return cache_entries(c->counts);
}

/* The key of a count: the limit, and the scope in lower case. */
struct key {
    size_t n;
    char s[1 + STRICT_SCOPE_BYTES];
};

/* Fills *out. False: the name of the scope is too long, so its requests are not counted. */
static bool key_of(enum strict_limit limit, const char *of, struct key *out)
{
    out->n = 1 + strlen(of);
    if (out->n > STRICT_SCOPE_BYTES)
        return false;
    out->s[0] = (char)limit;
    for (size_t i = 1; i < out->n; i++)
        out->s[i] = (char)tolower((unsigned char)of[i - 1]);
    return true;
}

static struct count *find(const struct strict_counts *c, enum strict_limit limit, const char *of)
{
    struct key key;
    return key_of(limit, of, &key) ? cache_find(c->counts, key.s, key.n) : NULL;
}

static int64_t end_of(const struct count *x)
{
    return x->since_us + lasts_s[x->limit] * SECOND_US;
}

static bool is_over(const struct count *x, int64_t now_us)
{
    return now_us < x->since_us || now_us >= end_of(x);
}

static void drop(struct strict_counts *c, const struct count *x)
{
    struct key key;
    if (key_of(x->limit, x->of, &key))
        cache_remove(c->counts, key.s, key.n);
}

static void drop_those_over(struct strict_counts *c, int64_t now_us)
{
    for (size_t i = 0; i < STRICT_LIMITS_END; i++)
        for (const struct count *x = TAILQ_FIRST(&c->turns[i]), *next; x && is_over(x, now_us);
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
    struct key key;
    if (cache_entries(c->counts) == STRICT_COUNTS_MAX || !key_of(limit, of, &key))
        return;
    struct count *x = cache_add(c->counts, key.s, key.n, 0);
    *x = (struct count){.limit = limit,
                        .n = 1,
                        .since_us = now_us,
                        .of = xstrdup(of),
                        .subscription = xstrdup(subscription),
                        .turn = &c->turns[limit]};
    TAILQ_INSERT_TAIL(x->turn, x, later);
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

static bool is_of(const void *value, const void *subscription)
{
    return strcasecmp(((const struct count *)value)->subscription, subscription) == 0;
}

void strict_counts_forget(struct strict_counts *c, const char *subscription)
{
    if (subscription)
        cache_drop_if(c->counts, is_of, subscription);
    else
        cache_clear(c->counts);
}
