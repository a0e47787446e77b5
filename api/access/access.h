/* SPDX-License-Identifier: MIT
 *
 * Principals and their rights: the directory, and roles at scopes. A scope is a path,
 * "/subscriptions/S/resourceGroups/G/..."; a role at a scope applies to everything below it. The
 * first principal, the daemon's own, has no row in the database and is Owner of everything.
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
    const char *subscription_id; /* the configured one; others are in the database */
    const char *first_id;        /* the object id and application id of the first principal */
    struct loop_lane *lane;      /* the threads that hash secrets */
};

/* --- directory.c ------------------------------------------------------------------------------ */

/* The function `find` of struct directory; ctx is a const struct access *. */
int access_find(void *ctx, const char *object_id, struct principal *out, struct err *e);
/* 1: a user or service principal with this id exists; 0: none; -1: err. ctx as in access_find(). */
int access_is_there(void *ctx, const char *object_id, struct err *e);
/* 1: the principal has a secret with this id that is valid at `now_us`; 0: it has none; -1: err. */
int access_has_secret(const struct access *x, const char *object_id, const char *key_id,
                      int64_t now_us, struct err *e) MUST_CHECK;
/* Whether a secret is valid at `now_us`: it has begun and has not ended. */
bool access_is_now(const struct credential *c, int64_t now_us);
/* The function `goes_on` of struct directory: 1: the session is still valid; 0: it is not; -1: err.
 * ctx as in access_find(). */
int access_goes_on(void *ctx, const struct session *s, int64_t now_us, struct err *e);
/* The first principal in the form of a database row, which it does not have. */
struct identity access_first(const struct access *x);
/* access_identity() reads a user, service principal or application by its object id;
 * access_service() reads a service principal by its application id: 1, 0 (none) or -1. Both also
 * find the first principal. */
int access_identity(const struct access *x, struct arena *a, const char *object_id,
                    struct identity *out, struct err *e) MUST_CHECK;
int access_service(const struct access *x, struct arena *a, const char *app_id,
                   struct identity *out, struct err *e) MUST_CHECK;
/* Fails unless `name` is a valid user name: user@domain of letters, digits and ._- */
int access_check_user_name(const char *name, struct err *e) MUST_CHECK;
/* Removes a principal; with an application also its service principal. Their tokens end. */
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
    ACCESS_OWN, /* only on resources that the principal created */
    ACCESS_YES
};

int access_load(const struct access *x, struct arena *a, const struct principal *who,
                struct grants *out, struct err *e) MUST_CHECK;
enum verdict access_verdict(const struct grants *g, const char *action, const char *scope);
/* Whether a role at the scope names the action itself: for actions that no `*` covers. */
bool access_named(const struct grants *g, const char *action, const char *scope);
/* Whether a role at the scope permits `action` on data (Azure's dataActions). */
bool access_to_data(const struct grants *g, const char *action, const char *scope);
/* Whether there is a role at `scope`, above or below it. */
bool access_any_below(const struct grants *g, const char *scope);
/* Whether `scope` is `outer` or below it; names are compared without regard to case. The two paths
 * of a resource that versions without workspaces see are one scope (model/home.h). */
bool scope_within(const char *scope, const char *outer);
/* 1: a principal other than the first has a role with this action at the scope; 0: none has; -1:
 * err. */
int access_others_may(const struct access *x, struct arena *a, const char *action,
                      const char *scope, struct err *e) MUST_CHECK;
/* Sets ERR_FORBIDDEN, logs the refusal and returns -1. Call it if only the first principal may use
 * the nodes (see sched_is_for_all()). */
int access_refuse_local(struct request *r, struct err *e);
/* Sets ERR_FORBIDDEN with Azure's text, logs the refusal and returns -1. */
int access_refuse(struct request *r, const char *action, const char *scope, struct err *e);

/* For lists over all resource groups, in which each caller gets the items that the caller's roles
 * permit: the function service.may. Every principal with any role may send the request. Sets
 * r->grant to the principal's struct grants, or to NULL for the first principal, who may see
 * everything. */
int sees_may(struct request *r, const struct access *x, struct err *e) MUST_CHECK;
/* Whether the roles `held` allow reading a job. NULL: the first principal, who may read all. */
bool sees_job(const struct grants *held, const struct job *j);

/* --- target.c --------------------------------------------------------------------------------- */

/* The action and scope that a request to the resource manager needs; they depend only on its path
 * and method. */
struct access_target {
    const char *action; /* "Microsoft.BatchAI/workspaces/read"; NULL: needs no right */
    const char *scope;
};
void access_target(struct request *r, struct access_target *out);

/* --- assign.c --------------------------------------------------------------------------------- */

/* Fails unless `scope` is "/", or the path of an existing subscription or of something below it.
 * *out is the scope as the database stores it: without a slash at its end. */
int access_check_scope(const struct access *x, struct arena *a, const char *scope, const char **out,
                       struct err *e) MUST_CHECK;
/* ERR_FORBIDDEN unless the sender may assign roles at `scope`, which is in the form of
 * access_check_scope()'s *out. */
int access_check_assign(const struct access *x, struct request *r, const char *scope,
                        struct err *e) MUST_CHECK;
/* ERR_FORBIDDEN unless the sender may assign roles at each scope where the principal has one, and
 * at each vault that has an access policy for the principal (for an application: for its service
 * principal). Reason: a sender who gives a principal a new secret can use its roles; a sender who
 * removes the principal removes its roles. */
int access_check_over(const struct access *x, struct request *r, const struct identity *i,
                      struct err *e) MUST_CHECK;
/* Stores a role assignment. ERR_INVALID_PROPERTY: the principal does not exist; ERR_CONFLICT: it
 * already has that role at that scope, or another assignment has the GUID. */
int access_assign(const struct access *x, struct request *r, const struct role_assignment *given,
                  struct err *e) MUST_CHECK;

/* --- subscriptions.c -------------------------------------------------------------------------- */

/* Converts the id of a subscription, in any case of letters, to the form that the database stores.
 * Does not check that the subscription exists. The result is borrowed or in the arena. */
const char *access_subscription_id(const struct access *x, struct arena *a, const char *id);
/* Reads a subscription: 1, 0 (none) or -1. Also finds the configured subscription, which has no
 * `name`. */
int access_subscription(const struct access *x, struct arena *a, const char *id,
                        struct subscription *out, struct err *e) MUST_CHECK;

/* --- secret.c --------------------------------------------------------------------------------- */

#define ACCESS_SECRET_SIZE 64  /* room for a generated secret and its zero */
#define ACCESS_HINT_SIZE   4   /* room for the first characters of a secret, which may be shown */
#define ACCESS_HASH_SIZE   128 /* room for the hash of a secret, a text */

/* A new secret: 160 random bits as hexadecimal digits, because az would read a secret that begins
 * with a dash as an option. */
void access_make_secret(char out[ACCESS_SECRET_SIZE]);

/* A secret that a thread hashes or compares with hashes, because each hash takes some 15 ms and 16
 * MiB. The struct and its texts are in the request's arena. The handler that starts the work
 * returns reply_later(), and `done` ends with request_finish(). */
struct secret_work {
    struct request *r;
    const char *secret;
    const char *const *hashes; /* n 0: hash the secret */
    size_t n;
    /* e NULL: success, and the sender of a new secret still has the right to the request */
    void (*done)(struct secret_work *w, const struct err *e);
    void *ctx;
    size_t fits; /* index of the matching hash; n: none */
    char hash[ACCESS_HASH_SIZE];
};
/* Starts the work. ERR_UNAVAILABLE: too many secrets wait to be hashed. */
int access_work(const struct access *x, struct secret_work *w, struct err *e) MUST_CHECK;

#endif
