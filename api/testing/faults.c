/* SPDX-License-Identifier: MIT
 *
 * Faults: rules that say what becomes of the next requests that fit. Counted, in the order in which
 * they were made: the first that fits and is not used up hits a request, and no other does.
 */
#include "api/testing/faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/http/json_members.h"
#include "api/testing/errors.h"
#include "api/testing/routes.h"
#include "api/testing/strict.h"
#include "api/testing/subscription_of.h"
#include "api/testing/testing.h"

#define FAULTS_MAX   1000
#define TIMES_MAX    1000000
#define DELAY_MAX_MS 600000
#define TEXT_MAX     1000

/* What a request was told, in its arena: the fault may go before it. */
struct hit {
    struct injected injected;
    int64_t number; /* injected.ctx points to it */
    struct request *r;
    struct hit **prev, *next; /* in the list of those that are held */
};

static void fault_free(struct fault *f)
{
    selector_free(&f->match);
    free(f->held);
    free(f->code);
    free(f->message);
    free(f);
}

static void remove_at(struct testing_faults *all, struct fault **at)
{
    struct fault *f = *at;
    *at = f->next;
    all->n--;
    fault_free(f);
}

void testing_faults_free(struct testing_faults *f)
{
    while (f && f->first)
        remove_at(f, &f->first);
    if (f)
        faults_pending_free(f);
    free(f);
}

/* --- what they do ----------------------------------------------------------------------------- */

static const struct injected *inject(struct testing_faults *all, struct request *r,
                                     const struct fault *f)
{
    struct hit *h = arena_alloc(&r->arena, sizeof *h);
    *h = (struct hit){.number = f->number, .r = r};
    h->injected =
        (struct injected){.delay_ms = f->delay_ms,
                          .held = f->hold,
                          .status = f->status,
                          .code = f->code ? arena_strdup(&r->arena, f->code) : NULL,
                          .message = f->message ? arena_strdup(&r->arena, f->message) : "",
                          .retry_after_s = f->retry_after_s,
                          .cut = f->cut,
                          .cut_before = f->cut_before,
                          .ctx = &h->number};
    if (f->hold) {
        h->prev = &all->held;
        h->next = all->held;
        if (h->next)
            h->next->prev = &h->next;
        all->held = h;
    }
    LOG_INFO(r->config->log, "testing.fault_applied", LF_INT("fault", f->number),
             LF_STR("method", r->method), LF_STR("path", r->target));
    return &h->injected;
}

static void unlist(struct hit *h)
{
    if (!h->prev)
        return;
    *h->prev = h->next;
    if (h->next)
        h->next->prev = h->prev;
    h->prev = NULL;
}

const struct injected *testing_begin(void *ctx, struct request *r)
{
    const struct testing *t = ctx;
    struct testing_faults *all = t->faults;
    const struct injected *throttled = strict_count_request(t->strict, r);
    if (!all->first || throttled)
        return throttled;
    const char *account = whose_account(r, &r->arena);
    const struct told told = told_of(r, whose_account_is(t->arm.storage, &r->arena, r, account));
    for (struct fault *f = all->first; f; f = f->next)
        if (f->kind == OF_REQUEST && fault_hits(f, &told))
            return inject(all, r, f);
    return NULL;
}

/* Lets all go that the fault holds. */
static int release_held(struct testing_faults *all, struct fault *fault)
{
    int n = 0;
    int64_t number = fault->number;
    if (fault->kind != OF_REQUEST)
        return fault_let_go(all, fault);
    for (struct hit *h = all->held, *next; h; h = next) {
        next = h->next;
        if (h->number != number)
            continue;
        unlist(h);
        watch_let_go(h->r);
        n++;
    }
    return n;
}

static int count_held(const struct testing_faults *all, const struct fault *fault)
{
    int n = (int)fault->n_held;
    int64_t number = fault->number;
    for (const struct hit *h = all->held; h; h = h->next)
        n += h->number == number;
    return n;
}

/* Of a server that stops, all are let go without us. */
void testing_faults_forget(struct testing_faults *all, const struct request *r)
{
    for (struct hit *h = all->held; h; h = h->next)
        if (h->r == r) {
            unlist(h);
            return;
        }
}

/* --- how they are said ------------------------------------------------------------------------ */

static json_t *render(const struct testing_faults *all, const struct fault *f)
{
    json_t *o = json_pack("{s:I, s:o, s:i, s:i, s:I, s:i}", "id", (json_int_t)f->number, "match",
                          selector_render(&f->match), "skip", f->skip, "times", f->times, "hits",
                          (json_int_t)f->hits, "held", count_held(all, f));
    if (f->delay_ms > 0)
        json_object_set_new(o, "delayMilliseconds", json_integer(f->delay_ms));
    if (f->hold)
        json_object_set_new(o, "hold", json_true());
    fault_render_more(f, o);
    if (f->status > 0)
        json_object_set_new(o, "reply",
                            json_pack("{s:i, s:s, s:s, s:i}", "status", f->status, "code", f->code,
                                      "message", f->message, "retryAfter", f->retry_after_s));
    if (f->cut)
        json_object_set_new(o, "cut", json_string(f->cut_before ? "before" : "after"));
    return o;
}

static const struct {
    int status;
    const char *code, *message;
} usual[] = {
    {429, "TooManyRequests", "Too many requests were received; try again later."},
    {500, "InternalServerError", "The server encountered an internal error; try again later."},
    {503, "ServerBusy", "The server is busy; try again later."},
};

static int read_reply(const json_t *o, struct fault *f, struct err *e)
{
    const char *code = NULL, *message = NULL;
    const struct member members[] = {
        {"status", .number = &f->status, .min = 400, .max = 599, .needed = true},
        {"code", .text = &code, .max = TEXT_MAX},
        {"message", .text = &message, .max = TEXT_MAX},
        {"retryAfter", .number = &f->retry_after_s, .max = DELAY_MAX_MS / 1000},
    };
    if (!o)
        return 0;
    if (members_read(o, "reply", MEMBERS(members), e) < 0)
        return -1;
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (usual[i].status == f->status) {
            code = code ? code : usual[i].code;
            message = message ? message : usual[i].message;
        }
    f->code = xstrdup(code ? code : "InjectedFault");
    f->message = xstrdup(message ? message : "A fault of a test.");
    return 0;
}

static int read_cut(const char *cut, struct fault *f, struct err *e)
{
    f->cut = cut != NULL;
    f->cut_before = cut && strcmp(cut, "before") == 0;
    return !cut || f->cut_before || strcmp(cut, "after") == 0
               ? 0
               : err_set(e, ERR_INVALID_PROPERTY, "cut",
                         "cut is '%.60s'; it must be before (nothing is carried out) or after.",
                         cut);
}

static int check_subscription(struct request *r, const struct fault *f, struct err *e)
{
    struct subscription s;
    const char *id = f->match.subscription;
    int rc = id ? access_subscription(testing_of(r)->arm.access, &r->arena, id, &s, e) : 1;
    return rc != 0 ? (rc < 0 ? -1 : 0)
                   : err_set(e, ARM_SUBSCRIPTION_NOT_FOUND, "match.subscription",
                             "The subscription '%.100s' could not be found.", id);
}

static int read_body(struct request *r, struct fault *f, struct err *e)
{
    bool must_exist = false;
    const char *cut = NULL;
    const json_t *match = NULL, *reply = NULL, *node = NULL, *allocation = NULL;
    const struct member members[] = {
        {"match", .any = &match},
        {"skip", .number = &f->skip, .max = TIMES_MAX},
        {"times", .number = &f->times, .max = TIMES_MAX},
        {"delayMilliseconds", .big = &f->delay_ms, .max = DELAY_MAX_MS},
        {"hold", .flag = &f->hold},
        {"reply", .any = &reply},
        {"cut", .text = &cut},
        {"node", .any = &node},
        {"allocation", .any = &allocation},
        {"mustExist", .flag = &must_exist},
    };
    f->times = 1;
    if (members_read(r->body, "", MEMBERS(members), e) < 0 || read_reply(reply, f, e) < 0 ||
        read_cut(cut, f, e) < 0)
        return -1;
    bool of_request = f->hold || f->delay_ms > 0 || f->status != 0 || f->cut;
    if (!of_request && !node && !allocation)
        return err_set(e, ERR_MISSING_PROPERTY, "reply",
                       "The fault does nothing: it needs delayMilliseconds, hold, reply, cut, node "
                       "or allocation.");
    if (selector_read(r, match, &f->match, e) < 0 || check_subscription(r, f, e) < 0 ||
        (must_exist && selector_finds_pool(r, &f->match, e) < 0))
        return -1;
    if (node || allocation)
        return of_request || (node && allocation)
                   ? err_set(e, ERR_INVALID_PROPERTY, node ? "node" : "allocation",
                             "%s goes with match, skip and times only.",
                             node ? "node" : "allocation")
                   : fault_read_more(f, node, allocation, e);
    if (f->match.pool || f->match.name)
        return err_set(e, ERR_INVALID_PROPERTY, "match.pool",
                       "pool and name fit no request: they are for node and allocation.");
    return f->match.status == 0 ? 0
                                : err_set(e, ERR_INVALID_PROPERTY, "match.status",
                                          "A fault comes before there is a status.");
}

/* --- handlers --------------------------------------------------------------------------------- */

struct replied *faults_add(struct request *r)
{
    struct err e;
    struct testing_faults *all = testing_of(r)->faults;
    struct fault *f = xcalloc(1, sizeof *f), **end = &all->first;
    int rc = read_body(r, f, &e);
    if (rc == 0 && all->n == FAULTS_MAX)
        rc = err_set(&e, ERR_QUOTA, NULL, "There are %d faults; remove some.", FAULTS_MAX);
    if (rc < 0) {
        fault_free(f);
        return reply_err(r, &e);
    }
    while (*end)
        end = &(*end)->next;
    *end = f;
    all->n++;
    f->number = ++all->last;
    return reply_json(r, 201, render(all, f));
}

static bool is_of(const struct fault *f, const char *subscription)
{
    const char *of = f->match.subscription;
    return !subscription || (of && strcasecmp(of, subscription) == 0);
}

/* ?subscription=ID: only those that name it. */
struct replied *faults_list(struct request *r)
{
    const struct testing_faults *all = testing_of(r)->faults;
    const char *subscription = request_query(r, "subscription");
    json_t *value = json_array(), *unused = json_array();
    for (const struct fault *f = all->first; f; f = f->next) {
        if (!is_of(f, subscription))
            continue;
        json_array_append_new(value, render(all, f));
        if (f->hits == 0)
            json_array_append_new(unused, json_integer(f->number));
    }
    return reply_json(r, 200, json_pack("{s:o, s:o}", "value", value, "unused", unused));
}

/* NULL: err. */
static struct fault **find(struct request *r, struct err *e)
{
    const char *id = request_param(r, "fault");
    char number[32];
    for (struct fault **at = &testing_of(r)->faults->first; *at; at = &(*at)->next) {
        snprintf(number, sizeof number, "%lld", (long long)(*at)->number);
        if (strcmp(number, id) == 0)
            return at;
    }
    err_set(e, ERR_RESOURCE_NOT_FOUND, NULL, "There is no fault '%.60s'.", id);
    return NULL;
}

struct replied *faults_release(struct request *r)
{
    struct err e;
    struct testing_faults *all = testing_of(r)->faults;
    struct fault **at = find(r, &e);
    if (!at)
        return reply_err(r, &e);
    return reply_json(r, 200, json_pack("{s:i}", "released", release_held(all, *at)));
}

struct replied *faults_remove(struct request *r)
{
    struct err e;
    struct testing_faults *all = testing_of(r)->faults;
    struct fault **at = find(r, &e);
    if (!at)
        return reply_err(r, &e);
    release_held(all, *at);
    remove_at(all, at);
    return reply_empty(r, 204);
}

/* ?subscription=ID: only those that name it. */
struct replied *faults_remove_all(struct request *r)
{
    testing_faults_clear(testing_of(r)->faults, request_query(r, "subscription"));
    return reply_empty(r, 204);
}

void testing_faults_clear(struct testing_faults *all, const char *subscription)
{
    for (struct fault **at = &all->first; *at;) {
        if (!is_of(*at, subscription)) {
            at = &(*at)->next;
            continue;
        }
        release_held(all, *at);
        remove_at(all, at);
    }
}
