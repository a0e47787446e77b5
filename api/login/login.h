/* SPDX-License-Identifier: MIT
 *
 * Identifies a principal by name and secret, and issues tokens.
 */
#ifndef API_LOGIN_LOGIN_H
#define API_LOGIN_LOGIN_H

#include "api/login/aad.h"

/* After these a user logs in again, however the login is kept. */
#define LOGIN_SECONDS (90L * 24 * 3600)

/* The parameters of a login. Borrowed from the request. */
struct login_grant {
    const char *client_id; /* the program's id; "": not given */
    const char *scope, *resource;
    const char *nonce;  /* for the id token; NULL: none */
    const char *key_id; /* the password of the login, a user's; "": none */
    int64_t ends_us;    /* of a login that is renewed; 0: it is new */
};

/* Called after the login with the principal (NULL: the name or the secret is wrong), and with the
 * id of the secret ("": the first principal's, which has no id). */
typedef struct replied *(*login_next)(struct request *r, void *ctx, const struct principal *who,
                                      const char *key_id);

/* Both compare the secret on a thread. `ctx` is in the request's arena. */
REPLIED login_user(struct request *r, const char *name, const char *password, login_next next,
                   void *ctx);
/* A service principal, also the first. */
REPLIED login_app(struct request *r, const char *app_id, const char *secret, login_next next,
                  void *ctx);
/* 1: there is such a service principal; 0: there is none; -1: err. */
int login_app_is_known(struct request *r, const char *app_id, struct err *e) MUST_CHECK;
/* Whether two secrets are equal. The time depends on their lengths alone. */
bool login_is_same(const char *a, const char *b);

/* Replies that too many logins of this account have failed. The reply does not depend on whether
 * the credentials are right, so that an attacker learns nothing. */
REPLIED login_limited(struct request *r);
/* Replies that too many people are logging in on pages. */
REPLIED login_busy(struct request *r);
/* Writes a failed login to the log. `name` is the name that the client sent. */
void login_log_failure(struct request *r, const char *name, const char *why);
/* Like login_log_failure(), and counts the failure for the limit of the name. */
void login_note_failure(struct request *r, const char *name, const char *why);
REPLIED login_failed(struct request *r, const char *name, const char *error,
                     const char *description);

/* Replies with an access token, and for a user also with a refresh token and an id token; or with
 * an error if the audience is not of this daemon. */
REPLIED login_grant(struct request *r, const struct login_grant *login,
                    const struct principal *who);
/* The content of a refresh token. In the request's arena. */
struct login_refresh {
    struct principal who;
    const char *client_id; /* the program that it was given to */
    const char *key_id;
    int64_t ends_us;
};
/* A getter: of a refresh token whose password is still its owner's. */
int login_refreshed(struct request *r, const char *token, struct login_refresh *out,
                    struct err *e) MUST_CHECK;

#endif
