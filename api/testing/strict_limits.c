/* SPDX-License-Identifier: MIT
 *
 * The limits of requests in strict mode, and the headers that show the remaining requests. The time
 * of a limit begins with the first request; after that time, the next request begins a new time
 * (strict_counts.h).
 */
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/arm/limits.h"
#include "api/testing/select.h"
#include "api/testing/strict.h"
#include "lib/timefmt.h"

#define SECOND_US INT64_C(1000000)

/* --- to which requests a limit applies -------------------------------------------------------- */

/* Whether the request is for ARM or a resource provider behind it. Compares the whole set of
 * audiences, because Azure Batch takes ARM tokens among others. */
static bool by_arm(const struct request *r)
{
    return r->service->audiences == AUDIENCE_ARM;
}

static bool in_subscription(const struct request *r)
{
    return by_arm(r) && whose_named(r);
}

static bool is_read(const struct request *r)
{
    return in_subscription(r) && arm_counter(r) == ARM_READS;
}

static bool is_write(const struct request *r)
{
    return in_subscription(r) && arm_counter(r) == ARM_WRITES;
}

static bool is_delete(const struct request *r)
{
    return in_subscription(r) && arm_counter(r) == ARM_DELETES;
}

/* Whether it is an ARM request that names no subscription. */
static bool of_tenant(const struct request *r)
{
    return by_arm(r) && !whose_named(r) && !(r->route->flags & ROUTE_OPEN) &&
           strncmp(r->path, "/batchaid/", 10) != 0;
}

static bool is_tenant_read(const struct request *r)
{
    return of_tenant(r) && arm_counter(r) == ARM_READS;
}

static bool is_tenant_write(const struct request *r)
{
    return of_tenant(r) && arm_counter(r) != ARM_READS;
}

static bool is_operation(const struct request *r, const char *name)
{
    return strcmp(r->route->operation_id, name) == 0;
}

static bool is_account_read(const struct request *r)
{
    return is_operation(r, "StorageAccounts_GetProperties");
}

static bool is_account_list(const struct request *r)
{
    return is_operation(r, "StorageAccounts_List") ||
           is_operation(r, "StorageAccounts_ListByResourceGroup");
}

static bool is_data(const struct request *r)
{
    return r->service->audiences & AUDIENCE_STORAGE;
}

static bool is_secret(const struct request *r)
{
    return r->service->audiences & AUDIENCE_VAULT;
}

static bool is_batch(const struct request *r)
{
    return r->service->audiences & AUDIENCE_BATCH;
}

static bool is_formula(const struct request *r)
{
    return is_operation(r, "Pool_EnableAutoScale");
}

static const char *account_of(struct request *r)
{
    return whose_account(r, &r->arena);
}

static const char *scope_of_resource(struct request *r)
{
    const char *account = account_of(r);
    return arena_concat(&r->arena, account ? account : "", r->path);
}

static const char *scope_of_subscription(struct request *r)
{
    return whose_named(r);
}

static const char *scope_of_tenant(struct request *r)
{
    (void)r;
    return "tenant";
}

static const struct limit {
    bool (*fits)(const struct request *r);
    const char *(*scope)(struct request *r);
    int status;
    /* for the limits of ARM, `message` is only the beginning of the message: see message_of() */
    const char *code, *message;
} limits[STRICT_LIMITS_END] = {
#define SRP "The request is being throttled as the limit has been reached for operation type - "
    [LIMIT_READS] = {is_read, scope_of_subscription, 429, "SubscriptionRequestsThrottled",
                     "Number of read requests"},
    [LIMIT_WRITES] = {is_write, scope_of_subscription, 429, "SubscriptionRequestsThrottled",
                      "Number of write requests"},
    [LIMIT_DELETES] = {is_delete, scope_of_subscription, 429, "SubscriptionRequestsThrottled",
                       "Number of delete requests"},
    [LIMIT_TENANT_READS] = {is_tenant_read, scope_of_tenant, 429, "TenantRequestsThrottled",
                            "Number of read requests"},
    [LIMIT_TENANT_WRITES] = {is_tenant_write, scope_of_tenant, 429, "TenantRequestsThrottled",
                             "Number of write requests"},
    [LIMIT_ACCOUNT_READS] = {is_account_read, scope_of_subscription, 429, "TooManyRequests",
                             SRP "Read_ObservationWindow_00:05:00."},
    [LIMIT_ACCOUNT_LISTS] = {is_account_list, scope_of_subscription, 429, "TooManyRequests",
                             SRP "List_ObservationWindow_00:05:00."},
    [LIMIT_STORAGE] = {is_data, account_of, 503, "ServerBusy",
                       "Operations per second is over the account limit."},
    [LIMIT_SECRETS] = {is_secret, account_of, 429, "Throttled",
                       "Request was not processed because too many requests were received. Reason: "
                       "VaultRequestTypeLimitReached"},
    [LIMIT_BATCH] = {is_batch, account_of, 429, "TooManyRequests",
                     "Request failed as server encountered too many requests. Please try again."},
    [LIMIT_FORMULAS] = {is_formula, scope_of_resource, 503, "TooManyEnableAutoScaleRequests",
                        "The enable automatic scaling request on the pool cannot be processed "
                        "since there is another one within the last 30 seconds."},
#undef SRP
};

/* --- whose they are ----------------------------------------------------------------------------
 */

/* The subscription of a request; NULL: none. */
static const char *subscription_of(const struct testing_strict *s, struct request *r)
{
    if (!by_arm(r))
        return whose_account_is(s->storage, &r->arena, r, account_of(r));
    const char *named = whose_named(r);
    return named ? access_subscription_id(s->access, &r->arena, named) : NULL;
}

/* The profile of the request's subscription, or the general profile if the request has no
 * subscription. NULL: strict mode is off there, or does not cover the request. */
static const struct strict_profile *profile_of(const struct testing_strict *s, struct request *r)
{
    if (!s || !r->service || !r->route || r->service->unwatched || !pace_is_on(&s->pace, NULL))
        return NULL;
    const char *subscription = subscription_of(s, r);
    const struct strict_profile *p = subscription   ? strict_profile_of(s, subscription)
                                     : of_tenant(r) ? s->general
                                                    : NULL;
    return p && p->on ? p : NULL;
}

/* --- counting --------------------------------------------------------------------------------- */

/* How many requests were counted in the present time of the limit. */
static int counted(const struct testing_strict *s, enum strict_limit limit, struct request *r,
                   int64_t *left_us)
{
    return strict_counts_get(s->counts, limit, limits[limit].scope(r), r->now_us, left_us);
}

static bool fits(const struct strict_profile *p, enum strict_limit limit, struct request *r)
{
    return p->most[limit] > 0 && limits[limit].fits(r) && limits[limit].scope(r);
}

/* The error message of a limit; for a limit of ARM it contains the numbers. */
static const char *message_of(struct request *r, const struct strict_profile *p,
                              enum strict_limit limit, int left_s)
{
    const struct limit *l = &limits[limit];
    if (limit > LIMIT_TENANT_WRITES)
        return l->message;
    return arena_printf(&r->arena,
                        "%s for %s '%s' exceeded the limit of '%d' for time interval '01:00:00'. "
                        "Please try again after '%d' seconds.",
                        l->message, limit <= LIMIT_DELETES ? "subscription" : "tenant", l->scope(r),
                        p->most[limit], left_s);
}

static const struct injected *refuse(struct request *r, const struct strict_profile *p,
                                     enum strict_limit limit, int64_t left_us)
{
    static const int64_t no_fault = 0;
    int left_s = (int)((left_us + SECOND_US - 1) / SECOND_US);
    struct injected *x = arena_alloc(&r->arena, sizeof *x);
    *x = (struct injected){.status = limits[limit].status,
                           .code = limits[limit].code,
                           .message = message_of(r, p, limit, left_s),
                           .retry_after_s = left_s,
                           .ctx = (void *)(uintptr_t)&no_fault};
    LOG_INFO(r->config->log, "testing.throttled", LF_STR("code", x->code),
             LF_STR("path", r->target), LF_INT("seconds", left_s));
    return x;
}

const struct injected *strict_count_request(struct testing_strict *s, struct request *r)
{
    const struct strict_profile *p = profile_of(s, r);
    int64_t left_us;
    if (!p)
        return NULL;
    const char *subscription = subscription_of(s, r);
    for (int i = 0; i < STRICT_LIMITS_END; i++)
        if (fits(p, i, r) && counted(s, i, r, &left_us) >= p->most[i])
            return refuse(r, p, i, left_us);
    for (int i = 0; i < STRICT_LIMITS_END; i++)
        if (fits(p, i, r))
            strict_counts_add(s->counts, i, limits[i].scope(r), subscription ? subscription : "",
                              r->now_us);
    return NULL;
}

/* --- headers ---------------------------------------------------------------------------------- */

static const struct {
    unsigned audiences;
    const char *name, *value;
} headers[] = {
    {AUDIENCE_ARM | AUDIENCE_VAULT, "Strict-Transport-Security",
     "max-age=31536000; includeSubDomains"},
    {AUDIENCE_VAULT, "Pragma", "no-cache"},
    {AUDIENCE_VAULT, "Expires", "-1"},
    {AUDIENCE_VAULT, "X-Content-Type-Options", "nosniff"},
    {AUDIENCE_VAULT, "x-ms-keyvault-region", "local"},
    {AUDIENCE_VAULT, "x-ms-keyvault-service-version", "1.9.2164.1"},
};

static void add_remaining(const struct testing_strict *s, const struct strict_profile *p,
                          struct request *r)
{
    static const struct {
        enum strict_limit limit;
        const char *header;
    } told[] = {
        {LIMIT_READS, "x-ms-ratelimit-remaining-subscription-reads"},
        {LIMIT_WRITES, "x-ms-ratelimit-remaining-subscription-writes"},
        {LIMIT_DELETES, "x-ms-ratelimit-remaining-subscription-deletes"},
        {LIMIT_TENANT_READS, "x-ms-ratelimit-remaining-tenant-reads"},
        {LIMIT_TENANT_WRITES, "x-ms-ratelimit-remaining-tenant-writes"},
    };
    int64_t left_us;
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        enum strict_limit limit = told[i].limit;
        if (!fits(p, limit, r))
            continue;
        int left = p->most[limit] - counted(s, limit, r, &left_us);
        reply_header_instead(r, told[i].header, arena_printf(&r->arena, "%d", left > 0 ? left : 0));
    }
}

void testing_headers(void *ctx, struct request *r)
{
    const struct testing *t = ctx;
    const struct strict_profile *p = profile_of(t->strict, r);
    if (!p)
        return;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        if (headers[i].audiences & r->service->audiences)
            reply_header_instead(r, headers[i].name, headers[i].value);
    add_remaining(t->strict, p, r);
}
