/* SPDX-License-Identifier: MIT
 *
 * Who somebody is that gives a name and a secret, and the tokens that they get.
 */
#ifndef API_LOGIN_LOGIN_H
#define API_LOGIN_LOGIN_H

#include "api/login/aad.h"

/* What a login asks for. Borrowed from the request. */
struct login_grant {
    const char *client_id; /* the program that asks; "": it does not say */
    const char *scope, *resource;
    const char *nonce; /* for the id token; NULL: none */
};

/* Goes on once it is known who that is; NULL: the name or the secret is wrong. */
typedef struct replied *(*login_next)(struct request *r, void *ctx, const struct principal *who);

/* Both compare on a thread. `ctx` is in the request's arena. */
REPLIED login_user(struct request *r, const char *name, const char *password, login_next next,
                   void *ctx);
REPLIED login_app(struct request *r, const char *app_id, const char *secret, login_next next,
                  void *ctx);

/* Too many of this account have failed: an answer that says so; the same for right and wrong
 * credentials, so that somebody who guesses learns nothing. */
REPLIED login_limited(struct request *r);
/* Too many are being logged in on pages. */
REPLIED login_busy(struct request *r);
/* Counts and logs a failed login, which may be a guess. `name` is what was given as one. */
void login_note_failure(struct request *r, const char *name, const char *why);
REPLIED login_failed(struct request *r, const char *name, const char *error,
                     const char *description);

/* The access token, and for a user also one to get the next with, and one that says who that is;
 * or an error if nothing of ours is asked for. */
REPLIED login_grant(struct request *r, const struct login_grant *login,
                    const struct principal *who);
/* Whose token to get the next with it is, if it was given to this program. A getter. */
int login_refreshed(struct request *r, const char *token, const char *client_id,
                    struct principal *who, struct err *e) MUST_CHECK;

#endif
