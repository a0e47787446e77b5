/* SPDX-License-Identifier: MIT
 *
 * Makes replies: the body, the headers that all replies have, and the token (struct replied) by
 * which handlers prove that they have replied.
 */
#include <assert.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/error.h"
#include "api/http/http_priv.h"
#include "api/http/request.h"
#include "lib/jsontext.h"
#include "lib/work.h"

/* Only the address of the token matters. */
static char token_object;
#define TOKEN ((struct replied *)(void *)&token_object)

void reply_header_text(struct request *r, const char *name, const char *value)
{
    if (r->n_headers == r->headers_room) {
        int room = r->headers_room ? 2 * r->headers_room : REQUEST_HEADERS;
        struct named_value *more = arena_alloc(&r->arena, (size_t)room * sizeof *more);
        if (r->n_headers > 0)
            memcpy(more, r->header, (size_t)r->n_headers * sizeof *more);
        r->header = more;
        r->headers_room = room;
    }
    r->header[r->n_headers++] = (struct named_value){name, value};
}

const char *reply_header_value(const struct request *r, const char *name)
{
    for (int i = 0; i < r->n_headers; i++)
        if (strcasecmp(r->header[i].name, name) == 0)
            return r->header[i].value;
    return NULL;
}

void reply_header_instead(struct request *r, const char *name, const char *value)
{
    for (int i = 0; i < r->n_headers; i++)
        if (strcasecmp(r->header[i].name, name) == 0) {
            r->header[i].value = value;
            return;
        }
    reply_header_text(r, name, value);
}

void reply_header(struct request *r, const char *name, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char value[1024];
    vsnprintf(value, sizeof value, fmt, ap);
    va_end(ap);
    reply_header_text(r, name, arena_strdup(&r->arena, value));
}

static bool has_header(const struct request *r, const char *name)
{
    for (int i = 0; i < r->n_headers; i++)
        if (strcasecmp(r->header[i].name, name) == 0)
            return true;
    return false;
}

static void add_usual_headers(struct request *r, struct MHD_Response *resp)
{
    static const struct named_value fixed[] = {
        {"Cache-Control", "no-cache"},
        {"Pragma", "no-cache"},
        {"Expires", "-1"},
        {"X-Content-Type-Options", "nosniff"},
    };
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (!has_header(r, fixed[i].name))
            MHD_add_response_header(resp, fixed[i].name, fixed[i].value);
    char when[TIMEFMT_SIZE];
    timefmt_basic(r->now_us, 0, when);
    const char *routing = arena_concat(&r->arena, "LOCAL:", when, ":", r->correlation_id);
    MHD_add_response_header(resp, "x-ms-request-id", r->correlation_id);
    MHD_add_response_header(resp, "x-ms-correlation-request-id", r->correlation_id);
    MHD_add_response_header(resp, "x-ms-routing-request-id", routing);
}

/* Adds Date from the configured clock; without it libmicrohttpd would add the machine's time. */
static void add_date(const struct request *r, struct MHD_Response *resp)
{
    char when[TIMEFMT_SIZE];
    timefmt_http(clock_now(&r->config->clock), when);
    MHD_add_response_header(resp, "Date", when);
}

void reply_users_bytes(struct request *r)
{
    /* default-src does not include the last three directives. */
    reply_header_instead(r, "Content-Security-Policy",
                         "sandbox; default-src 'none'; base-uri 'none'; form-action 'none'; "
                         "frame-ancestors 'none'");
    if (r->service && r->service->own_headers) /* ARM's headers contain it */
        reply_header_instead(r, "X-Content-Type-Options", "nosniff");
}

static void add_headers(struct request *r, struct MHD_Response *resp)
{
    if (r->config->clock_changes)
        add_date(r, resp);
    if (!r->service || !r->service->own_headers)
        add_usual_headers(r, resp);
    if (r->service && r->service->headers)
        r->service->headers(r);
    if (r->route && (r->route->flags & ROUTE_USERS_BYTES))
        reply_users_bytes(r);
    const struct api_watch *watch = r->config->watch;
    if (watch && watch->headers && r->service && !r->service->unwatched)
        watch->headers(watch->ctx, r);
    const char *client_id = request_header(r, "x-ms-client-request-id");
    const char *echo = request_header(r, "x-ms-return-client-request-id");
    if (client_id && echo && strcasecmp(echo, "true") == 0)
        MHD_add_response_header(resp, "x-ms-client-request-id", client_id);
    for (int i = 0; i < r->n_headers; i++)
        MHD_add_response_header(resp, r->header[i].name, r->header[i].value);
}

struct replied *reply_response(struct request *r, int status, const char *content_type,
                               struct MHD_Response *resp)
{
    assert(!r->finished);
    if (!resp)
        work_give_up();
    if (r->response)
        MHD_destroy_response(r->response); /* a later failure replaces the prepared reply */
    if (r->inner)
        r->inner->body = NULL;
    if (content_type)
        MHD_add_response_header(resp, "Content-Type", content_type);
    add_headers(r, resp);
    r->response = resp;
    r->status = status;
    return TOKEN;
}

static struct MHD_Response *from_malloc(char *text)
{
    return MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE);
}

struct replied *reply_text(struct request *r, int status, const char *content_type, char *text)
{
    bool watched = r->config->watch != NULL;
    const char *copy = r->inner || watched ? arena_strdup(&r->arena, text) : NULL;
    struct replied *done = reply_response(r, status, content_type, from_malloc(text));
    if (r->inner)
        r->inner->body = copy;
    r->shown = copy;
    return done;
}

struct replied *reply_json(struct request *r, int status, json_t *body)
{
    /* The JSON object has text that is not UTF-8: a bug of the daemon, but no reason to crash. */
    if (!body) {
        struct err e;
        err_set(&e, ERR_INTERNAL, NULL, "The reply cannot be written as JSON.");
        LOG_ERROR(r->config->log, "reply.not_json", LF_STR("method", r->method),
                  LF_STR("path", r->target), LF_STR("req", r->correlation_id));
        const struct error_words words = error_words(r->service, e.code);
        status = words.status;
        body = error_body(words, &e);
    }
    char *text = jsontext(body);
    json_decref(body);
    return reply_text(r, status, JSON_CONTENT_TYPE, text);
}

struct replied *reply_json_text(struct request *r, int status, struct strbuf *body)
{
    return reply_text(r, status, JSON_CONTENT_TYPE, strbuf_take(body));
}

struct replied *reply_json_copy(struct request *r, int status, const char *text, size_t len)
{
    /* The cast is safe, because libmicrohttpd copies the text and does not write to it. */
    struct MHD_Response *copy =
        MHD_create_response_from_buffer(len, (char *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
    struct replied *done = reply_response(r, status, JSON_CONTENT_TYPE, copy);
    if (r->config->watch)
        r->shown = arena_strndup(&r->arena, text, len);
    return done;
}

struct replied *reply_bytes(struct request *r, int status, const char *content_type,
                            unsigned char *bytes, size_t n)
{
    return reply_response(r, status, content_type,
                          MHD_create_response_from_buffer(n, bytes, MHD_RESPMEM_MUST_FREE));
}

struct replied *reply_static(struct request *r, int status, const char *content_type,
                             const unsigned char *bytes, size_t n)
{
    /* The cast is safe, because libmicrohttpd does not write to the bytes. */
    unsigned char *same = (unsigned char *)(uintptr_t)bytes;
    return reply_response(r, status, content_type,
                          MHD_create_response_from_buffer(n, same, MHD_RESPMEM_PERSISTENT));
}

struct replied *reply_empty(struct request *r, int status)
{
    return reply_response(r, status, NULL,
                          MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT));
}

static void add_challenge(struct request *r)
{
    if (r->service && r->service->challenge)
        r->service->challenge(r);
    else
        reply_header(r, "WWW-Authenticate",
                     "Bearer authorization_uri=\"%s/adfs\", error=\"invalid_token\"",
                     request_base(r));
}

static ssize_t nothing(void *ctx, uint64_t pos, char *buf, size_t max)
{
    (void)ctx, (void)pos, (void)buf, (void)max;
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

struct replied *reply_length(struct request *r, const char *content_type, uint64_t len)
{
    return reply_response(r, 200, content_type,
                          MHD_create_response_from_callback(len, 1024, nothing, NULL, NULL));
}

/* Adds the headers that an error needs (enum error_adds). */
static void add_error_headers(struct request *r, unsigned adds)
{
    if (adds & ADDS_LOG_IN)
        add_challenge(r);
    if (adds & ADDS_GATEWAY_CAUSE)
        reply_header(r, "x-ms-failure-cause", "gateway");
    if (adds & ADDS_SERVICE_CAUSE)
        reply_header(r, "x-ms-failure-cause", "service");
    if (adds & ADDS_TRY_AGAIN)
        reply_header(r, "Retry-After", "%d",
                     r->config->settings.retry_after_s > 0 ? r->config->settings.retry_after_s : 1);
}

struct replied *reply_err(struct request *r, const struct err *e)
{
    const struct error_words words = error_words(r->service, e->code);
    /* Do not log an unreachable resource (ADDS_TRY_AGAIN), because other code has logged it, nor an
     * operation that is not implemented (501). */
    if (words.status >= 500 && words.status != 501 && !(words.adds & ADDS_TRY_AGAIN))
        LOG_ERROR(r->config->log, "request.failed", LF_STR("method", r->method),
                  LF_STR("path", r->target), LF_STR("code", words.code),
                  LF_STR("error", err_code_name(e->code)), LF_STR("why", e->msg),
                  LF_STR("req", r->correlation_id));
    r->gateway_error = words.adds & ADDS_GATEWAY_CAUSE;
    add_error_headers(r, words.adds);
    if (r->service && r->service->error)
        return r->service->error(r, words, e);
    return reply_json(r, words.status, error_body(words, e));
}

struct replied *reply_later(struct request *r)
{
    assert(!r->response);
    r->later = true;
    return TOKEN;
}
