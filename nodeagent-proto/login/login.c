/* SPDX-License-Identifier: MIT
 *
 * A listener with a session for each connection:
 *
 * accepted --files are written--> sshd -i has the connection --exit--> ended
 *
 * A worker thread (loop_lane) writes the files at the first connection; later connections wait
 * until they are written. The listener's handle, the worker's task and each session hold a
 * reference to the listener; the release of the last reference frees it.
 */
#include "nodeagent-proto/login/login.h"

#include <arpa/inet.h>
#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/login/login_priv.h"

/* The most sessions at once; further connections are refused, because each session needs two
 * processes. */
#define SESSIONS_MAX 64
#define BACKLOG      16
#define NAME_MAX_LEN 32

struct login_session {
    struct login_session *next;
    struct login_server *login;
    uv_tcp_t socket;
    uv_process_t sshd;
    bool is_running; /* the start of sshd was tried, successfully or not */
    int handles;     /* open handles; closing the last handle frees the session */
};

struct login_server {
    uv_loop_t *loop;
    const struct log *log;
    char *node;
    struct login_files files;
    uv_tcp_t listener;
    struct loop_lane *lane;
    bool writing, written, closing;
    struct err why; /* why the files could not be written; code ERR_NONE: they were written */
    struct login_session *sessions;
    int n_sessions;
    int refs;
    void (*closed)(void *ctx);
    void *closed_ctx;
};

bool login_available(void)
{
    return access(SSHD_PATH, X_OK) == 0;
}

/* --- ends ------------------------------------------------------------------------------------- */

static void login_unref(struct login_server *l)
{
    assert(l->refs > 0);
    if (--l->refs > 0)
        return;
    assert(!l->sessions && l->n_sessions == 0 && !l->writing);
    void (*closed)(void *) = l->closed;
    void *ctx = l->closed_ctx;
    if (l->files.password)
        explicit_bzero(l->files.password, strlen(l->files.password));
    free(l->files.password);
    free(l->files.dir);
    free(l->files.name);
    free(l->files.key);
    free(l->files.home);
    free(l->node);
    free(l);
    if (closed)
        closed(ctx);
}

static void on_handle_closed(uv_handle_t *h)
{
    struct login_session *s = h->data;
    struct login_server *l = s->login;
    assert(s->handles > 0);
    if (--s->handles > 0)
        return;
    for (struct login_session **at = &l->sessions; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    l->n_sessions--;
    free(s);
    login_unref(l);
}

static void on_exit_sshd(uv_process_t *p, int64_t status, int signo)
{
    struct login_session *s = p->data;
    LOG_DEBUG(s->login->log, "login.session_ended", LF_STR("node", s->login->node),
              LF_INT("exit_code", status), LF_INT("signal", signo));
    uv_close((uv_handle_t *)p, on_handle_closed);
}

/* --- sessions --------------------------------------------------------------------------------- */

static char *setting(const char *name, const char *dir, const char *file)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "%s=%s/%s", name, dir, file);
    return strbuf_take(&b);
}

static int spawn(struct login_session *s, int fd)
{
    struct login_server *l = s->login;
    char *config = fs_join(l->files.dir, "sshd_config");
    char *passwd = setting("NSS_WRAPPER_PASSWD", l->files.dir, "passwd");
    char *group = setting("NSS_WRAPPER_GROUP", l->files.dir, "group");
    char *argv[] = {(char *)(uintptr_t)SSHD_PATH, (char *)(uintptr_t) "-i",
                    (char *)(uintptr_t) "-f", config, NULL};
    /* If libnss_wrapper.so is missing, sshd continues and only prints a line on stderr. */
    char *env[] = {(char *)(uintptr_t) "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                   (char *)(uintptr_t) "LD_PRELOAD=libnss_wrapper.so", passwd, group, NULL};
    uv_stdio_container_t io[] = {{.flags = UV_INHERIT_FD, .data.fd = fd},
                                 {.flags = UV_INHERIT_FD, .data.fd = fd},
                                 {.flags = UV_IGNORE}};
    const uv_process_options_t o = {.exit_cb = on_exit_sshd,
                                    .file = SSHD_PATH,
                                    .args = argv,
                                    .env = env,
                                    .flags = UV_PROCESS_DETACHED,
                                    .stdio = io,
                                    .stdio_count = 3};
    s->sshd.data = s;
    int rc = uv_spawn(l->loop, &s->sshd, &o);
    free(config);
    free(passwd);
    free(group);
    return rc;
}

/* Passes a blocking copy of the connection's descriptor to sshd, and closes the descriptor here. */
static void hand_over(struct login_session *s)
{
    uv_os_fd_t fd;
    assert(!s->is_running);
    int rc = uv_fileno((uv_handle_t *)&s->socket, &fd);
    int copy = rc == 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
    if (copy >= 0) {
        fcntl(copy, F_SETFL, fcntl(copy, F_GETFL) & ~O_NONBLOCK);
        s->is_running = true;
        s->handles++; /* even a failed uv_spawn() leaves a handle that must be closed */
        rc = spawn(s, copy);
        close(copy);
    }
    if (rc != 0 || copy < 0) {
        LOG_WARN(s->login->log, "login.not_served", LF_STR("node", s->login->node),
                 LF_STR("why", rc ? uv_strerror(rc) : "no file descriptor is free"));
        if (s->is_running)
            uv_close((uv_handle_t *)&s->sshd, on_handle_closed);
    }
    uv_close((uv_handle_t *)&s->socket, on_handle_closed);
}

static void serve_waiting(struct login_server *l)
{
    for (struct login_session *s = l->sessions; s; s = s->next) {
        if (s->is_running || uv_is_closing((uv_handle_t *)&s->socket))
            continue;
        if (l->why.code == ERR_NONE && !l->closing)
            hand_over(s);
        else
            uv_close((uv_handle_t *)&s->socket, on_handle_closed);
    }
}

static void write_files(void *ctx)
{
    struct login_server *l = ctx;
    err_clear(&l->why);
    /* NOLINTNEXTLINE(bugprone-unused-return-value): `why` tells */
    (void)!login_files_write(&l->files, &l->why);
}

static void on_written(void *ctx, enum loop_work_end how)
{
    struct login_server *l = ctx;
    assert(l->writing);
    if (how == LOOP_WORK_DROPPED)
        err_set(&l->why, ERR_UNAVAILABLE, NULL, "the daemon is stopping");
    l->writing = false;
    l->written = l->why.code == ERR_NONE;
    if (!l->written)
        LOG_ERROR(l->log, "login.not_served", LF_STR("node", l->node), LF_STR("why", l->why.msg));
    serve_waiting(l);
    err_clear(&l->why);
    login_unref(l);
}

static void need_files(struct login_server *l)
{
    if (l->written) {
        serve_waiting(l);
        return;
    }
    if (l->writing)
        return;
    l->writing = true;
    l->refs++;
    if (loop_work(l->lane, write_files, on_written, l))
        return;
    err_set(&l->why, ERR_UNAVAILABLE, NULL, "too many logins are starting at once");
    on_written(l, LOOP_WORK_DONE);
}

static void on_connection(uv_stream_t *server, int status)
{
    struct login_server *l = server->data;
    if (status < 0)
        return;
    struct login_session *s = xcalloc(1, sizeof *s);
    s->login = l;
    s->socket.data = s;
    uv_tcp_init(l->loop, &s->socket);
    s->handles = 1;
    s->next = l->sessions;
    l->sessions = s;
    l->n_sessions++;
    l->refs++;
    if (uv_accept(server, (uv_stream_t *)&s->socket) != 0 || l->n_sessions > SESSIONS_MAX)
        uv_close((uv_handle_t *)&s->socket, on_handle_closed);
    else
        need_files(l);
}

/* --- opening and closing ------------------------------------------------------------------------
 */

/* The name becomes a field of passwd and a word of sshd_config. */
static bool name_is_plain(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
    return n > 0 && n <= NAME_MAX_LEN && !name[n] && *name != '-';
}

static char *copy_text(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

static void on_listener_closed(uv_handle_t *h)
{
    login_unref(h->data);
}

int login_open(const struct login_config *c, struct login_server **out, struct err *e)
{
    if (!c->user.name || !name_is_plain(c->user.name))
        return err_set(e, ERR_NOT_SUPPORTED, "adminUserName",
                       "adminUserName '%.64s' cannot log in on a local node; use up to %d letters, "
                       "digits, '.', '_' and '-'",
                       c->user.name ? c->user.name : "", NAME_MAX_LEN);
    struct login_server *l = xcalloc(1, sizeof *l);
    l->loop = c->loop;
    l->log = c->log;
    l->node = xstrdup(c->node);
    l->files = (struct login_files){.dir = fs_join(c->root, "login"),
                                    .name = xstrdup(c->user.name),
                                    .key = copy_text(c->user.ssh_public_key),
                                    .password = copy_text(c->user.password)};
    l->files.home = fs_join(l->files.dir, "home");
    l->refs = 1;
    l->lane = c->lane;
    l->listener.data = l;
    struct sockaddr_in address;
    uv_ip4_addr("127.0.0.1", 0, &address);
    uv_tcp_init(c->loop, &l->listener);
    int rc = uv_tcp_bind(&l->listener, (const struct sockaddr *)&address, 0);
    if (rc == 0)
        rc = uv_listen((uv_stream_t *)&l->listener, BACKLOG, on_connection);
    if (rc != 0) {
        uv_close((uv_handle_t *)&l->listener, on_listener_closed);
        return err_set(e, ERR_IO, NULL, "cannot listen for logins on node %s: %s", c->node,
                       uv_strerror(rc));
    }
    *out = l;
    return 0;
}

int login_port(const struct login_server *l)
{
    struct sockaddr_in address;
    int n = sizeof address;
    if (uv_tcp_getsockname(&l->listener, (struct sockaddr *)&address, &n) != 0)
        return 0;
    return ntohs(address.sin_port);
}

void login_close(struct login_server *l, void (*closed)(void *ctx), void *ctx)
{
    assert(!l->closing);
    l->closing = true;
    l->closed = closed;
    l->closed_ctx = ctx;
    serve_waiting(l);
    for (struct login_session *s = l->sessions; s; s = s->next)
        if (s->is_running && uv_is_active((uv_handle_t *)&s->sshd))
            uv_process_kill(&s->sshd, SIGTERM);
    uv_close((uv_handle_t *)&l->listener, on_listener_closed);
}
