/* SPDX-License-Identifier: MIT
 *
 * Checks a name and a secret, for each client address one at a time, so that guesses are slow.
 * State: one attempt per request. On the loop's thread; only the hash is computed on another
 * thread.
 */
#include "api/login/login.h"

#include <sodium.h>
#include <string.h>

#include "api/access/access.h"
#include "api/http/connections.h"
#include "api/login/errors.h"
#include "lib/container.h"
#include "lib/jsontext.h"
#include "storage/storage.h"

#define HINT_LENGTH (ACCESS_HINT_SIZE - 1)

/* A login. Each client address has only one secret compared at a time, because hashing takes memory
 * and time. */
struct login_attempt {
    struct connection_turn turn; /* must be the first member */
    struct secret_work *work;
    /* The principal's object id. NULL: there is no such user; the answer then takes as long as for
     * a wrong password. */
    const char *object_id;
    const char *const *keys; /* the ids of the secrets that are compared */
    login_next next;
    void *ctx;
};

struct replied *oauth_error(struct request *r, int status, const char *error,
                            const char *description)
{
    return reply_json(r, status,
                      json_pack("{s:s, s:o, s:s}", "error", error, "error_description",
                                jsontext_string(description), "correlation_id", r->correlation_id));
}

struct replied *login_limited(struct request *r)
{
    struct err e;
    err_set(&e, AAD_TOO_MANY_LOGINS, NULL,
            "Too many logins of this account from this address have failed. Try again in a "
            "while.");
    return reply_err(r, &e);
}

struct replied *login_busy(struct request *r)
{
    struct err e;
    err_set(&e, AAD_TOO_MANY_LOGINS, NULL,
            "Too many logins wait to be confirmed. Try again later.");
    return reply_err(r, &e);
}

void login_log_failure(struct request *r, const char *name, const char *why)
{
    char who[100];
    (void)snprintf(who, sizeof who, "%s", name);
    LOG_WARN(r->config->log, "login.failed", LF_STR("from", request_peer(r)),
             LF_STR("client_id", who), LF_STR("why", why), LF_STR("req", r->correlation_id));
}

void login_note_failure(struct request *r, const char *name, const char *why)
{
    request_login_failed(r, name);
    login_log_failure(r, name, why);
}

struct replied *login_failed(struct request *r, const char *name, const char *error,
                             const char *description)
{
    login_note_failure(r, name, error);
    return oauth_error(r, 401, error, description);
}

/* Continues after the comparison. Looks the principal and the secret up again, because they may
 * have been removed during the comparison. */
static struct replied *known(struct secret_work *w)
{
    struct login_attempt *t = w->ctx;
    const struct directory *d = w->r->config->directory;
    struct principal who;
    struct err e;
    bool fits = t->object_id && w->n > 0 && w->fits < w->n;
    int rc = fits ? access_has_secret(aad_of(w->r)->access, t->object_id, t->keys[w->fits],
                                      w->r->now_us, &e)
                  : 0;
    if (rc > 0)
        rc = d->find(d->ctx, t->object_id, &who, &e);
    if (rc < 0)
        return reply_err(w->r, &e);
    return rc > 0 ? t->next(w->r, t->ctx, &who, t->keys[w->fits])
                  : t->next(w->r, t->ctx, NULL, NULL);
}

static void end_turn(struct request *r)
{
    if (r->connection)
        connection_end_turn(r->connection);
}

static void compared(struct secret_work *w, const struct err *e)
{
    end_turn(w->r);
    request_finish(w->r, e ? reply_err(w->r, e) : known(w));
}

/* Selects the credentials that have not expired and whose hint fits the secret. */
static void choose(struct request *r, const struct credential *rows, size_t n, const char *secret,
                   struct secret_work *w, struct login_attempt *t)
{
    const char **hashes = arena_alloc(&r->arena, (n + 1) * sizeof *hashes);
    const char **keys = arena_alloc(&r->arena, (n + 1) * sizeof *keys);
    for (size_t i = 0; i < n; i++) {
        if (!access_is_now(&rows[i], r->now_us) ||
            (rows[i].hint && strncmp(rows[i].hint, secret, HINT_LENGTH) != 0))
            continue;
        keys[w->n] = rows[i].key_id;
        hashes[w->n++] = rows[i].hash;
    }
    w->hashes = hashes;
    t->keys = keys;
}

static int begin(struct secret_work *w, struct err *e)
{
    int rc = access_work(aad_of(w->r)->access, w, e);
    if (rc < 0)
        end_turn(w->r);
    return rc;
}

static void turn_came(struct connection_turn *turn)
{
    struct login_attempt *t = CONTAINER_OF(turn, struct login_attempt, turn);
    struct err e;
    if (begin(t->work, &e) < 0)
        request_finish(t->work->r, reply_err(t->work->r, &e));
}

static struct replied *compare(struct request *r, const char *secret, struct secret_work *w,
                               const struct login_attempt *t)
{
    struct err e;
    struct login_attempt *kept = memcpy(arena_alloc(&r->arena, sizeof *t), t, sizeof *t);
    w->r = r;
    w->secret = arena_strdup(&r->arena, secret);
    w->done = compared;
    w->ctx = kept;
    kept->work = w;
    kept->turn.go = turn_came;
    if (r->connection && !connection_take_turn(r->connection, &kept->turn))
        return reply_later(r);
    return begin(w, &e) < 0 ? reply_err(r, &e) : reply_later(r);
}

struct replied *login_user(struct request *r, const char *name, const char *password,
                           login_next next, void *ctx)
{
    const struct access *x = aad_of(r)->access;
    struct login_attempt t = {.next = next, .ctx = ctx};
    struct secret_work *w = arena_alloc(&r->arena, sizeof *w);
    struct identity i;
    struct credential *rows;
    size_t n;
    struct err e;
    if (!request_may_log_in(r, name))
        return login_limited(r);
    if (!x)
        return next(r, ctx, NULL, NULL);
    int rc = st_identity_user(x->storage, &r->arena, name, &i, &e);
    if (rc > 0 && st_credential_list(x->storage, &r->arena, i.id, &rows, &n, &e) < 0)
        rc = -1;
    if (rc < 0)
        return reply_err(r, &e);
    if (rc > 0) {
        t.object_id = i.object_id;
        choose(r, rows, n, password, w, &t);
    }
    return compare(r, password, w, &t);
}

bool login_is_same(const char *a, const char *b)
{
    size_t n = strlen(b);
    return strlen(a) == n && sodium_memcmp(a, b, n) == 0;
}

int login_app_is_known(struct request *r, const char *app_id, struct err *e)
{
    const struct access *x = aad_of(r)->access;
    struct identity i;
    if (strcmp(app_id, aad_of(r)->client_id) == 0)
        return 1;
    return x ? st_identity_by_app(x->storage, &r->arena, IDENTITY_SERVICE, app_id, &i, e) : 0;
}

static struct replied *login_first(struct request *r, const char *secret, login_next next,
                                   void *ctx)
{
    const struct directory *d = r->config->directory;
    const struct aad *aad = aad_of(r);
    struct principal who;
    struct err e;
    bool fits = login_is_same(secret, aad->client_secret);
    int rc = fits ? d->find(d->ctx, aad->client_id, &who, &e) : 0;
    if (rc < 0)
        return reply_err(r, &e);
    return rc > 0 ? next(r, ctx, &who, "") : next(r, ctx, NULL, NULL);
}

struct replied *login_app(struct request *r, const char *app_id, const char *secret,
                          login_next next, void *ctx)
{
    const struct access *x = aad_of(r)->access;
    struct login_attempt t = {.next = next, .ctx = ctx};
    struct secret_work *w = arena_alloc(&r->arena, sizeof *w);
    struct identity i;
    struct credential *rows;
    size_t n;
    struct err e;
    if (!request_may_log_in(r, app_id))
        return login_limited(r);
    if (strcmp(app_id, aad_of(r)->client_id) == 0)
        return login_first(r, secret, next, ctx);
    int rc = x ? st_identity_by_app(x->storage, &r->arena, IDENTITY_SERVICE, app_id, &i, &e) : 0;
    if (rc == 0)
        return next(r, ctx, NULL, NULL);
    if (rc < 0 || st_credential_of_app(x->storage, &r->arena, app_id, &rows, &n, &e) < 0)
        return reply_err(r, &e);
    t.object_id = i.object_id;
    choose(r, rows, n, secret, w, &t);
    return w->n > 0 ? compare(r, secret, w, &t) : next(r, ctx, NULL, NULL);
}
