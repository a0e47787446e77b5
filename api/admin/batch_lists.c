/* SPDX-License-Identifier: MIT
 *
 * Pools, jobs and tasks of Azure Batch in compact rows, of all accounts that the caller may read:
 * by account, then by name. Rows are read in slices. The place of a row is ACCOUNT/NAME. The first
 * page contains the number of rows if the page is the whole list, or if the caller asks for the
 * number; in the second case the rows after the page are read and counted, too.
 */
#include <assert.h>
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/admin/members.h"
#include "api/admin/routes.h"
#include "api/admin/seen_jobs.h"
#include "api/http/slices.h"
#include "lib/jsontext.h"
#include "storage/batch.h"
#include "storage/batch_jobs.h"

#define ROWS_DEFAULT 100
#define ROWS_MAX     1000
#define BATCH        200   /* rows read at once */
#define STATES_MAX   10    /* most states of a kind of row */
#define LOOKED_MAX   10000 /* rows read for one request, shown or not: some 100 ms */

struct batch_listing;

/* Pools, jobs or tasks. */
struct rows_kind {
    const char *noun, *action; /* action: the right to read */
    size_t size;
    const struct enum_name *states;
    /* Reads the rows whose names are after l->name. */
    int (*read)(struct batch_listing *l, struct slices *s, struct err *e);
    const char *(*name_of)(const void *row);
    const char *(*state_of)(const void *row);
    int (*show)(struct batch_listing *l, const void *row, json_t *to, struct err *e);
};

struct batch_listing {
    struct request *r;
    const struct rows_kind *kind;
    struct page *page;
    const char *states; /* wanted states; NULL: all */
    bool only;          /* list only one account */
    bool in_account;    /* the account has more rows */
    bool is_first;      /* this is the list's first page */
    bool counts;        /* the caller requests the number of rows */
    bool full;          /* the page is full: the rest is counted */
    int64_t account_id;
    int64_t job_id; /* the tasks' job */
    /* Names of the last account that was read. They are outside the request's arena, because that
     * is emptied after each batch. */
    struct strbuf account, group, subscription;
    struct strbuf name; /* of the last row in this account */
    long looked;
    long count; /* of the rows with a wanted state */
};

static void rows_free(void *ctx)
{
    struct batch_listing *l = ctx;
    strbuf_free(&l->account);
    strbuf_free(&l->group);
    strbuf_free(&l->subscription);
    strbuf_free(&l->name);
}

static struct storage *storage_of(const struct batch_listing *l)
{
    return admin_of(l->r)->storage;
}

/* --- the three kinds -------------------------------------------------------------------------- */

static const char *text_of(const struct strbuf *b)
{
    return b->len > 0 ? b->s : "";
}

/* The next part of the list: the rows after the last row that was read. */
static struct st_names part_of(const struct batch_listing *l)
{
    return (struct st_names){.after = text_of(&l->name), .limit = BATCH};
}

#define READS(kind, of)                                                                            \
    static int read_##kind##s(struct batch_listing *l, struct slices *s, struct err *e)            \
    {                                                                                              \
        struct batch_##kind##_rows rows = {0};                                                     \
        const struct st_names part = part_of(l);                                                   \
        int rc = st_batch_##kind##_list(storage_of(l), &l->r->arena, of, NULL, &part, &rows, e);   \
        s->rows = rows.items;                                                                      \
        s->n = rc < 0 ? 0 : rows.n;                                                                \
        return rc;                                                                                 \
    }
READS(pool, l->account_id)
READS(job, l->account_id)
READS(task, l->job_id)

#define NAMED(kind)                                                                                \
    static const char *kind##_name(const void *row)                                                \
    {                                                                                              \
        return ((const struct batch_##kind *)row)->name;                                           \
    }                                                                                              \
    static const char *kind##_state(const void *row)                                               \
    {                                                                                              \
        return enum_to_name(batch_##kind##_state_names,                                            \
                            (int)((const struct batch_##kind *)row)->state);                       \
    }
NAMED(pool)
NAMED(job)
NAMED(task)

/* Moves the members of `more` to `to`. json_pack() has omitted members that are NULL. */
static void add(json_t *to, json_t *more)
{
    json_auto_t *taken = more;
    json_object_update(to, taken);
}

static int show_pool(struct batch_listing *l, const void *row, json_t *to, struct err *e)
{
    const struct batch_pool *p = row;
    (void)l, (void)e;
    add(to, json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:b, s:i, s:o*}", "allocationState",
                      enum_to_name(batch_allocation_names, (int)p->size.state), "vmSize",
                      p->vm_size, "dedicatedNodes", p->has_dedicated, "lowPriorityNodes",
                      p->has_low, "targetDedicatedNodes", p->size.dedicated,
                      "targetLowPriorityNodes", p->size.low, "autoScale", (int)p->scaling.enabled,
                      "slots", p->slots, "createdTime", seen_time(p->created_us)));
    if (p->size.errors)
        json_object_set_new(to, "hasResizeErrors", json_true());
    return 0;
}

static int show_job(struct batch_listing *l, const void *row, json_t *to, struct err *e)
{
    const struct batch_job *j = row;
    struct batch_counts n = {0};
    if (st_batch_job_counts(storage_of(l), &l->r->arena, j->id, &n, e) < 0)
        return -1;
    add(to, json_pack("{s:s*, s:i, s:o*, s:o*, s:o*, s:{s:I, s:I, s:I, s:I}}", "pool",
                      *j->pool_name ? j->pool_name : NULL, "priority", j->priority, "createdTime",
                      seen_time(j->created_us), "startTime", seen_time(j->start_us), "endTime",
                      seen_time(j->end_us), "tasks", "active", (json_int_t)n.active, "running",
                      (json_int_t)n.running, "succeeded", (json_int_t)n.succeeded, "failed",
                      (json_int_t)n.failed));
    return 0;
}

static int show_task(struct batch_listing *l, const void *row, json_t *to, struct err *e)
{
    const struct batch_task *t = row;
    json_auto_t *failure = t->failure ? json_loads(t->failure, 0, NULL) : NULL;
    (void)l, (void)e;
    add(to,
        json_pack("{s:s*, s:s*, s:s*, s:s*, s:i, s:o*, s:o*, s:o*}", "result",
                  t->result ? enum_to_name(batch_result_names, (int)t->result) : NULL, "failure",
                  json_string_value(json_object_get(failure, "code")), "pool", t->pool_name, "node",
                  t->node_name, "retries", t->retries, "createdTime", seen_time(t->created_us),
                  "startTime", seen_time(t->start_us), "endTime", seen_time(t->end_us)));
    if (t->has_exit_code)
        json_object_set_new(to, "exitCode", json_integer(t->exit_code));
    return 0;
}

#define KIND(kind, action)                                                                         \
    {                                                                                              \
#kind, action, sizeof(struct batch_##kind), batch_##kind##_state_names, read_##kind##s,    \
            kind##_name, kind##_state, show_##kind                                                 \
    }
static const struct rows_kind pools = KIND(pool, SEEN_BATCH_POOLS),
                              jobs = KIND(job, SEEN_BATCH_JOBS),
                              tasks = KIND(task, SEEN_BATCH_JOBS);

/* The next page will begin after this row. Does nothing if the page is full: then the row belongs
 * to the next page. */
static void pass(struct batch_listing *l, const char *key)
{
    if (!l->full)
        page_pass(l->page, key);
}

/* --- accounts --------------------------------------------------------------------------------- */

static void set(struct strbuf *b, const char *text)
{
    strbuf_reset(b);
    strbuf_puts(b, text);
}

/* Makes account `b` the current account; reading begins after the row `name`. */
static void enter(struct batch_listing *l, const struct batch_account *b, const char *name)
{
    l->account_id = b->id;
    l->in_account = true;
    set(&l->account, b->name);
    set(&l->group, b->scope.group);
    set(&l->subscription, b->scope.subscription);
    set(&l->name, name);
}

/* Reads the next account: 1; 0: there is none; -1: err. An account that the caller may not read is
 * skipped: it is never part of a row's place, and does not count for LOOKED_MAX, so that each page
 * has a place. */
static int next_account(struct batch_listing *l, struct err *e)
{
    struct batch_account_rows rows;
    if (l->only)
        return 0;
    if (st_batch_account_list_all(storage_of(l), &l->r->arena,
                                  &(struct st_names){.after = text_of(&l->account), .limit = 1},
                                  &rows, e) < 0)
        return -1;
    if (rows.n == 0)
        return 0;
    enter(l, &rows.items[0], "");
    l->in_account = seen_in_account(l->r, &rows.items[0], l->kind->action);
    if (l->in_account) {
        l->looked++;
        pass(l, arena_concat(&l->r->arena, rows.items[0].name, "/"));
    }
    return 1;
}

/* --- slices ----------------------------------------------------------------------------------- */

static int fetch(struct slices *s, struct err *e)
{
    struct batch_listing *l = s->of;
    int rc;
    s->n = 0;
    if (!l->in_account) {
        rc = next_account(l, e);
        s->at_end = rc == 0;
        if (rc < 0 || !l->in_account)
            return rc < 0 ? -1 : 0;
    }
    rc = l->kind->read(l, s, e);
    l->in_account = rc == 0 && s->n == BATCH;
    s->at_end = rc == 0 && !l->in_account && l->only;
    return rc;
}

static int add_row(struct slices *s, const void *row, struct err *e)
{
    struct batch_listing *l = s->of;
    struct request *r = l->r;
    const char *name = l->kind->name_of(row), *state = l->kind->state_of(row);
    const char *account = text_of(&l->account), *of = text_of(&l->subscription);
    const char *key = arena_concat(&r->arena, account, "/", name);
    l->looked++;
    set(&l->name, name);
    if (l->states && !words_have(l->states, state)) {
        pass(l, key);
        return 0;
    }
    l->count++;
    if (l->full)
        return 0;
    bool usual = strcasecmp(of, admin_of(r)->access->subscription_id) == 0;
    json_auto_t *shown =
        json_pack("{s:s*, s:s, s:s, s:s, s:s}", "subscription", usual ? NULL : of, "group",
                  text_of(&l->group), "account", account, "name", name, "state", state);
    if (l->kind->show(l, row, shown, e) < 0)
        return -1;
    page_add(l->page, key, json_incref(shown));
    l->full = l->page->more && l->counts;
    if (l->full)
        l->page->more = false; /* later rows are only counted */
    return 0;
}

static bool is_enough(struct slices *s)
{
    const struct batch_listing *l = s->of;
    return l->looked >= LOOKED_MAX;
}

static void begin(struct page *p)
{
    strbuf_puts(&p->text, "{\"value\":[");
}

/* `next` is the place of the last row read for the page, whether the row was shown or not. */
static void end(struct page *p)
{
    const struct batch_listing *l = p->of;
    strbuf_puts(&p->text, "]");
    if (l->is_first && (l->counts || !p->more))
        strbuf_printf(&p->text, ",\"count\":%ld%s", l->count,
                      p->more ? ",\"countIsMinimum\":true" : "");
    if ((p->more || l->full) && p->last.len > 0) {
        strbuf_puts(&p->text, ",\"next\":");
        jsontext_add_text(&p->text, p->last.s, p->last.len);
    }
    strbuf_puts(&p->text, "}");
}

/* --- requests --------------------------------------------------------------------------------- */

static int find_account(struct batch_listing *l, const char *name, struct batch_account *out,
                        struct err *e)
{
    struct request *r = l->r;
    int rc = st_batch_account_by_name(admin_of(r)->storage, &r->arena, arena_lower(&r->arena, name),
                                      out, e);
    if (rc < 0 || (rc > 0 && seen_in_account(r, out, l->kind->action)))
        return rc < 0 ? -1 : 0;
    return err_set(e, ERR_RESOURCE_NOT_FOUND, "account",
                   "There is no Batch account '%.60s' that you may read.", name);
}

/* Begins with the account in the query, or after the place `after` of the query. */
static int find_begin(struct batch_listing *l, struct err *e)
{
    struct request *r = l->r;
    struct batch_account b;
    const char *account = query_filled(r, "account"), *after = query_filled(r, "after");
    const char *slash = after ? strchr(after, '/') : NULL;
    if (after && !slash)
        return err_set(
            e, ERR_INVALID_QUERY, "after",
            "'%.100s' is not a valid position in the list; use `next` of the previous page", after);
    if (account) {
        if (find_account(l, account, &b, e) < 0)
            return -1;
        l->only = true;
        enter(l, &b, slash ? slash + 1 : "");
        return 0;
    }
    if (!slash)
        return 0;
    const char *name = arena_strndup(&r->arena, after, (size_t)(slash - after));
    set(&l->account, name);
    int rc = st_batch_account_by_name(storage_of(l), &r->arena, name, &b, e);
    if (rc > 0 && seen_in_account(r, &b, l->kind->action))
        enter(l, &b, slash + 1);
    return rc < 0 ? -1 : 0;
}

/* Finds the job whose tasks are listed. */
static int find_job(struct batch_listing *l, struct err *e)
{
    struct batch_job j;
    struct request *r = l->r;
    static const char *const wanted[] = {"account", "job"};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (!query_filled(r, wanted[i]))
            return err_set(e, ERR_INVALID_QUERY, wanted[i],
                           "The query parameter %s is missing: tasks are listed by "
                           "?account=NAME&job=ID",
                           wanted[i]);
    if (find_begin(l, e) < 0)
        return -1;
    const char *id = request_query(r, "job");
    int rc = st_batch_job_get(storage_of(l), &r->arena, l->account_id, id, &j, e);
    l->job_id = rc > 0 ? j.id : 0;
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    return err_set(e, ERR_JOB_NOT_FOUND, "job", "The Batch account %s has no job '%.100s'.",
                   text_of(&l->account), id);
}

static int check_states(struct request *r, const struct rows_kind *kind, const char *states,
                        struct err *e)
{
    const char *names[STATES_MAX + 1] = {NULL};
    for (size_t i = 0; kind->states[i].name; i++) {
        assert(i < STATES_MAX);
        names[i] = kind->states[i].name;
    }
    return words_check(r, "state", arena_concat(&r->arena, "state of a ", kind->noun), states,
                       names, e);
}

static struct replied *list(struct request *r, const struct rows_kind *kind,
                            int (*find)(struct batch_listing *l, struct err *e))
{
    static const struct page_form form = {JSON_CONTENT_TYPE, begin, ",", end};
    static const struct slices_kind how = {fetch, add_row, is_enough};
    static const char *const yes_or_no[] = {"true", "false", NULL};
    struct err e;
    long max;
    const char *count = request_query(r, "count");
    struct batch_listing *l = arena_alloc(&r->arena, sizeof *l);
    *l = (struct batch_listing){.r = r,
                                .kind = kind,
                                .states = query_filled(r, "state"),
                                .is_first = !query_filled(r, "after")};
    l->counts = l->is_first && count && strcasecmp(count, "true") == 0;
    request_own_thing(r, l, rows_free);
    if (request_query_int(r, "max", (struct query_bounds){1, ROWS_MAX, ROWS_DEFAULT}, &max, &e) <
            0 ||
        words_check(r, "count", "value of count", count, yes_or_no, &e) < 0 ||
        check_states(r, kind, l->states, &e) < 0 || find(l, &e) < 0)
        return reply_err(r, &e);
    l->page = page_begin(r, &form, max, "");
    l->page->of = l;
    return slices_reply(l->page, &how, l, kind->size);
}

struct replied *batch_pools_list_all(struct request *r)
{
    return list(r, &pools, find_begin);
}

struct replied *batch_jobs_list_all(struct request *r)
{
    return list(r, &jobs, find_begin);
}

struct replied *batch_tasks_list_all(struct request *r)
{
    return list(r, &tasks, find_job);
}
