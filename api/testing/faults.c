/* SPDX-License-Identifier: MIT
 *
 * Faults: rules that change how the next matching requests are answered. A request is hit by at
 * most one fault: the first one, in the order of their creation, that matches and has hits left.
 */
#include "api/testing/faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/http/accept.h"
#include "api/testing/errors.h"
#include "api/testing/routes.h"
#include "api/testing/select.h"
#include "api/testing/strict.h"
#include "api/testing/testing.h"
#include "model/schema_rows.h"

#define FAULTS_MAX   1000
#define TIMES_MAX    1000000
#define DELAY_MAX_MS 600000
#define TEXT_MAX     1000

/* A request that a fault has hit. In the request's arena, because the fault may be removed before
 * the request ends. */
struct fault_hit {
    struct injected injected;
    int64_t number; /* injected.ctx points to it */
    struct request *r;
    struct fault_hit **prev, *next; /* links in the list of held requests */
};

static void fault_free(struct fault *f)
{
    arena_free(&f->arena);
    free(f->held);
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

/* --- effects ---------------------------------------------------------------------------------- */

static const struct injected *inject(struct testing_faults *all, struct request *r,
                                     const struct fault *f)
{
    struct fault_hit *h = arena_alloc(&r->arena, sizeof *h);
    *h = (struct fault_hit){.number = f->number, .r = r};
    h->injected =
        (struct injected){.delay_ms = f->delay_ms,
                          .held = f->hold,
                          .status = f->status,
                          .code = f->code ? arena_strdup(&r->arena, f->code) : NULL,
                          .message = f->message ? arena_strdup(&r->arena, f->message) : "",
                          .retry_after_s = f->retry_after_s,
                          .cut = f->cut != CUT_NOT,
                          .cut_before = f->cut == CUT_BEFORE,
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

static void unlist(struct fault_hit *h)
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
    const struct request_facts told =
        told_of(r, whose_account_is(t->arm.storage, &r->arena, r, account));
    for (struct fault *f = all->first; f; f = f->next)
        if (f->kind == OF_REQUEST && fault_hits(f, &told))
            return inject(all, r, f);
    return NULL;
}

/* Releases all requests that the fault holds. Returns how many. */
static int release_held(struct testing_faults *all, struct fault *fault)
{
    int n = 0;
    int64_t number = fault->number;
    if (fault->kind != OF_REQUEST)
        return fault_let_go(all, fault);
    for (struct fault_hit *h = all->held, *next; h; h = next) {
        next = h->next;
        if (h->number != number)
            continue;
        unlist(h);
        h->injected.held = false; /* for a request whose body has not been read yet */
        watch_let_go(h->r);
        n++;
    }
    return n;
}

static int count_held(const struct testing_faults *all, const struct fault *fault)
{
    int n = (int)fault->n_held;
    int64_t number = fault->number;
    for (const struct fault_hit *h = all->held; h; h = h->next)
        n += h->number == number;
    return n;
}

/* Forgets a held request when the server stops, because the server itself releases such
 * requests. */
void testing_faults_forget(struct testing_faults *all, const struct request *r)
{
    for (struct fault_hit *h = all->held; h; h = h->next)
        if (h->r == r) {
            unlist(h);
            return;
        }
}

/* --- how they are said ------------------------------------------------------------------------ */

static const struct enum_name cut_names[] = {
    {CUT_BEFORE, "before"}, {CUT_AFTER, "after"}, {0, NULL}};

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
        json_object_set_new(o, "cut", json_string(enum_to_name(cut_names, (int)f->cut)));
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

static const struct field reply_rows[] = {
    INT("status", REQUIRED, 400, 599, INTO(fault, status)),
    TEXT("code", .max = TEXT_MAX, INTO(fault, code)),
    TEXT("message", .max = TEXT_MAX, INTO(fault, message)),
    INT("retryAfter", .max = DELAY_MAX_MS / 1000, INTO(fault, retry_after_s)),
};
static SCHEMA(reply_body, reply_rows, "Reply", FILLS(fault));

static int check_body(json_t *o, const char *path, struct err *e)
{
    (void)path;
    return json_object_get(o, "node") && json_object_get(o, "allocation")
               ? err_set(e, ERR_INVALID_PROPERTY, "node",
                         "node cannot be combined with allocation; each can be combined only with "
                         "match, skip and times.")
               : 0;
}

static const struct field fault_rows[] = {
    OBJECT("match", 0, selector_body, INTO(fault, match)),
    INT("skip", .max = TIMES_MAX, INTO(fault, skip)),
    INT("times", .max = TIMES_MAX, .fallback = "1", INTO(fault, times)),
    INT("delayMilliseconds", .max = DELAY_MAX_MS, INTO(fault, delay_ms)),
    BOOL("hold", INTO(fault, hold)),
    OBJECT("reply", 0, reply_body, INTO_SAME),
    ENUM("cut", 0, cut_names, .expected = "before (nothing is carried out) or after",
         INTO(fault, cut)),
    OBJECT("node", 0, fault_node_body, INTO_SAME),
    OBJECT("allocation", KEEP_EMPTY, fault_allocation_body, INTO_SAME),
    BOOL("mustExist", INTO(fault, must_exist)),
};
static SCHEMA(fault_body, fault_rows, "Fault", FILLS(fault), .check = check_body);

/* Sets the parts of the fault's reply that the fault's body leaves out. */
static void complete_reply(struct fault *f)
{
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (usual[i].status == f->status) {
            f->code = f->code ? f->code : usual[i].code;
            f->message = f->message ? f->message : usual[i].message;
        }
    f->code = f->code ? f->code : "InjectedFault";
    f->message = f->message ? f->message : "A fault of a test.";
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
    if (schema_read(&fault_body, r->body, &f->arena, f, e) < 0)
        return -1;
    bool of_request = f->hold || f->delay_ms > 0 || f->status != 0 || f->cut;
    if (!of_request && f->kind == OF_REQUEST)
        return err_set(e, ERR_MISSING_PROPERTY, "reply",
                       "The fault does nothing: it needs delayMilliseconds, hold, reply, cut, node "
                       "or allocation.");
    if (selector_check(r, &f->match, e) < 0 || check_subscription(r, f, e) < 0 ||
        (f->must_exist && selector_finds_pool(r, &f->match, e) < 0))
        return -1;
    if (f->kind != OF_REQUEST) {
        const char *name = f->kind == OF_NODE ? "node" : "allocation";
        return of_request ? err_set(e, ERR_INVALID_PROPERTY, name,
                                    "%s can be combined only with match, skip and times.", name)
                          : fault_check_more(f, e);
    }
    if (f->status != 0)
        complete_reply(f);
    if (f->match.pool || f->match.name)
        return err_set(
            e, ERR_INVALID_PROPERTY, "match.pool",
            "match.pool and match.name are not for requests; use them with node or allocation.");
    return f->match.status == 0 ? 0
                                : err_set(e, ERR_INVALID_PROPERTY, "match.status",
                                          "match.status cannot be used: a fault is applied before "
                                          "the reply has a status.");
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

/* ?subscription=ID: only faults that name this subscription. */
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

/* Finds the fault that the path names; NULL: error. */
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

/* ?subscription=ID: only faults that name this subscription. */
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
