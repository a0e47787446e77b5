/* SPDX-License-Identifier: MIT
 *
 * The right to use an account of Azure Batch: a request is signed with a key of the account, or has
 * the token of a principal who has a role at the account, or has the token of one of its tasks.
 *
 * https://learn.microsoft.com/rest/api/batchservice/authenticate-requests-to-the-azure-batch-service
 */
#include <string.h>
#include <strings.h>
#include <time.h>

#include "api/access/access.h"
#include "api/arm/lookup.h"
#include "api/arm/operation.h"
#include "api/http/auth.h"
#include "api/plane/batch/batch.h"
#include "api/plane/batch/errors.h"
#include "api/plane/storage/shared_key.h"
#include "model/batch/rm.h"
#include "scheduler/front/batch/tasks.h"
#include "storage/storage.h"

#define ACCOUNTS "Microsoft.Batch/batchAccounts"

/* --- signed with a key ---------------------------------------------------------------------- */

static int refused(struct request *r, const char *detail, struct err *e)
{
    LOG_INFO(r->config->log, "request.not_authenticated", LF_STR("service", "batch"),
             LF_STR("account", batch_account_of(r)->name), LF_STR("from", request_peer(r)),
             LF_STR("why", detail), LF_STR("req", r->correlation_id));
    batch_value(r, "AuthenticationErrorDetail", detail);
    return err_set(e, BATCH_AUTHENTICATION_FAILED, NULL, "%s", "");
}

static bool made_with(const struct account_keys *keys, const struct strbuf *text, const char *sent)
{
    char made[SIGNATURE_SIZE];
    bool same = false;
    for (size_t i = 0; i < sizeof keys->key / sizeof keys->key[0]; i++) {
        signature_make(keys->key[i], ACCOUNT_KEY_BYTES, text->s, text->len, made);
        same = signature_equals(sent, made) || same;
    }
    return same;
}

/* The path as Python's azure-batch 4 signs it: in paths of files it signs slashes but sends %2F or
 * %5C. NULL: the sent path has no such characters. */
static const char *path_with_slashes(struct request *r)
{
    if (!strchr(r->target, '%'))
        return NULL;
    char *path = arena_strdup(&r->arena, r->target), *to = path;
    for (const char *from = path; *from; from++) {
        bool is_slash = strncasecmp(from, "%2F", 3) == 0 || strncasecmp(from, "%5C", 3) == 0;
        *to++ = is_slash ? '/' : *from;
        from += is_slash ? 2 : 0;
    }
    *to = '\0';
    return strcmp(path, r->target) == 0 ? NULL : path;
}

/* Whether the signature fits the request with this path, in one of the ways in which clients sign.
 * `text` becomes the text of the last try; this is the documented way if none fits. */
static bool is_signed(struct request *r, const struct account_keys *keys, const char *path,
                      const struct signed_by *by, struct strbuf *text)
{
    static const char *const lengths[] = {"0", "", NULL};
    struct signed_head head = {.method = r->method, .path = path};
    head.header = request_headers(r, &head.n_headers);
    head.query = request_parameters(r, &head.n_query);
    bool announced = request_header(r, "Content-Length") != NULL;
    for (int way = 3; way >= 0; way--)
        for (size_t i = announced ? 2 : 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            const struct batch_signing how = {way & 1, way & 2, lengths[i]};
            strbuf_reset(text);
            shared_key_batch_text(&head, by->account, &how, &r->arena, text);
            if (made_with(keys, text, by->signature))
                return true;
        }
    return false;
}

static int check_date(struct request *r, struct err *e)
{
    const char *date = request_header(r, "ocp-date");
    const char *wrong = signed_date_error(&r->arena, date ? date : request_header(r, "Date"));
    return wrong ? refused(r, wrong, e) : 0;
}

static int wrong_signature(struct request *r, const char *sent, const struct strbuf *text,
                           struct err *e)
{
    return refused(r,
                   arena_printf(&r->arena,
                                "The MAC signature found in the HTTP request '%.100s' is not the "
                                "same as any computed signature. Server used following string to "
                                "sign: '%.4000s'.",
                                sent, text->s),
                   e);
}

static int with_key(struct request *r, const struct signed_by *by, struct err *e)
{
    struct batch_grant *g = batch_grant(r);
    struct account_keys keys;
    struct strbuf text = STRBUF_INIT;
    if (strcasecmp(by->account, g->account.name) != 0)
        return refused(r,
                       arena_printf(&r->arena,
                                    "The Authorization header is for the account '%.60s', the "
                                    "request for '%.60s'.",
                                    by->account, g->account.name),
                       e);
    if (st_batch_account_keys(arm_of(r)->storage, g->account.id, &keys, e) < 0)
        return -1;
    const char *slashes = path_with_slashes(r);
    bool same = (slashes && is_signed(r, &keys, slashes, by, &text)) ||
                is_signed(r, &keys, r->target, by, &text);
    st_account_forget_keys(&keys);
    int rc = same ? check_date(r, e) : wrong_signature(r, by->signature, &text, e);
    strbuf_free(&text);
    g->by_key = rc == 0;
    return rc;
}

/* --- with a token --------------------------------------------------------------------------- */

/* The first segment of a path, and the part for it in names of actions. */
static const struct {
    const char *segment, *type;
} types[] = {{"pools", "/pools"},
             {"nodecounts", "/pools"},
             {"jobs", "/jobs"},
             {"jobschedules", "/jobSchedules"},
             {"applications", "/applications"},
             {"certificates", "/certificates"}};

/* The action of the request. `at`: the index of the segment that is looked up in `types`. */
static const char *action_of(struct request *r, int at)
{
    const char *first = r->n_segments > at ? r->segment[at] : "", *type = "";
    size_t n = strcspn(first, "(");
    bool reads = strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strlen(types[i].segment) == n && strncasecmp(types[i].segment, first, n) == 0)
            type = types[i].type;
    return arena_concat(&r->arena, ACCOUNTS, type,
                        reads                              ? "/read"
                        : strcmp(r->method, "DELETE") == 0 ? "/delete"
                                                           : "/write");
}

const char *batch_account_scope(struct request *r)
{
    const struct batch_account *b = batch_account_of(r);
    return arena_printf(&r->arena, "/subscriptions/%s/resourceGroups/%s/providers/%s/%s",
                        b->scope.subscription, b->scope.group, ACCOUNTS, b->name);
}

int batch_check_role(struct request *r, const char *action, struct err *e)
{
    struct grants held;
    if (r->who->first)
        return 0;
    const char *scope = batch_account_scope(r);
    if (access_load(batch_of(r)->arm.access, &r->arena, r->who, &held, e) < 0)
        return -1;
    if (access_to_data(&held, action, scope) || access_verdict(&held, action, scope) == ACCESS_YES)
        return 0;
    return access_refuse(r, action, scope, e);
}

int batch_check_also(struct request *r, const char *action, struct err *e)
{
    const struct batch_task *t = batch_grant(r)->task;
    if (t)
        return err_set(e, BATCH_INSUFFICIENT_ACCOUNT_PERMISSIONS, NULL,
                       "The token of a task allows only operations of its job, %s; this needs the "
                       "right %s%s.",
                       t->job_name, ACCOUNTS, action);
    /* A request without a principal is signed with a key. */
    return r->who && !r->seeds ? batch_check_role(r, arena_concat(&r->arena, ACCOUNTS, action), e)
                               : 0;
}

/* https://learn.microsoft.com/rest/api/batchmanagement/batch-account/update#authenticationmode */
static int check_mode(struct request *r, const char *mode, struct err *e)
{
    if (r->seeds || batch_account_allows(batch_account_of(r)->doc, mode))
        return 0;
    return refused(r,
                   arena_concat(&r->arena, "The specified type of authentication ", mode,
                                " is not allowed for this account."),
                   e);
}

/* The second label of the host if the first is an account; NULL: the host names no account. */
static const char *region_of(struct request *r)
{
    const char *first = r->label ? strchr(r->host, '.') : NULL;
    return first ? arena_strndup(&r->arena, first + 1, strcspn(first + 1, ".")) : NULL;
}

static bool is_in_region(struct request *r, const struct batch_account *b)
{
    const char *region = region_of(r);
    return !region || strcasecmp(region, region_name(&r->arena, b->scope.location)) == 0;
}

/* --- with the token of a task --------------------------------------------------------------- */

/* Whether the request is about the job, or about a resource below it. */
static bool is_about(const struct request *r, const char *job)
{
    return r->n_segments >= 2 && strcasecmp(r->segment[0], "jobs") == 0 &&
           strcasecmp(r->segment[1], job) == 0;
}

/* Checks the header's token. 1: it is the token of a task that may send this request; 0: it is not
 * the token of a task. */
static int with_task_token(struct request *r, const char *header, struct err *e)
{
    struct batch_grant *g = batch_grant(r);
    struct storage *st = arm_of(r)->storage;
    struct batch_task t;
    if (!header || strncasecmp(header, "Bearer ", 7) != 0 ||
        strchr(header, '.')) /* JWTs have dots */
        return 0;
    int rc = batch_task_of_token(st, &r->arena, header + 7, &t, e);
    if (rc == 0)
        return refused(r, "The token's task is not running.", e);
    if (rc == 1)
        rc = st_batch_account_by_id(st, &r->arena, t.account_id, &g->account, e);
    if (rc < 0)
        return -1;
    if (rc == 0 ||
        (r->label && (strcasecmp(r->label, g->account.name) != 0 || !is_in_region(r, &g->account))))
        return refused(r, "The token belongs to a task of another account.", e);
    if (!is_about(r, t.job_name))
        return err_set(e, BATCH_INSUFFICIENT_ACCOUNT_PERMISSIONS, NULL,
                       "The token of a task allows only operations of its job, %s.", t.job_name);
    g->task = memcpy(arena_alloc(&r->arena, sizeof t), &t, sizeof t);
    return check_mode(r, "TaskAuthenticationToken", e) < 0 ? -1 : 1;
}

/* --- the account ---------------------------------------------------------------------------- */

static int no_account(struct request *r, const char *name, struct err *e)
{
    const char *region = region_of(r);
    if (name)
        return err_set(
            e, BATCH_ACCOUNT_NOT_FOUND, NULL,
            "There is no Batch account '%.60s'%s%.60s; 'az batch account create' creates it, and "
            "'az batch account show' shows where an account is (accountEndpoint).",
            name, region ? " in the region " : "", region ? region : "");
    return err_set(e, ERR_INVALID_PATH, NULL,
                   "The host '%.100s' names no Batch account: it must be like "
                   "ACCOUNT.REGION.batch.localhost.",
                   r->host);
}

/* Finds the account `name`; NULL: the only account. */
static int find_account(struct request *r, const char *name, struct err *e)
{
    struct batch_grant *g = batch_grant(r);
    struct storage *st = arm_of(r)->storage;
    struct batch_account_rows rows;
    int rc;
    if (name) {
        rc = st_batch_account_by_name(st, &r->arena, name, &g->account, e);
    } else {
        rc = st_batch_account_list(
            st, &r->arena,
            &(struct st_filter){.subscription = batch_of(r)->arm.access->subscription_id},
            &(struct st_page){.limit = 2}, &rows, e);
        if (rc == 0 && rows.n == 1)
            g->account = rows.items[0];
        rc = rc < 0 ? -1 : rows.n == 1;
    }
    if (rc < 0)
        return -1;
    if (rc == 0 || !is_in_region(r, &g->account))
        return no_account(r, name, e);
    int64_t made_us = g->account.created_us;
    if (creation_look(r, g->account.scope.subscription, PACE_BATCH_CREATION, &made_us))
        return err_set(e, BATCH_ACCOUNT_NOT_FOUND, NULL,
                       "The Batch account '%.60s' is still being created (strict mode).",
                       g->account.name);
    if (g->account.prov_state == PROV_DELETING)
        return err_set(e, BATCH_ACCOUNT_IS_DISABLED, NULL, "The account '%s' is being deleted.",
                       g->account.name);
    return 0;
}

int batch_may(struct request *r, struct err *e)
{
    const char *header = request_header(r, "Authorization");
    struct signed_by by = {.account = NULL};
    int by_key = header ? shared_key_read(header, &r->arena, &by) : 0;
    if (by_key < 0 || (by_key > 0 && by.form != SHARED_KEY))
        return err_set(e, BATCH_INVALID_AUTHENTICATION_INFO, NULL,
                       "The Authorization header must be 'SharedKey ACCOUNT:SIGNATURE' or 'Bearer "
                       "TOKEN'.");
    int by_task = by_key == 0 ? with_task_token(r, header, e) : 0;
    if (by_task != 0)
        return by_task < 0 ? -1 : 0;
    if (by_key == 0 && auth_check(r, e) < 0)
        return -1;
    if (find_account(r, r->label ? r->label : by.account, e) < 0)
        return -1;
    if (r->token_account && strcasecmp(r->token_account, batch_account_of(r)->name) != 0)
        return refused(r, "The token was issued for another account.", e);
    if ((by_key ? with_key(r, &by, e) : batch_check_role(r, action_of(r, 0), e)) < 0 ||
        check_mode(r, by_key ? "SharedKey" : "AAD", e) < 0)
        return -1;
    return batch_check_query(r, e);
}

/* /batchaid/batch/ACCOUNT/jobs/... */
#define OWN_PATH_TYPE 3

int batch_may_in(struct request *r, const char *account, struct err *e)
{
    if (find_account(r, account, e) < 0 || batch_check_role(r, action_of(r, OWN_PATH_TYPE), e) < 0)
        return -1;
    if (!batch_account_allows(batch_account_of(r)->doc, "AAD"))
        return err_set(e, BATCH_AUTHENTICATION_FAILED, NULL,
                       "The account %s takes requests with its keys alone: its "
                       "allowedAuthenticationModes have no AAD.",
                       batch_account_of(r)->name);
    return batch_check_query(r, e);
}

/* --- parameters that most operations have ---------------------------------------------------- */

/* Checks the query parameter timeout: the seconds that the client waits. Nothing else uses it,
 * because every reply is sent sooner. */
static int check_timeout(struct request *r, struct err *e)
{
    long seconds;
    return request_query_int(r, "timeout", (struct query_bounds){0, INT32_MAX, 0}, &seconds, e);
}

int batch_check_query(struct request *r, struct err *e)
{
    static const char *const truths[] = {"recursive", "force"};
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        const char *text = request_query(r, truths[i]);
        if (text && strcasecmp(text, "true") != 0 && strcasecmp(text, "false") != 0)
            return err_set(e, ERR_INVALID_QUERY, truths[i], "%s must be true or false", truths[i]);
    }
    return check_timeout(r, e);
}
