/* SPDX-License-Identifier: MIT
 *
 * What the HTTPS stack alone can do: libmicrohttpd on a libuv loop, driven as api/http/server.c
 * drives it, with nothing behind it. PUT is answered 202 once its body was read, everything else
 * 200 with the bytes of a file.
 *
 *     echo CERT KEY REPLY-FILE     prints the port (loopback) and serves until it is killed
 *     echo - - REPLY-FILE          the same over plain HTTP
 */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#define BACKLOG           512
#define FILE_MAX          (64 * 1024)
#define CONNECTION_MEMORY (32 * 1024)

struct echo {
    struct MHD_Daemon *mhd;
    uv_poll_t poll;
    uv_timer_t timer;
    uv_idle_t idle;
    struct MHD_Response *accepted, *found;
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* Owned by the caller. */
static char *read_file(const char *path, size_t *len)
{
    FILE *f = fopen(path, "r");
    char *text = calloc(1, FILE_MAX);
    if (!f || !text)
        die(path);
    *len = fread(text, 1, FILE_MAX - 1, f);
    fclose(f);
    return text;
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *conn, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **state)
{
    (void)url, (void)version, (void)data;
    struct echo *e = ctx;
    if (!*state) {
        *state = e;
        return MHD_YES;
    }
    if (*size) {
        *size = 0;
        return MHD_YES;
    }
    if (strcmp(method, "PUT") == 0)
        return MHD_queue_response(conn, MHD_HTTP_ACCEPTED, e->accepted);
    return MHD_queue_response(conn, MHD_HTTP_OK, e->found);
}

static void on_timer(uv_timer_t *t);
static void on_idle(uv_idle_t *i);

static void pump(struct echo *e)
{
    MHD_run(e->mhd);
    unsigned long long ms = 0;
    if (MHD_get_timeout(e->mhd, &ms) != MHD_YES)
        return;
    if (ms == 0)
        uv_idle_start(&e->idle, on_idle);
    else
        uv_timer_start(&e->timer, on_timer, ms, 0);
}

static void on_idle(uv_idle_t *i)
{
    uv_idle_stop(i);
    pump(i->data);
}

static void on_timer(uv_timer_t *t)
{
    pump(t->data);
}

static void on_poll(uv_poll_t *p, int status, int events)
{
    (void)status, (void)events;
    pump(p->data);
}

/* A listening socket on a free port, which is printed. */
static int listen_loopback(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) < 0 || listen(fd, BACKLOG) < 0 ||
        getsockname(fd, (struct sockaddr *)&a, &len) < 0)
        die("listen");
    printf("%d\n", ntohs(a.sin_port));
    fflush(stdout);
    return fd;
}

static void start(struct echo *e, uv_loop_t *loop, const char *cert, const char *key)
{
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (char *)cert},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (char *)key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, "NORMAL:-VERS-TLS1.0:-VERS-TLS1.1"},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem *more = cert ? tls : &tls[3];
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (cert ? MHD_USE_TLS : 0);
    e->mhd = MHD_start_daemon(flags, 0, NULL, NULL, on_request, e, MHD_OPTION_LISTEN_SOCKET,
                              listen_loopback(), MHD_OPTION_CONNECTION_TIMEOUT, 120U,
                              MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
                              MHD_OPTION_ARRAY, more, MHD_OPTION_END);
    if (!e->mhd)
        die("MHD_start_daemon");
    uv_poll_init(loop, &e->poll, MHD_get_daemon_info(e->mhd, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd);
    uv_timer_init(loop, &e->timer);
    uv_idle_init(loop, &e->idle);
    e->poll.data = e->timer.data = e->idle.data = e;
    uv_poll_start(&e->poll, UV_READABLE, on_poll);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: echo CERT KEY REPLY-FILE\n");
        return 2;
    }
    size_t len;
    bool is_plain = strcmp(argv[1], "-") == 0;
    char *cert = is_plain ? NULL : read_file(argv[1], &len);
    char *key = is_plain ? NULL : read_file(argv[2], &len);
    char *reply = read_file(argv[3], &len);
    struct echo e = {.accepted = MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT),
                     .found = MHD_create_response_from_buffer(len, reply, MHD_RESPMEM_MUST_FREE)};
    uv_loop_t *loop = uv_default_loop();
    start(&e, loop, cert, key);
    return uv_run(loop, UV_RUN_DEFAULT); /* until it is killed */
}
