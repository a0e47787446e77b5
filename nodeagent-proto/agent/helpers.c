/* SPDX-License-Identifier: MIT
 *
 * The code of two processes: the first part of this file runs in the helper only, the second part
 * in the agent only.
 */
#include "nodeagent-proto/agent/helpers.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/jsonread.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/descriptors.h"
#include "nodeagent-proto/agent/monotonic.h"
#include "nodeagent-proto/agent/procs.h"
#include "nodeagent-proto/wire/codec.h"
#include "nodeagent-proto/wire/message.h"

/* The most bytes of a message to an idle helper, because a message must be sent at once. A task or
 * request with a longer message gets a new process. */
#define MESSAGE_MAX (64U * 1024)
#define FDS_MAX     2

/* How many idle helpers are kept, and for how long. */
#define IDLE_MAX 4
#define IDLE_MS  3000

/* How many descriptors are sent to the helper: for a task those of its claim and of its report; for
 * a request that of its answer. */
enum { TASK_FDS = 2, REQUEST_FDS = 1 };

union fd_room {
    char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
    struct cmsghdr align;
};

/* ---- in the helper ---- */

struct end { /* the helper's end */
    int socket, signal_fd;
    struct supervisor_config common; /* what is the same for all tasks */
    const struct helpers *helpers;
};

static size_t take_fds(struct msghdr *m, int *fds)
{
    struct cmsghdr *c = CMSG_FIRSTHDR(m);
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
        return 0;
    size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof *fds;
    n = n < FDS_MAX ? n : FDS_MAX;
    memcpy(fds, CMSG_DATA(c), n * sizeof *fds);
    return n;
}

static _Noreturn void leave(const struct supervisor_config *c)
{
    cgroup_remove_kept(c->cgroups);
    _exit(0);
}

/* Waits for the next message from the agent; exits if the agent has closed the socket. */
static json_t *hear(const struct end *en, int *fds, size_t *n_fds)
{
    static char text[MESSAGE_MAX];
    union fd_room room;
    struct iovec part = {.iov_base = text, .iov_len = sizeof text};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = room.bytes,
                       .msg_controllen = sizeof room.bytes};
    ssize_t n;
    do
        n = recvmsg(en->socket, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        leave(&en->common);
    *n_fds = take_fds(&m, fds);
    json_t *j = jsonread(text, (size_t)n, 0, NULL);
    explicit_bzero(text, (size_t)n);
    return j;
}

static bool supervise(const struct end *en, json_t *j, const int *fds)
{
    struct arena a;
    struct task_spec spec;
    struct err e;
    struct supervisor_config c = en->common;
    bool alone = true;
    arena_init(&a);
    c.spec = &spec;
    c.claim_fd = fds[0];
    if (message_task_spec_read(j, &a, &spec, &e) == 0)
        alone = supervisor_run(&c, fds[1], en->signal_fd);
    arena_free(&a);
    return alone;
}

static _Noreturn void serve_all(const struct end *en)
{
    bool alone = true;
    while (alone) {
        int fds[FDS_MAX];
        size_t n;
        prctl(PR_SET_NAME, "batchai-spare");
        if (write(en->socket, "", 1) != 1)
            break;
        json_t *j = hear(en, fds, &n);
        if (n == TASK_FDS) {
            alone = supervise(en, j, fds);
        } else if (n == REQUEST_FDS) {
            prctl(PR_SET_NAME, "batchai-worker");
            en->helpers->serve(en->helpers->ctx, j, fds[0]);
            close(fds[0]);
        } else {
            alone = false;
        }
        json_decref(j);
    }
    leave(&en->common);
}

static _Noreturn void begin(const struct helpers *h, const struct supervisor_config *c,
                            int report_fd, int socket)
{
    struct end en = {.socket = socket, .common = *c, .helpers = h};
    en.common.own_start = procs_start_time(getpid());
    setsid();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    descriptors_close_all_but(c->claim_fd, report_fd, socket);
    en.signal_fd = supervisor_take_signals();
    if (chdir("/") < 0 || en.signal_fd < 0 || !supervisor_run(&en.common, report_fd, en.signal_fd))
        leave(c);
    serve_all(&en);
}

/* ---- in the agent ---- */

struct helper {
    struct helper *next;
    pid_t pid;
    int fd;
    bool busy;
    char *task; /* the task that the helper supervises; NULL: none */
    int64_t idle_since_ms;
};

static void drop(struct helpers *h, struct helper *one)
{
    struct helper **at = &h->head;
    while (*at != one) {
        assert(*at);
        at = &(*at)->next;
    }
    *at = one->next;
    close(one->fd);
    free(one->task);
    free(one);
}

static void remember(struct helpers *h, pid_t pid, int fd, const char *task)
{
    struct helper *one = xcalloc(1, sizeof *one);
    *one =
        (struct helper){.next = h->head, .pid = pid, .fd = fd, .busy = true, .task = xstrdup(task)};
    h->head = one;
}

static bool give(const struct helper *one, const json_t *j, const int *fds, size_t n_fds)
{
    union fd_room room;
    struct strbuf text = STRBUF_INIT;
    bool fits = codec_text(j, &text) == 0 && text.len <= MESSAGE_MAX;
    struct iovec part = {.iov_base = text.s, .iov_len = text.len};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = room.bytes,
                       .msg_controllen = CMSG_SPACE(n_fds * sizeof *fds)};
    memset(&room, 0, sizeof room);
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(n_fds * sizeof *fds);
    memcpy(CMSG_DATA(c), fds, n_fds * sizeof *fds);
    bool given = fits && sendmsg(one->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)text.len;
    if (text.s)
        explicit_bzero(text.s, text.len);
    strbuf_free(&text);
    return given;
}

/* Sends a message to an idle helper and returns the helper. NULL: no helper is idle, or the message
 * is too long. */
static struct helper *give_to_any(struct helpers *h, const json_t *j, const int *fds, size_t n_fds)
{
    struct helper *one = h->head;
    while (one && one->busy)
        one = one->next;
    if (!one || !give(one, j, fds, n_fds))
        return NULL;
    one->busy = true;
    return one;
}

static bool supervise_by_idle(struct helpers *h, const struct supervisor_config *c,
                              const json_t *message, int report_fd)
{
    const int fds[TASK_FDS] = {c->claim_fd, report_fd};
    struct helper *one = give_to_any(h, message, fds, TASK_FDS);
    if (one)
        one->task = xstrdup(c->spec->id);
    return one != NULL;
}

static int fork_helper(struct helpers *h, const struct supervisor_config *c, int report_fd,
                       struct err *e)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return err_errno(e, ERR_NODE, "cannot make a socket");
    pid_t pid = fork();
    if (pid == 0)
        begin(h, c, report_fd, ends[1]);
    int saved = errno;
    close(ends[1]);
    errno = saved;
    if (pid > 0) {
        remember(h, pid, ends[0], c->spec->id);
        return 0;
    }
    int rc = err_errno(e, ERR_NODE, "cannot fork a supervisor");
    close(ends[0]);
    return rc;
}

int helpers_supervise(struct helpers *h, const struct supervisor_config *c, const json_t *message,
                      struct err *e)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
        return err_errno(e, ERR_NODE, "cannot make a pipe");
    int rc = supervise_by_idle(h, c, message, fds[1]) ? 0 : fork_helper(h, c, fds[1], e);
    close(fds[1]);
    if (rc < 0)
        close(fds[0]);
    return rc < 0 ? -1 : fds[0];
}

pid_t helpers_serve(struct helpers *h, const json_t *req, int fd)
{
    const struct helper *one = give_to_any(h, req, &fd, REQUEST_FDS);
    return one ? one->pid : 0;
}

void helpers_close(struct helpers *h)
{
    while (h->head)
        drop(h, h->head);
}

size_t helpers_poll_count(const struct helpers *h)
{
    size_t n = 0;
    for (const struct helper *one = h->head; one; one = one->next)
        n++;
    return n;
}

void helpers_poll_fill(const struct helpers *h, struct pollfd *p)
{
    for (const struct helper *one = h->head; one; one = one->next)
        *p++ = (struct pollfd){.fd = one->fd, .events = POLLIN};
}

static size_t count_idle(const struct helpers *h)
{
    size_t n = 0;
    for (const struct helper *one = h->head; one; one = one->next)
        n += !one->busy;
    return n;
}

static void become_idle(struct helpers *h, struct helper *one,
                        void (*fn)(void *ctx, const char *id), void *ctx)
{
    char *task = one->task;
    one->task = NULL;
    one->busy = false;
    one->idle_since_ms = monotonic_ms();
    if (count_idle(h) > IDLE_MAX)
        drop(h, one);
    if (task)
        fn(ctx, task);
    free(task);
}

static bool is_ready(const struct pollfd *p, size_t n, int fd)
{
    for (size_t i = 0; i < n; i++)
        if (p[i].fd == fd)
            return p[i].revents != 0;
    return false;
}

void helpers_poll_act(struct helpers *h, const struct pollfd *p, size_t n,
                      void (*fn)(void *ctx, const char *id), void *ctx)
{
    char byte;
    int64_t now = monotonic_ms();
    for (struct helper *one = h->head, *next; one; one = next) {
        next = one->next;
        if (!is_ready(p, n, one->fd)) {
            if (!one->busy && now >= one->idle_since_ms + IDLE_MS)
                drop(h, one);
            continue;
        }
        ssize_t got = recv(one->fd, &byte, 1, MSG_DONTWAIT);
        if (got > 0)
            become_idle(h, one, fn, ctx);
        else if (got == 0 || errno != EAGAIN)
            drop(h, one); /* The helper died. If its task has ended, the result is in the task's
                             records. */
    }
}

int helpers_poll_timeout(const struct helpers *h)
{
    int64_t first = -1, now = monotonic_ms();
    for (const struct helper *one = h->head; one; one = one->next)
        if (!one->busy && (first < 0 || one->idle_since_ms + IDLE_MS < first))
            first = one->idle_since_ms + IDLE_MS;
    if (first < 0)
        return -1;
    return first > now ? (int)(first - now) : 0;
}
