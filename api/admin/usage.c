/* SPDX-License-Identifier: MIT
 *
 * The use of nodes: sums of the record of use by user, group, cluster, GPU or experiment. Callers
 * see their own use, and all use of groups where they have the right batchaid/usage/read. The
 * record is read in slices, because there may be many days, many allocations that have not ended,
 * and many rows of a day that is only partly in the interval.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/admin/routes.h"
#include "api/admin/seen_jobs.h"
#include "api/admin/usage_json.h"
#include "api/http/request.h"
#include "lib/idmap.h"
#include "storage/usage.h"

/* Rows that are read at once: some milliseconds. */
#define SLICE 200

/* One line of the report: the sums of one key. */
struct usage_line {
    const char *key;
    struct usage_sums sums;
};

struct report {
    struct request *r;
    const char *(*key_of)(struct report *rep, const struct usage_subject *s);
    const char *by;
    struct st_usage_reading reading;
    struct usage_line *lines;
    size_t n, cap;
    struct id_map subjects; /* index of each subject's line plus 1; UNSEEN */
    bool sliced;            /* the reply is sent by request_finish() */
};

#define UNSEEN (-1)

/* --- keys ------------------------------------------------------------------------------------- */

/* The user's name for logging in; the object id if the user was removed. */
static const char *by_user(struct report *rep, const struct usage_subject *s)
{
    struct identity i;
    struct err e;
    if (!*s->owner)
        return "";
    int rc = access_identity(admin_of(rep->r)->access, &rep->r->arena, s->owner, &i, &e);
    return rc == 1 ? i.name : s->owner;
}

static const char *by_group(struct report *rep, const struct usage_subject *s)
{
    (void)rep;
    return s->group;
}

static const char *by_cluster(struct report *rep, const struct usage_subject *s)
{
    return arena_concat(&rep->r->arena, s->group, "/", s->home, "/", s->pool);
}

static const char *by_gpu(struct report *rep, const struct usage_subject *s)
{
    (void)rep;
    return *s->gpu ? s->gpu : s->vm_size;
}

static const char *by_experiment(struct report *rep, const struct usage_subject *s)
{
    return arena_concat(&rep->r->arena, s->group, "/", s->home, "/", s->experiment);
}

static const struct {
    const char *name;
    const char *(*key_of)(struct report *rep, const struct usage_subject *s);
} ways[] = {{"user", by_user},
            {"group", by_group},
            {"cluster", by_cluster},
            {"gpu", by_gpu},
            {"experiment", by_experiment}};

static int find_way(struct report *rep, const char **by, struct err *e)
{
    const char *wanted = request_query(rep->r, "by");
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (strcmp(wanted ? wanted : ways[0].name, ways[i].name) == 0) {
            *by = ways[i].name;
            rep->key_of = ways[i].key_of;
            return 0;
        }
    return err_set(e, ERR_INVALID_QUERY, "by",
                   "'%.100s' is not a valid grouping; use user, group, cluster, gpu or experiment",
                   wanted);
}

/* --- sums ------------------------------------------------------------------------------------- */

static bool sees(const struct request *r, const struct usage_subject *s)
{
    struct arena a;
    if (!r->grant || strcasecmp(s->owner, r->who->object_id) == 0)
        return true;
    arena_init(&a);
    const char *scope =
        arena_concat(&a, "/subscriptions/", s->subscription, "/resourceGroups/", s->group);
    bool yes = access_verdict(r->grant, "batchaid/usage/read", scope) == ACCESS_YES;
    arena_free(&a);
    return yes;
}

static bool is_nothing(const struct usage_sums *s)
{
    static const struct usage_sums nothing = {0};
    return memcmp(s, &nothing, sizeof nothing) == 0;
}

static void add_line(struct report *rep, const struct usage_subject *s,
                     const struct usage_sums *sums)
{
    if (rep->n == rep->cap) {
        rep->cap = rep->cap ? 2 * rep->cap : 64;
        rep->lines = xrealloc(rep->lines, rep->cap * sizeof *rep->lines);
    }
    rep->lines[rep->n++] =
        (struct usage_line){arena_strdup(&rep->r->arena, rep->key_of(rep, s)), *sums};
}

/* Adds a row to the sums. A subject has many rows: its key, and whether the caller may see it, are
 * found only once. */
static void take(void *ctx, const struct usage_subject *s, const struct usage_sums *sums)
{
    struct report *rep = ctx;
    int64_t at = s->id ? id_map_number(&rep->subjects, s->id) : 0;
    if (is_nothing(sums) || at == UNSEEN)
        return;
    if (at > 0) {
        usage_add(&rep->lines[at - 1].sums, sums);
        return;
    }
    bool seen = sees(rep->r, s);
    if (seen)
        add_line(rep, s, sums);
    if (s->id)
        id_map_put_number(&rep->subjects, s->id, seen ? (int64_t)rep->n : UNSEEN);
}

static int by_key(const void *a, const void *b)
{
    return strcasecmp(((const struct usage_line *)a)->key, ((const struct usage_line *)b)->key);
}

static void merge(struct report *rep)
{
    size_t n = 0;
    if (rep->n > 0)
        qsort(rep->lines, rep->n, sizeof *rep->lines, by_key);
    for (size_t i = 0; i < rep->n; i++) {
        if (n > 0 && by_key(&rep->lines[n - 1], &rep->lines[i]) == 0)
            usage_add(&rep->lines[n - 1].sums, &rep->lines[i].sums);
        else
            rep->lines[n++] = rep->lines[i];
    }
    rep->n = n;
}

static json_t *show(struct report *rep)
{
    struct usage_sums total = {0};
    json_t *list = json_array(), *all = json_object();
    for (size_t i = 0; i < rep->n; i++) {
        json_t *one = json_pack("{s:o}", "name", json_string(rep->lines[i].key));
        usage_show(one, &rep->lines[i].sums);
        usage_add(&total, &rep->lines[i].sums);
        json_array_append_new(list, one);
    }
    usage_show(all, &total);
    return json_pack("{s:s, s:o*, s:o, s:o, s:o}", "by", rep->by, "from",
                     seen_time(rep->reading.from_ms * 1000), "to",
                     seen_time(rep->reading.to_ms * 1000), "value", list, "total", all);
}

static void release(void *report)
{
    struct report *rep = report;
    free(rep->lines);
    id_map_free(&rep->subjects);
}

static struct replied *step(struct report *rep);

static void on_turn(struct request *r, void *ctx)
{
    struct report *rep = ctx;
    rep->sliced = true;
    struct replied *done = step(rep);
    if (done)
        request_finish(r, done);
}

/* NULL: later turns of the loop continue. */
static struct replied *step(struct report *rep)
{
    struct err e;
    bool left;
    if (st_usage_more(admin_of(rep->r)->storage, &rep->reading, SLICE, &left, &e) < 0)
        return reply_err(rep->r, &e);
    if (!left) {
        merge(rep);
        return reply_json(rep->r, 200, show(rep));
    }
    request_again(rep->r, on_turn, rep);
    return rep->sliced ? NULL : reply_later(rep->r);
}

struct replied *usage_report(struct request *r)
{
    struct report *rep = arena_alloc(&r->arena, sizeof *rep);
    int64_t now_ms = r->now_us / 1000;
    struct err e;
    *rep = (struct report){
        .r = r, .reading = {.now_ms = now_ms, .fn = take, .ctx = rep, .arena = &r->arena}};
    request_own_thing(r, rep, release);
    if (find_way(rep, &rep->by, &e) < 0 ||
        request_query_time(r, "from", 0, &rep->reading.from_ms, &e) < 0 ||
        request_query_time(r, "to", now_ms + 1, &rep->reading.to_ms, &e) < 0 ||
        st_usage_begin(admin_of(r)->storage, &rep->reading, &e) < 0)
        return reply_err(r, &e);
    return step(rep);
}
