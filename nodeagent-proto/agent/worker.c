/* SPDX-License-Identifier: MIT
 *
 * Two processes share this file: the first part runs in the worker and ends with it, the second
 * part runs in the agent.
 */
#include "nodeagent-proto/agent/worker.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "nodeagent-proto/agent/descriptors.h"
#include "nodeagent-proto/agent/monotonic.h"

#define PIPE_SIZE (256 * 1024)

enum worker_order {
    BESIDE,
    IN_ORDER, /* worker_start_in_order() */
    OF_USERS, /* worker_start_of_users() */
};

struct agent_worker {
    struct agent_worker *next; /* in the order of the requests */
    json_t *req;
    serve_fn fn;
    int limit_s;
    enum worker_order order;
    int64_t deadline_ms;
    pid_t pid; /* 0: not started yet */
    int fd;
    struct strbuf in; /* received bytes that are not a whole frame yet */
};

/* ---- in the worker's process ---- */

/* A worker must not keep the link or the agent's lock open. */
static void let_go(int keep_fd)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (dup2(null, fd) < 0)
            _exit(1);
    descriptors_close_all_but(keep_fd, -1, -1);
}

int worker_answer(struct agent *a, json_t *req, serve_fn fn, int fd)
{
    static const char end_mark[FRAME_HEADER];
    strbuf_free(&a->out); /* the copy of the agent's unsent output */
    a->out_sent = 0;
    ops_serve_by(a, req, fn);
    strbuf_add(&a->out, end_mark, sizeof end_mark);
    return fs_write_all(fd, a->out.s, a->out.len);
}

static _Noreturn void work(struct agent *a, const struct agent_worker *w, int fd)
{
    prctl(PR_SET_NAME, "batchai-worker");
    setsid();
    let_go(fd);
    _exit(worker_answer(a, w->req, w->fn, fd) == 0 ? 0 : 1);
}

/* ---- in the agent ---- */

static void drop(struct agent *a, struct agent_worker *w)
{
    struct agent_worker **at = &a->workers;
    while (*at != w) {
        assert(*at);
        at = &(*at)->next;
    }
    *at = w->next;
    if (w->fd >= 0)
        close(w->fd);
    json_decref(w->req);
    strbuf_free(&w->in);
    free(w);
}

static void refuse(struct agent *a, struct agent_worker *w, const char *why)
{
    struct err e;
    const char *op = json_string_value(json_object_get(w->req, "op"));
    err_set(&e, ERR_UNAVAILABLE, NULL, "'%s' on node %s %s", op ? op : "", a->facts.node.hostname,
            why);
    ops_refuse(a, json_integer_value(json_object_get(w->req, "id")), &e);
    drop(a, w);
}

/* Whether an idle helper may carry the request out. */
static bool is_helped(const struct agent_worker *w)
{
    const char *op = json_string_value(json_object_get(w->req, "op"));
    return op && strcmp(op, HELPED_OP) == 0;
}

static int start(struct agent *a, struct agent_worker *w)
{
    int fds[2];
    assert(w->pid == 0 && w->fd < 0);
    if (pipe2(fds, O_CLOEXEC) < 0)
        return -1;
    w->pid = is_helped(w) ? helpers_serve(&a->helpers, w->req, fds[1]) : 0;
    if (w->pid == 0)
        w->pid = fork();
    if (w->pid == 0)
        work(a, w, fds[1]);
    close(fds[1]);
    w->fd = fds[0];
    (void)fcntl(w->fd, F_SETFL, O_NONBLOCK);
    /* so that a piece of a file passes through the pipe in few reads */
    (void)fcntl(w->fd, F_SETPIPE_SZ, PIPE_SIZE);
    w->deadline_ms = monotonic_ms() + w->limit_s * 1000LL;
    return w->pid < 0 ? -1 : 0;
}

/* Whether the worker waits for an earlier one. */
static bool must_follow(const struct agent *a, const struct agent_worker *w)
{
    for (const struct agent_worker *at = a->workers; at != w; at = at->next)
        if (w->order == OF_USERS && at->order == OF_USERS)
            return true;
    return false;
}

static void start_waiting(struct agent *a)
{
    size_t running = 0;
    for (struct agent_worker *w = a->workers, *next; w && running < WORKERS_MAX; w = next) {
        next = w->next;
        if (w->pid == 0 && must_follow(a, w))
            continue;
        if (w->pid == 0 && start(a, w) < 0)
            refuse(a, w, "could not be begun: the node has no processes or descriptors left");
        else
            running++;
    }
}

static enum outcome add(struct agent *a, json_t *req, serve_fn fn, int limit_s,
                        enum worker_order order)
{
    struct agent_worker *w = xcalloc(1, sizeof *w), **end = &a->workers;
    w->req = json_incref(req);
    w->fn = fn;
    w->limit_s = limit_s;
    w->order = order;
    w->fd = -1;
    while (*end)
        end = &(*end)->next;
    *end = w;
    start_waiting(a);
    return SERVE_ANSWERED;
}

enum outcome worker_start(struct agent *a, json_t *req, serve_fn fn, int limit_s)
{
    return add(a, req, fn, limit_s, BESIDE);
}

enum outcome worker_start_in_order(struct agent *a, json_t *req, serve_fn fn, int limit_s)
{
    return add(a, req, fn, limit_s, IN_ORDER);
}

enum outcome worker_start_of_users(struct agent *a, json_t *req, serve_fn fn, int limit_s)
{
    return add(a, req, fn, limit_s, OF_USERS);
}

bool workers_in_order(const struct agent *a)
{
    for (const struct agent_worker *w = a->workers; w; w = w->next)
        if (w->order == IN_ORDER)
            return true;
    return false;
}

void workers_close(struct agent *a)
{
    /* Running workers continue: their changes are valid even if no agent gets the answer. */
    while (a->workers)
        drop(a, a->workers);
}

/* Passes the worker's whole frames to the daemon. True: the end mark (an empty frame) was
 * received. */
static bool forward(struct agent *a, struct agent_worker *w)
{
    size_t done = 0;
    bool over = false;
    while (!over && w->in.len - done >= FRAME_HEADER) {
        size_t n = FRAME_HEADER + frame_body_size(w->in.s + done);
        over = n == FRAME_HEADER;
        if (!over && w->in.len - done < n)
            break;
        if (!over)
            strbuf_add(&a->out, w->in.s + done, n);
        done += n;
    }
    assert(done <= w->in.len);
    if (done > 0) {
        memmove(w->in.s, w->in.s + done, w->in.len - done);
        w->in.len -= done;
    }
    return over;
}

static void hear(struct agent *a, struct agent_worker *w)
{
    char buf[PIPE_SIZE];
    ssize_t n;
    while ((n = read(w->fd, buf, sizeof buf)) > 0)
        strbuf_add(&w->in, buf, (size_t)n);
    bool ended = n == 0 || (errno != EAGAIN && errno != EINTR);
    if (forward(a, w))
        drop(a, w);
    else if (ended)
        refuse(a, w, "was not finished: its worker process was killed");
}

static void give_up(struct agent *a, struct agent_worker *w)
{
    char why[160];
    assert(w->pid > 0); /* kill(0) would signal the process group of the agent */
    kill(-w->pid, SIGKILL);
    kill(w->pid, SIGKILL);
    snprintf(why, sizeof why,
             "was not done within %d s and was given up: a file system or program there does not "
             "answer",
             w->limit_s);
    refuse(a, w, why);
}

size_t workers_poll_count(const struct agent *a)
{
    size_t n = 0;
    for (const struct agent_worker *w = a->workers; w; w = w->next)
        n += w->pid > 0;
    return n;
}

void workers_poll_fill(const struct agent *a, struct pollfd *p)
{
    for (const struct agent_worker *w = a->workers; w; w = w->next)
        if (w->pid > 0)
            *p++ = (struct pollfd){.fd = w->fd, .events = POLLIN};
}

static bool is_ready(const struct pollfd *p, size_t n, int fd)
{
    for (size_t i = 0; i < n; i++)
        if (p[i].fd == fd)
            return p[i].revents != 0;
    return false;
}

void workers_poll_act(struct agent *a, const struct pollfd *p, size_t n)
{
    int64_t now = monotonic_ms();
    for (struct agent_worker *w = a->workers, *next; w; w = next) {
        next = w->next;
        if (w->pid > 0 && is_ready(p, n, w->fd))
            hear(a, w);
        else if (w->pid > 0 && now >= w->deadline_ms)
            give_up(a, w);
    }
    start_waiting(a);
}

int workers_poll_timeout(const struct agent *a)
{
    int64_t first = -1, now = monotonic_ms();
    for (const struct agent_worker *w = a->workers; w; w = w->next)
        if (w->pid > 0 && (first < 0 || w->deadline_ms < first))
            first = w->deadline_ms;
    if (first < 0)
        return -1;
    return first > now ? (int)(first - now) : 0;
}
