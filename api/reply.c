/* SPDX-License-Identifier: MIT
 *
 * Building replies: body, the headers that every reply carries, and the token that proves it.
 */
#include <assert.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/api_priv.h"
#include "api/error.h"
#include "api/request.h"
#include "api/router.h"
#include "lib/jsontext.h"

/* The token's address is all there is to it. */
static char token_object;
#define TOKEN ((struct replied *)(void *)&token_object)

void reply_header(struct request *r, const char *name, const char *fmt, ...)
{
    assert(r->n_headers < REQUEST_HEADERS_MAX);
    va_list ap;
    va_start(ap, fmt);
    char value[1024];
    vsnprintf(value, sizeof value, fmt, ap);
    va_end(ap);
    r->header[r->n_headers++] = (struct request_header){name, arena_strdup(&r->arena, value)};
}

void reply_try_again(struct request *r)
{
    int seconds = r->config->retry_after_s;
    reply_header(r, "Retry-After", "%d", seconds > 0 ? seconds : 1);
}

/* Nothing is throttled here, so what remains never falls. */
static const struct {
    const char *method, *name, *value;
} remaining[] = {
    {"GET", "x-ms-ratelimit-remaining-subscription-reads", "14999"},
    {"HEAD", "x-ms-ratelimit-remaining-subscription-reads", "14999"},
    {"PUT", "x-ms-ratelimit-remaining-subscription-writes", "1199"},
    {"PATCH", "x-ms-ratelimit-remaining-subscription-writes", "1199"},
    {"DELETE", "x-ms-ratelimit-remaining-subscription-deletes", "14999"},
};

/* POST reads when it lists, and writes when it terminates. */
static const char *counted_method(const struct request *r)
{
    if (strcmp(r->method, "POST") != 0)
        return r->method;
    return strstr(r->route->operation_id, "List") ? "GET" : "PUT";
}

static void add_remaining(const struct request *r, struct MHD_Response *resp)
{
    const char *method = counted_method(r);
    for (size_t i = 0; i < sizeof remaining / sizeof remaining[0]; i++)
        if (strcmp(remaining[i].method, method) == 0)
            MHD_add_response_header(resp, remaining[i].name, remaining[i].value);
}

/* What only the service itself sends, not what stands around it. A browser that saw
 * Strict-Transport-Security would refuse plain http on every port of localhost, so that is for
 * those who want the service to the letter. */
static void add_service_headers(const struct request *r, struct MHD_Response *resp)
{
    MHD_add_response_header(resp, "Server", "Microsoft-HTTPAPI/2.0");
    MHD_add_response_header(resp, "request-id", r->request_id);
    if (r->config->strict)
        MHD_add_response_header(resp, "Strict-Transport-Security",
                                "max-age=31536000; includeSubDomains");
    add_remaining(r, resp);
}

/* The headers that every reply carries. */
static void add_common_headers(struct request *r, struct MHD_Response *resp)
{
    static const struct request_header fixed[] = {
        {"Cache-Control", "no-cache"},
        {"Pragma", "no-cache"},
        {"Expires", "-1"},
        {"X-Content-Type-Options", "nosniff"},
    };
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        MHD_add_response_header(resp, fixed[i].name, fixed[i].value);
    char when[TIMEFMT_SIZE], routing[120];
    timefmt_basic(r->now_us, 0, when);
    snprintf(routing, sizeof routing, "LOCAL:%s:%s", when, r->correlation_id);
    MHD_add_response_header(resp, "x-ms-request-id", r->correlation_id);
    MHD_add_response_header(resp, "x-ms-correlation-request-id", r->correlation_id);
    MHD_add_response_header(resp, "x-ms-routing-request-id", routing);
    if (r->route && r->route->versions && !r->gateway_error)
        add_service_headers(r, resp);
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
    if (!resp)
        abort();
    if (r->response)
        MHD_destroy_response(r->response); /* a later failure replaces what was prepared */
    if (content_type)
        MHD_add_response_header(resp, "Content-Type", content_type);
    add_common_headers(r, resp);
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
    return reply_response(r, status, content_type, from_malloc(text));
}

struct replied *reply_json(struct request *r, int status, json_t *body)
{
    char *text = jsontext(body);
    json_decref(body);
    return reply_text(r, status, JSON_CONTENT_TYPE, text);
}

struct replied *reply_empty(struct request *r, int status)
{
    return reply_response(r, status, NULL,
                          MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT));
}

struct replied *reply_err(struct request *r, const struct err *e)
{
    int status = error_status(e->code);
    /* A machine that cannot be reached now is told of where that is found out. */
    if (status >= 500 && e->code != ERR_UNAVAILABLE)
        LOG_ERROR(r->config->log, "request.failed", LF_STR("method", r->method),
                  LF_STR("path", r->path), LF_STR("code", err_code_name(e->code)),
                  LF_STR("reason", e->msg), LF_STR("req", r->correlation_id));
    if (status == 401)
        reply_header(r, "WWW-Authenticate",
                     "Bearer authorization_uri=\"%s/adfs\", error=\"invalid_token\"",
                     request_base(r));
    r->gateway_error = error_is_gateway(e->code);
    if (r->gateway_error || status >= 500)
        reply_header(r, "x-ms-failure-cause", "%s", status >= 500 ? "service" : "gateway");
    return reply_json(r, status, error_body(e));
}

struct replied *reply_fd(struct request *r, int status, const char *content_type, int fd,
                         uint64_t offset, uint64_t len)
{
    struct MHD_Response *resp = MHD_create_response_from_fd_at_offset64(len, fd, offset);
    if (!resp)
        close(fd);
    return reply_response(r, status, content_type, resp);
}

struct replied *reply_later(struct request *r)
{
    r->later = true;
    return TOKEN;
}
