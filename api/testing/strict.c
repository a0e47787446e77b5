/* SPDX-License-Identifier: MIT
 *
 * Requests that turn strict mode on and set its numbers.
 */
#include "api/testing/strict.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/http/accept.h"
#include "api/testing/errors.h"
#include "api/testing/routes.h"
#include "api/testing/testing.h"
#include "model/schema_rows.h"
#include "model/span.h"
#include "scheduler/scheduler.h"
#include "scheduler/wake/paced.h"
#include "storage/detachment.h"

#define SPAN_MAX_S   (7L * 24 * 3600)
#define LIMIT_MAX    1000000000
#define PROFILES_MAX 1000

static const struct {
    const char *name;
    int64_t usual_us;
} spans[PACE_STEPS] = {
#define SPAN_ROW(step, name, ms) [step] = {name, INT64_C(1000) * (ms)},
    STRICT_SPANS(SPAN_ROW)
#undef SPAN_ROW
};

static const struct {
    const char *name;
    int usual;
} limits[STRICT_LIMITS_END] = {
#define LIMIT_ROW(limit, name, n, seconds) [limit] = {name, n},
    STRICT_LIMITS(LIMIT_ROW)
#undef LIMIT_ROW
};

/* --- profiles --------------------------------------------------------------------------------- */

static struct strict_profile usual_profile(bool on)
{
    struct strict_profile p = {.on = on};
    for (size_t i = 0; i < PACE_STEPS; i++)
        p.takes_us[i] = spans[i].usual_us;
    for (size_t i = 0; i < STRICT_LIMITS_END; i++)
        p.most[i] = limits[i].usual;
    return p;
}

static struct strict_profile *profile_new(const char *subscription,
                                          const struct strict_profile *like)
{
    struct strict_profile *p = xcalloc(1, sizeof *p);
    *p = *like;
    p->subscription = subscription ? xstrdup(subscription) : NULL;
    return p;
}

static void profile_free(struct strict_profile *p)
{
    free(p->subscription);
    free(p);
}

static void drop_all(struct testing_strict *s)
{
    while (s->first) {
        struct strict_profile *p = s->first;
        s->first = p->next;
        profile_free(p);
    }
}

struct testing_strict *testing_strict_create(struct storage *st, const struct access *access,
                                             bool on)
{
    struct testing_strict *s = xcalloc(1, sizeof *s);
    const struct strict_profile usual = usual_profile(on);
    *s = (struct testing_strict){.pace = {strict_is_on, strict_takes_us, s},
                                 .storage = st,
                                 .access = access,
                                 .begun_on = on,
                                 .general = profile_new(NULL, &usual),
                                 .counts = strict_counts_new()};
    return s;
}

void testing_strict_free(struct testing_strict *s)
{
    if (!s)
        return;
    drop_all(s);
    profile_free(s->general);
    strict_counts_free(s->counts);
    free(s);
}

const struct pace *testing_strict_pace(const struct testing_strict *s)
{
    return s ? &s->pace : NULL;
}

/* Removes the profile of a subscription. False: it has none. */
static bool drop(struct testing_strict *s, const char *subscription)
{
    for (struct strict_profile **at = &s->first; *at; at = &(*at)->next)
        if (strcasecmp((*at)->subscription, subscription) == 0) {
            struct strict_profile *p = *at;
            *at = p->next;
            profile_free(p);
            return true;
        }
    return false;
}

/* Takes ownership of `p`, and replaces the earlier profile of its subscription. */
static void put(struct testing_strict *s, struct strict_profile *p)
{
    if (!p->subscription) {
        profile_free(s->general);
        s->general = p;
        return;
    }
    (void)drop(s, p->subscription);
    p->next = s->first;
    s->first = p;
}

bool testing_strict_clear(struct testing_strict *s, const char *subscription)
{
    bool was_on = strict_is_on(s, NULL);
    strict_counts_forget(s->counts, subscription);
    if (subscription)
        return drop(s, subscription);
    const struct strict_profile usual = usual_profile(s->begun_on);
    drop_all(s);
    put(s, profile_new(NULL, &usual));
    return was_on;
}

/* --- reading ---------------------------------------------------------------------------------- */

struct strict_body {
    const char *subscription; /* NULL: all */
    struct strict_profile profile;
};

#define SPAN_ROW(step, name, ms)                                                                   \
    SPAN(name, .max = SPAN_MAX_S, .expected = "a duration such as PT1M30S, of 7 days at most",     \
         INTO(strict_body, profile.takes_us[step])),
#define LIMIT_ROW(limit, name, n, seconds)                                                         \
    INT(name, .max = LIMIT_MAX, .expected = "a number of requests, 0 (any) to 1000000000",         \
        INTO(strict_body, profile.most[limit])),
static const struct field body_rows[] = {TEXT("subscription", INTO(strict_body, subscription)),
                                         BOOL("strict", INTO(strict_body, profile.on)),
                                         STRICT_SPANS(SPAN_ROW) STRICT_LIMITS(LIMIT_ROW)};
#undef SPAN_ROW
#undef LIMIT_ROW
static SCHEMA(strict_body, body_rows, "Strict", FILLS(strict_body));

/* *out: the subscription's id as rows contain it; NULL: the body names no subscription. */
static int read_subscription(struct request *r, const char *id, const char **out, struct err *e)
{
    struct subscription found;
    *out = NULL;
    if (!id)
        return 0;
    int rc = access_subscription(testing_of(r)->arm.access, &r->arena, id, &found, e);
    if (rc == 0)
        return err_set(e, ARM_SUBSCRIPTION_NOT_FOUND, "subscription",
                       "The subscription '%.100s' could not be found.", id);
    *out = found.guid;
    return rc < 0 ? -1 : 0;
}

/* Returns NULL on an error. */
static struct strict_profile *read_body(struct request *r, struct err *e)
{
    struct strict_body b = {.profile = usual_profile(true)};
    const char *subscription;
    if (request_read_body(r, &strict_body, &b, e) < 0 ||
        read_subscription(r, b.subscription, &subscription, e) < 0)
        return NULL;
    return profile_new(subscription, &b.profile);
}

/* --- handlers --------------------------------------------------------------------------------- */

static json_t *render(const struct strict_profile *p)
{
    char text[SPAN_SIZE];
    json_t *o = json_pack("{s:s*, s:b}", "subscription", p->subscription, "strict", p->on);
    for (size_t i = 0; i < PACE_STEPS; i++) {
        span_text(p->takes_us[i], text);
        json_object_set_new(o, spans[i].name, json_string(text));
    }
    for (size_t i = 0; i < STRICT_LIMITS_END; i++)
        json_object_set_new(o, limits[i].name, json_integer(p->most[i]));
    return o;
}

static int n_others(const struct testing_strict *s, const char *subscription)
{
    int n = 0;
    for (const struct strict_profile *p = s->first; p; p = p->next)
        n += strcasecmp(p->subscription, subscription) != 0;
    return n;
}

struct replied *strict_set(struct request *r)
{
    struct err e;
    const struct testing *t = testing_of(r);
    struct strict_profile *p = read_body(r, &e);
    if (!p)
        return reply_err(r, &e);
    if (p->subscription && n_others(t->strict, p->subscription) >= PROFILES_MAX) {
        err_set(&e, ERR_QUOTA, NULL, "%d subscriptions ask for strict mode; remove some.",
                PROFILES_MAX);
        profile_free(p);
        return reply_err(r, &e);
    }
    put(t->strict, p);
    LOG_INFO(r->config->log, "testing.strict_changed", LF_STR("subscription", p->subscription),
             LF_INT("on", p->on));
    wakes_pace_changed(sched_wakes(t->arm.sched));
    return reply_json(r, 200, render(p));
}

/* Query: ?subscription=ID: shows the profile that applies to it. */
struct replied *strict_show(struct request *r)
{
    struct err e;
    const struct testing_strict *s = testing_of(r)->strict;
    const char *subscription;
    json_t *value;
    if (read_subscription(r, request_query(r, "subscription"), &subscription, &e) < 0)
        return reply_err(r, &e);
    if (subscription) {
        value = json_pack("[o]", render(strict_profile_of(s, subscription)));
        return reply_json(r, 200, json_pack("{s:o}", "value", value));
    }
    value = json_array();
    for (const struct strict_profile *p = s->first; p; p = p->next)
        json_array_append_new(value, render(p));
    json_array_append_new(value, render(s->general));
    return reply_json(r, 200, json_pack("{s:o}", "value", value));
}

struct replied *strict_remove(struct request *r)
{
    struct err e;
    const struct testing *t = testing_of(r);
    const char *subscription;
    if (read_subscription(r, request_query(r, "subscription"), &subscription, &e) < 0)
        return reply_err(r, &e);
    if (testing_strict_clear(t->strict, subscription))
        wakes_pace_changed(sched_wakes(t->arm.sched));
    return reply_empty(r, 204);
}

/* --- the profiles of subscriptions ------------------------------------------------------------ */

const struct strict_profile *strict_profile_of(const struct testing_strict *s,
                                               const char *subscription)
{
    for (const struct strict_profile *p = s->first; p; p = p->next)
        if (strcasecmp(p->subscription, subscription) == 0)
            return p;
    return s->general;
}

bool strict_is_on(const void *ctx, const char *subscription)
{
    const struct testing_strict *s = ctx;
    if (subscription) /* groups that a reset has detached do not wait for delays of strict mode */
        return strcmp(subscription, GROUPS_DETACHED) != 0 && strict_profile_of(s, subscription)->on;
    for (const struct strict_profile *p = s->first; p; p = p->next)
        if (p->on)
            return true;
    return s->general->on;
}

int64_t strict_takes_us(const void *ctx, const char *subscription, enum pace_step step)
{
    return strict_profile_of(ctx, subscription)->takes_us[step];
}
