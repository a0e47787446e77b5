/* SPDX-License-Identifier: MIT
 *
 * The life of the agent. It opens the root, the task records and the watches in an order that lets
 * the next agent take over if this one ends at any step. Then it runs its loop: it polls, works on
 * tasks, workers, remote commands and trash, reads requests from the link, and sends. While much
 * output is unsent, it reads no more requests. One thread owns struct agent.
 */
#include "nodeagent-proto/agent/agent.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/arena.h"
#include "nodeagent-proto/agent/descriptors.h"
#include "nodeagent-proto/agent/leases.h"
#include "nodeagent-proto/agent/ops.h"
#include "nodeagent-proto/agent/worker.h"
#include "nodeagent-proto/wire/message.h"

/* A limit in bytes: while more output is unsent, no requests are read. */
#define OUT_MAX   (4U * FRAME_MAX)
#define READ_SIZE 65536U

/* Runs in a helper process: executes a HELPED_OP and writes the reply to `fd`. */
static void help(void *agent, json_t *req, int fd)
{
    /* If this fails, the end mark is missing, and the agent treats the worker as killed. */
    int ignored = worker_answer(agent, req, account_release, fd);
    (void)ignored;
}

static void on_started(void *ctx, json_int_t request, json_t *status)
{
    agent_send(ctx, json_pack("{s:I, s:b, s:O}", "id", request, "ok", 1, "task", status));
}

static void on_ended(void *ctx, json_t *status)
{
    agent_send(ctx, json_pack("{s:s, s:O}", "event", "task_ended", "task", status));
}

static int agent_open_looking(struct agent *a, const char *root, struct err *e)
{
    if (agent_find_root(a, root, e) < 0)
        return -1;
    return facts_read(&a->facts, a->root, true, e);
}

static int agent_open(struct agent *a, const char *root, struct err *e)
{
    if (agent_open_root(a, root, e) < 0 || epoch_open(&a->epoch, a->root, e) < 0)
        return -1;
    a->helpers = (struct helpers){.serve = help, .ctx = a};
    a->tasks.helpers = &a->helpers;
    a->tasks.root = a->root;
    a->tasks.dir = a->tasks_dir;
    if (tasks_watch(&a->tasks, e) < 0 || facts_read(&a->facts, a->root, false, e) < 0)
        return -1;
    a->tasks.hostname = a->facts.node.hostname;
    a->tasks.boot_id = a->facts.boot_id;
    a->tasks.incarnation = a->facts.incarnation;
    a->tasks.cb = (struct tasks_callbacks){on_started, on_ended, a};
    if (tasks_open(&a->tasks, e) < 0)
        return -1;
    const struct uid_holder holder = agent_as_holder(a);
    if (a->facts.node.is_root)
        lease_sweep(&holder, tasks_run_as, &a->tasks);
    health_open(&a->health);
    agent_empty_trash(a);
    return 0;
}

static void agent_close(struct agent *a)
{
    workers_close(a);
    helpers_close(&a->helpers);
    remotes_close_all(a);
    json_decref(a->held);
    peer_close(a);
    tasks_close(&a->tasks);
    health_close(&a->health);
    sampler_close(&a->sampler);
    facts_free(&a->facts);
    frame_decoder_free(&a->in);
    strbuf_free(&a->out);
    if (a->trash_fd >= 0)
        close(a->trash_fd);
    if (a->lock_fd >= 0)
        close(a->lock_fd);
    account_free(&a->as);
    mounts_let_go(&a->mounts);
    free(a->reboot);
    free(a->trash_dir);
    free(a->tasks_dir);
    free(a->looks_at);
    free(a->root);
}

/* The reboot program writes errors to the agent's stderr, from where they get into the daemon's
 * log. */
static void start_reboot(struct agent *a)
{
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        setsid();
        if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0)
            execl(a->reboot, "reboot", (char *)NULL);
        fprintf(stderr, "%s could not be run: %s\n", a->reboot, strerror(errno));
        _exit(1);
    }
    free(a->reboot);
    a->reboot = NULL;
}

static int hear(struct agent *a, json_t *msg, struct err *e)
{
    enum message_kind kind = message_kind(msg);
    size_t n;
    const char *bytes = frame_decoder_bytes(&a->in, &n);
    if (kind == MESSAGE_REPLY && json_object_get(msg, "ok"))
        return peer_hear(a, msg, e);
    if (kind == MESSAGE_EVENT)
        remotes_hear(a, msg, bytes, n); /* the daemon sends no other events */
    else
        ops_serve(a, msg);
    return 0;
}

static void serve_frames(struct agent *a)
{
    json_t *msg;
    struct err e;
    int rc;
    while ((rc = frame_decoder_next(&a->in, &msg, &e)) > 0) {
        rc = hear(a, msg, &e);
        json_decref(msg);
        if (rc < 0)
            break;
    }
    if (rc < 0) {
        fprintf(stderr, "%s\n", e.msg);
        a->link_gone = true;
    }
}

static void read_link(struct agent *a)
{
    char buf[READ_SIZE];
    ssize_t n = read(STDIN_FILENO, buf, sizeof buf);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        a->link_gone = true;
        return;
    }
    peer_heard(a);
    frame_decoder_feed(&a->in, buf, (size_t)n);
    explicit_bzero(buf, (size_t)n);
    serve_frames(a);
}

static void write_link(struct agent *a)
{
    while (a->out_sent < a->out.len) {
        ssize_t n = write(STDOUT_FILENO, a->out.s + a->out_sent, a->out.len - a->out_sent);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0) {
            a->link_gone = true;
            return;
        }
        a->out_sent += (size_t)n;
        assert(a->out_sent <= a->out.len);
    }
    strbuf_reset(&a->out);
    a->out_sent = 0;
}

/* The first descriptors of the poll list; those of tasks, workers, remote commands and helpers
 * follow. */
enum { SLOT_IN, SLOT_OUT, SLOT_TRASH, SLOT_GPUS, SLOT_TASKS = SLOT_GPUS + GPU_WATCH_POLL };

static int sooner(int a_ms, int b_ms)
{
    if (a_ms < 0 || b_ms < 0)
        return a_ms < 0 ? b_ms : a_ms;
    return a_ms < b_ms ? a_ms : b_ms;
}

static void turn(struct agent *a)
{
    size_t n = tasks_poll_count(&a->tasks), m = workers_poll_count(a), k = remotes_poll_count(a);
    size_t h = helpers_poll_count(&a->helpers);
    size_t unsent = a->out.len - a->out_sent;
    struct pollfd *p = xcalloc(SLOT_TASKS + n + m + k + h, sizeof *p),
                  *workers = p + SLOT_TASKS + n;
    p[SLOT_IN] = (struct pollfd){.fd = unsent > OUT_MAX ? -1 : STDIN_FILENO, .events = POLLIN};
    p[SLOT_OUT] = (struct pollfd){.fd = unsent ? STDOUT_FILENO : -1, .events = POLLOUT};
    p[SLOT_TRASH] = (struct pollfd){.fd = a->trash_fd, .events = POLLIN};
    gpu_watch_poll_fill(&a->sampler.gpus, p + SLOT_GPUS);
    tasks_poll_fill(&a->tasks, p + SLOT_TASKS);
    workers_poll_fill(a, workers);
    remotes_poll_fill(a, workers + m);
    helpers_poll_fill(&a->helpers, workers + m + k);
    /* Reaps supervisors and their orphans. Code that needs the exit of a certain child calls
     * waitpid() with its pid. */
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    int wait = sooner(tasks_poll_timeout(&a->tasks), workers_poll_timeout(a));
    wait = sooner(wait, remotes_poll_timeout(a));
    wait = sooner(wait, agent_trash_timeout(a));
    wait = sooner(wait, helpers_poll_timeout(&a->helpers));
    wait = sooner(wait, gpu_watch_poll_timeout(&a->sampler.gpus));
    int got = poll(p, SLOT_TASKS + n + m + k + h, sooner(wait, peer_poll_timeout(a)));
    if (got >= 0) {
        tasks_poll_act(&a->tasks, p + SLOT_TASKS, n);
        workers_poll_act(a, workers, m);
        /* before requests, because a request may end a remote command */
        remotes_poll_act(a, workers + m, k);
        helpers_poll_act(&a->helpers, workers + m + k, h, tasks_supervised, &a->tasks);
        gpu_watch_poll_act(&a->sampler.gpus, p + SLOT_GPUS);
        ops_serve_held(a);
        if (p[SLOT_TRASH].revents)
            agent_reap_trash_worker(a);
        agent_tend_trash(a);
        if (p[SLOT_IN].revents && !a->tasks.root_gone && !a->root_removed)
            read_link(a);
        peer_poll_act(a);
        write_link(a);
        if (a->reboot && a->out.len == 0)
            start_reboot(a);
    }
    free(p);
}

static void set_nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0)
        (void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

int agent_run(const char *root, bool looking)
{
    struct agent a = {.lock_fd = -1,
                      .trash_fd = -1,
                      .tasks = {.inotify_fd = -1},
                      .health = {.kernel_log = -1},
                      .mounts = MOUNTS_NOT_KEPT};
    struct err e;
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN); /* beyond a size limit, write() must fail instead */
    (void)signal(SIGIO, SIG_IGN);   /* the kernel sends SIGIO if a process opens a file that has the
                                       agent's lease (jobdir.c) */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    descriptors_allow_many();
    frame_decoder_init(&a.in);
    a.held = json_array();
    int status = 1;
    if ((looking ? agent_open_looking : agent_open)(&a, root, &e) < 0) {
        fprintf(stderr, "%s\n", e.msg);
        goto out;
    }
    set_nonblocking(STDIN_FILENO);
    set_nonblocking(STDOUT_FILENO);
    while (!a.link_gone && !a.tasks.root_gone && !(a.root_removed && a.out.len == 0))
        turn(&a);
    if (a.root_removed)
        a.tasks.root_gone = false; /* the root was removed on request */
    else if (!a.tasks.root_gone)
        agent_empty_trash_at_last(&a);
    if (a.tasks.root_gone) {
        fprintf(stderr, "the node root %s was removed or moved away; its tasks are killed\n",
                a.root);
        tasks_abandon(&a.tasks);
    }
    status = a.in.broken.code != ERR_NONE || a.tasks.root_gone ? 1 : 0;
out:
    agent_close(&a);
    return status;
}
