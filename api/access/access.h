/* SPDX-License-Identifier: MIT
 *
 * Principals and their rights: the directory, and roles at scopes. A scope is a path,
 * "/subscriptions/S/resourceGroups/G/...", and a role there applies to everything below. The first
 * principal, the daemon's own, has no row and is Owner of everything.
 */
#ifndef API_ACCESS_ACCESS_H
#define API_ACCESS_ACCESS_H

#include "api/access/roles.h"
#include "api/http/request.h"
#include "model/resource.h"

struct loop_lane;
struct session;
struct storage;

struct access {
    struct storage *storage;
    const char *subscription_id; /* the configured subscription; other subscriptions are rows */
    const char *first_id;        /* the object id and application id of the first principal */
    struct loop_lane *lane;      /* where secrets are hashed */
};

/* --- directory.c ------------------------------------------------------------------------------ */

/* For struct directory; ctx is a const struct access *. */
int access_find(void *ctx, const char *object_id, struct principal *out, struct err *e);
/* 1: there is such a user or service principal; like a getter. ctx as above. */
int access_is_there(void *ctx, const char *object_id, struct err *e);
/* 1: the principal has a secret of this id at this time; like a getter. */
int access_has_secret(const struct access *x, const char *object_id, const char *key_id,
                      int64_t now_us, struct err *e) MUST_CHECK;
/* Whether a secret has begun and has not ended. */
bool access_is_now(const struct credential *c, int64_t now_us);
/* For struct directory; ctx as above. */
int access_goes_on(void *ctx, const struct session *s, int64_t now_us, struct err *e);
/* The first principal as if it had a row. */
struct identity access_first(const struct access *x);
/* Getters; the first principal is found too. */
int access_identity(const struct access *x, struct arena *a, const char *object_id,
                    struct identity *out, struct err *e) MUST_CHECK;
int access_service(const struct access *x, struct arena *a, const char *app_id,
                   struct identity *out, struct err *e) MUST_CHECK;
/* Fails unless `name` is a valid user name: user@domain of letters, digits and ._- */
int access_check_user_name(const char *name, struct err *e) MUST_CHECK;
/* Removes a principal, and an application's service principal with it; their tokens end. */
int access_remove(const struct access *x, struct request *r, const struct identity *i,
                  struct err *e) MUST_CHECK;

/* --- allow.c ---------------------------------------------------------------------------------- */

/* The roles of one principal, loaded for a request. */
struct grants {
    const struct role_assignment *rows; /* arena */
    size_t n;
};

enum verdict {
    ACCESS_NO,
    ACCESS_OWN, /* only on resources that the principal has made */
    ACCESS_YES
};

int access_load(const struct access *x, struct arena *a, const struct principal *who,
                struct grants *out, struct err *e) MUST_CHECK;
enum verdict access_verdict(const struct grants *g, const char *action, const char *scope);
/* Whether a role at the scope names the action itself: for actions that no `*` covers. */
bool access_named(const struct grants *g, const char *action, const char *scope);
/* Whether a role at the scope has it as an action on data. */
bool access_to_data(const struct grants *g, const char *action, const char *scope);
/* Whether there is a role at `scope`, above or below it. */
bool access_any_below(const struct grants *g, const char *scope);
/* Whether `scope` is `outer`, or below it; names compare without regard to case. */
bool scope_within(const char *scope, const char *outer);
/* 1: a principal other than the first has a role with this action at the scope; like a getter. */
int access_others_may(const struct access *x, struct arena *a, const char *action,
                      const char *scope, struct err *e) MUST_CHECK;
/* ERR_FORBIDDEN: only the first principal may use nodes here (sched_is_for_all()); logs it. */
int access_refuse_local(struct request *r, struct err *e);
/* ERR_FORBIDDEN, in Azure's words; logs it. */
int access_refuse(struct request *r, const char *action, const char *scope, struct err *e);

/* --- target.c --------------------------------------------------------------------------------- */

/* The action and scope of a request to the resource manager, by its path and method alone. */
struct access_target {
    const char *action; /* "Microsoft.BatchAI/workspaces/read"; NULL: everybody may */
    const char *scope;
};
void access_target(struct request *r, struct access_target *out);

/* --- assign.c --------------------------------------------------------------------------------- */

/* Fails unless `scope` is "/", or the path of a subscription or below one. *out is in the form of
 * rows: without a slash at its end. */
int access_check_scope(const struct access *x, struct arena *a, const char *scope, const char **out,
                       struct err *e) MUST_CHECK;
/* ERR_FORBIDDEN unless the sender may assign roles at a scope in the form of rows. */
int access_check_assign(const struct access *x, struct request *r, const char *scope,
                        struct err *e) MUST_CHECK;
/* ERR_FORBIDDEN unless the sender may assign roles at each scope where the principal has one, and
 * at each vault with an access policy for it (for an application: for its service principal).
 * Reason: the sender who gives a principal a new secret gets its roles, and the sender who removes
 * the principal takes them away. */
int access_check_over(const struct access *x, struct request *r, const struct identity *i,
                      struct err *e) MUST_CHECK;
/* Writes a row. ERR_INVALID_PROPERTY: there is no such principal; ERR_CONFLICT: it has that role at
 * that scope, or another assignment has the GUID. */
int access_assign(const struct access *x, struct request *r, const struct role_assignment *given,
                  struct err *e) MUST_CHECK;

/* --- subscriptions.c -------------------------------------------------------------------------- */

/* The id of a subscription in the form of rows, from any case; the subscription may not exist.
 * Borrowed or in the arena. */
const char *access_subscription_id(const struct access *x, struct arena *a, const char *id);
/* A getter; also finds the configured subscription, without a `name`. */
int access_subscription(const struct access *x, struct arena *a, const char *id,
                        struct subscription *out, struct err *e) MUST_CHECK;

/* --- secret.c --------------------------------------------------------------------------------- */

#define ACCESS_SECRET_SIZE 64  /* of a generated secret */
#define ACCESS_HINT_SIZE   4   /* the first characters of a secret, which may be shown */
#define ACCESS_HASH_SIZE   128 /* of its hash */

/* A new secret: 160 random bits as hexadecimal digits, because az would take a leading dash for an
 * option. */
void access_make_secret(char out[ACCESS_SECRET_SIZE]);

/* A secret that is hashed, or compared with hashes, on a thread, because each takes some 15 ms and
 * 16 MiB. In the request's arena, with all texts; the handler that started it returns
 * reply_later(), and `done` ends with request_finish(). */
struct secret_work {
    struct request *r;
    const char *secret;
    const char *const *hashes; /* n 0: the secret is hashed */
    size_t n;
    void (*done)(struct secret_work *w, const struct err *e); /* e NULL: it was done */
    void *ctx;
    size_t fits; /* index of the matching hash; n: none */
    char hash[ACCESS_HASH_SIZE];
};
/* ERR_UNAVAILABLE if too many wait. */
int access_work(const struct access *x, struct secret_work *w, struct err *e) MUST_CHECK;

#endif
