/* SPDX-License-Identifier: MIT
 *
 * Runs nvidia-smi as two programs. `lasting` runs permanently and regularly prints a line for each
 * GPU. `listing` is started when a GPU's use has changed, prints the processes, and ends. Both are
 * read without blocking. If `listing` prints too much or does not end in time, it is killed. If
 * `lasting` is silent for too long, prints too much or ends, it is killed and restarted, after
 * repeated failures with a growing pause.
 */
#include "nodeagent-proto/agent/gpu_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/arena.h"
#include "nodeagent-proto/agent/descriptors.h"
#include "nodeagent-proto/agent/gpu_lines.h"
#include "nodeagent-proto/agent/monotonic.h"
#include "nodeagent-proto/agent/program.h"

#define PROGRAM "nvidia-smi"
/* Durations in ms. */
#define PERIOD      (SAMPLE_EVERY_S * 1000)
#define SILENCE     (3 * PERIOD) /* after this silence the program hangs, or the GPU has vanished */
#define UNWANTED    60000
#define LIST_LIMIT  10000
#define PAUSES      6          /* a pause is doubled until this many failures: at most 8 minutes */
#define TOLD_FROM   2          /* from so many failures in a row on, the error is reported */
#define BYTES_MOST  (1U << 20) /* the most output in a period */
#define READ_MOST   16384      /* the most that is read in a turn of the loop */
#define MEMORY_STEP (INT64_C(16) << 20) /* in bytes; a smaller change of memory is ignored */
#define SAID_SHOWN  100

static const char *const query[] = {"--query-gpu=" GPU_LINE_FIELDS GPU_LINE_REASONS,
                                    "--query-gpu=" GPU_LINE_FIELDS GPU_LINE_REASONS_OLD};

/* --- programs --------------------------------------------------------------------------------- */

/* Runs in the child. The environment contains only PATH and LC_ALL, because the agent's environment
 * may contain secrets. */
static _Noreturn void become(const char *path, const char *const *argv, int out)
{
    sigset_t none;
    char *env[] = {(char *)(uintptr_t) "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:"
                                       "/sbin:/bin",
                   (char *)(uintptr_t) "LC_ALL=C", NULL};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(out, STDERR_FILENO) < 0)
        _exit(127);
    descriptors_close_all_but(-1, -1, -1);
    execve(path, (char *const *)(uintptr_t)argv, env);
    _exit(127);
}

static bool start(struct gpu_program *p, const char *const *argv)
{
    bool hangs = p->killed > 0 && waitpid(p->killed, NULL, WNOHANG) == 0;
    char *path = hangs ? NULL : program_find(PROGRAM);
    int fds[2];
    *p = (struct gpu_program){.fd = -1, .killed = hangs ? p->killed : 0};
    if (!path || pipe2(fds, O_CLOEXEC) < 0) {
        free(path);
        return false;
    }
    pid_t pid = fork();
    if (pid == 0)
        become(path, argv, fds[1]);
    close(fds[1]);
    free(path);
    if (pid < 0) {
        close(fds[0]);
        return false;
    }
    (void)fcntl(fds[0], F_SETFL, O_NONBLOCK);
    p->pid = pid;
    p->fd = fds[0];
    p->since_ms = p->heard_ms = p->window_ms = monotonic_ms();
    return true;
}

/* Kills the program. The agent's loop reaps it. A process in an uninterruptible wait ends later, or
 * never. */
static void end(struct gpu_program *p)
{
    if (p->pid == 0)
        return;
    kill(-p->pid, SIGKILL);
    kill(p->pid, SIGKILL); /* kills it, too, if it has not made its process group yet */
    close(p->fd);
    p->killed = p->pid;
    p->pid = 0;
    p->fd = -1;
}

/* --- lines ------------------------------------------------------------------------------------ */

typedef void (*line_fn)(struct gpu_watch *w, const char *line);

static void add_bytes(struct gpu_watch *w, struct gpu_program *p, const char *bytes, size_t n,
                      line_fn fn)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n') {
            p->line[p->n] = '\0';
            if (!p->dropped && strlen(p->line) == p->n)
                fn(w, p->line);
            p->n = 0;
            p->dropped = false;
        } else if (p->n == sizeof p->line - 1) {
            p->dropped = true;
        } else {
            p->line[p->n++] = bytes[i];
        }
    }
}

enum reading { READ_SOME, READ_END, READ_TOO_MUCH };

static enum reading read_lines(struct gpu_watch *w, struct gpu_program *p, line_fn fn)
{
    char buf[READ_MOST];
    int64_t now = monotonic_ms();
    ssize_t n = read(p->fd, buf, sizeof buf);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return READ_SOME;
    if (n <= 0)
        return READ_END;
    if (now - p->window_ms > PERIOD) {
        p->window_ms = now;
        p->bytes = 0;
    }
    p->bytes += (size_t)n;
    add_bytes(w, p, buf, (size_t)n, fn);
    return p->bytes > BYTES_MOST ? READ_TOO_MUCH : READ_SOME;
}

/* Stores a line for messages, without characters that control a terminal. */
static void keep_said(struct gpu_watch *w, const char *line)
{
    size_t n = 0;
    for (; n < SAID_SHOWN && line[n]; n++)
        w->said[n] = line[n] >= ' ' && line[n] <= '~' ? line[n] : '?';
    w->said[n] = '\0';
}

static struct gpu_watched *find(struct gpu_watched *list, int n, const char *uuid)
{
    for (int i = 0; i < n; i++)
        if (strcmp(list[i].last.uuid, uuid) == 0)
            return &list[i];
    return NULL;
}

static bool differs(const struct gpu_sample *a, const struct gpu_sample *b)
{
    int64_t grown = a->memory_used - b->memory_used;
    return gpu_sample_works(a) != gpu_sample_works(b) || grown > MEMORY_STEP ||
           grown < -MEMORY_STEP;
}

static void on_gpu(struct gpu_watch *w, const char *line)
{
    struct gpu_sample now;
    if (!gpu_line_read(line, &now)) {
        if (*line)
            keep_said(w, line);
        return;
    }
    struct gpu_watched *g = find(w->gpus, w->n_gpus, now.uuid);
    if (!g && w->n_gpus == SAMPLE_GPUS)
        return;
    if (!g) {
        g = &w->gpus[w->n_gpus++];
        gpu_sample_clear(&g->last);
        w->changed = true;
    }
    w->changed |= differs(&now, &g->last);
    now.n_processes = g->last.n_processes;
    now.listed = g->last.listed;
    memcpy(now.processes, g->last.processes, sizeof now.processes);
    *g = (struct gpu_watched){now, monotonic_ms()};
    w->lasting.heard_ms = g->at_ms;
    w->has_line = true;
    w->failures = 0;
    w->why[0] = '\0';
}

static void on_process(struct gpu_watch *w, const char *line)
{
    char uuid[SAMPLE_UUID_SIZE];
    struct gpu_process p;
    struct gpu_watched *g = gpu_app_read(line, uuid, &p) ? find(w->listed, w->n_gpus, uuid) : NULL;
    if (!g)
        return;
    g->last.n_processes++;
    if (g->last.listed < SAMPLE_PROCESSES)
        g->last.processes[g->last.listed++] = p;
}

/* --- the list of processes -------------------------------------------------------------------- */

static void begin_listing(struct gpu_watch *w)
{
    int64_t age = monotonic_ms() - w->listing.since_ms;
    const char *const argv[] = {PROGRAM, "--query-compute-apps=" GPU_APP_FIELDS,
                                "--format=csv,noheader,nounits", NULL};
    if (w->listing.pid || !w->changed || !w->has_line ||
        (w->listing.since_ms > 0 && age < LIST_LIMIT) || !start(&w->listing, argv))
        return;
    w->changed = false;
    free(w->listed);
    w->listed = xcalloc(SAMPLE_GPUS, sizeof *w->listed);
    memcpy(w->listed, w->gpus, sizeof w->gpus);
    for (int i = 0; i < w->n_gpus; i++)
        w->listed[i].last.n_processes = w->listed[i].last.listed = 0;
}

/* Takes the list of processes over. `whole`: the program ended by itself, so its list is complete,
 * and a GPU without a line has no process. Otherwise the processes are unknown. */
static void end_listing(struct gpu_watch *w, bool whole)
{
    for (int i = 0; i < w->n_gpus; i++) {
        struct gpu_sample *to = &w->gpus[i].last;
        const struct gpu_sample *from = &w->listed[i].last;
        bool known = whole && *from->uuid;
        to->n_processes = known ? from->n_processes : SAMPLE_UNKNOWN;
        to->listed = known ? from->listed : 0;
        memcpy(to->processes, from->processes, sizeof to->processes);
    }
    end(&w->listing);
    free(w->listed);
    w->listed = NULL;
}

/* --- the lasting program ---------------------------------------------------------------------- */

static void fail(struct gpu_watch *w, const char *how, bool tell)
{
    int64_t pause = PERIOD;
    end(&w->lasting);
    w->old_names ^= !w->has_line;
    w->failures++;
    for (int i = 1; i < w->failures && i < PAUSES; i++)
        pause *= 2;
    w->retry_ms = monotonic_ms() + (w->failures < TOLD_FROM ? 0 : pause);
    if (w->failures >= TOLD_FROM || tell)
        snprintf(w->why, sizeof w->why, PROGRAM " %s%s%.*s%s", how, *w->said ? ": '" : "",
                 SAID_SHOWN, w->said, *w->said ? "'" : "");
}

static void begin(struct gpu_watch *w)
{
    const char *const argv[] = {
        PROGRAM, query[w->old_names], "--format=csv,noheader,nounits", "-l", "15", NULL};
    w->has_line = false;
    w->said[0] = '\0';
    if (!start(&w->lasting, argv) && !w->lasting.killed)
        w->retry_ms = monotonic_ms() + UNWANTED; /* it may be installed later */
}

void gpu_watch_want(struct gpu_watch *w)
{
    w->asked_ms = monotonic_ms();
    if (w->lasting.pid == 0 && w->asked_ms >= w->retry_ms)
        begin(w);
    else
        begin_listing(w);
}

void gpu_watch_stop(struct gpu_watch *w)
{
    end(&w->lasting);
    if (w->listing.pid)
        end_listing(w, false);
    w->n_gpus = 0;
    w->failures = 0;
    w->retry_ms = 0;
    w->why[0] = '\0';
}

const struct gpu_sample *gpu_watch_at(const struct gpu_watch *w, int i)
{
    return monotonic_ms() - w->gpus[i].at_ms > SILENCE ? NULL : &w->gpus[i].last;
}

const struct gpu_sample *gpu_watch_find(const struct gpu_watch *w, const char *uuid)
{
    for (int i = 0; i < w->n_gpus; i++)
        if (strcmp(w->gpus[i].last.uuid, uuid) == 0)
            return gpu_watch_at(w, i);
    return NULL;
}

/* --- the loop --------------------------------------------------------------------------------- */

void gpu_watch_poll_fill(const struct gpu_watch *w, struct pollfd *p)
{
    p[0] = (struct pollfd){.fd = w->lasting.pid ? w->lasting.fd : -1, .events = POLLIN};
    p[1] = (struct pollfd){.fd = w->listing.pid ? w->listing.fd : -1, .events = POLLIN};
}

static int64_t silence(const struct gpu_watch *w)
{
    return w->silence_ms ? w->silence_ms : SILENCE;
}

static int64_t due_ms(const struct gpu_watch *w)
{
    int64_t due = INT64_MAX;
    if (w->lasting.pid) {
        due = w->lasting.heard_ms + silence(w);
        due = w->asked_ms + UNWANTED < due ? w->asked_ms + UNWANTED : due;
    }
    if (w->listing.pid && w->listing.since_ms + LIST_LIMIT < due)
        due = w->listing.since_ms + LIST_LIMIT;
    return due;
}

int gpu_watch_poll_timeout(const struct gpu_watch *w)
{
    int64_t due = due_ms(w), now = monotonic_ms();
    return due == INT64_MAX ? -1 : due <= now ? 0 : (int)(due - now);
}

static void act_lasting(struct gpu_watch *w, const struct pollfd *p)
{
    static const char *const how[] = {
        [READ_END] = "ends", [READ_TOO_MUCH] = "prints more than 1 MiB in 15 s"};
    enum reading r = p->revents ? read_lines(w, &w->lasting, on_gpu) : READ_SOME;
    int64_t now = monotonic_ms();
    if (r != READ_SOME)
        fail(w, how[r], r == READ_TOO_MUCH);
    else if (now - w->asked_ms >= UNWANTED)
        gpu_watch_stop(w);
    else if (now - w->lasting.heard_ms >= silence(w))
        fail(w, "has printed no line about a GPU for 45 s", true);
}

static void act_listing(struct gpu_watch *w, const struct pollfd *p)
{
    enum reading r = p->revents ? read_lines(w, &w->listing, on_process) : READ_SOME;
    if (r != READ_SOME || monotonic_ms() - w->listing.since_ms >= LIST_LIMIT)
        end_listing(w, r == READ_END);
}

void gpu_watch_poll_act(struct gpu_watch *w, const struct pollfd *p)
{
    if (w->lasting.pid)
        act_lasting(w, &p[0]);
    if (w->listing.pid)
        act_listing(w, &p[1]);
    if (w->lasting.pid && !w->listing.pid)
        begin_listing(w);
}
