/* SPDX-License-Identifier: MIT
 *
 * Opens the connection in steps: TCP, then TLS with the protocol's name in ALPN, then one HTTP
 * request whose reply is 101. Secrets are wiped before their memory is freed.
 */
#include "daemon/cli/terminal_link.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/certs/tls_client.h"
#include "daemon/cli/client_priv.h"
#include "lib/jsontext.h"

#define SCHEME     "https://"
#define OPEN_MS    30000 /* time limit of each step of opening */
#define HEAD_MAX   65536
#define RECORD_MAX 16384
#define HOST_SIZE  256
#define PORT_SIZE  8

struct terminal_link {
    int fd;
    struct tls_client *tls;
    char host[HOST_SIZE], port[PORT_SIZE];
    struct terminal_frames in;
    struct strbuf out;
    size_t sent; /* how many bytes of `out` were sent */
    bool over;
};

void terminal_link_close(struct terminal_link *l)
{
    if (!l)
        return;
    tls_client_free(l->tls);
    if (l->fd >= 0)
        close(l->fd);
    terminal_frames_free(&l->in);
    if (l->out.s)
        explicit_bzero(l->out.s, l->out.len);
    strbuf_free(&l->out);
    free(l);
}

/* --- connecting ---------------------------------------------------------------------------------
 */

/* Reads "https://HOST:PORT", "https://[ADDRESS]:PORT", or one of these without a port. */
static int read_endpoint(struct terminal_link *l, const char *url, struct err *e)
{
    const char *host = url + strlen(SCHEME);
    bool bracketed = strncmp(url, SCHEME, strlen(SCHEME)) == 0 && *host == '[';
    host += bracketed;
    size_t n = strcspn(host, bracketed ? "]" : ":/");
    const char *rest = host + n + (bracketed && host[n] ? 1 : 0);
    const char *port = *rest == ':' ? rest + 1 : "443";
    size_t n_port = strspn(port, "0123456789");
    if (strncmp(url, SCHEME, strlen(SCHEME)) != 0 || n == 0 || n >= HOST_SIZE || n_port == 0 ||
        n_port >= PORT_SIZE)
        return err_set(e, ERR_CONFIG, NULL,
                       "'%.200s' is not a valid endpoint for a terminal; it is one like "
                       "https://gpu-head.lab:7443",
                       url);
    memcpy(l->host, host, n);
    memcpy(l->port, port, n_port);
    return 0;
}

static int await(const struct terminal_link *l, short events)
{
    int rc;
    do
        rc = poll(&(struct pollfd){.fd = l->fd, .events = events}, 1, OPEN_MS);
    while (rc < 0 && errno == EINTR);
    if (rc == 0)
        errno = ETIMEDOUT;
    return rc > 0 ? 0 : -1;
}

static int dial_one(struct terminal_link *l, const struct addrinfo *to)
{
    int why = 0;
    socklen_t n = sizeof why;
    const int on = 1;
    l->fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0)
        return -1;
    int rc = connect(l->fd, to->ai_addr, to->ai_addrlen);
    if (rc < 0 && errno == EINPROGRESS)
        rc = await(l, POLLOUT);
    if (rc == 0 && getsockopt(l->fd, SOL_SOCKET, SO_ERROR, &why, &n) == 0 && why == 0) {
        (void)setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        return 0;
    }
    errno = why ? why : errno;
    why = errno;
    close(l->fd);
    l->fd = -1;
    errno = why;
    return -1;
}

static int dial(struct terminal_link *l, struct err *e)
{
    const struct addrinfo want = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *all = NULL;
    int rc = getaddrinfo(l->host, l->port, &want, &all);
    if (rc != 0)
        return err_set(e, ERR_UNAVAILABLE, NULL, "the daemon's name %s is not known: %s", l->host,
                       gai_strerror(rc));
    rc = -1;
    for (const struct addrinfo *one = all; one && rc < 0; one = one->ai_next)
        rc = dial_one(l, one);
    if (rc < 0)
        err_set(e, ERR_UNAVAILABLE, NULL, "the daemon at %s:%s does not answer: %s", l->host,
                l->port, strerror(errno));
    freeaddrinfo(all);
    return rc;
}

static int shake_hands(struct terminal_link *l, struct err *e)
{
    short events;
    int rc;
    while ((rc = tls_client_shake_hands(l->tls, &events)) == 0)
        if (await(l, events) < 0)
            return err_set(e, ERR_UNAVAILABLE, NULL, "the daemon at %s:%s does not answer: %s",
                           l->host, l->port, strerror(errno));
    if (rc > 0)
        return 0;
    return err_set(e, ERR_UNAVAILABLE, NULL, "the connection to the daemon at %s:%s failed: %s",
                   l->host, l->port, tls_client_why(l->tls));
}

/* --- bytes --------------------------------------------------------------------------------------
 */

static int lost(struct terminal_link *l, struct err *e)
{
    const char *why = tls_client_why(l->tls);
    l->over = true;
    return err_set(e, ERR_UNAVAILABLE, NULL, "the connection to the daemon is lost%s%s",
                   why ? ": " : "", why ? why : "");
}

size_t terminal_link_waiting(const struct terminal_link *l)
{
    return l->out.len - l->sent;
}

int terminal_link_flush(struct terminal_link *l, struct err *e)
{
    while (!l->over && terminal_link_waiting(l) > 0) {
        ssize_t n = tls_client_send(l->tls, l->out.s + l->sent, terminal_link_waiting(l));
        if (n == 0)
            return 0;
        if (n < 0)
            return lost(l, e);
        l->sent += (size_t)n;
    }
    if (l->out.s)
        explicit_bzero(l->out.s, l->out.len);
    strbuf_reset(&l->out);
    l->sent = 0;
    return 0;
}

void terminal_link_send(struct terminal_link *l, enum terminal_frame_kind kind, const void *bytes,
                        size_t n)
{
    terminal_frame_add(&l->out, kind, bytes, n);
}

/* Returns how many bytes were received. 0: none yet; -1: the connection has ended. */
static ssize_t receive(struct terminal_link *l, char *buf, size_t n, struct err *e)
{
    ssize_t rc = l->over ? -1 : tls_client_recv(l->tls, buf, n);
    return rc < 0 ? lost(l, e) : rc;
}

int terminal_link_next(struct terminal_link *l, struct terminal_frame *out, struct err *e)
{
    char buf[RECORD_MAX];
    int rc;
    while ((rc = terminal_frames_next(&l->in, out, e)) == 0) {
        ssize_t n = receive(l, buf, sizeof buf, e);
        if (n <= 0)
            return (int)n;
        terminal_frames_feed(&l->in, buf, (size_t)n);
    }
    return rc;
}

int terminal_link_fd(const struct terminal_link *l)
{
    return l->fd;
}

short terminal_link_events(const struct terminal_link *l)
{
    return (short)(POLLIN | (terminal_link_waiting(l) > 0 ? POLLOUT : 0));
}

/* --- the request --------------------------------------------------------------------------------
 */

static int send_request(struct terminal_link *l, const struct daemon_client *c, const char *path,
                        const json_t *ask, struct err *e)
{
    char *body = jsontext(ask);
    bool v6 = strchr(l->host, ':') != NULL;
    strbuf_printf(&l->out,
                  "POST %s HTTP/1.1\r\nHost: %s%s%s:%s\r\n%s\r\nContent-Type: application/json\r\n"
                  "Content-Length: %zu\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n%s",
                  path, v6 ? "[" : "", l->host, v6 ? "]" : "", l->port, c->authorization,
                  strlen(body), TERMINAL_PROTOCOL, body);
    free(body);
    while (terminal_link_waiting(l) > 0)
        if (terminal_link_flush(l, e) < 0)
            return -1;
        else if (terminal_link_waiting(l) > 0 && await(l, POLLOUT) < 0)
            return lost(l, e);
    return 0;
}

static int read_more(struct terminal_link *l, struct strbuf *got, struct err *e)
{
    char buf[RECORD_MAX];
    ssize_t n = receive(l, buf, sizeof buf, e);
    if (n > 0)
        strbuf_add(got, buf, (size_t)n);
    if (n == 0 && !tls_client_has_more(l->tls) && await(l, POLLIN) < 0)
        return lost(l, e);
    if (got->len > HEAD_MAX)
        return err_set(e, ERR_PROTOCOL, NULL, "the daemon's reply is too long");
    return n < 0 ? -1 : 0;
}

static size_t length_of(const char *head)
{
    static const char name[] = "\ncontent-length:";
    for (const char *at = head; *at; at++)
        if (strncasecmp(at, name, sizeof name - 1) == 0)
            return strtoul(at + sizeof name - 1, NULL, 10);
    return 0;
}

/* Reads a reply that is an error; its body follows the head. */
static int read_refusal(struct terminal_link *l, struct strbuf *got, size_t head, long status,
                        struct err *e)
{
    size_t n = length_of(got->s);
    while (got->len < head + n && n < HEAD_MAX)
        if (read_more(l, got, e) < 0)
            return -1;
    json_t *body = json_loadb(got->s + head, got->len - head, 0, NULL);
    int rc = client_refused(body, status, e);
    json_decref(body);
    return rc;
}

static int read_reply(struct terminal_link *l, struct err *e)
{
    struct strbuf got = STRBUF_INIT;
    const char *end = NULL;
    int rc = 0;
    while (rc == 0 && !end) {
        rc = read_more(l, &got, e);
        end = rc == 0 && got.s ? strstr(got.s, "\r\n\r\n") : NULL;
    }
    const char *space = rc == 0 ? strchr(got.s, ' ') : NULL;
    long status = space ? strtol(space, NULL, 10) : 0;
    size_t head = end ? (size_t)(end - got.s) + strlen("\r\n\r\n") : 0;
    if (rc == 0 && status == 101)
        terminal_frames_feed(&l->in, got.s + head, got.len - head);
    else if (rc == 0)
        rc = read_refusal(l, &got, head, status, e);
    strbuf_free(&got);
    return rc;
}

int terminal_link_open(struct daemon_client *c, const char *path, const json_t *ask,
                       struct terminal_link **out, struct err *e)
{
    struct terminal_link *l = xcalloc(1, sizeof *l);
    l->fd = -1;
    l->in.of_daemon = true;
    int rc = read_endpoint(l, client_endpoint(c), e);
    if (rc == 0)
        rc = dial(l, e);
    if (rc == 0) {
        l->tls = tls_client_new(l->fd, l->host, environment_get(&c->env, "SSL_CERT_FILE"),
                                TERMINAL_PROTOCOL);
        rc = shake_hands(l, e);
    }
    if (rc == 0)
        rc = send_request(l, c, path, ask, e);
    if (rc == 0)
        rc = read_reply(l, e);
    if (rc < 0)
        terminal_link_close(l);
    *out = rc < 0 ? NULL : l;
    return rc;
}
