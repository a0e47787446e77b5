/* SPDX-License-Identifier: MIT
 *
 * Each function reads a snapshot of /proc and works with it. The kernel reuses pids, so pid and
 * start time together identify a process. Kills are repeated until a new snapshot shows no process
 * to kill, because a process may fork meanwhile.
 */
#include "nodeagent-proto/agent/procs.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"

struct proc {
    pid_t pid, ppid, pgrp, session;
    char state;
    unsigned threads;
    uint64_t start;
    bool mine;
};

struct proc_list {
    struct proc *items;
    size_t n, cap;
};

/* Fields of /proc/PID/stat after the state (proc(5), fields 4 to 22); the first has index 0. */
enum {
    STAT_PPID = 0,
    STAT_PGRP = 1,
    STAT_SESSION = 2,
    STAT_THREADS = 16,
    STAT_START = 18,
    STAT_FIELDS
};

/* the most bytes of a process's environment; the kernel allows less at its start */
#define ENVIRON_MAX (4U * 1024 * 1024)
#define STATUS_MAX  65536
/* a tree that forks faster than it is killed is abandoned after this many rounds */
#define KILL_ROUNDS 20

static int read_stat(const char *pid, struct proc *p)
{
    char path[64], buf[1024];
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, buf, sizeof buf - 1);
    close(fd);
    if (n <= 0)
        return -1;
    buf[n] = '\0';
    /* The name in parentheses may itself hold parentheses and spaces. */
    char *rest = strrchr(buf, ')');
    if (!rest || rest[1] != ' ' || !rest[2])
        return -1;
    unsigned long long field[STAT_FIELDS];
    p->state = rest[2];
    rest += 3;
    for (size_t i = 0; i < STAT_FIELDS; i++)
        /* strtoull turns a -1 into a large number; the fields with -1 are not used */
        field[i] = strtoull(rest, &rest, 10);
    p->pid = (pid_t)strtol(pid, NULL, 10);
    p->ppid = (pid_t)field[STAT_PPID];
    p->pgrp = (pid_t)field[STAT_PGRP];
    p->session = (pid_t)field[STAT_SESSION];
    p->threads = (unsigned)field[STAT_THREADS];
    p->start = field[STAT_START];
    p->mine = false;
    return 0;
}

static void list_add(struct proc_list *l, const struct proc *p)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 256;
        l->items = xrealloc(l->items, l->cap * sizeof *l->items);
    }
    l->items[l->n++] = *p;
}

static void list_read(struct proc_list *l)
{
    l->n = 0;
    DIR *d = opendir("/proc");
    struct dirent *de;
    while (d && (de = readdir(d))) {
        struct proc p;
        if (de->d_name[0] >= '1' && de->d_name[0] <= '9' && read_stat(de->d_name, &p) == 0)
            list_add(l, &p);
    }
    if (d)
        closedir(d);
}

static void list_free(struct proc_list *l)
{
    free(l->items);
}

static bool parent_is_mine(const struct proc_list *l, pid_t ppid)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->items[i].pid == ppid)
            return l->items[i].mine;
    return false;
}

static bool is_spared(pid_t pid, const pid_t *spare, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (spare[i] == pid)
            return true;
    return false;
}

/* Marks all processes that descend from a marked process, or from `top` if that is not 0. */
static void mark_descendants(struct proc_list *l, pid_t top, const pid_t *spare, size_t n)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < l->n; i++) {
            struct proc *p = &l->items[i];
            if (p->mine || (p->ppid != top && !parent_is_mine(l, p->ppid)) ||
                is_spared(p->pid, spare, n))
                continue;
            p->mine = true;
            more = true;
        }
    }
}

static size_t signal_each(const struct proc_list *l, int signo)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++)
        if (l->items[i].mine && l->items[i].state != 'Z' && kill(l->items[i].pid, signo) == 0)
            n++;
    return n;
}

static bool group_seen(const struct proc_list *l, size_t upto, pid_t pgrp)
{
    for (size_t i = 0; i < upto; i++)
        if (l->items[i].mine && l->items[i].pgrp == pgrp)
            return true;
    return false;
}

static void signal_groups(const struct proc_list *l, pid_t not_group, int signo)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct proc *p = &l->items[i];
        if (!p->mine)
            continue;
        if (p->pgrp == not_group)
            kill(p->pid, signo);
        else if (!group_seen(l, i, p->pgrp))
            kill(-p->pgrp, signo);
    }
}

void procs_signal_below(pid_t top, int signo, const pid_t *spare, size_t n)
{
    struct proc_list l = {0};
    list_read(&l);
    mark_descendants(&l, top, spare, n);
    if (signo == SIGKILL)
        (void)signal_each(&l, signo);
    else
        signal_groups(&l, getpgid(top), signo);
    list_free(&l);
}

/* Anonymous memory ("RssAnon: NUMBER kB") and shared memory ("RssShmem: NUMBER kB"), which
 * frameworks use between their workers. A shared page counts for each process. */
static int64_t memory_of(pid_t pid)
{
    static const char *const labels[] = {"RssAnon:", "RssShmem:"};
    char path[64], *text = NULL;
    int64_t kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    if (fs_read(path, STATUS_MAX, &text, NULL, NULL) < 0)
        return 0;
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        const char *at = strstr(text, labels[i]);
        kib += at ? strtoll(at + strlen(labels[i]), NULL, 10) : 0;
    }
    free(text);
    return kib * 1024;
}

int64_t procs_memory_below(pid_t top)
{
    struct proc_list l = {0};
    int64_t sum = 0;
    list_read(&l);
    mark_descendants(&l, top, NULL, 0);
    for (size_t i = 0; i < l.n; i++)
        sum += l.items[i].mine ? memory_of(l.items[i].pid) : 0;
    list_free(&l);
    return sum;
}

size_t procs_list(pid_t **pids)
{
    DIR *d = opendir("/proc");
    struct dirent *de;
    size_t n = 0, cap = 0;
    *pids = NULL;
    while (d && (de = readdir(d))) {
        pid_t pid = (pid_t)strtol(de->d_name, NULL, 10);
        if (pid <= 0)
            continue;
        if (n == cap) {
            cap = cap ? cap * 2 : 256;
            *pids = xrealloc(*pids, cap * sizeof **pids);
        }
        (*pids)[n++] = pid;
    }
    if (d)
        closedir(d);
    return n;
}

bool procs_is_over(pid_t pid)
{
    char text[24];
    struct proc p;
    snprintf(text, sizeof text, "%d", (int)pid);
    return read_stat(text, &p) < 0 || (p.state == 'Z' && p.threads <= 1);
}

bool procs_can_signal_any(void)
{
    pid_t *pids;
    size_t n = procs_list(&pids);
    bool found = false;
    for (size_t i = 0; i < n && !found; i++)
        found = pids[i] != getpid() && kill(pids[i], 0) == 0 && !procs_is_over(pids[i]);
    free(pids);
    return found;
}

/* Whether one of the process's user ids (real, effective, saved, and for the file system: the line
 * "Uid:" of /proc/PID/status) is one of the `n` ids from `first` on. */
static bool runs_as(const char *pid, uid_t first, unsigned n)
{
    char path[64], *text, *at;
    snprintf(path, sizeof path, "/proc/%.20s/status", pid);
    if (fs_read(path, STATUS_MAX, &text, NULL, NULL) < 0)
        return false;
    bool runs = false, over = strstr(text, "\nState:\tZ") != NULL;
    at = over ? NULL : strstr(text, "\nUid:");
    at = at ? at + strlen("\nUid:") : NULL;
    for (int i = 0; at && !runs && i < 4; i++)
        runs = strtoul(at, &at, 10) - first < n;
    free(text);
    return runs;
}

bool procs_run_as(uid_t first, unsigned n)
{
    DIR *d = opendir("/proc");
    struct dirent *de;
    bool runs = false;
    while (d && !runs && (de = readdir(d)))
        runs = de->d_name[0] >= '1' && de->d_name[0] <= '9' && runs_as(de->d_name, first, n);
    if (d)
        closedir(d);
    return runs;
}

uint64_t procs_start_time(pid_t pid)
{
    char text[24];
    struct proc p;
    snprintf(text, sizeof text, "%d", (int)pid);
    return read_stat(text, &p) == 0 ? p.start : 0;
}

static bool carries(pid_t pid, const char *marker)
{
    char path[64], *env;
    size_t len;
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    if (fs_read(path, ENVIRON_MAX, &env, &len, NULL) < 0)
        return false;
    bool found = false;
    for (const char *p = env; !found && p < env + len; p += strlen(p) + 1)
        found = strcmp(p, marker) == 0;
    explicit_bzero(env, len);
    free(env);
    return found;
}

/* The agent is a subreaper, so the processes of dead supervisors become its children. Children that
 * run the agent's program are no orphans, but supervisors or helpers. */
static bool is_orphan(const struct proc *p)
{
    char path[64], ours[4096], theirs[4096];
    if (p->ppid != getpid())
        return false;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)p->pid);
    ssize_t n = readlink("/proc/self/exe", ours, sizeof ours);
    ssize_t m = readlink(path, theirs, sizeof theirs);
    return n > 0 && m > 0 && (n != m || memcmp(ours, theirs, (size_t)n) != 0);
}

static size_t kill_round(pid_t session, const char *marker)
{
    struct proc_list l = {0};
    list_read(&l);
    for (size_t i = 0; i < l.n; i++) {
        struct proc *p = &l.items[i];
        p->mine =
            p->pid != getpid() && p->state != 'Z' &&
            ((session > 0 && p->session == session) || is_orphan(p) || carries(p->pid, marker));
    }
    mark_descendants(&l, -1, NULL, 0);
    size_t n = signal_each(&l, SIGKILL);
    list_free(&l);
    return n;
}

void procs_kill_leftovers(pid_t command, uint64_t command_start, const char *marker)
{
    uint64_t now = command > 0 ? procs_start_time(command) : 0;
    pid_t session = now != 0 && now != command_start ? 0 : command;
    for (int i = 0; i < KILL_ROUNDS && kill_round(session, marker) > 0; i++)
        ;
}
