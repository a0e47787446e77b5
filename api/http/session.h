/* SPDX-License-Identifier: MIT
 *
 * Sessions of the daemon's page: a login that a browser keeps in a cookie. The cookie is a JWT that
 * this daemon has signed, with an issuer of its own, so that it is never taken for a bearer token,
 * nor a bearer token for it. It survives a restart of the daemon, is for one origin (the scheme,
 * host and port that the browser uses), and ends
 *
 *     after SESSION_SECONDS, unless it is renewed; at session.ends_us in any case;
 *     with the secret of its login: its password is reset, its owner is removed;
 *     with a logout, which ends all cookies of the session.
 *
 * A browser sends cookies to all ports of a host, and with requests that other pages make. So the
 * name has the port, and a request with a cookie must come from a page of the same origin, by its
 * headers Origin and Sec-Fetch-Site, which scripts cannot set.
 */
#ifndef API_HTTP_SESSION_H
#define API_HTTP_SESSION_H

#include "api/http/request.h"

#define SESSION_SECONDS (12L * 3600)
#define SESSION_ID_SIZE 33

/* Tokens and cookies from the near future are accepted, because the clock may have been set back a
 * little. */
#define TOKEN_SKEW_US INT64_C(300000000)

struct jwt;
/* The time of a claim, in microseconds; the claim has seconds. 0: the claim is missing or out of
 * range. */
int64_t claim_instant(struct jwt *jwt, const char *claim);

struct session {
    char id[SESSION_ID_SIZE]; /* random; a renewed cookie keeps it */
    char object_id[PRINCIPAL_ID_SIZE];
    char key_id[GUID_SIZE]; /* the secret of the login; "": it had none, or ends by itself */
    int64_t begun_us;       /* the login */
    int64_t until_us;       /* of the cookie */
    int64_t ends_us;        /* however often it is renewed */
};

/* 1: sets request.who, session and login_ends_us from the request's cookie; 0: it has none.
 * ERR_INVALID_TOKEN, ERR_EXPIRED_TOKEN; ERR_FORBIDDEN: it comes from another origin. */
int session_check(struct request *r, struct err *e) MUST_CHECK;
/* Whether a cookie may be given here: over https, to a page of this origin or to another client
 * than a browser. */
int session_may_begin(struct request *r, struct err *e) MUST_CHECK;

/* A new session of this owner, with an id. */
struct session session_new(const char *object_id, const char *key_id, int64_t now_us,
                           int64_t ends_us);
/* Adds the cookie to the coming reply, and sets session.until_us. */
void session_give(struct request *r, struct session *s);
/* Lets the browser forget its cookie. */
void session_take(struct request *r);

#endif
