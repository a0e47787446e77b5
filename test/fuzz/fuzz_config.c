/* SPDX-License-Identifier: MIT
 *
 * Configuration files, host lists and durations. First byte 'h': a host list, 'd': a duration; else
 * the whole is a file.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/config/config.h"
#include "daemon/config/hostlist.h"
#include "model/spec.h"
#include "test/fuzz/fuzz.h"

static void read_hosts(const char *text)
{
    struct hostlist l = {0};
    struct err e = {0};
    int rc = hostlist_add(&l, text, &e);
    tell("hosts", rc, e.msg);
    CLAIM(l.n <= HOSTLIST_MAX && (rc == 0 ? l.n > 0 : e.msg[0]));
    for (size_t i = 0; i < l.n; i++) {
        /* It goes into command lines. */
        CLAIM(l.items[i].host[0] && l.items[i].host[0] != '-');
        CLAIM(!strpbrk(l.items[i].host, " \t\n'\"\\$`;&|<>()*?"));
        CLAIM(l.items[i].port > 0 && l.items[i].port < 65536);
    }
    hostlist_free(&l);
}

static void read_file(const uint8_t *data, size_t size)
{
    struct config c = {0};
    struct err e = {0};
    char path[40];
    int fd = memfd_create("config", 0);
    CLAIM(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int rc = config_load(path, &c, &e);
    bool loaded = rc == 0;
    if (loaded)
        rc = config_check(&c, &e);
    tell("file", rc, e.msg);
    CLAIM(rc == 0 || e.msg[0]);
    if (loaded)
        config_free(&c);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pieces in = {(const char *)data, (const char *)data + size};
    if (size && (*data == 'h' || *data == 'd') && size > 1 && data[1] == ' ') {
        char *text = next_line(&in);
        int64_t us;
        if (*data == 'h')
            read_hosts(text + (strlen(text) > 1 ? 2 : strlen(text)));
        else
            (void)duration_parse(text + (strlen(text) > 1 ? 2 : strlen(text)), &us);
        free(text);
    } else {
        read_file(data, size);
    }
    return 0;
}
