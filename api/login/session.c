/* SPDX-License-Identifier: MIT
 *
 * Begins, renews and ends sessions of the daemon's page, and makes links that begin one. A session
 * that begins with a password or secret lasts as long as a login by refresh token. A session that
 * begins with a token ends with that token, so that a session never extends the life of a token.
 *
 *     given -> [secret compared on a thread] -> begun: struct session -> then: cookie, or link
 */
#include "api/http/session.h"

#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/http/accept.h"
#include "api/http/auth.h"
#include "api/login/codes.h"
#include "api/login/errors.h"
#include "api/login/login.h"
#include "api/login/routes.h"
#include "lib/version.h"
#include "model/schema_rows.h"
#include "storage/storage.h"

#define US_PER_S       1000000LL
#define DEFAULT_DOMAIN "@batchaid"
#define NAME_MAX_      256
#define PASSWORD_MAX   1024
#define TOKEN_MAX      8192

/* The log has these names for logins without a user name. Such logins have no limit of failures,
 * because nobody can guess a token or a code of 160 random bits, and a limit would lock out
 * everybody who shares an address. */
#define BY_TOKEN "a token"
#define BY_LINK  "a link"

/* The data with which a request logs in. */
struct login_given {
    const char *user, *password, *token, *code;
    const char *only; /* the code is valid only for this principal; NULL: for any */
    /* The next step with the new session, which is in the request's arena. */
    struct replied *(*then)(struct request *r, struct session *s, const struct principal *who);
};

static const struct field given_rows[] = {
    TEXT("user", 0, 1, NAME_MAX_, INTO(login_given, user)),
    TEXT("password", SECRET, 1, PASSWORD_MAX, INTO(login_given, password)),
    TEXT("token", SECRET, 1, TOKEN_MAX, INTO(login_given, token)),
    TEXT("code", SECRET, 1, NAME_MAX_, INTO(login_given, code)),
    TEXT("objectId", 0, 1, NAME_MAX_, INTO(login_given, only)),
};
static SCHEMA(given_body, given_rows, "Session", FILLS(login_given));

/* Reads the body. An error of the table given_rows is an error of the whole body. */
static int read_given(struct request *r, struct login_given *g, struct err *e)
{
    if (request_read_body(r, &given_body, g, e) == 0)
        return 0;
    if (e->code == ERR_INVALID_PROPERTY || e->code == ERR_MISSING_PROPERTY)
        e->code = AAD_BAD_LOGIN;
    return -1;
}

/* --- as JSON ---------------------------------------------------------------------------------- */

/* Whether one of the roles allows the action at the place where the role was granted, even if only
 * for the principal's own resources. Data actions of Azure Batch count too. */
static bool may_somewhere(const struct grants *g, const char *action)
{
    for (size_t i = 0; i < g->n; i++)
        if (access_verdict(g, action, g->rows[i].scope) != ACCESS_NO ||
            access_to_data(g, action, g->rows[i].scope))
            return true;
    return false;
}

/* Renders which parts the page may show and offer: by the principal's roles at the subscription,
 * or, for rows with `somewhere`, by his roles at any place. */
static int render_may(struct request *r, const struct principal *who, json_t **out, struct err *e)
{
    static const struct {
        const char *name, *action;
        bool somewhere;
    } rows[] = {{"readMachines", "batchaid/nodes/read", false},
                {"readPeople", "Microsoft.Authorization/users/read", false},
                {"readBatchAccounts", "Microsoft.Batch/batchAccounts/read", true},
                {"changeMachines", "batchaid/nodes/write", false},
                {"changePeople", "Microsoft.Authorization/users/write", false},
                {"changeJobs", "Microsoft.BatchAI/workspaces/experiments/jobs/delete", true},
                {"changeBatch", "Microsoft.Batch/batchAccounts/jobs/write", true}};
    const struct access *x = aad_of(r)->access;
    const char *scope = arena_concat(&r->arena, "/subscriptions/", x->subscription_id);
    struct grants g = {NULL, 0};
    if (!who->first && access_load(x, &r->arena, who, &g, e) < 0)
        return -1;
    *out = json_object();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool may = who->first ||
                   (rows[i].somewhere ? may_somewhere(&g, rows[i].action)
                                      : access_verdict(&g, rows[i].action, scope) == ACCESS_YES);
        json_object_set_new(*out, rows[i].name, json_boolean(may));
    }
    json_object_set_new(*out, "readLists", json_boolean(who->first || g.n > 0));
    return 0;
}

static struct replied *reply_session(struct request *r, const struct principal *who,
                                     int64_t until_us)
{
    char when[TIMEFMT_SIZE];
    json_t *may;
    struct err e;
    if (render_may(r, who, &may, &e) < 0)
        return reply_err(r, &e);
    timefmt_wire(until_us, when);
    return reply_json(
        r, 200,
        json_pack("{s:{s:s, s:s, s:s}, s:s, s:s, s:s, s:o}", "user", "name", who->name, "objectId",
                  who->object_id, "kind", who->kind == PRINCIPAL_USER ? "user" : "servicePrincipal",
                  "expiresTime", when, "subscriptionId", aad_of(r)->access->subscription_id,
                  "version", BATCHAID_VERSION, "may", may));
}

/* --- logins ----------------------------------------------------------------------------------- */

static struct replied *refuse(struct request *r, const char *name, const char *why)
{
    struct err e;
    login_log_failure(r, name, "invalid_login");
    err_set(&e, AAD_WRONG_LOGIN, NULL, "%s", why);
    return reply_err(r, &e);
}

static struct replied *compared(struct request *r, void *ctx, const struct principal *who,
                                const char *key_id)
{
    const struct login_given *g = ctx;
    if (!who) {
        request_login_failed(r, g->user);
        return refuse(r, g->user, "The user name or the password is wrong.");
    }
    struct session *s = arena_alloc(&r->arena, sizeof *s);
    *s = session_new(who->object_id, key_id, r->now_us, r->now_us + LOGIN_SECONDS * US_PER_S);
    return g->then(r, s, who);
}

/* Logs in a user or a service principal. The name of a user has an @, so it is never an id (GUID)
 * of a service principal. */
static struct replied *by_password(struct request *r, struct login_given *g)
{
    if (guid_valid(g->user))
        return login_app(r, g->user, g->password, compared, g);
    if (!strchr(g->user, '@'))
        g->user = arena_concat(&r->arena, g->user, DEFAULT_DOMAIN);
    return login_user(r, g->user, g->password, compared, g);
}

/* Reads a refresh token, for example the one that `batchaid login` has stored. */
static int read_refresh(struct request *r, const char *token, struct session *s,
                        struct principal *who, struct err *e)
{
    struct login_refresh given;
    int rc = login_refreshed(r, token, &given, e);
    if (rc <= 0)
        return rc;
    *who = given.who;
    *s = session_new(who->object_id, given.key_id, r->now_us, given.ends_us);
    return 1;
}

static struct replied *by_token(struct request *r, struct login_given *g)
{
    struct authenticated a;
    struct session *s = arena_alloc(&r->arena, sizeof *s);
    struct principal *who = arena_alloc(&r->arena, sizeof *who);
    struct err e;
    int rc = read_refresh(r, g->token, s, who, &e);
    if (rc < 0)
        return reply_err(r, &e);
    if (rc > 0)
        return g->then(r, s, who);
    if (auth_read(r, g->token, &a, &e) < 0)
        return refuse(r, BY_TOKEN, e.msg);
    *s = session_new(a.who->object_id, "", r->now_us, a.ends_us);
    return g->then(r, s, a.who);
}

static struct replied *by_code(struct request *r, struct login_given *g)
{
    const struct directory *d = r->config->directory;
    struct session *s = arena_alloc(&r->arena, sizeof *s);
    struct principal *who = arena_alloc(&r->arena, sizeof *who);
    struct err e;
    struct code *code = codes_by_code(aad_of(r)->codes, g->code, r->now_us);
    if (!code || !code->session_ends_us)
        return refuse(r, BY_LINK,
                      "The link is unknown, used or over: it works once, for a minute. Make a new "
                      "one with `batchaid open`.");
    if (g->only && strcasecmp(g->only, code->object_id) != 0)
        return reply_empty(r, 204);
    *s = session_new(code->object_id, code->key_id, r->now_us, code->session_ends_us);
    struct session by = *s; /* the login that made the link */
    (void)snprintf(by.id, sizeof by.id, "%s", code->session_id);
    by.begun_us = code->session_begun_us;
    codes_remove(code);
    int rc = d->find(d->ctx, s->object_id, who, &e);
    if (rc > 0)
        rc = d->goes_on(d->ctx, &by, r->now_us, &e);
    if (rc < 0)
        return reply_err(r, &e);
    return rc > 0 ? g->then(r, s, who)
                  : refuse(r, BY_LINK,
                           "The login that made the link is over, or its password was reset.");
}

/* Logs in with the given data: a password, a token or a code. */
static struct replied *log_in(struct request *r, struct login_given *g)
{
    struct err e;
    int ways = (g->user || g->password) + !!g->token + !!g->code;
    if (g->only && !g->code) {
        err_set(&e, AAD_BAD_LOGIN, NULL, "The body has objectId without code.");
        return reply_err(r, &e);
    }
    if (ways == 1 && g->token)
        return by_token(r, g);
    if (ways == 1 && g->code)
        return by_code(r, g);
    if (ways == 1 && g->user && g->password)
        return by_password(r, g);
    err_set(&e, AAD_BAD_LOGIN, NULL,
            "The body must have either user and password, or token, or code; it has %s%s%s%s%s.",
            g->user ? "user " : "", g->password ? "password " : "", g->token ? "token " : "",
            g->code ? "code " : "", ways ? "" : "none of them");
    return reply_err(r, &e);
}

/* --- sessions --------------------------------------------------------------------------------- */

static struct replied *give(struct request *r, struct session *s, const struct principal *who)
{
    session_give(r, s);
    reply_header(r, "Cache-Control", "no-store");
    return reply_session(r, who, s->until_us);
}

static struct replied *begin(struct request *r, struct session *s, const struct principal *who)
{
    LOG_INFO(r->config->log, "session.begun", LF_STR("by", who->name),
             LF_STR("from", request_peer(r)), LF_STR("req", r->correlation_id));
    return give(r, s, who);
}

struct replied *session_create(struct request *r)
{
    struct login_given *g = arena_alloc(&r->arena, sizeof *g);
    struct err e;
    if (session_may_begin(r, &e) < 0 || read_given(r, g, &e) < 0)
        return reply_err(r, &e);
    g->then = begin;
    return log_in(r, g);
}

struct replied *session_get(struct request *r)
{
    return reply_session(r, r->who, r->login_ends_us);
}

static struct replied *no_session(struct request *r)
{
    struct err e;
    err_set(&e, ERR_BAD_REQUEST, NULL,
            "Only a login by cookie can be renewed or ended here, but the request has a bearer "
            "token. A token expires by itself.");
    return reply_err(r, &e);
}

struct replied *session_renew(struct request *r)
{
    if (!r->session)
        return no_session(r);
    struct session s = *r->session;
    return give(r, &s, r->who);
}

/* Ends the session, for all its cookies. The record of this is kept until the last of them would
 * have expired. */
struct replied *session_end(struct request *r)
{
    struct err e;
    if (!r->session)
        return no_session(r);
    const struct st_ended_session ended = {.principal = r->session->object_id,
                                           .id = r->session->id,
                                           .begun_us = r->session->begun_us,
                                           .now_us = r->now_us,
                                           .until_us = r->now_us + SESSION_SECONDS * US_PER_S};
    if (st_session_end(aad_of(r)->access->storage, &ended, &e) < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "session.ended", LF_STR("by", r->who->name),
             LF_STR("req", r->correlation_id));
    session_take(r);
    return reply_empty(r, 204);
}

/* --- links ------------------------------------------------------------------------------------ */

static struct replied *link_to(struct request *r, struct session *s, const struct principal *who)
{
    char when[TIMEFMT_SIZE];
    const struct code *code = codes_add_link(aad_of(r)->codes, s, r->now_us);
    if (!code)
        return login_busy(r);
    LOG_INFO(r->config->log, "session.link_made", LF_STR("by", who->name),
             LF_STR("from", request_peer(r)), LF_STR("req", r->correlation_id));
    timefmt_wire(code->expires_us, when);
    reply_header(r, "Cache-Control", "no-store");
    return reply_json(r, 201,
                      json_pack("{s:s, s:o, s:s}", "code", code->code, "url",
                                json_sprintf("%s/#code=%s", request_base(r), code->code),
                                "expiresTime", when));
}

struct replied *session_link(struct request *r)
{
    struct login_given *g = arena_alloc(&r->arena, sizeof *g);
    struct err e;
    if (session_may_begin(r, &e) < 0 || read_given(r, g, &e) < 0)
        return reply_err(r, &e);
    g->then = link_to;
    if (r->body)
        return log_in(r, g);
    struct session s =
        r->session ? *r->session : session_new(r->who->object_id, "", r->now_us, r->login_ends_us);
    return link_to(r, &s, r->who);
}
