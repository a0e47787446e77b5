/* SPDX-License-Identifier: MIT
 *
 * The client's requests to storage accounts: uploads to shares with a token, downloads by links.
 * The host name of an account may not resolve here, so every connection is made to the daemon's
 * address.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/cli/client_priv.h"
#include "lib/strbuf.h"

#define SCHEME        "https://"
#define STORAGE_SCOPE "https://storage.azure.com/.default"
#define SHOWN_MAX     600 /* bytes of an XML error reply that are kept */
#define HTTP_NO_RANGE 416L
#define STALL_BYTES_S 1L
#define STALL_S       60L

/* Adds https://ACCOUNT.file.core.HOST:PORT; if HOST is an IP address, "localhost" in its place,
 * because an address has no subdomains. */
static void add_host(struct strbuf *url, const char *account, const char *endpoint)
{
    const char *host = endpoint + strlen(SCHEME), *bracket = strchr(host, ']');
    const char *port = strchr(bracket ? bracket : host, ':');
    size_t n = port ? (size_t)(port - host) : strlen(host);
    bool is_address = *host == '[' || strspn(host, "0123456789.") == n;
    strbuf_concat(url, SCHEME, account, ".file.core.");
    if (is_address)
        strbuf_puts(url, "localhost");
    else
        strbuf_add(url, host, n);
    strbuf_puts(url, port ? port : "");
}

/* The curl option that connects every URL to the daemon. Caller frees. */
static struct curl_slist *to_the_daemon(struct daemon_client *c)
{
    const char *host = client_endpoint(c) + strlen(SCHEME), *bracket = strchr(host, ']');
    bool has_port = strchr(bracket ? bracket : host, ':') != NULL;
    struct strbuf line = STRBUF_INIT;
    strbuf_concat(&line, "::", host, has_port ? "" : ":443");
    struct curl_slist *list = c->lib.curl_slist_append(NULL, line.s);
    strbuf_free(&line);
    return list;
}

static size_t keep_start(char *bytes, size_t size, size_t n, void *ctx)
{
    struct strbuf *reply = ctx;
    size_t room = reply->len < SHOWN_MAX ? SHOWN_MAX - reply->len : 0;
    strbuf_add(reply, bytes, size * n < room ? size * n : room);
    return size * n;
}

/* The text of an XML element of the service's error reply; "": there is no such element. Caller
 * frees. */
static char *element_of(const char *xml, const char *open, const char *close)
{
    struct strbuf b = STRBUF_INIT;
    const char *from = xml ? strstr(xml, open) : NULL;
    const char *to = from ? strstr(from, close) : NULL;
    if (to)
        strbuf_add(&b, from + strlen(open), (size_t)(to - from) - strlen(open));
    return strbuf_take(&b);
}

static int refused(const char *what, long status, const struct strbuf *reply, struct err *e)
{
    json_t *tree = reply->len ? json_loadb(reply->s, reply->len, 0, NULL) : NULL;
    if (tree) { /* batchaid's own error; errors in Azure's form are XML */
        client_refused(tree, status, e);
        json_decref(tree);
        return err_prefix(e, "%.200s", what);
    }
    char *code = element_of(reply->s, "<Code>", "</Code>");
    char *text = element_of(reply->s, "<Message>", "</Message>");
    err_set(e, status < 500 ? ERR_BAD_REQUEST : ERR_INTERNAL, NULL, "%.200s: %.100s %.500s", what,
            *code ? code : "the daemon refused it,", *text ? text : "and gave no reason");
    free(code);
    free(text);
    return -1;
}

static int not_reached(struct daemon_client *c, CURLcode rc, const char *trouble, struct err *e)
{
    return err_set(e, client_not_reached(rc), NULL, "the daemon at %.200s does not answer: %.300s",
                   client_endpoint(c), *trouble ? trouble : c->lib.curl_easy_strerror(rc));
}

static int perform_put(struct daemon_client *c, const struct client_put *put, const char *url,
                       struct curl_slist *headers, long *status, struct err *e)
{
    char trouble[CURL_ERROR_SIZE] = "";
    struct strbuf reply = STRBUF_INIT;
    struct curl_slist *there = to_the_daemon(c);
    client_set(c, url, trouble);
    c->lib.curl_easy_setopt(c->curl, CURLOPT_CONNECT_TO, there);
    c->lib.curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
    c->lib.curl_easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)put->n);
    c->lib.curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, put->bytes ? put->bytes : "");
    c->lib.curl_easy_setopt(c->curl, CURLOPT_CUSTOMREQUEST, put->method ? put->method : "PUT");
    c->lib.curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, keep_start);
    c->lib.curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, &reply);
    CURLcode rc = client_perform(c);
    c->lib.curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, status);
    int result = rc != CURLE_OK           ? not_reached(c, rc, trouble, e)
                 : *status >= HTTP_REFUSE ? refused(put->path, *status, &reply, e)
                                          : 0;
    c->lib.curl_slist_free_all(there);
    strbuf_free(&reply);
    return result;
}

static int put_once(struct daemon_client *c, const struct client_put *put, long *status,
                    struct err *e)
{
    static const char *const always[] = {
        "x-ms-version: 2022-11-02", "x-ms-file-request-intent: backup", "Content-Type:", "Expect:"};
    struct strbuf url = STRBUF_INIT;
    struct curl_slist *headers = c->lib.curl_slist_append(NULL, c->for_storage);
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        headers = c->lib.curl_slist_append(headers, always[i]);
    for (const char *const *line = put->headers; line && *line; line++)
        headers = c->lib.curl_slist_append(headers, *line);
    add_host(&url, put->account, client_endpoint(c));
    strbuf_concat(&url, "/", put->share, "/", put->path);
    int rc = perform_put(c, put, url.s, headers, status, e);
    c->lib.curl_slist_free_all(headers);
    strbuf_free(&url);
    return rc;
}

int client_put_file(struct daemon_client *c, const struct client_put *put, struct err *e)
{
    long status = 0;
    if (!c->for_storage && client_log_in(c, STORAGE_SCOPE, &c->for_storage, e) < 0)
        return -1;
    int rc = put_once(c, put, &status, e);
    if (rc == 0 || !client_may_renew(c, status))
        return rc;
    return client_renew(c, STORAGE_SCOPE, &c->for_storage, e) < 0 ? -1
                                                                  : put_once(c, put, &status, e);
}

/* --- downloads -------------------------------------------------------------------------------- */

struct download {
    struct daemon_client *c;
    client_sink sink;
    void *ctx;
    bool ended;          /* the sink has ended the download */
    struct strbuf error; /* the beginning of an error reply */
};

static size_t on_piece(char *bytes, size_t size, size_t n, void *ctx)
{
    struct download *d = ctx;
    long status = 0;
    d->c->lib.curl_easy_getinfo(d->c->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status >= HTTP_REFUSE)
        return keep_start(bytes, size, n, &d->error);
    d->ended = d->sink(d->ctx, bytes, size * n) < 0;
    return d->ended ? 0 : size * n;
}

/* `headers` NULL: none, for a link, which has a signature. */
static int fetch_once(struct download *d, const char *url, int64_t from, struct curl_slist *headers,
                      long *status, struct err *e)
{
    struct daemon_client *c = d->c;
    char trouble[CURL_ERROR_SIZE] = "", range[32];
    struct curl_slist *there = to_the_daemon(c);
    snprintf(range, sizeof range, "%" PRId64 "-", from);
    client_set(c, url, trouble);
    c->lib.curl_easy_setopt(c->curl, CURLOPT_CONNECT_TO, there);
    c->lib.curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
    c->lib.curl_easy_setopt(c->curl, CURLOPT_TIMEOUT_MS, 0L);
    c->lib.curl_easy_setopt(c->curl, CURLOPT_LOW_SPEED_LIMIT, STALL_BYTES_S);
    c->lib.curl_easy_setopt(c->curl, CURLOPT_LOW_SPEED_TIME, STALL_S);
    if (from > 0)
        c->lib.curl_easy_setopt(c->curl, CURLOPT_RANGE, range);
    c->lib.curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, on_piece);
    c->lib.curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, d);
    CURLcode rc = client_perform(c);
    c->lib.curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, status);
    c->lib.curl_slist_free_all(there);
    return d->ended         ? 0
           : rc != CURLE_OK ? not_reached(c, rc, trouble, e)
           : *status == HTTP_NO_RANGE || *status < HTTP_REFUSE
               ? 0
               : refused("the download", *status, &d->error, e);
}

int client_fetch(struct daemon_client *c, const char *url, int64_t from, client_sink sink,
                 void *ctx, struct err *e)
{
    struct download d = {.c = c, .sink = sink, .ctx = ctx};
    long status = 0;
    int rc = fetch_once(&d, url, from, NULL, &status, e);
    strbuf_free(&d.error);
    return rc;
}

int client_fetch_own(struct daemon_client *c, const char *path, client_sink sink, void *ctx,
                     struct err *e)
{
    struct download d = {.c = c, .sink = sink, .ctx = ctx};
    struct strbuf url = STRBUF_INIT;
    long status = 0;
    int rc = -1;
    strbuf_concat(&url, client_endpoint(c), path);
    for (int i = 0; i < 2; i++) {
        struct curl_slist *headers = c->lib.curl_slist_append(NULL, c->authorization);
        rc = fetch_once(&d, url.s, 0, headers, &status, e);
        c->lib.curl_slist_free_all(headers);
        strbuf_free(&d.error);
        if (rc == 0 || i > 0 || !client_may_renew(c, status) ||
            client_renew(c, NULL, &c->authorization, e) < 0)
            break;
    }
    strbuf_free(&url);
    return rc;
}
