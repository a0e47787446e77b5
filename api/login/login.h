/* SPDX-License-Identifier: MIT
 *
 * Identifies a principal by name and secret, and issues tokens.
 */
#ifndef API_LOGIN_LOGIN_H
#define API_LOGIN_LOGIN_H

#include "api/login/aad.h"

/* A user must log in again after this time, even if a cookie or a refresh token keeps the login. */
#define LOGIN_SECONDS (90L * 24 * 3600)

/* The parameters of a login. Borrowed from the request. */
struct login_grant {
    const char *client_id; /* the program's id; "": not given */
    const char *scope, *resource;
    const char *nonce;  /* nonce for the id token; NULL: none */
    const char *key_id; /* the id of the user's password in this login; "": none */
    int64_t ends_us;    /* when a renewed login ends; 0: the login is new */
};

/* Called after the comparison with the principal (NULL: the name or the secret is wrong), and with
 * the id of the secret ("": the secret of the first principal has no id). */
typedef struct replied *(*login_next)(struct request *r, void *ctx, const struct principal *who,
                                      const char *key_id);

/* Both compare the secret, on another thread unless it is the first principal's, then call `next`
 * with `ctx`, which is in the request's arena. */
REPLIED login_user(struct request *r, const char *name, const char *password, login_next next,
                   void *ctx);
/* Like login_user(), for a service principal, including the first principal. */
REPLIED login_app(struct request *r, const char *app_id, const char *secret, login_next next,
                  void *ctx);
/* 1: there is such a service principal; 0: there is none; -1: err. */
int login_app_is_known(struct request *r, const char *app_id, struct err *e) MUST_CHECK;
/* Whether two secrets are equal. The duration depends only on their lengths. */
bool login_is_same(const char *a, const char *b);

/* Replies with {"error", "error_description"} of RFC 6749, section 5.2. */
REPLIED oauth_error(struct request *r, int status, const char *error, const char *description);
/* Replies that too many logins of this account have failed. The reply does not depend on whether
 * the credentials are right, so that an attacker learns nothing. */
REPLIED login_limited(struct request *r);
/* Replies that too many logins wait for their confirmation. */
REPLIED login_busy(struct request *r);
/* Writes a failed login to the log. `name` is the name that the client sent. */
void login_log_failure(struct request *r, const char *name, const char *why);
/* Like login_log_failure(), and counts the failure for the limit of the name. */
void login_note_failure(struct request *r, const char *name, const char *why);
REPLIED login_failed(struct request *r, const char *name, const char *error,
                     const char *description);

/* Replies with an access token, and to a user also with a refresh token and an id token; with an
 * error if this daemon does not serve the audience. */
REPLIED login_grant(struct request *r, const struct login_grant *login,
                    const struct principal *who);
/* The content of a refresh token. In the request's arena. */
struct login_refresh {
    struct principal who;
    const char *client_id; /* the program that got the token */
    const char *key_id;
    int64_t ends_us;
};
/* Reads a refresh token, like a getter; finds nothing if its password is no longer the owner's. */
int login_refreshed(struct request *r, const char *token, struct login_refresh *out,
                    struct err *e) MUST_CHECK;

#endif
