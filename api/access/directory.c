/* SPDX-License-Identifier: MIT
 *
 * Finds users, service principals and subscriptions: first the configured ones, which have no rows,
 * then those in the database. Results are in the arena. Called only on the loop's thread.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/http/auth.h"
#include "api/http/session.h"
#include "storage/storage.h"

struct identity access_first(const struct access *x)
{
    return (struct identity){.object_id = x->first_id,
                             .app_id = x->first_id,
                             .kind = IDENTITY_SERVICE,
                             .name = "batchaid",
                             .display = "batchaid"};
}

static void fill(const struct identity *i, struct principal *out)
{
    *out =
        (struct principal){.kind = i->kind == IDENTITY_USER ? PRINCIPAL_USER : PRINCIPAL_SERVICE};
    (void)snprintf(out->object_id, sizeof out->object_id, "%s", i->object_id);
    (void)snprintf(out->app_id, sizeof out->app_id, "%s", i->app_id ? i->app_id : "");
    (void)snprintf(out->name, sizeof out->name, "%s", i->name);
}

int access_find(void *ctx, const char *object_id, struct principal *out, struct err *e)
{
    const struct access *x = ctx;
    struct arena a;
    struct identity i;
    arena_init(&a);
    int rc = access_identity(x, &a, object_id, &i, e);
    if (rc > 0 && i.kind == IDENTITY_APPLICATION)
        rc = 0;
    if (rc > 0) {
        fill(&i, out);
        out->first = strcasecmp(object_id, x->first_id) == 0;
    }
    arena_free(&a);
    return rc;
}

int access_is_there(void *ctx, const char *object_id, struct err *e)
{
    struct principal who;
    return access_find(ctx, object_id, &who, e);
}

bool access_is_now(const struct credential *c, int64_t now_us)
{
    return c->starts_us <= now_us && (!c->ends_us || c->ends_us > now_us);
}

/* The secrets of a principal. A service principal also has the secrets of its application. */
static int secrets_of(const struct access *x, struct arena *a, const char *object_id,
                      struct credential **rows, size_t *n, struct err *e)
{
    struct identity i;
    int rc = st_identity_get(x->storage, a, object_id, &i, e);
    *n = 0;
    if (rc <= 0)
        return rc;
    return i.kind == IDENTITY_SERVICE ? st_credential_of_app(x->storage, a, i.app_id, rows, n, e)
                                      : st_credential_list(x->storage, a, i.id, rows, n, e);
}

int access_has_secret(const struct access *x, const char *object_id, const char *key_id,
                      int64_t now_us, struct err *e)
{
    struct credential *rows;
    struct arena a;
    size_t n;
    arena_init(&a);
    int rc = secrets_of(x, &a, object_id, &rows, &n, e);
    bool has = false;
    for (size_t i = 0; rc == 0 && i < n; i++)
        has |= strcasecmp(rows[i].key_id, key_id) == 0 && access_is_now(&rows[i], now_us);
    arena_free(&a);
    return rc < 0 ? -1 : has;
}

int access_goes_on(void *ctx, const struct session *s, int64_t now_us, struct err *e)
{
    const struct access *x = ctx;
    bool ended = false;
    int rc = *s->key_id ? access_has_secret(x, s->object_id, s->key_id, now_us, e) : 1;
    if (rc > 0 && st_session_ended(x->storage, s->object_id, s->id, s->begun_us, &ended, e) < 0)
        return -1;
    return rc > 0 ? !ended : rc;
}

int access_identity(const struct access *x, struct arena *a, const char *object_id,
                    struct identity *out, struct err *e)
{
    if (strcasecmp(object_id, x->first_id) != 0)
        return st_identity_get(x->storage, a, object_id, out, e);
    *out = access_first(x);
    return 1;
}

int access_service(const struct access *x, struct arena *a, const char *app_id,
                   struct identity *out, struct err *e)
{
    if (strcasecmp(app_id, x->first_id) != 0)
        return st_identity_by_app(x->storage, a, IDENTITY_SERVICE, app_id, out, e);
    *out = access_first(x);
    return 1;
}

static size_t word(const char *s)
{
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || (s[n] && strchr("._-", s[n])))
        n++;
    return n;
}

int access_check_user_name(const char *name, struct err *e)
{
    size_t user = word(name), domain = name[user] == '@' ? word(name + user + 1) : 0;
    if (user > 0 && domain > 0 && name[user + 1 + domain] == '\0' &&
        isalnum((unsigned char)*name) && strlen(name) < PRINCIPAL_NAME_SIZE)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, "userPrincipalName",
                   "'%.200s' is not a valid user name: write it as in ada@lab, with at most %d "
                   "letters, digits, dots, dashes and underscores.",
                   name, PRINCIPAL_NAME_SIZE - 1);
}

int access_remove(const struct access *x, struct request *r, const struct identity *i,
                  struct err *e)
{
    struct identity service;
    int rc =
        i->kind == IDENTITY_APPLICATION
            ? st_identity_by_app(x->storage, &r->arena, IDENTITY_SERVICE, i->app_id, &service, e)
            : 0;
    if (rc < 0 || (rc > 0 && access_remove(x, r, &service, e) < 0) ||
        st_identity_remove(x->storage, i, e) < 0)
        return -1;
    auth_forget(r, i->object_id);
    LOG_INFO(r->config->log, "identity.removed", LF_STR("name", i->name),
             LF_STR("object_id", i->object_id), LF_STR("by", r->who->name));
    return 0;
}

/* --- subscriptions --------------------------------------------------------------------------- */

const char *access_subscription_id(const struct access *x, struct arena *a, const char *id)
{
    if (strcasecmp(id, x->subscription_id) == 0)
        return x->subscription_id;
    char *lower = arena_strdup(a, id);
    for (char *p = lower; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return lower;
}

int access_subscription(const struct access *x, struct arena *a, const char *id,
                        struct subscription *out, struct err *e)
{
    const char *known = access_subscription_id(x, a, id);
    if (known != x->subscription_id)
        return guid_valid(known) ? st_subscription_get(x->storage, a, known, out, e) : 0;
    *out = (struct subscription){.guid = known};
    return 1;
}
