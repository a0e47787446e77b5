/* SPDX-License-Identifier: MIT
 *
 * Sessions of the daemon's web page: a login that a browser keeps in a cookie. The cookie is a JWT
 * that this daemon has signed. Its issuer differs from that of bearer tokens, so that neither is
 * accepted in place of the other. A cookie stays valid after a restart of the daemon, is for one
 * origin (the scheme, host and port that the browser uses), and ends
 *
 *     after SESSION_SECONDS, unless it is renewed; at session.ends_us in any case;
 *     with the secret of its login: its password is reset, its owner is removed;
 *     with a logout, which makes all cookies of the session invalid.
 *
 * A browser sends cookies to all ports of a host, and with requests that other pages make. So the
 * cookie's name contains the port, and a request with a cookie must come from a page of the same
 * origin: its headers Origin and Sec-Fetch-Site, which scripts cannot set, are checked.
 */
#ifndef API_HTTP_SESSION_H
#define API_HTTP_SESSION_H

#include "api/http/request.h"

#define SESSION_SECONDS (12L * 3600)
#define SESSION_ID_SIZE 33

/* Tokens and cookies that were issued up to this time in the future are accepted, because the clock
 * may have been set back a little. */
#define TOKEN_SKEW_US INT64_C(300000000)

struct jwt;
/* The time of a claim (seconds in the JWT), in microseconds. 0: the claim is missing or out of
 * range. */
int64_t claim_instant(struct jwt *jwt, const char *claim);

struct session {
    char id[SESSION_ID_SIZE]; /* random; a renewed cookie keeps it */
    char object_id[PRINCIPAL_ID_SIZE];
    char key_id[GUID_SIZE]; /* the secret of the login; "": not bound to a secret */
    int64_t begun_us;       /* time of the login */
    int64_t until_us;       /* end of the cookie */
    int64_t ends_us;        /* end of the session, even if renewed */
};

/* 1: sets request.who, session and login_ends_us from the request's cookie; 0: the request has no
 * cookie; -1: err. ERR_INVALID_TOKEN, ERR_EXPIRED_TOKEN: the cookie is not valid; ERR_FORBIDDEN:
 * the request comes from another origin. */
int session_check(struct request *r, struct err *e) MUST_CHECK;
/* Fails unless the reply may set a cookie: over https, and for a page of this origin or a client
 * that is no browser. */
int session_may_begin(struct request *r, struct err *e) MUST_CHECK;

/* A new session of this owner, with a new id. */
struct session session_new(const char *object_id, const char *key_id, int64_t now_us,
                           int64_t ends_us);
/* Adds the cookie to the request's reply, and sets s->until_us. */
void session_give(struct request *r, struct session *s);
/* Adds a header to the reply that removes the cookie from the browser. */
void session_take(struct request *r);

#endif
