/* SPDX-License-Identifier: MIT */
#include "daemon/serve/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void notify_manager(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (!path || (*path != '/' && *path != '@') || strlen(path) >= sizeof to.sun_path)
        return;
    size_t len = strlen(path);
    memcpy(to.sun_path, path, len);
    if (*path == '@') /* the abstract namespace */
        to.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    ssize_t ignored = sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&to,
                             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
    (void)ignored;
    close(fd);
}
