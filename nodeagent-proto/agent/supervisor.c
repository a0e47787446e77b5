/* SPDX-License-Identifier: MIT
 *
 * The life of a supervisor: claim held > command forked > ID.start written > waits (child, signal
 * from the agent, time limit, memory) > everything of the task killed > ID.exit written > lock
 * released. One thread; it owns its copy of the task.
 */
#include "nodeagent-proto/agent/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

#include "lib/confine.h"
#include "lib/strbuf.h"
#include "lib/timefmt.h"
#include "nodeagent-proto/agent/account.h"
#include "nodeagent-proto/agent/cgroup.h"
#include "nodeagent-proto/agent/command.h"
#include "nodeagent-proto/agent/descriptors.h"
#include "nodeagent-proto/agent/devices.h"
#include "nodeagent-proto/agent/gpus.h"
#include "nodeagent-proto/agent/leases.h"
#include "nodeagent-proto/agent/measure.h"
#include "nodeagent-proto/agent/monotonic.h"
#include "nodeagent-proto/agent/outputs.h"
#include "nodeagent-proto/agent/procs.h"
#include "nodeagent-proto/agent/record.h"
#include "nodeagent-proto/agent/relay.h"
#include "nodeagent-proto/agent/tail.h"
#include "nodeagent-proto/agent/tasklog.h"
#include "nodeagent-proto/wire/message.h"

/* ms; a process that cannot be killed in 10 s hangs in the kernel, and is abandoned */
#define SWEEP_LIMIT_MS 10000
#define SWEEP_STEP_MS  50 /* ms between checks of processes that do not die */

struct supervisor {
    const struct supervisor_config *c;
    int report_fd, signal_fd;
    struct account account; /* all zeros without task_spec.user */
    struct outputs outputs;
    struct tasklog log;
    struct cgroup cgroup;
    bool keeps_cgroup; /* keeps the cgroup for the next task, see cgroup_keep() */
    struct relay relay;
    struct measure measure;
    char **env;
    pid_t command;
    bool over; /* the command was reaped; `status` is its wait status */
    int status;
    bool signalled;      /* the agent sent a signal that ends the task */
    bool timed_out;      /* the time limit ended the task */
    bool no_program;     /* the command's program does not exist */
    bool sweeping;       /* all processes are being killed; signals do not matter any more */
    int64_t deadline_ms; /* monotonic; 0: none */
    int killed;          /* how many leftover processes had to be killed */
    bool none_left;      /* at the end no process of the task was left */
    /* descriptor of the rules for spec->confine; -1: the task is not confined */
    int rules;
    int64_t started_us, stderr_from;
};

char *supervisor_marker(const char *incarnation, const char *task_id)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, COMMAND_MARKER "=%s/%s", incarnation, task_id);
    return strbuf_take(&b);
}

static void reap(struct supervisor *s, bool *none_left)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == s->command) {
            s->over = true;
            s->status = status;
        } else if (!relay_reaped(&s->relay, pid) && s->over && WIFSIGNALED(status) &&
                   WTERMSIG(status) == SIGKILL) {
            s->killed++;
        }
    }
    *none_left = pid < 0 && errno == ECHILD;
}

static void signal_all(struct supervisor *s, int signo)
{
    if (signo == SIGKILL && s->cgroup.path) {
        cgroup_kill(s->cgroup.path);
        s->keeps_cgroup = false; /* some kernels also kill every later child in a killed cgroup */
    }
    procs_signal_below(getpid(), signo, s->relay.pid, RELAY_MAX);
}

/* If the task has a signal command, this command passes the signal on. SIGKILL is sent to all
 * processes of the task as well. */
static void deliver(struct supervisor *s, int signo)
{
    if (s->sweeping)
        return;
    s->signalled = true;
    if (s->relay.command)
        relay_send(&s->relay, signo);
    if (!s->relay.command || signo == SIGKILL)
        signal_all(s, signo);
}

/* Several SIGKILLs are handled as one, because the agent may send them faster than they can be
 * passed on. */
static void drain_signals(struct supervisor *s)
{
    struct signalfd_siginfo info;
    bool kill = false;
    while (read(s->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if ((int)info.ssi_signo != SUPERVISOR_SIGNAL)
            continue;
        if (info.ssi_int == SIGKILL)
            kill = true;
        else
            deliver(s, info.ssi_int);
    }
    if (kill)
        deliver(s, SIGKILL);
}

/* Sleeps until a child ends, a signal comes, `fd` (-1: none) is readable or a limit is reached; at
 * most `max_ms` (-1: no limit). True if `fd` is readable. */
static bool wait_for_news(struct supervisor *s, int fd, int64_t max_ms)
{
    struct pollfd p[] = {{.fd = s->signal_fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    int64_t now = monotonic_ms(), next = relay_tick(&s->relay);
    if (s->deadline_ms && !s->over && !s->timed_out && (!next || s->deadline_ms < next))
        next = s->deadline_ms;
    int64_t ms = next ? next - now : -1;
    if (next && ms < 0)
        ms = 0;
    if (max_ms >= 0 && (ms < 0 || ms > max_ms))
        ms = max_ms;
    bool news = poll(p, 2, ms > INT_MAX ? INT_MAX : (int)ms) > 0;
    if (news && p[0].revents)
        drain_signals(s);
    return news && p[1].revents;
}

static void check_deadline(struct supervisor *s)
{
    if (s->over || s->timed_out || !s->deadline_ms || monotonic_ms() < s->deadline_ms)
        return;
    s->timed_out = true;
    deliver(s, SIGKILL);
}

/* Kills all remaining processes. Orphans become children of the supervisor, so the task has ended
 * when it has no children. */
static void sweep(struct supervisor *s)
{
    int64_t limit = monotonic_ms() + SWEEP_LIMIT_MS;
    bool none_left;
    s->sweeping = true;
    /* A signal may have killed the command on the node, but not the other processes in the
     * container. */
    if (s->relay.command && !s->relay.kill_sent &&
        (s->signalled || (s->over && WIFSIGNALED(s->status))))
        relay_send(&s->relay, SIGKILL);
    for (reap(s, &none_left); !none_left && (monotonic_ms() < limit || relay_is_busy(&s->relay));
         reap(s, &none_left)) {
        signal_all(s, SIGKILL);
        (void)wait_for_news(s, -1, SWEEP_STEP_MS);
    }
    s->none_left = none_left;
    measure_stop(&s->measure);
    if (s->keeps_cgroup)
        cgroup_keep(s->c->cgroups, &s->cgroup);
    else if (s->cgroup.path)
        cgroup_remove(s->cgroup.path);
}

static void wait_for_command(struct supervisor *s)
{
    bool none_left;
    for (reap(s, &none_left); !s->over; reap(s, &none_left)) {
        check_deadline(s);
        (void)wait_for_news(s, -1, measure_tick(&s->measure));
    }
}

/* Waits until the child has executed the command or has written the reason for its failure. Signals
 * are handled meanwhile, because opening a file may hang. `why` stays empty if the command runs. */
static void wait_for_exec(struct supervisor *s, int why_fd, char *why, size_t size)
{
    size_t n = 0;
    for (;;) {
        bool news = wait_for_news(s, why_fd, -1);
        check_deadline(s);
        if (!news)
            continue;
        ssize_t got = read(why_fd, why + n, size - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    why[n] = '\0';
    s->no_program = why[0] == COMMAND_NO_PROGRAM;
    if (n > 0)
        memmove(why, why + 1, n);
}

/* Reads the size without the rights of the task's account. False: the path is a link, or is on a
 * volume that is closed to root, so the account's rights are needed. */
static bool is_known_size(const char *path, int64_t *size)
{
    struct stat st;
    *size = 0;
    if (lstat(path, &st) < 0)
        return errno == ENOENT;
    *size = st.st_size;
    return S_ISREG(st.st_mode);
}

static int64_t size_of_stderr(const struct supervisor *s)
{
    struct stat st;
    int64_t size;
    if (is_known_size(s->c->spec->stderr_path, &size))
        return size;
    int fd = outputs_open_read(&s->outputs, s->c->spec->stderr_path);
    if (fd >= 0 && fstat(fd, &st) == 0)
        size = st.st_size;
    if (fd >= 0)
        close(fd);
    return size;
}

static int find_account(struct supervisor *s, struct err *e)
{
    const struct task_spec *spec = s->c->spec;
    const char *name = spec->user ? spec->user : spec->files_as;
    if (!name)
        return 0;
    if (lease_or_account(s->c->root, name, &s->account, e) < 0 || account_check(&s->account, e) < 0)
        return -1;
    s->outputs.account = s->log.outputs.account = &s->account;
    s->relay.account = spec->user ? &s->account : NULL;
    return 0;
}

/* GPUs that the task may not open. */
struct denied {
    dev_t gpus[DEVICES_MAX];
    size_t n;
};

static void find_denied(const struct task_spec *t, struct denied *out)
{
    out->n = 0;
    if (!t->limits.gpus)
        return;
    char *list = gpus_list();
    out->n = gpus_others(list, t->limits.gpus, "/dev", out->gpus, DEVICES_MAX);
    free(list);
}

static bool is_limited(const struct task_limits *l, const struct denied *d)
{
    return l->memory_bytes || l->cpus || l->processes || d->n > 0;
}

/* Whether the task gets a cgroup. Without a user and limits, two kinds of tasks get none: a task
 * that may leave processes running, because these would stay in the cgroup; and a task in a
 * container (it has a signal command), because the container has a cgroup. */
static bool wants_cgroup(const struct supervisor *s, bool limited)
{
    const struct task_spec *spec = s->c->spec;
    return spec->user || limited || (!spec->keep_children && !s->relay.command);
}

/* A cgroup without limits is reused, because the task can change nothing in it. If access to
 * devices cannot be denied, only environment variables keep the task to its GPUs. */
static void join_cgroup(struct supervisor *s)
{
    const struct supervisor_config *c = s->c;
    struct denied denied;
    find_denied(c->spec, &denied);
    bool limited = is_limited(&c->spec->limits, &denied);
    s->keeps_cgroup = s->relay.account && s->account.uid != 0 && !c->spec->limits.group && !limited;
    if (s->keeps_cgroup && cgroup_take_kept(c->cgroups, &s->cgroup))
        return;
    if (wants_cgroup(s, limited))
        cgroup_make(c->cgroups, c->incarnation, c->spec->id, &c->spec->limits, &s->cgroup);
    if (s->cgroup.path && denied.n > 0)
        (void)devices_deny(s->cgroup.path, denied.gpus, denied.n);
}

/* The supervisor opens files that the task may have replaced by links, so it is confined too. Its
 * command is confined once more, and so cannot trace the supervisor. */
static int confine(struct supervisor *s, struct err *e)
{
    const struct task_confine *c = &s->c->spec->confine;
    if (!c->hide)
        return 0;
    s->rules = confine_open(c->hide, c->reach, c->n_reach, e);
    return s->rules < 0 ? -1 : confine_enter(s->rules, e);
}

static int prepare(struct supervisor *s, struct err *e)
{
    const struct supervisor_config *c = s->c;
    if (confine(s, e) < 0 || find_account(s, e) < 0)
        return -1;
    join_cgroup(s);
    if (s->relay.command)
        measure_begin_in_container(&s->measure, c->spec->cgroups_path);
    else
        measure_begin(&s->measure, s->cgroup.path);
    char *marker = supervisor_marker(c->incarnation, c->spec->id);
    s->relay.env = s->env =
        command_environment(c->spec, s->relay.account, s->outputs.account, marker);
    free(marker);
    s->stderr_from = size_of_stderr(s);
    return record_commit(c->claim_fd, e);
}

static void become_command(void *command)
{
    command_become(command);
}

/* A task without a time limit needs nothing from its supervisor before its command has begun (the
 * agent sends signals after it has read ID.start), so the supervisor may sleep until then. */
static pid_t start_child(struct supervisor *s, struct task_command *c)
{
    c->in_cgroup = s->cgroup.path != NULL;
    pid_t pid = s->deadline_ms ? -1 : cgroup_spawn(&s->cgroup, become_command, c);
    if (pid > 0)
        return pid;
    pid = cgroup_fork(&s->cgroup, &c->in_cgroup);
    if (pid == 0)
        command_become(c);
    return pid;
}

static void fork_command(struct supervisor *s, char *why, size_t size)
{
    int fds[2];
    struct arena left;
    arena_init(&left);
    if (pipe2(fds, O_CLOEXEC) < 0) {
        snprintf(why, size, "cannot make a pipe: %s", strerror(errno));
        return;
    }
    struct task_command command = {.spec = s->c->spec,
                                   .outputs = s->outputs,
                                   .cgroup = &s->cgroup,
                                   .rules = s->rules,
                                   .env = s->env,
                                   .why_fd = fds[1],
                                   .supervisor = getpid(),
                                   .arena = &left};
    if (s->c->spec->timeout_s)
        s->deadline_ms = monotonic_ms() + (int64_t)s->c->spec->timeout_s * 1000;
    s->command = start_child(s, &command);
    int saved = errno;
    arena_free(&left);
    close(fds[1]);
    if (s->command < 0)
        snprintf(why, size, "cannot fork: %s", strerror(saved));
    else
        wait_for_exec(s, fds[0], why, size);
    close(fds[0]);
}

static void launch(struct supervisor *s, char *why, size_t size)
{
    struct err e;
    if (prepare(s, &e) < 0)
        snprintf(why, size, "%s", e.msg);
    else
        fork_command(s, why, size);
    s->started_us = time_now_us();
}

static int write_start(const struct supervisor *s, struct err *e)
{
    struct start_record r = {
        .supervisor = getpid(),
        .supervisor_start = s->c->own_start,
        .command = s->command,
        .command_start = procs_start_time(s->command),
        .started_us = s->started_us,
        .stderr_from = s->stderr_from,
        .stderr_path = s->c->spec->stderr_path,
        .has_account = s->outputs.account != NULL,
        .uid = s->account.uid,
        .gid = s->account.gid,
        .cgroup = s->cgroup.path,
    };
    return record_write_start(s->c->tasks_dir, s->c->spec->id, &r, e);
}

static char *tail_of_stderr(const struct supervisor *s)
{
    const char *path = s->c->spec->stderr_path;
    int64_t size;
    if (is_known_size(path, &size) && size <= s->stderr_from)
        return NULL;
    return tail_read(outputs_open_read(&s->outputs, path), s->stderr_from, NODE_TAIL_MAX);
}

static void write_exit(struct supervisor *s, struct task_status *t)
{
    char *tail = tail_of_stderr(s);
    t->id = s->c->spec->id;
    t->started_us = s->started_us;
    t->ended_us = time_now_us();
    t->stderr_tail = tail;
    tasklog_end(&s->log, t, s->killed);
    json_t *j = message_task_status(t);
    struct err e;
    /* The claim has reserved room for the record. Without a record (the root was removed, the disk
     * is broken) the task is lost. The log may have more details. */
    if (record_write_exit(s->c->tasks_dir, t->id, j, &e) < 0)
        tasklog_note(&s->log, t->ended_us, e.msg);
    json_decref(j);
    free(tail);
}

/* Adds the cause of the end to the exit status, if the supervisor knows it (time limit, memory
 * limit). */
static void explain_end(const struct supervisor *s, struct task_status *t, char *why, size_t size)
{
    const struct task_spec *spec = s->c->spec;
    if (s->timed_out) {
        snprintf(why, size, "it did not end within %d s and was killed", spec->timeout_s);
        t->signal = SIGKILL; /* even if the signal command ended the process in another way */
        t->exit_code = -1;
    } else if (t->exit_code != 0 && cgroup_oom_kills(&s->cgroup) > 0) {
        snprintf(why, size,
                 "it exceeded its memory limit of %lld MiB and was killed (out of memory)",
                 (long long)(spec->limits.memory_bytes >> 20));
    }
    t->why = *why ? why : NULL;
}

/* Waits for processes that the task has left running. First closes all descriptors but the
 * signalfd, and so releases the lock, because a held lock means that a supervisor works. */
static _Noreturn void stay_with_children(struct supervisor *s)
{
    measure_stop(&s->measure);
    descriptors_close_all_but(s->signal_fd, -1, -1);
    prctl(PR_SET_NAME, "batchai-keeper");
    command_environment_free(s->env);
    s->env = NULL;
    s->relay.command = NULL;
    bool none_left;
    s->signalled = false;
    for (reap(s, &none_left); !none_left && !s->signalled; reap(s, &none_left))
        (void)wait_for_news(s, -1, -1);
    sweep(s);
    cgroup_remove_kept(s->c->cgroups);
    _exit(0);
}

static void finish(struct supervisor *s, char *why, size_t size)
{
    struct task_status t = {.exit_code = -1};
    if (*why) {
        t.state = TASK_FAILED_TO_START;
        t.exit_code = s->no_program ? TASK_NO_PROGRAM : -1;
        t.why = why;
    } else {
        t.state = TASK_EXITED;
        t.signal = WIFSIGNALED(s->status) ? WTERMSIG(s->status) : 0;
        t.exit_code = WIFEXITED(s->status) ? WEXITSTATUS(s->status) : -1;
        explain_end(s, &t, why, size);
    }
    bool keep = s->c->spec->keep_children && t.exit_code == 0;
    if (!keep)
        sweep(s);
    if (t.state == TASK_EXITED)
        measure_tell(&s->measure, &t);
    write_exit(s, &t);
    if (keep)
        stay_with_children(s);
}

static void supervise(struct supervisor *s)
{
    char why[1024] = "";
    struct err e;
    launch(s, why, sizeof why);
    if (!*why && write_start(s, &e) < 0) {
        /* Without ID.start a later agent could not find the task, so the command is killed. */
        snprintf(why, sizeof why, "%s", e.msg);
        signal_all(s, SIGKILL);
    }
    if (!*why) {
        tasklog_start(&s->log, s->started_us, s->command);
        close(s->report_fd);
        s->report_fd = -1;
        wait_for_command(s);
    }
    finish(s, why, sizeof why);
}

int supervisor_take_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SUPERVISOR_SIGNAL);
    command_ignore_signals();
    sigprocmask(SIG_SETMASK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Drops signals that came too late for the previous task. */
static void forget_signals(int signal_fd)
{
    struct signalfd_siginfo info;
    while (read(signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
        ;
}

bool supervisor_run(const struct supervisor_config *c, int report_fd, int signal_fd)
{
    prctl(PR_SET_NAME, "batchai-task");
    struct supervisor s = {
        .c = c,
        .report_fd = report_fd,
        .signal_fd = signal_fd,
        .outputs = {.root = c->root},
        .log = {.spec = c->spec, .hostname = c->hostname, .outputs = {.root = c->root}},
        .relay = {.command = c->spec->signal_command},
        .measure = MEASURE_NONE,
        .rules = -1,
    };
    forget_signals(signal_fd);
    supervise(&s);
    close(c->claim_fd);
    if (s.report_fd >= 0)
        close(s.report_fd);
    command_environment_free(s.env);
    account_free(&s.account);
    cgroup_free(&s.cgroup);
    if (s.rules >= 0)
        close(s.rules);
    return s.none_left && !c->spec->confine.hide;
}
