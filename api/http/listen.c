/* SPDX-License-Identifier: MIT
 *
 * Resolves each setting and makes a socket for each address; if one fails, closes all of them. The
 * caller owns the sockets. Runs before the loop.
 */
#include "api/http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG        512
#define PORT_TRIES_MAX 20 /* a free port of 127.0.0.1 may be in use on ::1 */

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

void listen_close(int fd)
{
    close(fd);
}

static int parse(const char *host, int port, union address *a, socklen_t *len)
{
    memset(a, 0, sizeof *a);
    if (inet_pton(AF_INET, host, &a->v4.sin_addr) == 1) {
        a->v4.sin_family = AF_INET;
        a->v4.sin_port = htons((uint16_t)port);
        *len = sizeof a->v4;
        return 0;
    }
    if (inet_pton(AF_INET6, host, &a->v6.sin6_addr) == 1) {
        a->v6.sin6_family = AF_INET6;
        a->v6.sin6_port = htons((uint16_t)port);
        *len = sizeof a->v6;
        return 0;
    }
    return -1;
}

static int real_port(int fd)
{
    union address a = {0};
    socklen_t len = sizeof a;
    if (getsockname(fd, &a.any, &len) < 0)
        return 0;
    return ntohs(a.any.sa_family == AF_INET ? a.v4.sin_port : a.v6.sin6_port);
}

/* Adds a remedy to the system's message. */
static int cannot_bind(int error, const char *host, int port, struct err *e)
{
    static const struct {
        int error;
        const char *hint;
    } hints[] = {
        {EADDRINUSE, "; another program uses the port, or an earlier address of the list (such as "
                     "0.0.0.0) includes this address; port 0 picks a free port"},
        {EADDRNOTAVAIL, "; this machine does not have that address"},
        {EACCES, "; ports below 1024 are for root, or with CAP_NET_BIND_SERVICE"},
    };
    const char *hint = "";
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
        if (hints[i].error == error)
            hint = hints[i].hint;
    return err_set(e, ERR_CONFIG, NULL, "cannot listen on %s port %d: %s%s", host, port,
                   strerror(error), hint);
}

static int open_one(const char *host, int port, struct listen_socket *out, struct err *e)
{
    union address a = {0};
    socklen_t len;
    if (parse(host, port, &a, &len) < 0)
        return err_set(e, ERR_CONFIG, "listen",
                       "cannot listen on '%s': it must be an IPv4 or IPv6 address, or localhost",
                       host);
    int fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;
    if (fd < 0)
        return err_errno(e, ERR_CONFIG, "cannot listen on %s", host);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (a.any.sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(fd, &a.any, len) < 0 || listen(fd, BACKLOG) < 0) {
        int error = errno;
        close(fd);
        return cannot_bind(error, host, port, e);
    }
    out->fd = fd;
    out->port = real_port(fd);
    snprintf(out->url_host, sizeof out->url_host, a.any.sa_family == AF_INET6 ? "[%s]" : "%s",
             host);
    return 0;
}

static bool have_ipv6_loopback(void)
{
    struct listen_socket probe = {.fd = -1};
    if (open_one("::1", 0, &probe, NULL) < 0)
        return false;
    close(probe.fd);
    return true;
}

/* Opens both loopback addresses on the same port. */
static int open_localhost(int port, struct listen_socket *out, size_t *n, struct err *e)
{
    if (!have_ipv6_loopback()) {
        *n = 1;
        return open_one("127.0.0.1", port, out, e);
    }
    for (int i = 0; i < PORT_TRIES_MAX; i++) {
        if (open_one("127.0.0.1", port, &out[0], e) < 0)
            return -1;
        if (open_one("::1", out[0].port, &out[1], e) == 0) {
            *n = 2;
            return 0;
        }
        close(out[0].fd);
        if (port != 0)
            return -1;
    }
    return -1;
}

int listen_open(const struct api_listen *addrs, size_t n_addrs, struct listen_socket *out,
                size_t max, size_t *n, struct err *e)
{
    *n = 0;
    for (size_t i = 0; i < n_addrs; i++) {
        size_t made = 1;
        int rc;
        if (*n + 2 > max)
            rc = err_set(e, ERR_CONFIG, "listen", "at most %zu addresses can be listened on",
                         max - 1);
        else if (strcasecmp(addrs[i].host, "localhost") == 0)
            rc = open_localhost(addrs[i].port, out + *n, &made, e);
        else
            rc = open_one(addrs[i].host, addrs[i].port, out + *n, e);
        if (rc < 0) {
            while (*n > 0)
                close(out[--*n].fd);
            return -1;
        }
        for (size_t k = 0; k < made; k++)
            out[(*n)++].listen = &addrs[i];
    }
    return 0;
}

const struct listen_socket *listen_local(const struct listen_socket *sockets, size_t n)
{
    static const char *const local[] = {"127.", "[::1]", "0.0.0.0", "[::]"};
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; !sockets[i].listen->service && k < sizeof local / sizeof local[0]; k++)
            if (strncmp(sockets[i].url_host, local[k], strlen(local[k])) == 0)
                return &sockets[i];
    return &sockets[0];
}
