/* SPDX-License-Identifier: MIT
 *
 * Checks what sshfs needs: its program, the device of FUSE, the permission for other users, and the
 * port of the daemon's machine. Keeps no state; the caller owns the list. May block for some
 * seconds.
 */
#include "nodeagent-proto/agent/mounting.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "nodeagent-proto/agent/program.h"
#include "nodeagent-proto/agent/run_tool.h"

#define CONNECT_MS    3000
#define FUSE_CONF     "/etc/fuse.conf"
#define FUSE_CONF_MAX 65536

static void lacks(json_t *list, const char *what)
{
    json_array_append_new(list, json_string(what));
}

/* True: other accounts than the agent's may use a mount. If the agent is not root, FUSE forbids
 * this unless fuse.conf contains this line; docker's daemon, for example, needs it. */
static bool others_are_allowed(void)
{
    char *text, *save = NULL;
    bool allowed = false;
    if (geteuid() == 0)
        return true;
    if (fs_read(FUSE_CONF, FUSE_CONF_MAX, &text, NULL, NULL) < 0)
        return false;
    for (char *line = strtok_r(text, "\n", &save); line && !allowed;
         line = strtok_r(NULL, "\n", &save))
        allowed = strncmp(line + strspn(line, " \t"), "user_allow_other", 16) == 0;
    free(text);
    return allowed;
}

/* Connects to an address. Returns 0, or an errno. */
static int connect_to(const struct sockaddr *to, socklen_t size)
{
    int fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), why = 0;
    socklen_t n = sizeof why;
    if (fd < 0)
        return errno;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    if (connect(fd, to, size) < 0 && errno != EINPROGRESS)
        why = errno;
    else if (poll(&p, 1, CONNECT_MS) != 1)
        why = ETIMEDOUT;
    else
        (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &n);
    close(fd);
    return why;
}

static int connect_address(const char *address, int port)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, address, &v4.sin_addr) == 1)
        return connect_to((const struct sockaddr *)&v4, sizeof v4);
    if (inet_pton(AF_INET6, address, &v6.sin6_addr) == 1)
        return connect_to((const struct sockaddr *)&v6, sizeof v6);
    return EADDRNOTAVAIL;
}

/* Returns the first address of a host; NULL: the name is unknown. The caller frees. Runs getent(1),
 * because the agent is linked statically and cannot resolve names itself. */
static char *address_of(const char *host)
{
    const char *argv[] = {"getent", "ahosts", host, NULL};
    char *text = NULL;
    struct err e;
    if (strchr(host, ':') || host[strspn(host, "0123456789.")] == '\0')
        return xstrdup(host);
    if (*host == '-' || ask_program(argv, &text, &e) < 0)
        return NULL;
    text[strcspn(text, " \t\n")] = '\0';
    return text;
}

static void try_to_connect(json_t *list, const char *host, int port)
{
    char *address = address_of(host), text[512];
    int why = address ? connect_address(address, port) : 0;
    if (!address)
        snprintf(text, sizeof text, "it does not find the name %s; set shares.address", host);
    else if (why)
        snprintf(text, sizeof text,
                 "it does not reach the daemon's machine at %s port %d (%s); open the port, or set "
                 "shares.address or shares.port",
                 host, port, strerror(why));
    if (!address || why)
        lacks(list, text);
    free(address);
}

json_t *mounting_lacks(const char *host, int port)
{
    json_t *list = json_array();
    char *sshfs = program_in_path("sshfs");
    if (!sshfs)
        lacks(list, "it has no sshfs; install it");
    else if (access("/dev/fuse", F_OK) < 0)
        lacks(list, "it has no /dev/fuse; load the kernel's module fuse");
    else if (geteuid() != 0 && access("/dev/fuse", R_OK | W_OK) < 0)
        lacks(list, "its login may not use /dev/fuse; give it the device (mode 0666)");
    else if (!others_are_allowed())
        lacks(
            list,
            "docker cannot reach mounts of its login; add the line user_allow_other to " FUSE_CONF);
    free(sshfs);
    try_to_connect(list, host, port);
    return list;
}
