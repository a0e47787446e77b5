/* SPDX-License-Identifier: MIT
 *
 * Identifies a principal by name and secret, and issues tokens.
 */
#ifndef API_LOGIN_LOGIN_H
#define API_LOGIN_LOGIN_H

#include "api/login/aad.h"

/* The parameters of a login. Borrowed from the request. */
struct login_grant {
    const char *client_id; /* the program's id; "": not given */
    const char *scope, *resource;
    const char *nonce; /* for the id token; NULL: none */
};

/* Called after the login with the principal; NULL: the name or the secret is wrong. */
typedef struct replied *(*login_next)(struct request *r, void *ctx, const struct principal *who);

/* Both compare the secret on a thread. `ctx` is in the request's arena. */
REPLIED login_user(struct request *r, const char *name, const char *password, login_next next,
                   void *ctx);
REPLIED login_app(struct request *r, const char *app_id, const char *secret, login_next next,
                  void *ctx);

/* Replies that too many logins of this account have failed. The reply is the same for right and
 * wrong credentials, so that an attacker learns nothing. */
REPLIED login_limited(struct request *r);
/* Too many are being logged in on pages. */
REPLIED login_busy(struct request *r);
/* Counts and logs a failed login. `name` is the name that the client sent. */
void login_note_failure(struct request *r, const char *name, const char *why);
REPLIED login_failed(struct request *r, const char *name, const char *error,
                     const char *description);

/* Replies with an access token, and for a user also with a refresh token and an id token; or with
 * an error if the audience is not of this daemon. */
REPLIED login_grant(struct request *r, const struct login_grant *login,
                    const struct principal *who);
/* Gets the owner of a refresh token that was given to this program. A getter. */
int login_refreshed(struct request *r, const char *token, const char *client_id,
                    struct principal *who, struct err *e) MUST_CHECK;

#endif
