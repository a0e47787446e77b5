/* SPDX-License-Identifier: MIT
 *
 * Checks the head of a request except its path: whether the client uses TLS, which host the request
 * names, and where its body ends.
 */
#include <microhttpd.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>

#include "api/http/http_priv.h"
#include "api/http/url.h"

#define HOST_MAX   255
#define HOST_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]"

struct found_header {
    const char *host, *coding; /* the last header of each kind */
    int hosts, lengths, codings;
};

static enum MHD_Result find(void *ctx, enum MHD_ValueKind kind, const char *key, const char *value)
{
    (void)kind;
    struct found_header *f = ctx;
    if (strcasecmp(key, "Host") == 0) {
        f->hosts++;
        f->host = value;
    } else if (strcasecmp(key, "Content-Length") == 0) {
        f->lengths++;
    } else if (strcasecmp(key, "Transfer-Encoding") == 0) {
        f->codings++;
        f->coding = value ? value : "";
    }
    return MHD_YES;
}

/* --- the host ------------------------------------------------------------------------------- */

/* Reads a target in the form that clients send to proxies, https://HOST/PATH. Its HOST is used, not
 * the header Host. */
static const char *absolute_target(struct request *r)
{
    static const char *const schemes[] = {"https://", "http://"};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        size_t n = strlen(schemes[i]);
        if (strncasecmp(r->path, schemes[i], n) != 0)
            continue;
        const char *host = r->path + n, *path = strchrnul(host, '/');
        r->target = r->path = *path ? path : "/";
        return arena_strndup(&r->arena, host, (size_t)(path - host));
    }
    return NULL;
}

static int take_host(struct request *r, const struct found_header *f, struct err *e)
{
    const char *absolute = *r->path == '/' ? NULL : absolute_target(r);
    const char *host = absolute ? absolute : f->host ? f->host : "";
    if (f->hosts > 1)
        return err_set(e, ERR_BAD_REQUEST, NULL,
                       "The request has %d Host headers; it must have one.", f->hosts);
    if (strlen(host) > HOST_MAX || host[strspn(host, HOST_CHARS)])
        return err_set(e, ERR_BAD_REQUEST, NULL,
                       "The host is '%.60s'; it must be a name or an address, with a port if it is "
                       "not the usual one.",
                       host);
    r->host = host;
    return 0;
}

/* --- plain HTTP ----------------------------------------------------------------------------- */

static bool is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, a, sizeof v4);
        return ntohl(v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    struct sockaddr_in6 v6;
    memcpy(&v6, a, sizeof v6);
    return a->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

static bool may_be_plain(const struct request *r)
{
    if (r->door->http == API_HTTP_LOCAL)
        return is_loopback(
            MHD_get_connection_info(r->conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
    return r->door->http == API_HTTP_ANY;
}

static int check_door(struct request *r, struct err *e)
{
    if (request_is_tls(r) || may_be_plain(r))
        return 0;
    if (r->door->http == API_HTTP_LOCAL)
        return err_set(e, ERR_BAD_REQUEST, NULL,
                       "Plain HTTP is for clients on the daemon's own machine (http.expose would "
                       "allow it); use https://%s instead.",
                       *r->host ? r->host : "...");
    return err_set(e, ERR_BAD_REQUEST, NULL,
                   "This port speaks HTTPS: use https://%s instead. (http.serve would allow plain "
                   "HTTP.)",
                   *r->host ? r->host : "...");
}

/* --- the end of the body -------------------------------------------------------------------- */

/* Fails unless the head defines the end of the body once and in one way. Otherwise a proxy might
 * find another end, and take a part of the body for another request (RFC 9112, section 6.3). */
static int check_lengths(const struct found_header *f, struct err *e)
{
    if (f->codings > 0 && f->lengths > 0)
        return err_set(e, ERR_BAD_REQUEST, NULL,
                       "The request has both a Content-Length and a Transfer-Encoding; it must "
                       "have only one.");
    if (f->lengths > 1)
        return err_set(e, ERR_BAD_REQUEST, NULL,
                       "The request has %d Content-Length headers; it must have one.", f->lengths);
    if (f->codings > 1 || (f->coding && strcasecmp(f->coding, "chunked") != 0))
        return err_set(e, ERR_BAD_REQUEST, NULL,
                       "The Transfer-Encoding is '%.60s'; only chunked is understood, once.",
                       f->coding);
    return 0;
}

/* --- the account in the path ----------------------------------------------------------------- */

/* At a port with only one service: takes the account from the path "/ACCOUNT/c1/b1". */
static int take_account(struct request *r, struct err *e)
{
    const char *begin = r->path + (*r->path == '/'), *end = strchrnul(begin, '/');
    const char *label = url_decode(&r->arena, begin, (size_t)(end - begin));
    if (!label || !*label)
        return err_set(e, ERR_INVALID_PATH, NULL,
                       "The path '%.100s' must begin with an account, as in /ACCOUNT/...",
                       r->target);
    r->label = arena_lower(&r->arena, label);
    r->path = *end ? end : "/";
    return 0;
}

/* On these errors the connection is closed, because the next bytes may be no request, or the
 * request was sent to the wrong address. */
int head_check(struct request *r, struct err *e)
{
    struct found_header f = {0};
    MHD_get_connection_values(r->conn, MHD_HEADER_KIND, find, &f);
    r->host = "";
    r->hang_up = true;
    if (take_host(r, &f, e) < 0 || check_door(r, e) < 0 || check_lengths(&f, e) < 0 ||
        (r->door->service && take_account(r, e) < 0)) {
        find_service_of_host(r);
        return -1;
    }
    r->hang_up = false;
    return 0;
}
