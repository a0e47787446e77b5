/* SPDX-License-Identifier: MIT
 *
 * Phases and their deadlines, the socket, and the end of an SSH link. See ssh_priv.h.
 */
#include <assert.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/container.h"
#include "lib/fs.h"
#include "nodeagent-proto/link/ssh/ssh_priv.h"

/* ms to wait for the end of an agent whose input was closed; an agent needs about 1 ms */
#define END_WAIT_MS 2000
/* the most bytes to read from the socket in one turn of the loop */
#define READ_CHUNK (64U << 10)
/* bytes of output buffer that an idle link keeps; an upload needs a larger buffer */
#define OUT_KEPT 1024

#define LIB_KEEPALIVE_S 2 /* the shortest period that libssh2 accepts (seconds) */

/* A name lookup. It may outlive its link, because a resolver cannot be interrupted. */
struct ssh_lookup {
    uv_getaddrinfo_t req;
    struct ssh *l; /* NULL: the link has ended */
};

enum patience { CONNECT_MS, LOGIN_MS, COMMAND_MS };

static const struct phase_rule {
    enum patience patience;
    enum node_step told;
    /* NULL: callbacks of the loop end this phase, not a step function */
    enum ssh_step (*step)(struct ssh *l);
} phases[] = {
    [SSH_RESOLVE] = {CONNECT_MS, NODE_STEP_NAME, NULL},
    [SSH_CONNECT] = {CONNECT_MS, NODE_STEP_CONNECT, NULL},
    [SSH_HANDSHAKE] = {LOGIN_MS, NODE_STEP_HANDSHAKE, ssh_step_handshake},
    [SSH_HOST_KEY] = {LOGIN_MS, NODE_STEP_HOST_KEY, ssh_step_host_key},
    [SSH_LOGIN] = {LOGIN_MS, NODE_STEP_LOGIN, ssh_step_login},
    [SSH_PROBE] = {COMMAND_MS, NODE_STEP_MACHINE, ssh_step_probe},
    [SSH_UPLOAD] = {COMMAND_MS, NODE_STEP_UPLOAD, ssh_step_upload},
    [SSH_START] = {COMMAND_MS, NODE_STEP_START, ssh_step_start},
    [SSH_RUNNING] = {COMMAND_MS, NODE_STEP_AGENT, ssh_step_running},
    [SSH_ENDING] = {COMMAND_MS, NODE_STEP_AGENT, ssh_step_ending},
};
static_assert(sizeof phases / sizeof phases[0] == SSH_OVER, "a row for each phase but the last");

static void over(struct ssh *l);
static void drive(struct ssh *l);
static void connect_next(struct ssh *l);

/* ---- failing ---- */

static void fail_now(struct ssh *l, const char *what)
{
    (void)ssh_fail(l, ERR_NODE_LOST, NULL, "%s", what);
    over(l);
}

/* ---- handles: each closed once, the memory goes with the last ---- */

static void let_go(struct ssh *l)
{
    assert(l->open_handles > 0);
    if (--l->open_handles == 0)
        link_released(&l->link);
}

static void on_timer_closed(uv_handle_t *handle)
{
    let_go(handle->data);
}

static void on_tcp_closed(uv_handle_t *handle)
{
    struct ssh *l = handle->data;
    free(handle);
    let_go(l);
}

static void drop_socket(struct ssh *l)
{
    if (l->tcp)
        uv_close((uv_handle_t *)l->tcp, on_tcp_closed);
    l->tcp = NULL;
}

static void drop_lookup(struct ssh *l)
{
    if (!l->lookup)
        return;
    l->lookup->l = NULL;
    (void)uv_cancel((uv_req_t *)&l->lookup->req); /* its callback frees the lookup either way */
    l->lookup = NULL;
}

static void drop_asking(struct ssh *l)
{
    if (l->asking)
        files_forget(l->asking);
    l->asking = NULL;
}

/* Ends all activity. The session stays until the memory is freed, because a step may be using
 * it. */
static void over(struct ssh *l)
{
    l->phase = SSH_OVER;
    drop_lookup(l);
    drop_asking(l);
    drop_socket(l);
    uv_timer_stop(&l->deadline);
    uv_timer_stop(&l->keepalive);
    if (!link_is_closing(&l->link) || uv_is_closing((uv_handle_t *)&l->deadline))
        return;
    uv_close((uv_handle_t *)&l->deadline, on_timer_closed);
    uv_close((uv_handle_t *)&l->keepalive, on_timer_closed);
}

static void on_deadline(uv_timer_t *timer)
{
    struct ssh *l = timer->data;
    double seconds = (double)uv_timer_get_repeat(timer) / 1000;
    if (l->agent_ended && l->phase == SSH_RUNNING)
        (void)ssh_agent_ended(l);
    else if (l->asking)
        (void)ssh_fail(l, ERR_NODE_LOST, "find out why its file system hangs",
                       "%s has not answered in %g s", l->asking_path, seconds);
    else
        (void)ssh_fail(l, ERR_NODE_LOST, NULL, "no answer in %g s", seconds);
    over(l);
}

static int patience_ms(const struct ssh *l, enum patience p)
{
    return p == CONNECT_MS ? l->connect_ms : p == LOGIN_MS ? l->login_ms : l->command_ms;
}

static void arm_keepalive(struct ssh *l);

static void on_keepalive(uv_timer_t *timer)
{
    struct ssh *l = timer->data;
    int next;
    if (l->phase != SSH_RUNNING)
        return;
    /* Counts timer periods, not time: if the daemon itself was stopped, this counts as one
     * period. */
    l->silent_ms += uv_timer_get_repeat(timer);
    if (l->silent_ms > (uint64_t)l->dead_ms) {
        char what[64];
        snprintf(what, sizeof what, "the machine has sent nothing for %g s",
                 (double)l->silent_ms / 1000);
        l->link.silent = true;
        fail_now(l, what);
        return;
    }
    arm_keepalive(l);
    libssh2_keepalive_send(l->session, &next);
    drive(l);
}

/* All idle links send keepalives at common instants, so that thousands of links wake the loop once
 * a second. libssh2 counts in whole seconds, at least two, and sends only after the whole period;
 * for such a short period a timer tick could come too early, so the timer ticks twice in a
 * period. */
static void arm_keepalive(struct ssh *l)
{
    bool is_short = l->keepalive_s <= LIB_KEEPALIVE_S;
    uint64_t ms = (uint64_t)l->keepalive_s * (is_short ? 500 : 1000);
    uint64_t early = is_short ? 0 : (uv_now(l->loop) + ms) % 1000;
    /* on_keepalive() reads the period from the repeat value. */
    uv_timer_start(&l->keepalive, on_keepalive, ms - early, ms);
}

static void enter(struct ssh *l, enum ssh_phase phase)
{
    /* Phases follow one another in order; over() sets the last. */
    assert(phase <= SSH_RUNNING && (phase == SSH_RESOLVE || phase == l->phase + 1));
    l->phase = phase;
    l->link.step = phases[phase].told;
    /* ssh_progress() and on_deadline() read the limit from the repeat value. */
    uint64_t ms = (uint64_t)patience_ms(l, phases[phase].patience);
    uv_timer_start(&l->deadline, on_deadline, ms, ms);
    if (phase != SSH_RUNNING)
        return;
    libssh2_keepalive_config(l->session, 1, LIB_KEEPALIVE_S);
    arm_keepalive(l);
}

/* ---- bytes ---- */

struct ssh_send {
    uv_write_t req;
    char *bytes;
};

static void on_sent(uv_write_t *req, int status)
{
    struct ssh_send *s = CONTAINER_OF(req, struct ssh_send, req);
    struct ssh *l = req->handle->data;
    free(s->bytes);
    free(s);
    if (status == 0 && l->phase != SSH_OVER) /* on_read() reports a broken socket */
        drive(l);
}

static void flush(struct ssh *l)
{
    if (l->work_busy || l->out.len == 0 || !l->tcp)
        return;
    uv_stream_t *stream = (uv_stream_t *)l->tcp;
    uv_buf_t now = uv_buf_init(l->out.s, (unsigned)l->out.len);
    int done = uv_try_write(stream, &now, 1); /* also returns UV_EAGAIN while older bytes wait */
    size_t sent = done > 0 ? (size_t)done : 0;
    if (sent == l->out.len) {
        if (l->out.cap > OUT_KEPT)
            strbuf_free(&l->out);
        else
            strbuf_reset(&l->out);
        return;
    }
    struct ssh_send *s = xcalloc(1, sizeof *s);
    uv_buf_t rest = uv_buf_init(l->out.s + sent, (unsigned)(l->out.len - sent));
    s->bytes = strbuf_take(&l->out);
    if (uv_write(&s->req, stream, &rest, 1, on_sent) < 0) {
        free(s->bytes);
        free(s);
    }
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    (void)handle;
    (void)suggested;
    /* Idle links keep no buffer; mostly only the first pages of this buffer are used. */
    *buf = uv_buf_init(xrealloc(NULL, READ_CHUNK), READ_CHUNK);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct ssh *l = stream->data;
    if (n > 0 && l->phase != SSH_OVER) {
        l->silent_ms = 0;
        strbuf_add(&l->in, buf->base, (size_t)n);
        drive(l);
    }
    free(buf->base);
    if (n >= 0 || l->phase == SSH_OVER)
        return;
    if (l->agent_ended) {
        (void)ssh_agent_ended(l);
        over(l);
        return;
    }
    fail_now(l, n == UV_EOF ? "the machine closed the connection" : uv_strerror((int)n));
}

/* ---- work of steps on other threads: meanwhile the loop reads nothing ---- */

static void go_on(struct ssh *l)
{
    (void)uv_read_start((uv_stream_t *)l->tcp, on_alloc, on_read);
    drive(l);
}

static void on_worked(uv_work_t *work, int status)
{
    struct ssh *l = work->data;
    (void)status;
    assert(l->work_busy);
    l->work_busy = false;
    l->work_done = true;
    if (l->phase != SSH_OVER)
        go_on(l);
    let_go(l);
}

static void begin_work(struct ssh *l)
{
    assert(!l->work_busy && l->tcp);
    l->work.data = l;
    l->work_busy = true;
    l->open_handles++;
    (void)uv_read_stop((uv_stream_t *)l->tcp);
    (void)uv_queue_work(l->loop, &l->work, l->job, on_worked); /* fails only without a callback */
}

static void file_work(void *ctx)
{
    struct ssh_file *f = ctx;
    f->kind->work(f);
}

static void on_file(void *ctx, const struct err *why)
{
    struct ssh_file *f = ctx;
    struct ssh *l = f->l;
    l->asking = NULL;
    if (why) {
        fail_now(l, why->msg);
        return;
    }
    l->file = f;
    go_on(l);
}

static void file_destroy(void *ctx)
{
    ssh_file_free(ctx);
}

/* Lets a worker carry out the work of l->wanted. The work owns its struct ssh_file until
 * on_file(). */
static void begin_file(struct ssh *l)
{
    static const struct files_task task = {file_work, on_file, file_destroy};
    struct ssh_file *f = l->wanted;
    char *folder = fs_folder(f->path);
    assert(!l->asking && !l->file && l->tcp);
    l->wanted = NULL;
    f->l = l;
    l->asking_path = f->path;
    (void)uv_read_stop((uv_stream_t *)l->tcp);
    l->asking = files_run(l->files, folder, &task, f);
    free(folder);
}

/* ---- taking steps ---- */

/* Takes all steps that are possible now, then sends their output. */
static void drive(struct ssh *l)
{
    enum ssh_step s;
    enum ssh_phase before;
    if (l->driving || l->work_busy || l->asking)
        return;
    l->driving = true;
    do {
        before = l->phase;
        assert(before < SSH_OVER && phases[before].step);
        s = phases[before].step(l);
        if (s == SSH_NEXT && l->phase == before) {
            if (before == SSH_ENDING)
                l->phase = SSH_OVER;
            else
                enter(l, before + 1);
        }
    } while (s != SSH_FAILED && l->phase != before && l->phase != SSH_OVER);
    l->driving = false;
    if (s == SSH_WORK)
        begin_work(l);
    else if (s == SSH_FILE)
        begin_file(l);
    if (s != SSH_FAILED)
        flush(l);
    if (s == SSH_FAILED || l->phase == SSH_OVER)
        over(l);
}

/* ---- connecting ---- */

static void note_own_address(struct ssh *l)
{
    struct sockaddr_storage own;
    int n = sizeof own;
    char *out = l->link.own_address;
    if (uv_tcp_getsockname(l->tcp, (struct sockaddr *)&own, &n) == 0)
        (void)uv_ip_name((const struct sockaddr *)&own, out, sizeof l->link.own_address);
}

static void on_connected(uv_connect_t *req, int status)
{
    struct ssh *l = req->handle->data;
    bool current = (uv_stream_t *)l->tcp == req->handle;
    free(req);
    if (!current || l->phase != SSH_CONNECT)
        return;
    if (status < 0) {
        l->connect_rc = status;
        drop_socket(l);
        connect_next(l);
        return;
    }
    uv_tcp_nodelay(l->tcp, 1);
    note_own_address(l);
    l->session = ssh_session_create(l);
    if (!l->session) {
        fail_now(l, "no memory for a session");
        return;
    }
    (void)uv_fileno((uv_handle_t *)l->tcp, &l->fd);
    enter(l, SSH_HANDSHAKE);
    go_on(l);
}

static void connect_next(struct ssh *l)
{
    while (l->next_address) {
        const struct addrinfo *a = l->next_address;
        uv_connect_t *req = xcalloc(1, sizeof *req);
        l->next_address = a->ai_next;
        l->tcp = xcalloc(1, sizeof *l->tcp);
        uv_tcp_init(l->loop, l->tcp);
        l->tcp->data = l;
        l->open_handles++;
        l->connect_rc = uv_tcp_connect(req, l->tcp, a->ai_addr, on_connected);
        if (l->connect_rc == 0)
            return;
        free(req);
        drop_socket(l);
    }
    fail_now(l, uv_strerror(l->connect_rc));
}

static void on_resolved(uv_getaddrinfo_t *req, int status, struct addrinfo *found)
{
    struct ssh_lookup *lookup = CONTAINER_OF(req, struct ssh_lookup, req);
    struct ssh *l = lookup->l;
    free(lookup);
    if (!l) {
        uv_freeaddrinfo(found);
        return;
    }
    l->lookup = NULL;
    if (status < 0) {
        fail_now(l, uv_strerror(status));
        return;
    }
    l->addresses = l->next_address = found;
    enter(l, SSH_CONNECT);
    connect_next(l);
}

static void resolve(struct ssh *l)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    char port[16];
    snprintf(port, sizeof port, "%d", l->port);
    enter(l, SSH_RESOLVE);
    l->lookup = xcalloc(1, sizeof *l->lookup);
    l->lookup->l = l;
    int rc = uv_getaddrinfo(l->loop, &l->lookup->req, on_resolved, l->host, port, &hints);
    if (rc == 0)
        return;
    free(l->lookup);
    l->lookup = NULL;
    fail_now(l, uv_strerror(rc));
}

/* ---- the transport ---- */

static void transport_write(struct node_link *link, const char *bytes, size_t n)
{
    struct ssh *l = CONTAINER_OF(link, struct ssh, link);
    ssh_write(l, bytes, n);
    if (l->phase == SSH_RUNNING)
        drive(l);
}

static void transport_close(struct node_link *link)
{
    struct ssh *l = CONTAINER_OF(link, struct ssh, link);
    if (l->phase != SSH_RUNNING || l->agent_ended || link->why.code != ERR_NONE) {
        over(l);
        return;
    }
    uv_timer_stop(&l->keepalive);
    l->phase = SSH_ENDING;
    uv_timer_start(&l->deadline, on_deadline, END_WAIT_MS, END_WAIT_MS);
    drive(l);
}

static void transport_free(struct node_link *link)
{
    struct ssh *l = CONTAINER_OF(link, struct ssh, link);
    assert(l->phase == SSH_OVER && !l->work_busy && !l->asking && !l->wanted && !l->lookup &&
           !l->tcp);
    ssh_login_free(l);
    ssh_file_drop(l);
    ssh_session_free(l);
    libssh2_exit();
    if (l->addresses)
        uv_freeaddrinfo(l->addresses);
    ssh_command_free(&l->cmd);
    ssh_queue_free(l);
    strbuf_free(&l->in);
    strbuf_free(&l->out);
    strbuf_free(&l->line);
    ssh_settings_free(l);
    free(l);
}

static size_t transport_waiting(const struct node_link *link)
{
    return ((const struct ssh *)(const void *)link)->queued;
}

static const struct link_transport ssh_transport = {transport_write, transport_close,
                                                    transport_free, transport_waiting};

static void begin(struct ssh *l, const struct node_ssh_config *c)
{
    uv_timer_init(l->loop, &l->deadline);
    uv_timer_init(l->loop, &l->keepalive);
    l->deadline.data = l->keepalive.data = l;
    l->open_handles = 2;
    link_start(&l->link, &(struct link_start){.loop = c->loop,
                                              .transport = &ssh_transport,
                                              .user = &c->callbacks,
                                              .log = c->log,
                                              .name = l->name,
                                              .epoch = &c->epoch});
    resolve(l);
}

int node_open_ssh(const struct node_ssh_config *c, struct node_link **out, struct err *e)
{
    struct ssh *l = ssh_create(c, e);
    if (!l)
        return -1;
    begin(l, c);
    *out = &l->link;
    return 0;
}
