/* SPDX-License-Identifier: MIT
 *
 * Who there is, and who may do what: the directory of principals, and roles at scopes. A scope is a
 * path, "/subscriptions/S/resourceGroups/G/...", and a role there counts for all that is below. The
 * first principal, the daemon's own, has no row and is Owner of everything.
 */
#ifndef API_ACCESS_ACCESS_H
#define API_ACCESS_ACCESS_H

#include "api/access/roles.h"
#include "api/http/request.h"
#include "model/resource.h"

struct loop_lane;
struct storage;

struct access {
    struct storage *storage;
    const char *subscription_id; /* the configuration's; others are rows */
    const char *first_id;        /* the object id and application id of the first principal */
    struct loop_lane *lane;      /* where secrets are hashed */
};

/* --- directory.c ------------------------------------------------------------------------------ */

/* For struct directory; ctx is a const struct access *. */
int access_find(void *ctx, const char *object_id, struct principal *out, struct err *e);
/* 1: there is such a user or service principal; as a getter. ctx as above. */
int access_is_there(void *ctx, const char *object_id, struct err *e);
/* The first principal as if it had a row. */
struct identity access_first(const struct access *x);
/* Getters; the first principal is found too. */
int access_identity(const struct access *x, struct arena *a, const char *object_id,
                    struct identity *out, struct err *e) MUST_CHECK;
int access_service(const struct access *x, struct arena *a, const char *app_id,
                   struct identity *out, struct err *e) MUST_CHECK;
/* All of a kind, the first principal first. */
int access_list(const struct access *x, struct arena *a, enum identity_kind kind,
                struct identity **rows, size_t *n, struct err *e) MUST_CHECK;
/* Fails unless `name` is a user's: user@domain of letters, digits and ._- */
int access_check_user_name(const char *name, struct err *e) MUST_CHECK;
/* Removes somebody, and an application's service principal with it; their tokens end. */
int access_remove(const struct access *x, struct request *r, const struct identity *i,
                  struct err *e) MUST_CHECK;

/* --- allow.c ---------------------------------------------------------------------------------- */

/* The roles of one principal, as a request found them. */
struct grants {
    const struct role_assignment *rows; /* arena */
    size_t n;
};

enum verdict {
    ACCESS_NO,
    ACCESS_OWN, /* on what one has made oneself */
    ACCESS_YES
};

int access_load(const struct access *x, struct arena *a, const struct principal *who,
                struct grants *out, struct err *e) MUST_CHECK;
enum verdict access_verdict(const struct grants *g, const char *action, const char *scope);
/* Whether a role allows an action on the data in a resource (an account's blobs, a vault's
 * secrets). */
bool access_to_data(const struct grants *g, const char *action, const char *scope);
/* Whether there is a role at `scope` or anywhere below it. */
bool access_any_below(const struct grants *g, const char *scope);
/* Whether `scope` is `outer`, or below it; names compare without regard to case. */
bool scope_within(const char *scope, const char *outer);
/* 1: a role of somebody else than the first principal has this action at the scope; as a getter. */
int access_others_may(const struct access *x, struct arena *a, const char *action,
                      const char *scope, struct err *e) MUST_CHECK;
/* ERR_FORBIDDEN: nodes here are the first principal's alone (sched_is_for_all()); logs it. */
int access_refuse_local(struct request *r, struct err *e);
/* ERR_FORBIDDEN, in Azure's words; logs it. */
int access_refuse(struct request *r, const char *action, const char *scope, struct err *e);

/* --- target.c --------------------------------------------------------------------------------- */

/* What a request to the resource manager does, by its path and method alone. */
struct target {
    const char *action; /* "Microsoft.BatchAI/workspaces/read"; NULL: anybody may */
    const char *scope;
};
void access_target(struct request *r, struct target *out);

/* --- assign.c --------------------------------------------------------------------------------- */

/* Fails unless `scope` is "/", or the path of a subscription or of something in one. *out is as
 * rows have it: without a slash at its end. */
int access_check_scope(const struct access *x, struct arena *a, const char *scope, const char **out,
                       struct err *e) MUST_CHECK;
/* Writes a row. ERR_INVALID_PROPERTY: there is no such principal; ERR_CONFLICT: it has that role at
 * that scope, or another assignment has the GUID. */
int access_assign(const struct access *x, struct request *r, const struct role_assignment *given,
                  struct err *e) MUST_CHECK;

/* --- subscriptions.c -------------------------------------------------------------------------- */

/* The id of a subscription as rows have it, in whatever case it was given; there need be no such
 * subscription. Borrowed or arena-owned. */
const char *access_subscription_id(const struct access *x, struct arena *a, const char *id);
/* A getter; the configuration's is found too, but has no `name` then. */
int access_subscription(const struct access *x, struct arena *a, const char *id,
                        struct subscription *out, struct err *e) MUST_CHECK;

/* --- secret.c --------------------------------------------------------------------------------- */

#define ACCESS_SECRET_SIZE 64  /* of a secret that is made here */
#define ACCESS_HINT_SIZE   4   /* of its beginning, which need not be secret */
#define ACCESS_HASH_SIZE   128 /* of its hash */

/* A new secret: 160 random bits as hexadecimal digits, because az takes one that begins with a dash
 * for an option. */
void access_make_secret(char out[ACCESS_SECRET_SIZE]);

/* A secret that is hashed, or compared with hashes, on a thread, as each takes some 15 ms and 16
 * MiB. In the request's arena, like all that it points to; the handler that started it returns
 * reply_later(), and `done` ends with request_finish(). */
struct secret_work {
    struct request *r;
    const char *secret;
    const char *const *hashes; /* n 0: the secret is hashed */
    size_t n;
    void (*done)(struct secret_work *w, const struct err *e); /* e NULL: it was done */
    void *ctx;
    size_t fits; /* which hash fits; n: none does */
    char hash[ACCESS_HASH_SIZE];
};
/* ERR_UNAVAILABLE if too many wait. */
int access_work(const struct access *x, struct secret_work *w, struct err *e) MUST_CHECK;

#endif
