/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/agent/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/strbuf.h"
#include "lib/timefmt.h"
#include "nodeagent-proto/agent/command.h"
#include "nodeagent-proto/agent/files.h"
#include "nodeagent-proto/agent/procs.h"
#include "nodeagent-proto/agent/record.h"
#include "nodeagent-proto/agent/tail.h"
#include "nodeagent-proto/message.h"

#define SWEEP_LIMIT_US 10000000 /* what cannot be killed in 10 s hangs in the kernel: given up */
#define SWEEP_STEP_MS  50       /* between looks at processes that do not die */

struct supervisor {
    const struct supervisor_config *c;
    int report_fd, signal_fd;
    pid_t command;
    bool over; /* the command was reaped; `status` is its wait status */
    int status;
    int killed; /* processes left behind that had to be killed */
    int64_t started_us, stderr_from;
};

char *supervisor_marker(const char *incarnation, const char *task_id)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, COMMAND_MARKER "=%s/%s", incarnation, task_id);
    return strbuf_take(&b);
}

/* A line of execution.log; the log is a courtesy, so a task does not fail for want of it. */
static void note(const struct supervisor *s, int64_t when, const char *text)
{
    const struct task_spec *t = s->c->spec;
    if (!t->log_path)
        return;
    char stamp[TIMEFMT_SIZE];
    timefmt_fixed(when, stamp);
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "%s %s: ", stamp, t->step);
    for (; *text; text++)
        strbuf_puts(&b, *text == '\n' ? "\\n" : (const char[]){*text, '\0'});
    strbuf_putc(&b, '\n');
    int ignored = file_make_parents(t->log_path, NULL) || file_append(t->log_path, b.s, NULL);
    (void)ignored;
    strbuf_free(&b);
}

static void note_start(const struct supervisor *s)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "started on %s, pid %d: %s", s->c->hostname, (int)s->command,
                  s->c->spec->command_line);
    note(s, s->started_us, b.s);
    strbuf_free(&b);
}

static void note_end(const struct supervisor *s, const struct task_status *t)
{
    struct strbuf b = STRBUF_INIT;
    if (t->state == TASK_FAILED_TO_START)
        strbuf_printf(&b, "could not be started on %s: %s", s->c->hostname, t->why);
    else if (t->signal)
        strbuf_printf(&b, "killed by signal %d (%s)", t->signal, strsignal(t->signal));
    else
        strbuf_printf(&b, "exited with code %d", t->exit_code);
    if (s->killed == 1)
        strbuf_puts(&b, "; 1 process it left behind was killed");
    else if (s->killed > 1)
        strbuf_printf(&b, "; %d processes it left behind were killed", s->killed);
    note(s, t->ended_us, b.s);
    strbuf_free(&b);
}

static void reap(struct supervisor *s, bool *none_left)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == s->command) {
            s->over = true;
            s->status = status;
        } else if (s->over && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
            s->killed++;
        }
    }
    *none_left = pid < 0 && errno == ECHILD;
}

static void drain_signals(struct supervisor *s)
{
    struct signalfd_siginfo info;
    while (read(s->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
        if ((int)info.ssi_signo == SUPERVISOR_SIGNAL)
            procs_signal_below(getpid(), info.ssi_int);
}

/* Kills all that is left; orphans come to us, so nothing is left once we have no children. */
static void sweep(struct supervisor *s)
{
    int64_t limit = time_now_us() + SWEEP_LIMIT_US;
    bool none_left;
    for (reap(s, &none_left); !none_left && time_now_us() < limit; reap(s, &none_left)) {
        procs_signal_below(getpid(), SIGKILL);
        struct pollfd p = {.fd = s->signal_fd, .events = POLLIN};
        if (poll(&p, 1, SWEEP_STEP_MS) > 0)
            drain_signals(s);
    }
}

static void wait_for_command(struct supervisor *s)
{
    bool none_left;
    for (reap(s, &none_left); !s->over; reap(s, &none_left)) {
        struct pollfd p = {.fd = s->signal_fd, .events = POLLIN};
        if (poll(&p, 1, -1) > 0)
            drain_signals(s);
    }
}

/* Until the child is the command or has said why not. Signals go on working meanwhile: opening a
 * file may hang. Returns the length of `why`; 0 if the command runs. */
static size_t wait_for_exec(struct supervisor *s, int why_fd, char *why, size_t size)
{
    size_t n = 0;
    for (;;) {
        struct pollfd p[] = {{.fd = why_fd, .events = POLLIN},
                             {.fd = s->signal_fd, .events = POLLIN}};
        if (poll(p, 2, -1) < 0)
            continue;
        if (p[1].revents)
            drain_signals(s);
        if (!p[0].revents)
            continue;
        ssize_t got = read(why_fd, why + n, size - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    why[n] = '\0';
    return n;
}

static int64_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_size : 0;
}

static void launch(struct supervisor *s, char *why, size_t size)
{
    const struct supervisor_config *c = s->c;
    int fds[2];
    char *marker = supervisor_marker(c->incarnation, c->spec->id);
    char **env = command_environment(c->spec, marker);
    pid_t self = getpid();
    struct err e;
    s->stderr_from = size_of(c->spec->stderr_path);
    if (record_commit(c->claim_fd, &e) < 0) {
        snprintf(why, size, "%s", e.msg);
        goto out;
    }
    if (pipe2(fds, O_CLOEXEC) < 0) {
        snprintf(why, size, "cannot make a pipe: %s", strerror(errno));
        goto out;
    }
    s->command = fork();
    if (s->command == 0)
        command_become(c->spec, env, fds[1], self);
    int saved = errno;
    close(fds[1]);
    if (s->command < 0)
        snprintf(why, size, "cannot fork: %s", strerror(saved));
    else
        (void)wait_for_exec(s, fds[0], why, size);
    close(fds[0]);
out:
    s->started_us = time_now_us();
    command_environment_free(env);
    free(marker);
}

static int write_start(const struct supervisor *s, struct err *e)
{
    struct start_record r = {
        .supervisor = getpid(),
        .command = s->command,
        .command_start = procs_start_time(s->command),
        .started_us = s->started_us,
        .stderr_from = s->stderr_from,
        .stderr_path = s->c->spec->stderr_path,
    };
    return record_write_start(s->c->tasks_dir, s->c->spec->id, &r, e);
}

static void write_exit(struct supervisor *s, struct task_status *t)
{
    char *tail = tail_read(s->c->spec->stderr_path, s->stderr_from, NODE_TAIL_MAX);
    t->id = s->c->spec->id;
    t->started_us = s->started_us;
    t->ended_us = time_now_us();
    t->stderr_tail = tail;
    note_end(s, t);
    json_t *j = message_task_status(t);
    struct err e;
    /* The room was kept with the claim. Without a record (the root is gone, the disk broken) the
     * task counts as lost. The note may say more. */
    if (record_write_exit(s->c->tasks_dir, t->id, j, &e) < 0)
        note(s, t->ended_us, e.msg);
    json_decref(j);
    free(tail);
}

static void finish(struct supervisor *s, const char *why)
{
    struct task_status t = {.exit_code = -1};
    sweep(s);
    if (*why) {
        t.state = TASK_FAILED_TO_START;
        t.why = why;
    } else {
        t.state = TASK_EXITED;
        t.signal = WIFSIGNALED(s->status) ? WTERMSIG(s->status) : 0;
        t.exit_code = WIFEXITED(s->status) ? WEXITSTATUS(s->status) : -1;
    }
    write_exit(s, &t);
}

static void supervise(struct supervisor *s)
{
    char why[1024] = "";
    struct err e;
    launch(s, why, sizeof why);
    if (!*why && write_start(s, &e) < 0) {
        /* Without a record an agent to come could not find it: rather not run at all. */
        snprintf(why, sizeof why, "%s", e.msg);
        procs_signal_below(getpid(), SIGKILL);
    }
    if (!*why) {
        note_start(s);
        close(s->report_fd);
        wait_for_command(s);
    }
    finish(s, why);
}

static int take_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SUPERVISOR_SIGNAL);
    sigprocmask(SIG_SETMASK, &set, NULL);
    /* Meant for the job or for everybody (shutdown, a terminal): the job's own processes get them
     * too, and we stay to write down how it ended. */
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    (void)signal(SIGQUIT, SIG_IGN);
    (void)signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* In the second fork. */
static _Noreturn void run_supervisor(const struct supervisor_config *c, int report_fd)
{
    setsid();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_NAME, "batchai-task");
    struct supervisor s = {.c = c, .report_fd = report_fd, .signal_fd = take_signals()};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    file_close_all_but(c->claim_fd, report_fd, s.signal_fd);
    if (chdir("/") == 0 && s.signal_fd >= 0)
        supervise(&s);
    _exit(0);
}

int supervisor_start(const struct supervisor_config *c, struct err *e)
{
    int fds[2], status;
    if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
        return err_errno(e, ERR_NODE, "cannot make a pipe");
    pid_t between = fork();
    if (between == 0) {
        pid_t pid = fork();
        if (pid == 0)
            run_supervisor(c, fds[1]);
        _exit(pid < 0 ? errno : 0);
    }
    int rc = 0;
    if (between < 0)
        rc = err_errno(e, ERR_NODE, "cannot fork a supervisor");
    close(fds[1]);
    while (rc == 0 && waitpid(between, &status, 0) < 0 && errno == EINTR)
        ;
    if (rc == 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
        errno = WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
        rc = err_errno(e, ERR_NODE, "cannot fork a supervisor");
    }
    if (rc < 0)
        close(fds[0]);
    return rc < 0 ? -1 : fds[0];
}
