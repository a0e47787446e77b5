/* SPDX-License-Identifier: MIT
 *
 * Checks the target of a request (path and query) before libmicrohttpd splits it. libmicrohttpd
 * stores the query's parameters in the connection's memory, some 70 bytes each. If a query does not
 * fit, it sends no reply; if the query just fits, no memory is left for the reply's head. So the
 * code here replies with an error to targets that are too large, when nothing but the target has
 * been read. The form of the error is that of the service of the port, or of the name in the TLS
 * handshake.
 */
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <string.h>
#include <sys/socket.h>

#include "api/http/connections.h"
#include "api/http/http_priv.h"

#define URI_MAX         16384
#define PARAMETERS_MAX  400
#define STRING(number)  STRING_OF(number)
#define STRING_OF(text) #text

static const char *too_much(const char *uri)
{
    size_t parameters = 1;
    for (const char *p = uri; *p; p++)
        parameters += *p == '&';
    if (strlen(uri) > URI_MAX)
        return "The path and query are longer than " STRING(URI_MAX) " bytes.";
    return parameters > PARAMETERS_MAX
               ? "The query has more than " STRING(PARAMETERS_MAX) " parameters."
               : NULL;
}

/* The TLS session of a connection; NULL: it uses plain HTTP. */
static gnutls_session_t tls_of(struct MHD_Connection *conn)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(conn, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info ? info->tls_session : NULL;
}

static int socket_of(struct MHD_Connection *conn)
{
    return MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

static struct connection *connection_of(struct MHD_Connection *conn)
{
    return MHD_get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static const struct service *service_for(const struct api *api, struct MHD_Connection *conn)
{
    char name[256] = "";
    size_t size = sizeof name;
    unsigned type;
    gnutls_session_t tls = tls_of(conn);
    if (tls && (gnutls_server_name_get(tls, name, &size, &type, 0) < 0 || type != GNUTLS_NAME_DNS))
        name[0] = '\0';
    const struct served *s = served_at(&api->config, connection_door(connection_of(conn)), name);
    return s ? s->service : NULL;
}

/* Sends bytes directly, without libmicrohttpd. */
static void say_at_once(struct MHD_Connection *conn, const char *bytes, size_t n)
{
    gnutls_session_t tls = tls_of(conn);
    if (!tls)
        send(socket_of(conn), bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
    else if (gnutls_record_send(tls, bytes, n) > 0)
        gnutls_bye(tls, GNUTLS_SHUT_WR);
}

static void put_refusal(const struct service *s, const char *why, struct strbuf *out)
{
    struct strbuf body = STRBUF_INIT;
    strbuf_puts(out, "HTTP/1.1 414 URI Too Long\r\nConnection: close\r\n");
    if (s && s->too_long) {
        s->too_long(why, out, &body);
    } else {
        strbuf_puts(out, "Content-Type: " JSON_CONTENT_TYPE "\r\n");
        strbuf_printf(&body, "{\"error\":{\"code\":\"RequestUriTooLong\",\"message\":\"%s\"}}",
                      why);
    }
    strbuf_printf(out, "Content-Length: %zu\r\n\r\n", body.len);
    strbuf_add(out, body.s, body.len);
    strbuf_free(&body);
}

void *target_check(void *ctx, const char *uri, struct MHD_Connection *conn)
{
    const struct engine *x = ctx;
    const char *why = too_much(uri);
    if (!why)
        return NULL;
    struct strbuf reply = STRBUF_INIT;
    put_refusal(service_for(x->api, conn), why, &reply);
    say_at_once(conn, reply.s, reply.len);
    strbuf_free(&reply);
    connection_refuse(connection_of(conn));
    shutdown(socket_of(conn), SHUT_WR);
    return NULL;
}
