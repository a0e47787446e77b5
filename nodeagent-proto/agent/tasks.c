/* SPDX-License-Identifier: MIT
 *
 * Signs that a task has changed come from the directory of records (inotify, or a check each
 * second), from a pipe while the task's supervisor is being forked, and from a pidfd while the
 * supervisor lives. A sign may come twice, or although nothing has changed: after each sign the
 * agent reads the records again and relies on them alone.
 */
#include "nodeagent-proto/agent/tasks.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"
#include "lib/timefmt.h"
#include "nodeagent-proto/agent/cgroup.h"
#include "nodeagent-proto/agent/keeper.h"
#include "nodeagent-proto/agent/monotonic.h"
#include "nodeagent-proto/agent/outputs.h"
#include "nodeagent-proto/agent/procs.h"
#include "nodeagent-proto/agent/record.h"
#include "nodeagent-proto/agent/supervisor.h"
#include "nodeagent-proto/agent/tail.h"
#include "nodeagent-proto/wire/message.h"

/* ms between checks of a supervisor without a descriptor: a supervisor that the previous agent was
 * about to start, or any supervisor on a kernel before 5.3 (no pidfd). */
#define RECHECK_MS 100
/* ms between checks of the node root if there is no inotify. */
#define ROOT_RECHECK_MS 1000

/* How long to wait (ms) for a supervisor that must kill its task; normally it needs a few ms. */
#define ABANDON_MS 2000

enum phase { PHASE_STARTING, PHASE_RUNNING, PHASE_ENDED };

struct task_waiter { /* a run request that waits for the start of the task */
    struct task_waiter *next;
    json_int_t request;
};

struct agent_task {
    struct agent_task *next;
    char *id;
    enum phase phase;
    pid_t supervisor; /* 0 while starting */
    /* PHASE_STARTING: a pipe that closes when the state changes; PHASE_RUNNING: pidfd; or -1 */
    int fd;
    struct task_waiter *waiters; /* only in PHASE_STARTING */
    int early_signals[4];        /* signals requested in PHASE_STARTING, 0-terminated unless full */
    json_t *status;              /* the status as sent; NULL in PHASE_STARTING */
};

static struct agent_task *find(const struct agent_tasks *t, const char *id)
{
    struct agent_task *k = t->head;
    while (k && strcmp(k->id, id) != 0)
        k = k->next;
    return k;
}

static struct agent_task *add(struct agent_tasks *t, const char *id)
{
    assert(!find(t, id));
    struct agent_task *k = xcalloc(1, sizeof *k);
    k->id = xstrdup(id);
    k->fd = -1;
    k->next = t->head;
    t->head = k;
    return k;
}

static void close_fd(struct agent_task *k)
{
    if (k->fd >= 0)
        close(k->fd);
    k->fd = -1;
}

static void task_free(struct agent_task *k)
{
    close_fd(k);
    while (k->waiters) {
        struct task_waiter *w = k->waiters;
        k->waiters = w->next;
        free(w);
    }
    json_decref(k->status);
    free(k->id);
    free(k);
}

static void set_status(struct agent_task *k, json_t *status)
{
    json_decref(k->status);
    k->status = status;
}

static void add_waiter(struct agent_task *k, json_int_t request)
{
    struct task_waiter *w = xcalloc(1, sizeof *w), **end = &k->waiters;
    w->request = request;
    while (*end)
        end = &(*end)->next;
    *end = w;
}

static void answer_waiters(struct agent_tasks *t, struct agent_task *k)
{
    assert(k->phase != PHASE_STARTING);
    while (k->waiters) {
        struct task_waiter *w = k->waiters;
        k->waiters = w->next;
        t->cb.started(t->cb.ctx, w->request, k->status);
        free(w);
    }
}

/* With a pidfd, the signal reaches the task's supervisor or nobody. Without a pidfd, the lock must
 * be held: this shows that the supervisor lives, so `supervisor` is still its pid. */
static void send_signal(const struct agent_tasks *t, const struct agent_task *k, int signo)
{
    union sigval v = {.sival_int = signo};
    assert(k->phase == PHASE_RUNNING);
    siginfo_t info = {.si_signo = SUPERVISOR_SIGNAL, .si_code = SI_QUEUE, .si_value = v};
    info.si_pid = getpid();
    info.si_uid = getuid();
    if (k->fd >= 0)
        (void)syscall(SYS_pidfd_send_signal, k->fd, SUPERVISOR_SIGNAL, &info, 0);
    else if (record_is_supervised(t->dir, k->id))
        (void)sigqueue(k->supervisor, SUPERVISOR_SIGNAL, v);
}

static void send_early_signals(const struct agent_tasks *t, struct agent_task *k)
{
    size_t max = sizeof k->early_signals / sizeof k->early_signals[0];
    for (size_t i = 0; i < max && k->early_signals[i]; i++)
        send_signal(t, k, k->early_signals[i]);
    k->early_signals[0] = 0;
}

/* Takes over `status`, the content of ID.exit. */
static void become_ended(struct agent_tasks *t, struct agent_task *k, json_t *status)
{
    assert(k->phase != PHASE_ENDED); /* an end is reported once */
    close_fd(k);
    k->phase = PHASE_ENDED;
    set_status(k, status);
    answer_waiters(t, k);
    if (t->announcing)
        t->cb.ended(t->cb.ctx, k->status);
}

static void become_running(struct agent_tasks *t, struct agent_task *k,
                           const struct start_record *r)
{
    struct task_status s = {
        .id = k->id, .state = TASK_RUNNING, .started_us = r->started_us, .exit_code = -1};
    assert(k->phase == PHASE_STARTING);
    close_fd(k);
    k->phase = PHASE_RUNNING;
    k->supervisor = r->supervisor;
    k->fd = (int)syscall(SYS_pidfd_open, r->supervisor, 0);
    set_status(k, message_task_status(&s));
    answer_waiters(t, k);
    send_early_signals(t, k);
}

static char *explain_loss(const struct agent_tasks *t, const char *boot,
                          const struct start_record *r, bool started)
{
    struct strbuf b = STRBUF_INIT;
    if (boot[0] && strcmp(boot, t->boot_id) != 0)
        strbuf_printf(&b, "node %s was restarted while the task %s", t->hostname,
                      started ? "ran" : "was being started");
    else if (started)
        strbuf_printf(&b,
                      "the supervisor of the task (pid %d on %s) vanished without recording its "
                      "end: it was killed, or the disk was full; what was left of the task was "
                      "killed",
                      (int)r->supervisor, t->hostname);
    else
        strbuf_printf(&b,
                      "the node agent or the supervisor on %s ended while the task was being "
                      "started; there is no record that its command ran",
                      t->hostname);
    return strbuf_take(&b);
}

/* Reads the end of the lost task's stderr with the rights of the task's account, but without its
 * supplementary groups, because looking them up would take too long. */
static char *tail_of_lost(const struct agent_tasks *t, const struct start_record *r)
{
    struct account a = {
        .name = "the task's", .uid = r->uid, .gid = r->gid, .groups = &a.gid, .n_groups = 1};
    struct outputs o = {.account = r->has_account ? &a : NULL, .root = t->root};
    return tail_read(outputs_open_read(&o, r->stderr_path), r->stderr_from, NODE_TAIL_MAX);
}

/* Called if the task has no supervisor and no record of its end: kills its remaining processes and
 * records that it is lost. */
static void become_lost(struct agent_tasks *t, struct agent_task *k)
{
    struct start_record r;
    char boot[64];
    json_t *start = record_read_start(t->dir, k->id, &r);
    char *marker = supervisor_marker(t->incarnation, k->id);
    record_claimed_boot(t->dir, k->id, boot, sizeof boot);
    /* After a reboot, another session may have the number of the task's session. */
    procs_kill_leftovers(strcmp(boot, t->boot_id) == 0 ? r.command : 0, r.command_start, marker);
    if (!start || r.cgroup)
        cgroup_remove_lost(t->incarnation, k->id, r.cgroup);
    char *why = explain_loss(t, boot, &r, start != NULL);
    char *tail = start ? tail_of_lost(t, &r) : NULL;
    struct task_status s = {.id = k->id,
                            .state = TASK_LOST,
                            .started_us = r.started_us,
                            .ended_us = time_now_us(),
                            .exit_code = -1,
                            .why = why,
                            .stderr_tail = tail};
    json_t *status = message_task_status(&s);
    /* If the write fails (disk full), the next agent comes to this conclusion again. */
    int ignored = record_write_exit(t->dir, k->id, status, NULL);
    (void)ignored;
    become_ended(t, k, status);
    free(tail);
    free(why);
    free(marker);
    json_decref(start);
}

/* Reads the records again. The order matters: a supervisor writes ID.exit before it releases the
 * lock. So a missing ID.exit proves a lost task only if it is read after the lock was found free.
 * Mostly the first read already finds ID.exit. */
static void refresh(struct agent_tasks *t, struct agent_task *k)
{
    struct start_record r;
    if (k->phase == PHASE_ENDED)
        return;
    json_t *start = k->phase == PHASE_STARTING ? record_read_start(t->dir, k->id, &r) : NULL;
    if (start)
        become_running(t, k, &r); /* even if ENDED follows at once, because the reply to the run
                                     request comes first */
    json_decref(start);
    json_t *end = record_read_exit(t->dir, k->id);
    bool supervised = end || record_is_supervised(t->dir, k->id);
    if (!supervised)
        end = record_read_exit(t->dir, k->id);
    if (end)
        become_ended(t, k, end);
    else if (!supervised)
        become_lost(t, k);
}

static void load(void *ctx, const char *id)
{
    struct agent_tasks *t = ctx;
    if (find(t, id))
        return;
    /* A task that was claimed but not begun is removed: the daemon repeats its run request. */
    if (!record_is_supervised(t->dir, id) && record_is_unused(t->dir, id, t->boot_id) &&
        record_forget(t->dir, id, NULL) == 0)
        return;
    refresh(t, add(t, id));
}

static int watch_by_inotify(struct agent_tasks *t)
{
    t->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (t->inotify_fd < 0 || inotify_add_watch(t->inotify_fd, t->dir, IN_MOVED_TO | IN_ONLYDIR) < 0)
        return -1;
    t->root_watch =
        inotify_add_watch(t->inotify_fd, t->root,
                          IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR);
    return t->root_watch;
}

int tasks_watch(struct agent_tasks *t, struct err *e)
{
    if (stat(t->root, &t->root_was) < 0)
        return err_errno(e, ERR_NODE, "cannot look at %s", t->root);
    if (stat(t->dir, &t->dir_was) < 0)
        return err_errno(e, ERR_NODE, "cannot look at %s", t->dir);
    if (watch_by_inotify(t) >= 0)
        return 0;
    if (t->inotify_fd >= 0)
        close(t->inotify_fd);
    /* for example, all inotify instances of the account are in use: check by a timer */
    t->inotify_fd = -1;
    return 0;
}

int tasks_open(struct agent_tasks *t, struct err *e)
{
    return record_each(t->dir, load, t, e);
}

void tasks_abandon(struct agent_tasks *t)
{
    helpers_close(t->helpers); /* the helpers end with their tasks */
    for (struct agent_task *k = t->head; k; k = k->next)
        if (k->phase == PHASE_RUNNING)
            send_signal(t, k, SIGKILL);
    int64_t limit = monotonic_ms() + ABANDON_MS;
    for (struct agent_task *k = t->head; k; k = k->next) {
        struct pollfd p = {.fd = k->phase == PHASE_RUNNING ? k->fd : -1, .events = POLLIN};
        int64_t left_ms = limit - monotonic_ms();
        while (p.fd >= 0 && left_ms > 0 && poll(&p, 1, (int)left_ms) < 0 && errno == EINTR)
            left_ms = limit - monotonic_ms();
    }
}

bool tasks_are_running(const struct agent_tasks *t)
{
    for (const struct agent_task *k = t->head; k; k = k->next)
        if (k->phase != PHASE_ENDED)
            return true;
    return false;
}

bool tasks_run_as(void *tasks, uid_t uid)
{
    const struct agent_tasks *t = tasks;
    bool run = false;
    for (const struct agent_task *k = t->head; k && !run; k = k->next) {
        struct start_record r;
        json_t *start = k->phase == PHASE_ENDED ? NULL : record_read_start(t->dir, k->id, &r);
        run = start ? r.has_account && r.uid == uid : k->phase == PHASE_STARTING;
        json_decref(start);
    }
    return run;
}

void tasks_close(struct agent_tasks *t)
{
    while (t->head) {
        struct agent_task *k = t->head;
        t->head = k->next;
        task_free(k);
    }
    if (t->inotify_fd >= 0)
        close(t->inotify_fd);
    cgroup_bases_free(&t->cgroups);
}

void tasks_supervised(void *tasks, const char *id)
{
    struct agent_task *k = find(tasks, id);
    if (k)
        refresh(tasks, k);
}

void tasks_announce(struct agent_tasks *t)
{
    t->announcing = true;
    for (struct agent_task *k = t->head; k; k = k->next)
        if (k->phase == PHASE_ENDED)
            t->cb.ended(t->cb.ctx, k->status);
}

static int start(struct agent_tasks *t, const struct task_spec *spec, json_t *message,
                 json_int_t request, struct err *e)
{
    int claim = record_claim(t->dir, spec->id, t->boot_id, e);
    if (claim < 0)
        return -1;
    if (t->cgroups.n == 0) {
        cgroup_bases_find(&t->cgroups);
        cgroup_remove_empty(&t->cgroups, t->incarnation);
    }
    struct supervisor_config c = {.spec = spec,
                                  .root = t->root,
                                  .tasks_dir = t->dir,
                                  .hostname = t->hostname,
                                  .incarnation = t->incarnation,
                                  .cgroups = &t->cgroups,
                                  .claim_fd = claim};
    int fd = helpers_supervise(t->helpers, &c, message, e);
    close(claim);
    if (fd < 0) {
        /* Nothing was started: the id is free again. */
        int ignored = record_forget(t->dir, spec->id, NULL);
        (void)ignored;
        return -1;
    }
    struct agent_task *k = add(t, spec->id);
    k->fd = fd;
    add_waiter(k, request);
    return 0;
}

int tasks_run(struct agent_tasks *t, const struct task_spec *spec, json_t *message,
              json_int_t request, struct err *e)
{
    struct agent_task *k = find(t, spec->id);
    if (!k)
        return start(t, spec, message, request, e);
    add_waiter(k, request);
    if (k->phase != PHASE_STARTING)
        answer_waiters(t, k);
    return 0;
}

static int signal_early(struct agent_task *k, int signo, struct err *e)
{
    size_t max = sizeof k->early_signals / sizeof k->early_signals[0];
    for (size_t i = 0; i < max; i++) {
        if (k->early_signals[i])
            continue;
        k->early_signals[i] = signo;
        if (i + 1 < max)
            k->early_signals[i + 1] = 0;
        return 0;
    }
    return err_set(e, ERR_UNAVAILABLE, "id", "task %s is still being started; try again", k->id);
}

/* Ends processes that the task was allowed to leave behind (keep_children). */
static void end_kept(const struct agent_tasks *t, const char *id)
{
    struct start_record r;
    json_t *start = record_read_start(t->dir, id, &r);
    if (start)
        keeper_end(&r);
    json_decref(start);
}

int tasks_signal(struct agent_tasks *t, const char *id, int signo, struct err *e)
{
    struct agent_task *k = find(t, id);
    if (signo < 1 || signo > SIGRTMAX)
        return err_set(e, ERR_INVALID_PROPERTY, "signal", "%d is not a valid signal; use 1 to %d",
                       signo, SIGRTMAX);
    if (k && k->phase == PHASE_ENDED && signo == SIGKILL)
        end_kept(t, id);
    if (!k || k->phase == PHASE_ENDED)
        return 0;
    if (k->phase == PHASE_STARTING)
        return signal_early(k, signo, e);
    send_signal(t, k, signo);
    return 0;
}

int tasks_forget(struct agent_tasks *t, const char *id, struct err *e)
{
    struct agent_task **at = &t->head;
    while (*at && strcmp((*at)->id, id) != 0)
        at = &(*at)->next;
    struct agent_task *k = *at;
    if (!k)
        return 0;
    if (k->phase != PHASE_ENDED)
        return err_set(e, ERR_CONFLICT, "id",
                       "task %s is running; only one that ended can be "
                       "forgotten",
                       id);
    if (record_forget(t->dir, id, e) < 0)
        return -1;
    assert(!k->waiters && k->fd < 0);
    *at = k->next;
    task_free(k);
    return 0;
}

void tasks_each(struct agent_tasks *t, void (*fn)(void *ctx, json_t *status), void *ctx)
{
    for (struct agent_task *k = t->head; k; k = k->next) {
        struct task_status s = {.id = k->id, .state = TASK_RUNNING, .exit_code = -1};
        json_t *status = k->status ? json_incref(k->status) : message_task_status(&s);
        fn(ctx, status);
        json_decref(status);
    }
}

size_t tasks_poll_count(const struct agent_tasks *t)
{
    size_t n = 1;
    for (const struct agent_task *k = t->head; k; k = k->next)
        n += k->fd >= 0;
    return n;
}

void tasks_poll_fill(struct agent_tasks *t, struct pollfd *p)
{
    *p++ = (struct pollfd){.fd = t->inotify_fd, .events = POLLIN};
    for (const struct agent_task *k = t->head; k; k = k->next)
        if (k->fd >= 0)
            *p++ = (struct pollfd){.fd = k->fd, .events = POLLIN};
}

static void refresh_all(struct agent_tasks *t)
{
    for (struct agent_task *k = t->head; k; k = k->next)
        refresh(t, k);
}

/* Without the tasks directory an agent cannot work. Without the incarnation a root that was made
 * anew could not be distinguished from the old root. */
static bool is_vital(const char *name)
{
    return strcmp(name, "tasks") == 0 || strcmp(name, "incarnation") == 0;
}

static void on_event(struct agent_tasks *t, const struct inotify_event *ev)
{
    char id[TASK_ID_MAX + 1];
    const char *name = ev->len ? ev->name : "";
    if (ev->mask & (IN_IGNORED | IN_UNMOUNT | IN_DELETE_SELF | IN_MOVE_SELF)) {
        t->root_gone = true;
    } else if (ev->mask & IN_Q_OVERFLOW) {
        refresh_all(t);
    } else if (ev->wd == t->root_watch) {
        t->root_gone = t->root_gone || is_vital(name);
    } else if (record_id_of(name, ".exit", id, sizeof id) ||
               record_id_of(name, ".start", id, sizeof id)) {
        struct agent_task *k = find(t, id);
        if (k)
            refresh(t, k);
    }
}

/* After the root was removed, no record is read any more, because a missing record then proves
 * nothing about its task. */
static void read_inotify(struct agent_tasks *t)
{
    _Alignas(struct inotify_event) char buf[16384];
    ssize_t n;
    while (!t->root_gone && (n = read(t->inotify_fd, buf, sizeof buf)) > 0) {
        const struct inotify_event *ev;
        for (char *p = buf; p < buf + n && !t->root_gone; p += sizeof *ev + ev->len) {
            ev = (const struct inotify_event *)(void *)p;
            on_event(t, ev);
        }
    }
}

static bool is_ready(const struct pollfd *p, size_t n, int fd)
{
    for (size_t i = 0; i < n; i++)
        if (p[i].fd == fd)
            return p[i].revents != 0;
    return false;
}

static bool is_still(const char *path, const struct stat *was)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return errno != ENOENT && errno != ENOTDIR;
    return st.st_dev == was->st_dev && st.st_ino == was->st_ino;
}

/* Checks, without inotify, whether the root still exists. */
static void check_root(struct agent_tasks *t)
{
    if (t->root_gone || !t->incarnation)
        return;
    char *incarnation = fs_join(t->root, "incarnation");
    t->root_gone = !is_still(t->root, &t->root_was) || !is_still(t->dir, &t->dir_was) ||
                   (access(incarnation, F_OK) < 0 && errno == ENOENT);
    free(incarnation);
}

void tasks_poll_act(struct agent_tasks *t, const struct pollfd *p, size_t n)
{
    if (n && p[0].revents)
        read_inotify(t);
    if (t->inotify_fd < 0)
        check_root(t);
    for (struct agent_task *k = t->root_gone ? NULL : t->head; k; k = k->next) {
        enum phase before = k->phase;
        bool news = k->fd >= 0 && is_ready(p, n, k->fd);
        if (before == PHASE_ENDED || (k->fd >= 0 && !news && t->inotify_fd >= 0))
            continue;
        refresh(t, k);
        /* The descriptor has reported its last event, but the lock is still held (a child that
         * hangs before its exec has inherited it). From now on, a timer checks the task. */
        if (news && k->phase == before)
            close_fd(k);
    }
}

int tasks_poll_timeout(const struct agent_tasks *t)
{
    for (const struct agent_task *k = t->head; k; k = k->next)
        if (k->phase != PHASE_ENDED && (k->fd < 0 || t->inotify_fd < 0))
            return RECHECK_MS;
    return t->inotify_fd < 0 ? ROOT_RECHECK_MS : -1;
}
