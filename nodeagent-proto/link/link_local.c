/* SPDX-License-Identifier: MIT
 *
 * The local transport: the agent is a child process. Its stdin and stdout are one end of a
 * socketpair. Its stderr is a pipe: the daemon logs every line, and adds the last line to the
 * reason why the link broke. The agent ends when its socket closes; it is always reaped.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/container.h"
#include "lib/fs.h"
#include "lib/loop_uv.h"
#include "nodeagent-proto/link/link_priv.h"
#include "nodeagent-proto/wire/message.h"

/* ms to wait for the exit of an agent whose link has ended; an agent needs about 1 ms */
#define EXIT_WAIT_MS 2000
/* ms to wait for a killed agent; an agent that needs longer hangs in the kernel */
#define KILL_WAIT_MS 5000
#define DEAD_MS      30000
/* While a worker checks the agent's program, on a file system that may hang, a timer counts ticks
 * of this length (ms). A busy loop (it starts other agents) runs one tick instead of several, so
 * the loop's own delay is not counted against the file system. */
#define LOOK_TICK_MS 1000
#define LOOK_TICKS   10
/* The limit (in ticks) for a check that has not begun, because the worker is busy with the checks
 * of other links. */
#define TURN_TICKS   120
#define LINE_MAX_LEN 900 /* bytes of stderr; a longer line is split */

struct local {
    struct node_link link;              /* first: the link is the allocation */
    char *agent_path, *cmd_path, *root; /* cmd_path NULL: the agent gets no batchai-cmd */
    uv_process_t process;
    uv_pipe_t socket, errors;
    uv_timer_t exit_timer; /* until the process runs, the timer of the check of its program */
    int open_handles;
    /* the agent's end of the socketpair; -1: it was given to the agent, or closed unused */
    int child_fd;
    struct files_work *looking;
    struct program_look *look; /* set while `looking` is */
    int look_ticks, turn_ticks;
    bool socket_ended, errors_ended, process_ended;
    int64_t exit_code;
    int exit_signal;
    struct strbuf line; /* a line of stderr that has not ended yet */
    char last_line[LINE_MAX_LEN + 1];
    char read_buf[65536];
};

/* Input and result of a worker that checks the agent's program. */
struct program_look {
    struct local *l; /* used by the loop only */
    char *path;
    atomic_bool begun;
    int error;
};

/* ---- closing: each handle once, memory with the last ---- */

static void on_handle_closed(uv_handle_t *handle)
{
    struct local *l = handle->data;
    if (--l->open_handles == 0)
        link_released(&l->link);
}

static void close_handle(uv_handle_t *handle)
{
    if (!uv_is_closing(handle))
        uv_close(handle, on_handle_closed);
}

static void close_process(struct local *l)
{
    close_handle((uv_handle_t *)&l->exit_timer);
    if (l->process.type == UV_PROCESS) /* uv_spawn() was called */
        close_handle((uv_handle_t *)&l->process);
    else
        l->open_handles--;
}

static void on_exit_overdue(uv_timer_t *timer);

static void close_child_fd(struct local *l)
{
    if (l->child_fd >= 0)
        close(l->child_fd);
    l->child_fd = -1;
}

static void end_look(struct local *l)
{
    if (l->looking)
        files_forget(l->looking);
    l->looking = NULL;
    uv_timer_stop(&l->exit_timer);
}

static void local_close(struct node_link *link)
{
    struct local *l = CONTAINER_OF(link, struct local, link);
    if (l->looking)
        end_look(l);
    close_child_fd(l);
    close_handle((uv_handle_t *)&l->socket);
    close_handle((uv_handle_t *)&l->errors);
    if (l->process_ended)
        close_process(l);
    else
        uv_timer_start(&l->exit_timer, on_exit_overdue, EXIT_WAIT_MS, 0);
}

static void local_free(struct node_link *link)
{
    struct local *l = CONTAINER_OF(link, struct local, link);
    strbuf_free(&l->line);
    free(l->agent_path);
    free(l->cmd_path);
    free(l->root);
    explicit_bzero(l->read_buf, sizeof l->read_buf);
    free(l);
}

/* ---- going down ---- */

static void fail(struct local *l)
{
    struct err why;
    const char *sep = l->last_line[0] ? ": " : "";
    if (!l->process_ended)
        err_set(&why, ERR_NODE_LOST, NULL, "the node agent on %s closed its link%s%s", l->root, sep,
                l->last_line);
    else if (l->exit_signal)
        err_set(&why, ERR_NODE_LOST, NULL, "the node agent on %s was killed by signal %d (%s)%s%s",
                l->root, l->exit_signal, strsignal(l->exit_signal), sep, l->last_line);
    else
        err_set(&why, ERR_NODE_LOST, NULL, "the node agent on %s ended with exit code %lld%s%s",
                l->root, (long long)l->exit_code, sep, l->last_line);
    link_fail(&l->link, &why);
}

/* The end is visible in three places (process, socket, stderr); the reason is complete when all
 * three have ended. */
static void check_end(struct local *l)
{
    if (link_is_closing(&l->link))
        return;
    if (l->socket_ended && l->errors_ended && l->process_ended)
        fail(l);
    else if (l->socket_ended || l->process_ended)
        uv_timer_start(&l->exit_timer, on_exit_overdue, EXIT_WAIT_MS, 0);
}

/* Stops waiting for a killed process that does not end; when the daemon has ended, the process's
 * next parent reaps it. */
static void on_kill_overdue(uv_timer_t *timer)
{
    struct local *l = timer->data;
    if (!link_is_closing(&l->link))
        return; /* fail() has reported the end; the owner will call node_close() */
    LOG_WARN(l->link.log, "node.agent_abandoned", LF_STR("node", l->root),
             LF_INT("pid", uv_process_get_pid(&l->process)));
    close_process(l);
}

static void on_exit_overdue(uv_timer_t *timer)
{
    struct local *l = timer->data;
    if (!l->process_ended) {
        uv_process_kill(&l->process, SIGKILL);
        uv_timer_start(timer, on_kill_overdue, KILL_WAIT_MS, 0);
    }
    if (!link_is_closing(&l->link))
        fail(l);
}

static void on_process_exit(uv_process_t *process, int64_t status, int signo)
{
    struct local *l = process->data;
    l->process_ended = true;
    l->exit_code = status;
    l->exit_signal = signo;
    if (link_is_closing(&l->link))
        close_process(l);
    else
        check_end(l);
}

/* ---- bytes ---- */

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct local *l = handle->data;
    (void)suggested;
    *buf = uv_buf_init(l->read_buf, sizeof l->read_buf);
}

static void on_bytes(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct local *l = stream->data;
    if (n > 0)
        link_received(&l->link, buf->base, (size_t)n);
    if (n >= 0 || link_is_closing(&l->link))
        return;
    uv_read_stop(stream);
    l->socket_ended = true;
    check_end(l);
}

static void end_line(struct local *l)
{
    if (l->line.len == 0)
        return;
    memcpy(l->last_line, l->line.s, l->line.len + 1);
    LOG_WARN(l->link.log, "node.agent_wrote", LF_STR("node", l->root),
             LF_STR("line", l->last_line));
    strbuf_reset(&l->line);
}

static void on_errors(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct local *l = stream->data;
    for (ssize_t i = 0; i < n; i++) {
        if (buf->base[i] != '\n' && buf->base[i] != '\0')
            strbuf_putc(&l->line, buf->base[i]);
        if (buf->base[i] == '\n' || l->line.len == LINE_MAX_LEN)
            end_line(l);
    }
    if (n >= 0 || link_is_closing(&l->link))
        return;
    end_line(l);
    uv_read_stop(stream);
    l->errors_ended = true;
    check_end(l);
}

struct write_job {
    uv_write_t req;
    size_t n;
    char bytes[];
};

static void on_written(uv_write_t *req, int status)
{
    struct write_job *w = CONTAINER_OF(req, struct write_job, req);
    (void)status; /* on_bytes() reports a broken socket too, with more details */
    explicit_bzero(w->bytes, w->n);
    free(w);
}

static void local_write(struct node_link *link, const char *bytes, size_t n)
{
    struct local *l = CONTAINER_OF(link, struct local, link);
    uv_stream_t *stream = (uv_stream_t *)&l->socket;
    uv_buf_t now = uv_buf_init((char *)(uintptr_t)bytes, (unsigned)n);
    int done = uv_try_write(stream, &now, 1); /* also returns UV_EAGAIN while older bytes wait */
    size_t sent = done > 0 ? (size_t)done : 0;
    if (sent == n || (done < 0 && done != UV_EAGAIN))
        return;
    struct write_job *w = xcalloc(1, sizeof *w + n - sent);
    w->n = n - sent;
    memcpy(w->bytes, bytes + sent, w->n);
    uv_buf_t rest = uv_buf_init(w->bytes, (unsigned)w->n);
    if (uv_write(&w->req, stream, &rest, 1, on_written) < 0)
        on_written(&w->req, 0);
}

static size_t local_waiting(const struct node_link *link)
{
    const struct local *l = (const struct local *)(const void *)link;
    return uv_stream_get_write_queue_size((const uv_stream_t *)&l->socket);
}

/* ---- opening ---- */

static const struct link_transport local_transport = {local_write, local_close, local_free,
                                                      local_waiting};

static char *variable(const char *name, const char *value)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_concat(&b, name, "=", value);
    return strbuf_take(&b);
}

static bool is_variable(const char *pair, const char *name)
{
    size_t n = strlen(name);
    return strncmp(pair, name, n) == 0 && pair[n] == '=';
}

enum { OWN_VARIABLES = 2 };

/* The daemon's environment, with NODE_OWNER_VARIABLE (a local root belongs to one daemon) and
 * NODE_CMD_VARIABLE. */
static char **environment_for(const struct local *l)
{
    size_t n = 0, to = OWN_VARIABLES;
    while (environ[n])
        n++;
    char **env = xcalloc(OWN_VARIABLES + n + 1, sizeof *env);
    env[0] = variable(NODE_OWNER_VARIABLE, l->root);
    env[1] = variable(NODE_CMD_VARIABLE, l->cmd_path ? l->cmd_path : "");
    for (size_t i = 0; i < n; i++)
        if (!is_variable(environ[i], NODE_OWNER_VARIABLE) &&
            !is_variable(environ[i], NODE_CMD_VARIABLE))
            env[to++] = environ[i];
    return env;
}

static int spawn(struct local *l, int child_fd)
{
    char command[] = "agent", option[] = "--root";
    char *args[] = {l->agent_path, command, option, l->root, NULL};
    uv_stdio_container_t stdio[3] = {
        {.flags = UV_INHERIT_FD, .data.fd = child_fd},
        {.flags = UV_INHERIT_FD, .data.fd = child_fd},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&l->errors},
    };
    uv_process_options_t options = {
        .exit_cb = on_process_exit,
        .file = l->agent_path,
        .args = args,
        /* a Ctrl-C at the daemon's terminal must not reach the agent */
        .flags = UV_PROCESS_DETACHED,
        .stdio = stdio,
        .stdio_count = 3,
    };
    options.env = environment_for(l);
    int rc = uv_spawn(l->socket.loop, &l->process, &options);
    if (rc == 0) {
        uv_read_start((uv_stream_t *)&l->socket, on_alloc, on_bytes);
        uv_read_start((uv_stream_t *)&l->errors, on_alloc, on_errors);
    }
    for (size_t i = 0; i < OWN_VARIABLES; i++)
        free(options.env[i]);
    free(options.env);
    return rc;
}

static void init_handles(struct local *l, uv_loop_t *loop)
{
    uv_pipe_init(loop, &l->socket, 0);
    uv_pipe_init(loop, &l->errors, 0);
    uv_timer_init(loop, &l->exit_timer);
    uv_handle_t *all[] = {(uv_handle_t *)&l->socket, (uv_handle_t *)&l->errors,
                          (uv_handle_t *)&l->exit_timer, (uv_handle_t *)&l->process};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        all[i]->data = l;
    l->open_handles = 4;
}

static int start_process(struct local *l, struct err *e)
{
    int rc = spawn(l, l->child_fd);
    close_child_fd(l);
    l->process_ended = rc < 0;
    return rc < 0 ? err_set(e, ERR_NODE, NULL, "cannot start the node agent %s: %s", l->agent_path,
                            uv_strerror(rc))
                  : 0;
}

/* ---- looking at the agent's program, before the loop depends on its file system ---- */

static void look_work(void *ctx)
{
    struct program_look *k = ctx;
    atomic_store(&k->begun, true);
    k->error = access(k->path, X_OK) == 0 ? 0 : errno;
}

static void look_destroy(void *ctx)
{
    struct program_look *k = ctx;
    free(k->path);
    free(k);
}

static void on_looked(void *ctx, const struct err *why)
{
    const struct program_look *k = ctx;
    struct local *l = k->l;
    int error = why ? 0 : k->error;
    struct err e;
    l->looking = NULL;
    end_look(l);
    if (!why)
        look_destroy(ctx);
    if (why || error)
        err_set(&e, ERR_NODE, NULL, "cannot start the node agent %s: %s", l->agent_path,
                why ? why->msg : strerror(error));
    else if (start_process(l, &e) == 0)
        return;
    link_fail(&l->link, &e);
}

static void on_look_tick(uv_timer_t *timer)
{
    struct local *l = timer->data;
    struct err e;
    int *ticks = atomic_load(&l->look->begun) ? &l->look_ticks : &l->turn_ticks;
    if (++*ticks < (ticks == &l->look_ticks ? LOOK_TICKS : TURN_TICKS))
        return;
    end_look(l);
    err_set(&e, ERR_NODE, NULL,
            "cannot start the node agent %s: its file system has not answered in %d s; find out "
            "why it hangs",
            l->agent_path, (l->look_ticks + l->turn_ticks) * LOOK_TICK_MS / 1000);
    link_fail(&l->link, &e);
}

static void begin_look(struct local *l, struct files *files)
{
    static const struct files_task task = {look_work, on_looked, look_destroy};
    struct program_look *k = xcalloc(1, sizeof *k);
    char *folder = fs_folder(l->agent_path);
    k->l = l;
    k->path = xstrdup(l->agent_path);
    uv_timer_start(&l->exit_timer, on_look_tick, LOOK_TICK_MS, LOOK_TICK_MS);
    l->look = k;
    l->looking = files_run(files, folder, &task, k);
    free(folder);
}

static int open_socket(struct local *l, struct err *e)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return err_errno(e, ERR_NODE, "cannot make a socketpair for a node agent");
    l->child_fd = fds[1];
    if (uv_pipe_open(&l->socket, fds[0]) == 0)
        return 0;
    close(fds[0]);
    return err_set(e, ERR_NODE, NULL, "cannot use the socket to the node agent %s", l->agent_path);
}

int node_open_local(const struct node_local_config *c, struct node_link **out, struct err *e)
{
    struct local *l = xcalloc(1, sizeof *l);
    l->agent_path = xstrdup(c->agent_path);
    l->cmd_path = c->cmd_path ? xstrdup(c->cmd_path) : NULL;
    l->root = xstrdup(c->root);
    l->child_fd = -1;
    l->process_ended = true; /* the process has not begun */
    init_handles(l, loop_uv_of(c->loop));
    int rc = open_socket(l, e);
    link_start(&l->link, &(struct link_start){.loop = c->loop,
                                              .transport = &local_transport,
                                              .user = &c->callbacks,
                                              .log = c->log,
                                              .name = l->root,
                                              .epoch = &c->epoch,
                                              .dead_ms = c->dead_ms ? c->dead_ms : DEAD_MS});
    if (rc < 0) {
        /* Closing the handles needs the loop; the memory is freed after the last handle. */
        node_close(&l->link, NULL, NULL);
        return -1;
    }
    begin_look(l, c->files);
    *out = &l->link;
    return 0;
}
