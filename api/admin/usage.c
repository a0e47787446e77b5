/* SPDX-License-Identifier: MIT
 *
 * Who used what: sums of the record of use, by users, groups, clusters, GPUs or experiments.
 * Callers see their own use, and that in groups where they have the right batchaid/usage/read.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/admin/routes.h"
#include "api/admin/seen_jobs.h"
#include "api/admin/times.h"
#include "api/admin/usage_json.h"
#include "api/http/request.h"
#include "storage/usage.h"

/* An amount of one key of the report. */
struct line {
    const char *key;
    struct usage_sums sums;
};

struct report {
    struct request *r;
    const char *(*key_of)(struct report *rep, const struct usage_subject *s);
    struct line *lines;
    size_t n, cap;
};

/* --- keys ------------------------------------------------------------------------------------- */

/* The name with which somebody logs in; the object id of somebody who is gone. */
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

static void take(void *ctx, const struct usage_subject *s, const struct usage_sums *sums)
{
    struct report *rep = ctx;
    if (is_nothing(sums) || !sees(rep->r, s))
        return;
    if (rep->n == rep->cap) {
        rep->cap = rep->cap ? 2 * rep->cap : 64;
        rep->lines = xrealloc(rep->lines, rep->cap * sizeof *rep->lines);
    }
    rep->lines[rep->n++] = (struct line){arena_strdup(&rep->r->arena, rep->key_of(rep, s)), *sums};
}

static int by_key(const void *a, const void *b)
{
    return strcasecmp(((const struct line *)a)->key, ((const struct line *)b)->key);
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

static json_t *show(struct report *rep, const char *by, int64_t from_ms, int64_t to_ms)
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
    return json_pack("{s:s, s:o*, s:o, s:o, s:o}", "by", by, "from", seen_time(from_ms * 1000),
                     "to", seen_time(to_ms * 1000), "value", list, "total", all);
}

struct replied *usage_report(struct request *r)
{
    struct report rep = {.r = r};
    const char *by = NULL;
    int64_t now_ms = r->now_us / 1000, from_ms, to_ms;
    struct err e;
    int rc = find_way(&rep, &by, &e);
    if (rc == 0 && query_time(r, "from", 0, &from_ms, &e) == 0 &&
        query_time(r, "to", now_ms + 1, &to_ms, &e) == 0)
        rc = st_usage_each(admin_of(r)->storage, from_ms, to_ms, now_ms, take, &rep, &e);
    else
        rc = -1;
    if (rc == 0)
        merge(&rep);
    json_t *out = rc == 0 ? show(&rep, by, from_ms, to_ms) : NULL;
    free(rep.lines);
    return out ? reply_json(r, 200, out) : reply_err(r, &e);
}
