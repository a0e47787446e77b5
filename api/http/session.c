/* SPDX-License-Identifier: MIT
 *
 * Reads and writes the cookies of sessions, and compares origins. Keeps no state: the directory
 * decides which sessions are still valid. Called only on the loop's thread.
 */
#include "api/http/session.h"

#include <ctype.h>
#include <jwt.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define US_PER_S        1000000LL
#define TOKEN_KEY_BYTES 32
#define ISSUER          "batchaid-session"
#define COOKIE_MAX      1000 /* bytes of a cookie's value; usual: 600 */
#define HTTPS_PORT      443
#define PORT_MAX        65535

/* --- origins ---------------------------------------------------------------------------------- */

/* An origin; its scheme is https. */
struct origin {
    char host[256]; /* in lower case */
    int port;
};

/* Reads "HOST" or "HOST:PORT" into an origin. False: `text` is not valid. */
static bool read_authority(const char *text, struct origin *out)
{
    const char *bracket = strrchr(text, ']');
    const char *colon = strchr(bracket ? bracket : text, ':');
    size_t n = colon ? (size_t)(colon - text) : strlen(text);
    if (n == 0 || n >= sizeof out->host)
        return false;
    for (size_t i = 0; i < n; i++)
        out->host[i] = (char)tolower((unsigned char)text[i]);
    out->host[n] = '\0';
    out->port = HTTPS_PORT;
    if (!colon)
        return true;
    size_t digits = strspn(colon + 1, "0123456789");
    out->port =
        digits > 0 && digits < 6 && !colon[1 + digits] ? (int)strtol(colon + 1, NULL, 10) : 0;
    return out->port > 0 && out->port <= PORT_MAX;
}

static bool is_same(const char *text, const struct origin *here)
{
    static const char scheme[] = "https://";
    struct origin there;
    return strncasecmp(text, scheme, strlen(scheme)) == 0 &&
           read_authority(text + strlen(scheme), &there) && there.port == here->port &&
           strcmp(there.host, here->host) == 0;
}

static const char *origin_text(struct request *r, const struct origin *o)
{
    return o->port == HTTPS_PORT ? arena_concat(&r->arena, "https://", o->host)
                                 : arena_printf(&r->arena, "https://%s:%d", o->host, o->port);
}

static int foreign(struct request *r, const struct origin *here, const char *name,
                   const char *value, struct err *e)
{
    const char *own = origin_text(r, here);
    return err_set(e, ERR_FORBIDDEN, NULL,
                   "A login by cookie is for pages of %s alone; the request's header %s is %s%.200s"
                   "%s. Send it from a page of %s, or with a bearer token instead of the cookie.",
                   own, name, value ? "'" : "", value ? value : "missing", value ? "'" : "", own);
}

/* Fails if the request comes from a page of another origin. `must`: a request that may change
 * something must have an Origin header, which browsers always add to such requests. */
static int check_sender(struct request *r, const struct origin *here, bool must, struct err *e)
{
    const char *from = request_header(r, "Origin"), *site = request_header(r, "Sec-Fetch-Site");
    bool reads = strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0;
    if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
        return foreign(r, here, "Sec-Fetch-Site", site, e);
    if (from ? !is_same(from, here) : must && !reads)
        return foreign(r, here, "Origin", from, e);
    return 0;
}

int session_may_begin(struct request *r, struct err *e)
{
    struct origin here;
    if (!request_is_tls(r))
        return err_set(e, ERR_BAD_REQUEST, NULL,
                       "A login by cookie is served over https alone, so that nobody on the way "
                       "reads the cookie: use https://%s. Over plain HTTP send bearer tokens.",
                       *r->host ? r->host : "...");
    if (!read_authority(r->host, &here))
        return err_set(e, ERR_BAD_REQUEST, NULL,
                       "The host is '%.60s'; a login by cookie needs HOST or HOST:PORT, with a "
                       "port from 1 to %d.",
                       r->host, PORT_MAX);
    return check_sender(r, &here, false, e);
}

/* --- cookies ---------------------------------------------------------------------------------- */

static const char *cookie_name(struct request *r, const struct origin *here)
{
    return arena_printf(&r->arena, "__Host-batchaid-%d", here->port);
}

/* Finds the values of a name in "a=b; c=d"; returns how many. */
static int find_in(struct request *r, const char *text, const char *name, const char **value)
{
    size_t len = strlen(name);
    int n = 0;
    for (const char *at = text; *at;) {
        at += strspn(at, " \t");
        size_t whole = strcspn(at, ";"), size = whole;
        if (strncmp(at, name, len) == 0 && at[len] == '=') {
            while (size > len + 1 && (at[size - 1] == ' ' || at[size - 1] == '\t'))
                size--;
            *value = arena_strndup(&r->arena, at + len + 1, size - len - 1);
            n++;
        }
        at += whole + (at[whole] == ';');
    }
    return n;
}

/* Finds the request's session cookies for this origin; returns how many. */
static int find_cookies(struct request *r, const struct origin *here, const char **value)
{
    size_t n;
    int found = 0;
    const char *name = cookie_name(r, here);
    const struct named_value *h = request_headers(r, &n);
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(h[i].name, "Cookie") == 0 && h[i].value)
            found += find_in(r, h[i].value, name, value);
    return found;
}

static int bad_cookie(struct err *e, const char *why)
{
    return err_set(e, ERR_INVALID_TOKEN, NULL,
                   "The login by cookie is invalid: %s. Log in again on the daemon's page, or send "
                   "a bearer token.",
                   why);
}

int64_t claim_instant(struct jwt *jwt, const char *claim)
{
    int64_t s = (int64_t)jwt_get_grant_int(jwt, claim);
    return s > 0 && s < INT64_MAX / US_PER_S ? s * US_PER_S : 0;
}

static bool take_text(jwt_t *jwt, const char *claim, char *out, size_t size)
{
    const char *text = jwt_get_grant(jwt, claim);
    return text && (size_t)snprintf(out, size, "%s", text) < size;
}

/* Reads the cookie's claims; fails unless this daemon has signed them for this origin. */
static int read_claims(struct request *r, jwt_t *jwt, const struct origin *here, struct session *s,
                       struct err *e)
{
    const char *issuer = jwt_get_grant(jwt, "iss"), *audience = jwt_get_grant(jwt, "aud");
    int64_t begun_us = claim_instant(jwt, "iat");
    /* Checks the algorithm, because libjwt also decodes unsigned tokens. */
    if (jwt_get_alg(jwt) != JWT_ALG_HS256 || !issuer || strcmp(issuer, ISSUER) != 0 ||
        !take_text(jwt, "sid", s->id, sizeof s->id) ||
        !take_text(jwt, "oid", s->object_id, sizeof s->object_id) ||
        !take_text(jwt, "key", s->key_id, sizeof s->key_id))
        return bad_cookie(e, "the cookie is not a login cookie of this daemon");
    if (!audience || !is_same(audience, here))
        return bad_cookie(e, "the cookie is for another host or port");
    s->begun_us = (int64_t)jwt_get_grant_int(jwt, "beg");
    s->until_us = claim_instant(jwt, "exp");
    s->ends_us = claim_instant(jwt, "end");
    if (begun_us > r->now_us + TOKEN_SKEW_US)
        return bad_cookie(e, "the cookie is not valid yet");
    if (s->until_us > r->now_us && s->ends_us > r->now_us)
        return 0;
    char when[TIMEFMT_SIZE];
    timefmt_seconds(s->until_us, when);
    return err_set(e, ERR_EXPIRED_TOKEN, NULL,
                   "The login by cookie ended at %s. Log in again on the daemon's page.", when);
}

static int read_cookie(struct request *r, const char *value, const struct origin *here,
                       struct session *s, struct err *e)
{
    jwt_t *jwt = NULL;
    if (strlen(value) > COOKIE_MAX)
        return bad_cookie(e, "the cookie is longer than a login cookie of this daemon");
    if (jwt_decode(&jwt, value, r->config->token_key, TOKEN_KEY_BYTES) != 0 || !jwt)
        return bad_cookie(e, "the cookie is malformed or was not signed by this daemon");
    int rc = read_claims(r, jwt, here, s, e);
    jwt_free(jwt);
    return rc;
}

static int find_owner(struct request *r, const struct session *s, struct principal *who,
                      struct err *e)
{
    const struct directory *d = r->config->directory;
    int rc = d->find(d->ctx, s->object_id, who, e);
    if (rc == 0)
        return bad_cookie(e, "its user or service principal does not exist any more");
    if (rc > 0)
        rc = d->goes_on ? d->goes_on(d->ctx, s, r->now_us, e) : 0;
    if (rc == 0)
        return bad_cookie(e, "you have logged out, or your password or secret was changed");
    return rc < 0 ? -1 : 0;
}

int session_check(struct request *r, struct err *e)
{
    const char *value = NULL;
    struct origin here;
    struct session *s = arena_alloc(&r->arena, sizeof *s);
    struct principal *who = arena_alloc(&r->arena, sizeof *who);
    if (!request_header(r, "Cookie") || !read_authority(r->host, &here))
        return 0;
    int n = find_cookies(r, &here, &value);
    if (n == 0)
        return 0;
    if (n > 1)
        return bad_cookie(e, "the request has two cookies of the same name");
    if (!request_is_tls(r))
        return bad_cookie(e, "the cookie came over plain HTTP, but it is for https alone");
    if (read_cookie(r, value, &here, s, e) < 0 || find_owner(r, s, who, e) < 0 ||
        check_sender(r, &here, true, e) < 0)
        return -1;
    r->session = s;
    r->who = who;
    r->login_ends_us = s->until_us;
    return 1;
}

struct session session_new(const char *object_id, const char *key_id, int64_t now_us,
                           int64_t ends_us)
{
    unsigned char random[(SESSION_ID_SIZE - 1) / 2];
    struct session s = {.begun_us = now_us, .ends_us = ends_us};
    randombytes_buf(random, sizeof random);
    sodium_bin2hex(s.id, sizeof s.id, random, sizeof random);
    (void)snprintf(s.object_id, sizeof s.object_id, "%s", object_id);
    (void)snprintf(s.key_id, sizeof s.key_id, "%s", key_id);
    return s;
}

static void set_cookie(struct request *r, const char *value, const char *more)
{
    struct origin here;
    if (!read_authority(r->host, &here))
        return; /* session_may_begin() refuses such a host */
    reply_header_text(r, "Set-Cookie",
                      arena_concat(&r->arena, cookie_name(r, &here), "=", value,
                                   "; Path=/; Secure; HttpOnly; SameSite=Strict", more));
}

void session_give(struct request *r, struct session *s)
{
    struct origin here;
    jwt_t *jwt;
    int64_t latest_us = r->now_us + SESSION_SECONDS * US_PER_S;
    s->until_us = s->ends_us < latest_us ? s->ends_us : latest_us;
    s->until_us -= s->until_us % US_PER_S;
    if (!read_authority(r->host, &here))
        return;
    if (jwt_new(&jwt) != 0)
        abort();
    jwt_add_grant(jwt, "iss", ISSUER);
    jwt_add_grant(jwt, "aud", origin_text(r, &here));
    jwt_add_grant(jwt, "sid", s->id);
    jwt_add_grant(jwt, "oid", s->object_id);
    jwt_add_grant(jwt, "key", s->key_id);
    jwt_add_grant_int(jwt, "iat", (long)(r->now_us / US_PER_S));
    jwt_add_grant_int(jwt, "beg", (long)s->begun_us);
    jwt_add_grant_int(jwt, "exp", (long)(s->until_us / US_PER_S));
    jwt_add_grant_int(jwt, "end", (long)(s->ends_us / US_PER_S));
    jwt_set_alg(jwt, JWT_ALG_HS256, r->config->token_key, TOKEN_KEY_BYTES);
    char *text = jwt_encode_str(jwt);
    jwt_free(jwt);
    if (!text)
        abort();
    set_cookie(r, text, "");
    free(text);
}

void session_take(struct request *r)
{
    set_cookie(r, "", "; Max-Age=0");
}
