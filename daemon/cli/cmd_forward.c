/* SPDX-License-Identifier: MIT
 *
 * `batchaid forward`: forwards a local port to a port on a job's node. Each connection has its own
 * process and its own link to the daemon. These processes end with this process, which ends when
 * the job has ended.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/terminal.h"
#include "lib/arena.h"

#define AT_ONCE    30 /* connections at once; the daemon accepts a few more from one principal */
#define BACKLOG    16
#define LOOK_MS    3000 /* milliseconds between requests for the job's state */
#define PORTS_END  65536
#define PORT_WORDS "use PORT or LOCAL:PORT, with numbers from 1 to 65535 (LOCAL 0: any free one)"

struct forward {
    struct daemon_client *c;
    const struct options *options;
    json_t *job;
    json_int_t index;       /* of an array; -1: the job is not an array */
    struct timespec looked; /* when the job's state was last requested */
    int local, port;        /* local 0: any free port */
    int fd, signals, children;
};

static bool read_port(const char **at, int from, int *out)
{
    char *end;
    errno = 0;
    long n = strtol(*at, &end, 10);
    bool is = end != *at && **at >= '0' && **at <= '9' && errno == 0 && n >= from && n < PORTS_END;
    *at = end;
    *out = (int)n;
    return is;
}

static int read_ports(struct forward *f, const char *text, struct err *e)
{
    const char *at = text, *colon = strchr(text, ':');
    bool good = true;
    if (colon) {
        good = read_port(&at, 0, &f->local) && *at == ':';
        at = colon + 1;
    }
    if (good && read_port(&at, 1, &f->port) && *at == '\0') {
        f->local = colon ? f->local : f->port;
        return 0;
    }
    return err_set(e, ERR_CONFIG, NULL, "forward: '%.50s' is not a valid port; " PORT_WORDS, text);
}

static int listen_here(struct forward *f, struct err *e)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)f->local),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    const int on = 1;
    f->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (f->fd >= 0)
        (void)setsockopt(f->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (f->fd < 0 || bind(f->fd, (struct sockaddr *)&at, n) < 0 || listen(f->fd, BACKLOG) < 0 ||
        getsockname(f->fd, (struct sockaddr *)&at, &n) < 0)
        return err_errno(e, ERR_UNAVAILABLE, "cannot listen at 127.0.0.1:%d", f->local);
    f->local = ntohs(at.sin_port);
    return 0;
}

/* --- one connection -----------------------------------------------------------------------------
 */

/* Serves one connection, in a child process. The child logs in again, because the parent's token
 * may have expired. */
static int carry(const struct forward *f, int fd, struct err *e)
{
    struct daemon_client *c = NULL;
    struct terminal_link *l = NULL;
    json_t *ask = json_pack("{s:i, s:s*, s:o*}", "port", f->port, "node", f->options->node, "index",
                            f->index < 0 ? NULL : json_integer(f->index));
    const struct terminal_io io = {.in = fd, .out = fd, .err = STDERR_FILENO};
    char *path = NULL;
    int rc = jobs_open(f->options, &c, e);
    if (rc == 0) {
        path = terminal_path(c, f->job);
        rc = terminal_link_open(c, path, ask, &l, e);
    }
    if (rc == 0)
        rc = terminal_serve(l, &io);
    terminal_link_close(l);
    client_close(c);
    json_decref(ask);
    free(path);
    return rc;
}

static _Noreturn void become(const struct forward *f, int fd, pid_t parent)
{
    struct err e;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(TERMINAL_LOST);
    close(f->fd);
    int rc = carry(f, fd, &e);
    if (rc < 0)
        rc = cli_fail(TERMINAL_LOST, &e);
    fflush(NULL);
    _exit(rc);
}

static void accept_one(struct forward *f)
{
    int fd = accept4(f->fd, NULL, NULL, SOCK_CLOEXEC);
    pid_t parent = getpid();
    pid_t pid = fd >= 0 ? fork() : -1;
    if (pid == 0)
        become(f, fd, parent);
    f->children += pid > 0;
    if (fd >= 0)
        close(fd);
}

/* --- all ----------------------------------------------------------------------------------------
 */

/* Reads all signals. Returns the last that must end this process; 0: none. */
static int read_signals(struct forward *f)
{
    struct signalfd_siginfo info;
    int ends = 0;
    while (read(f->signals, &info, sizeof info) == (ssize_t)sizeof info)
        ends = info.ssi_signo != SIGCHLD ? (int)info.ssi_signo : ends;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        f->children--;
    return ends;
}

/* 1: the job has ended; 0: it has not, or the daemon does not answer; -1: the daemon refuses. */
static int job_has_ended(struct forward *f, struct err *e)
{
    json_t *reply = NULL;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if ((now.tv_sec - f->looked.tv_sec) * 1000 < LOOK_MS)
        return 0;
    client_limit(f->c, LOOK_MS); /* a short limit, because new connections wait meanwhile */
    int rc = jobs_ask_about(f->c, "/batchaid/jobs", f->job, &reply, e);
    bool ended = rc == 0 && jobs_has_ended(json_object_get(reply, "job"));
    if (ended)
        fprintf(stderr, "batchaid: %s has ended\n", jobs_text(f->job, "name"));
    json_decref(reply);
    clock_gettime(CLOCK_MONOTONIC, &f->looked);
    return rc < 0 && !client_may_pass(e) ? -1 : ended;
}

/* Serves until a signal arrives or the job has ended (0), or the daemon refuses (-1). While there
 * are AT_ONCE connections, further ones wait. */
static int serve(struct forward *f, struct err *e)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    f->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    for (;;) {
        struct pollfd p[2] = {{.fd = f->children < AT_ONCE ? f->fd : -1, .events = POLLIN},
                              {.fd = f->signals, .events = POLLIN}};
        if (poll(p, 2, LOOK_MS) < 0)
            continue;
        if (read_signals(f) != 0)
            return 0;
        if (p[0].revents)
            accept_one(f);
        int ended = job_has_ended(f, e);
        if (ended != 0)
            return ended < 0 ? -1 : 0;
    }
}

static int forward(struct daemon_client *c, const struct options *o, struct err *e)
{
    struct forward f = {.c = c, .options = o, .fd = -1};
    int rc = read_ports(&f, o->args[1], e);
    if (rc == 0)
        rc = jobs_find_index(c, o->args[0], &f.job, &f.index, e);
    if (rc == 0)
        rc = listen_here(&f, e);
    if (rc == 0) {
        printf("http://127.0.0.1:%d leads to port %d of %s\n", f.local, f.port,
               jobs_text(f.job, "name"));
        fflush(stdout);
        rc = serve(&f, e);
        close(f.signals);
    }
    if (f.fd >= 0)
        close(f.fd);
    json_decref(f.job);
    return rc;
}

int cmd_forward(const struct options *o)
{
    return jobs_with_client(o, forward);
}
