/* SPDX-License-Identifier: MIT
 *
 * Replies of the data planes: the service's headers, and errors as XML.
 */
#include "api/plane/storage/data_plane.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/request.h"
#include "api/plane/storage/asked.h"
#include "api/plane/storage/cors.h"
#include "api/plane/storage/xml_write.h"
#include "model/spec.h"
#include "storage/storage.h"

#define CLIENT_ID_MAX 1024 /* bytes; a longer id is not echoed */

#define PLANE_ERRORS(X)                                                                            \
    X(ERR_BAD_REQUEST, 400, "InvalidInput", 0)                                                     \
    X(ERR_INVALID_CONTENT, 400, "InvalidXmlDocument", 0)                                           \
    X(ERR_INVALID_QUERY, 400, "InvalidQueryParameterValue", 0)                                     \
    X(ERR_INVALID_PATH, 400, "InvalidUri", 0)                                                      \
    X(ERR_MISSING_API_VERSION, 400, "MissingRequiredHeader", 0)                                    \
    X(ERR_UNKNOWN_API_VERSION, 400, "InvalidHeaderValue", 0)                                       \
    X(ERR_BODY_TOO_LARGE, 413, "RequestBodyTooLarge", 0)                                           \
    X(ERR_UNSUPPORTED_MEDIA, 400, "InvalidHeaderValue", 0)                                         \
    X(ERR_METHOD_NOT_ALLOWED, 405, "UnsupportedHttpVerb", 0)                                       \
    X(ERR_ROUTE_NOT_FOUND, 400, "InvalidUri", 0)                                                   \
    X(ERR_NO_TOKEN, 401, "NoAuthenticationInformation", 0)                                         \
    X(ERR_INVALID_TOKEN, 401, "InvalidAuthenticationInfo", 0)                                      \
    X(ERR_EXPIRED_TOKEN, 401, "InvalidAuthenticationInfo", 0)                                      \
    X(ERR_FORBIDDEN, 403, "AuthorizationFailure", 0)                                               \
    ERROR_FAULTS(X, "InternalError")                                                               \
    X(ERR_UNAVAILABLE, 503, "ServerBusy", ADDS_TRY_AGAIN)                                          \
    X(ERR_ENDED_DAEMON, 409, "DaemonEndedDuringRequest", 0)                                        \
    X(ERR_NODE_LOST, 409, "NodeLost", 0)                                                           \
    X(ERR_IO, 500, "InternalError", 0)                                                             \
    X(ERR_INVALID_PROPERTY, 400, "InvalidInput", 0)                                                \
    X(ERR_MISSING_PROPERTY, 400, "InvalidInput", 0)                                                \
    X(ERR_INVALID_NAME, 400, "InvalidResourceName", 0)                                             \
    X(ERR_NOT_ON_MOUNT_ROOT, 404, "ResourceNotFound", 0)                                           \
    X(ERR_NOT_SUPPORTED, 400, "UnsupportedHeader", 0)                                              \
    ERRORS_NOT_FOUND(X, "ResourceNotFound")                                                        \
    X(ERR_FILE_NOT_FOUND, 404, "ResourceNotFound", 0)                                              \
    X(ERR_CONFLICT, 409, "ResourceAlreadyExists", 0)                                               \
    X(ERR_BEING_DELETED, 409, "ResourceBeingDeleted", 0)                                           \
    X(ERR_QUOTA, 409, "ShareSizeLimitReached", 0)

ERROR_TABLE(plane_words, PLANE_ERRORS, AZSTORAGE_OWN)

/* --- versions ------------------------------------------------------------------------------- */

/* Reads "2021-06-08" as 20210608. Accepts any date, because clients may be newer than this
 * daemon. */
int plane_read_version(struct request *r, struct err *e)
{
    const char *text = request_header(r, "x-ms-version");
    static const char form[] = "dddd-dd-dd";
    if (!text)
        return 0;
    int number = 0;
    bool good = strlen(text) == sizeof form - 1;
    for (size_t i = 0; good && form[i]; i++) {
        good = form[i] == 'd' ? text[i] >= '0' && text[i] <= '9' : text[i] == form[i];
        if (form[i] == 'd')
            number = 10 * number + (text[i] - '0');
    }
    if (!good)
        return err_set(e, AZSTORAGE_HEADER, "x-ms-version",
                       "The value for one of the HTTP headers is not in the correct format: "
                       "x-ms-version is '%.40s'; it must be a date such as 2021-06-08.",
                       text);
    grant_of(r)->version = number;
    return 0;
}

/* --- signatures ----------------------------------------------------------------------------- */

int plane_check_overwrite(const struct grant *g, bool there, struct err *e)
{
    if (!there || grant_has(g, 'w'))
        return 0;
    return err_set(e, AZSTORAGE_OVERWRITE, NULL,
                   "This request is not authorized to perform blob overwrites: the blob is there, "
                   "and the signature's permissions are '%.40s', without w.",
                   g->perms);
}

bool grant_has(const struct grant *g, char permission)
{
    return g->how != GRANT_SAS || strchr(g->perms, permission) != NULL;
}

/* --- headers -------------------------------------------------------------------------------- */

void plane_headers(struct request *r)
{
    const struct grant *g = grant_of(r);
    const char *client_id = request_header(r, "x-ms-client-request-id");
    reply_header_text(r, "x-ms-request-id", r->request_id);
    if (g)
        reply_header_text(r, "Server", g->plane->server);
    if (g && g->version)
        reply_header_text(r, "x-ms-version", request_header(r, "x-ms-version"));
    if (client_id && strlen(client_id) <= CLIENT_ID_MAX)
        reply_header_text(r, "x-ms-client-request-id", client_id);
    cors_headers(r);
}

void reply_state(struct request *r, uint64_t etag, int64_t modified_us)
{
    char when[TIMEFMT_SIZE];
    timefmt_http(modified_us, when);
    reply_header(r, "ETag", "\"0x%llX\"", (unsigned long long)etag);
    reply_header(r, "Last-Modified", "%s", when);
}

/* --- errors --------------------------------------------------------------------------------- */

/* Adds the login URL for clients of the account: at the parent domain of the account's host. */
static void add_challenge(struct request *r)
{
    const char *core = strcasestr(r->host, ".core.");
    const char *base = request_base(r);
    if (core)
        base = arena_printf(&r->arena, "https://%s", core + strlen(".core."));
    reply_header(r, "WWW-Authenticate",
                 "Bearer authorization_uri=%s/adfs/oauth2/authorize "
                 "resource_id=https://storage.azure.com",
                 base);
}

static void add_target(struct strbuf *b, struct request *r, struct error_words words,
                       const struct err *e)
{
    if (!*e->target)
        return;
    if (strcmp(words.code, "InvalidHeaderValue") == 0) {
        const char *value = request_header(r, e->target);
        xml_element(b, "HeaderName", e->target);
        xml_element(b, "HeaderValue", value ? value : "");
    } else if (strstr(words.code, "QueryParameter")) {
        const char *value = request_query(r, e->target);
        xml_element(b, "QueryParameterName", e->target);
        xml_element(b, "QueryParameterValue", value ? value : "");
    } else if (strstr(words.code, "XmlNode")) {
        xml_element(b, "XmlNodeName", e->target);
    }
}

/* The message of an error. If the request asks for an operation that is not served, adds a sentence
 * about it. */
static const char *message_of(struct request *r, const struct err *e)
{
    const char *what =
        e->code == ERR_INVALID_QUERY && strcmp(e->target, "comp") == 0 ? asked_operation(r) : NULL;
    return what ? arena_concat(&r->arena, e->msg, " ", what) : e->msg;
}

struct replied *plane_error(struct request *r, struct error_words words, const struct err *e)
{
    char when[TIMEFMT_SIZE];
    timefmt_fixed(r->now_us, when);
    reply_header_text(r, "x-ms-error-code", words.code);
    if (words.status == 401)
        add_challenge(r);
    if (strcmp(r->method, "HEAD") == 0 || words.status == 304)
        return reply_empty(r, words.status);
    struct strbuf b = STRBUF_INIT;
    xml_begin_document(&b);
    xml_open(&b, "Error");
    xml_element(&b, "Code", words.code);
    xml_element(&b, "Message",
                arena_printf(&r->arena, "%s\nRequestId:%s\nTime:%s", message_of(r, e),
                             r->request_id, when));
    if (grant_of(r) && grant_of(r)->detail)
        xml_element(&b, "AuthenticationErrorDetail", grant_of(r)->detail);
    add_target(&b, r, words, e);
    xml_close(&b, "Error");
    return reply_text(r, words.status, "application/xml", strbuf_take(&b));
}

void plane_too_long(const char *why, struct strbuf *headers, struct strbuf *body)
{
    const char *code = plane_words(ERR_INVALID_PATH).code;
    strbuf_printf(headers, "Content-Type: application/xml\r\nx-ms-error-code: %s\r\n", code);
    xml_begin_document(body);
    xml_open(body, "Error");
    xml_element(body, "Code", code);
    xml_element(body, "Message", why);
    xml_close(body, "Error");
}
