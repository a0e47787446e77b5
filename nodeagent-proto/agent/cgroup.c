/* SPDX-License-Identifier: MIT
 *
 * Makes, fills and removes cgroups. The bases are found once (cgroup_bases_find()); each later step
 * may be repeated. A limit that the kernel refuses is not set. Runs in the agent and in
 * supervisors, each for its own task.
 */
#include "nodeagent-proto/agent/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/file_text.h"
#include "nodeagent-proto/agent/spawn.h"

#define HOLDER "batchai"
/* How many characters of the incarnation a cgroup's name contains; they distinguish node roots on
 * the same machine. */
#define PREFIX_LEN    8
#define CPU_PERIOD_US 100000
/* How many bytes of memory the last task may leave in a cgroup that is kept for the next task. */
#define KEPT_MEMORY_MAX (1024L * 1024)
#define MAKE_TRIES      3   /* a task that ends at the same time may remove the parent directory */
#define REMOVE_TRIES    200 /* the most waits of this length for killed processes to end: */
#define REMOVE_STEP                                                                                \
    (struct timespec)                                                                              \
    {                                                                                              \
        .tv_nsec = 1000000                                                                         \
    }

/* Writes a text to a file and returns the open file; -1: the kernel refused the text. */
static int open_and_put(const char *dir, const char *name, const char *text, int flags)
{
    char *path = fs_join(dir, name);
    int fd = open(path, flags | O_CLOEXEC);
    free(path);
    if (fd < 0 || write(fd, text, strlen(text)) == (ssize_t)strlen(text))
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

static int put(const char *dir, const char *name, const char *text)
{
    int fd = open_and_put(dir, name, text, O_WRONLY);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? -1 : 0;
}

static int put_number(const char *dir, const char *name, long long value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", value);
    return put(dir, name, text);
}

/* Returns the mount point of the cgroup hierarchy of version 2 (see mountinfo in proc(5)); NULL: it
 * is not mounted. */
static char *mount_point(void)
{
    char *text = file_text("/proc/self", "mountinfo"), *save, *found = NULL;
    char *line = text ? strtok_r(text, "\n", &save) : NULL;
    for (; line && !found; line = strtok_r(NULL, "\n", &save)) {
        char root[512], at[512];
        if (strstr(line, " - cgroup2 ") && sscanf(line, "%*s %*s %*s %511s %511s", root, at) == 2 &&
            strcmp(root, "/") == 0)
            found = xstrdup(at);
    }
    free(text);
    return found;
}

/* Returns the path of the agent's cgroup relative to the mount point (from the line "0::/path");
 * NULL: the agent is in the top cgroup. */
static char *own_path(void)
{
    char *text = file_text("/proc/self", "cgroup"), *save, *path = NULL;
    char *line = text ? strtok_r(text, "\n", &save) : NULL;
    for (; line && !path; line = strtok_r(NULL, "\n", &save))
        if (strncmp(line, "0::/", 4) == 0 && line[4])
            path = xstrdup(line + 4);
    free(text);
    return path;
}

/* True: the cgroup has a limit. An empty set of processors or memory nodes is none, because it
 * means the set of the parent cgroup. A limit of the number of processes does not count, because
 * systemd sets it for every service. */
static bool has_limit(const char *dir)
{
    static const struct {
        const char *name, *none;
    } files[] = {{"memory.max", "max"},
                 {"memory.high", "max"},
                 {"cpu.max", "max"},
                 {"cpuset.cpus", "\n"},
                 {"cpuset.mems", "\n"}};
    bool limited = false;
    for (size_t i = 0; i < sizeof files / sizeof files[0] && !limited; i++) {
        char *text = file_text(dir, files[i].name);
        limited = text && *text && strncmp(text, files[i].none, strlen(files[i].none)) != 0;
        free(text);
    }
    return limited;
}

/* True: `own` or a cgroup between `own` and the top has a limit. */
static bool is_limited(const char *top, const char *own)
{
    char *at = xstrdup(own);
    bool limited = false;
    while (!limited && strlen(at) > strlen(top)) {
        limited = has_limit(at);
        *strrchr(at, '/') = '\0';
    }
    free(at);
    return limited;
}

void cgroup_bases_find(struct cgroup_bases *b)
{
    while (b->n > 0)
        free(b->dir[--b->n]);
    char *top = mount_point(), *own = top ? own_path() : NULL;
    if (own) {
        b->dir[b->n] = fs_join(top, own);
        b->n++;
    }
    b->stay = own && is_limited(top, b->dir[0]);
    if (top)
        b->dir[b->n++] = top;
    free(own);
}

void cgroup_bases_free(struct cgroup_bases *b)
{
    while (b->n > 0)
        free(b->dir[--b->n]);
    free(b->spare);
    b->spare = NULL;
}

/* The owner of a cgroup. */
struct cgroup_owner {
    const char *incarnation, *task_id;
    const char *group; /* or NULL */
};

/* Returns the parent directory of the task's cgroup; the caller frees it. */
static char *holder_of(const char *base, const struct cgroup_owner *o)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "%s/" HOLDER, base);
    if (o->group)
        strbuf_printf(&b, "/%.*s-%s", PREFIX_LEN, o->incarnation, o->group);
    return strbuf_take(&b);
}

static char *path_in(const char *holder, const struct cgroup_owner *o)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "%s/%.*s-%s", holder, PREFIX_LEN, o->incarnation, o->task_id);
    return strbuf_take(&b);
}

/* What a base offers for a task: only a cgroup; limits, too; limits and counts of memory. */
enum base_offer { OFFER_PLACE, OFFER_LIMITS, OFFER_COUNTS };

/* Enables, for the children of `dir`, the controllers that limit a task and the controllers that
 * count what it uses. The controller "io" may be missing, because a kernel without block devices
 * may lack it. Returns what the base offers. */
static enum base_offer enable(const char *dir, const struct task_limits *l)
{
    bool counts = put(dir, "cgroup.subtree_control", "+memory") == 0;
    bool limits = (!l->memory_bytes || counts) &&
                  (!l->cpus || put(dir, "cgroup.subtree_control", "+cpu") == 0) &&
                  (!l->processes || put(dir, "cgroup.subtree_control", "+pids") == 0);
    (void)put(dir, "cgroup.subtree_control", "+io");
    return !limits ? OFFER_PLACE : counts ? OFFER_COUNTS : OFFER_LIMITS;
}

static int make_dir(const char *path)
{
    return mkdir(path, 0755) < 0 && errno != EEXIST ? -1 : 0;
}

/* Makes the directory of the task's cgroup. If it exists, it belongs to this task, because a task
 * id is used only once. */
static int make_at(const char *base, const char *holder, const char *path)
{
    char *top = fs_join(base, HOLDER);
    int rc = -1;
    for (int i = 0; rc < 0 && i < MAKE_TRIES; i++) {
        if (make_dir(top) < 0)
            break;
        rc = make_dir(holder) < 0 ? -1 : make_dir(path);
    }
    free(top);
    return rc;
}

/* Removes the empty parent directories of `path`, up to and including HOLDER. */
static void remove_holders(const char *path)
{
    char *at = xstrdup(path), *slash;
    bool last = false;
    while (!last && (slash = strrchr(at, '/'))) {
        *slash = '\0';
        slash = strrchr(at, '/');
        last = !slash || strcmp(slash + 1, HOLDER) == 0;
        if (rmdir(at) < 0)
            break;
    }
    free(at);
}

/* Enables the controllers for the children of `top` (HOLDER), which get the limits, and for the
 * children of `holder`, because counts are taken in the task's cgroup, which may be a level
 * below. */
static enum base_offer enable_below(const char *top, const char *holder,
                                    const struct task_limits *l)
{
    static const struct task_limits none = {0};
    enum base_offer offer = enable(top, l);
    bool counts = strcmp(holder, top) == 0 || enable(holder, &none) == OFFER_COUNTS;
    return offer == OFFER_COUNTS && !counts ? OFFER_LIMITS : offer;
}

/* Makes the task's cgroup below a base. False: the base offers less than `wanted`. */
static bool try_base(const char *base, const struct cgroup_owner *o, const struct task_limits *l,
                     enum base_offer wanted, struct cgroup *out)
{
    char *top = fs_join(base, HOLDER), *holder = holder_of(base, o), *path = path_in(holder, o);
    bool made = enable(base, l) >= wanted && make_at(base, holder, path) == 0;
    bool used = made && enable_below(top, holder, l) >= wanted;
    if (made && !used) {
        rmdir(path);
        remove_holders(path);
    }
    if (used)
        *out = (struct cgroup){.path = xstrdup(path), .limited = xstrdup(o->group ? holder : path)};
    free(path);
    free(holder);
    free(top);
    return used;
}

static void set_limits(struct cgroup *g, const struct task_limits *l)
{
    char quota[64];
    if (l->memory_bytes && put_number(g->limited, "memory.max", l->memory_bytes) == 0) {
        g->memory = true;
        (void)put(g->limited, "memory.swap.max", "0"); /* the file is missing without swap */
        /* If the kernel kills one process because of the memory limit, it shall kill all, because
         * the other processes of a job might wait for it forever. */
        (void)put(g->limited, "memory.oom.group", "1");
    }
    snprintf(quota, sizeof quota, "%lld %d", (long long)l->cpus * CPU_PERIOD_US, CPU_PERIOD_US);
    g->cpu = l->cpus && put(g->limited, "cpu.max", quota) == 0;
    g->pids = l->processes && put_number(g->limited, "pids.max", l->processes) == 0;
}

static long count_oom_kills(const char *limited)
{
    static const char label[] = "oom_kill ";
    long n = 0;
    char *text = file_text(limited, "memory.events"), *save;
    char *line = text ? strtok_r(text, "\n", &save) : NULL;
    for (; line; line = strtok_r(NULL, "\n", &save))
        if (strncmp(line, label, sizeof label - 1) == 0)
            n = strtol(line + sizeof label - 1, NULL, 10);
    free(text);
    return n;
}

static void make_in(const struct cgroup_bases *b, const struct cgroup_owner *o,
                    const struct task_limits *limits, struct cgroup *out)
{
    for (int wanted = OFFER_COUNTS; wanted >= OFFER_PLACE; wanted--) {
        size_t n = wanted == OFFER_COUNTS && b->stay ? 1 : b->n;
        for (size_t i = 0; i < n; i++)
            if (try_base(b->dir[i], o, limits, (enum base_offer)wanted, out))
                return;
    }
}

void cgroup_make(struct cgroup_bases *b, const char *incarnation, const char *task_id,
                 const struct task_limits *limits, struct cgroup *out)
{
    const struct cgroup_owner o = {incarnation, task_id, limits->group};
    memset(out, 0, sizeof *out);
    make_in(b, &o, limits, out);
    if (!out->path) {
        cgroup_bases_find(b);
        make_in(b, &o, limits, out);
    }
    if (out->path)
        set_limits(out, limits);
    out->killed_before = out->memory && limits->group ? count_oom_kills(out->limited) : 0;
}

void cgroup_free(struct cgroup *g)
{
    free(g->path);
    free(g->limited);
    memset(g, 0, sizeof *g);
}

static int open_for_clone(const char *path, struct clone_args *args)
{
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    args->flags |= CLONE_INTO_CGROUP;
    args->cgroup = (__u64)fd;
    return fd;
}

static void close_again(int fd)
{
    int saved = errno;
    close(fd);
    errno = saved;
}

/* Uses the raw system call clone3, because the C library has no function for it. This is safe: the
 * calling process has one thread, so in the child no lock of the library is held. */
static pid_t clone_into(const char *path)
{
    struct clone_args args = {.exit_signal = SIGCHLD};
    int fd = open_for_clone(path, &args);
    if (fd < 0)
        return -1;
    pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
    close_again(fd);
    return pid;
}

pid_t cgroup_spawn(const struct cgroup *g, void (*fn)(void *arg), void *arg)
{
    struct clone_args args = {.exit_signal = SIGCHLD};
    int fd = g->path ? open_for_clone(g->path, &args) : -1;
    if (g->path && fd < 0)
        return -1;
    pid_t pid = spawn(&args, fn, arg);
    if (fd >= 0)
        close_again(fd);
    return pid;
}

pid_t cgroup_fork(const struct cgroup *g, bool *inside)
{
    *inside = g->path != NULL;
    pid_t pid = g->path ? clone_into(g->path) : -1;
    if (pid >= 0)
        return pid;
    pid = fork();
    if (pid == 0)
        *inside = g->path && put(g->path, "cgroup.procs", "0") == 0;
    return pid;
}

/* Before Linux 5.14 the file cgroup.kill does not exist; then procs.c kills the processes one by
 * one. */
void cgroup_kill(const char *path)
{
    (void)put(path, "cgroup.kill", "1");
}

/* Removes a cgroup, and first the cgroups inside it, which a task with root's rights may have
 * made. */
static void remove_tree(const char *path)
{
    DIR *d = opendir(path);
    struct dirent *de;
    while (d && (de = readdir(d))) {
        if (de->d_type != DT_DIR || de->d_name[0] == '.')
            continue;
        char *sub = fs_join(path, de->d_name);
        remove_tree(sub);
        free(sub);
    }
    if (d)
        closedir(d);
    rmdir(path);
}

void cgroup_remove(const char *path)
{
    if (access(path, F_OK) < 0)
        return;
    for (int i = 0; i < REMOVE_TRIES; i++) {
        cgroup_kill(path);
        remove_tree(path);
        if (access(path, F_OK) < 0)
            break;
        nanosleep(&REMOVE_STEP, NULL);
    }
    remove_holders(path);
}

static bool is_empty(const char *path)
{
    char *text = file_text(path, "cgroup.events");
    bool empty = text && strncmp(text, "populated 0\n", 12) == 0;
    free(text);
    return empty;
}

int cgroup_reset_peak(const char *path)
{
    return open_and_put(path, "memory.peak", "reset\n", O_RDWR);
}

/* True: the cgroup counts no peak of memory, or the peak of the next task in it will include at
 * most KEPT_MEMORY_MAX bytes of the last task, whose page cache may still be charged to the cgroup.
 */
static bool counts_anew(const char *path)
{
    if (file_number(path, "memory.peak", -1) < 0)
        return true;
    int fd = cgroup_reset_peak(path);
    if (fd >= 0)
        close(fd);
    return fd >= 0 && file_number(path, "memory.current", 0) <= KEPT_MEMORY_MAX;
}

void cgroup_keep(struct cgroup_bases *b, struct cgroup *g)
{
    if (g->path && !b->spare && is_empty(g->path) && counts_anew(g->path)) {
        b->spare = g->path;
        g->path = NULL;
    }
    if (g->path)
        cgroup_remove(g->path);
    cgroup_free(g);
}

bool cgroup_take_kept(struct cgroup_bases *b, struct cgroup *out)
{
    memset(out, 0, sizeof *out);
    out->path = b->spare;
    b->spare = NULL;
    return out->path != NULL;
}

void cgroup_remove_kept(struct cgroup_bases *b)
{
    if (b->spare)
        cgroup_remove(b->spare);
    free(b->spare);
    b->spare = NULL;
}

long cgroup_oom_kills(const struct cgroup *g)
{
    return g->memory ? count_oom_kills(g->limited) - g->killed_before : 0;
}

static void remove_in(const char *holder, const struct cgroup_owner *o)
{
    char *at = path_in(holder, o);
    cgroup_remove(at);
    free(at);
}

/* Removes a task's cgroup from the HOLDER and from the cgroups of all groups, because its group is
 * not known. */
static void remove_below(const char *base, const struct cgroup_owner *o)
{
    char *top = holder_of(base, o);
    DIR *d = opendir(top);
    struct dirent *de;
    while (d && (de = readdir(d))) {
        char *group = fs_join(top, de->d_name);
        if (de->d_type == DT_DIR && de->d_name[0] != '.')
            remove_in(group, o);
        free(group);
    }
    if (d)
        closedir(d);
    remove_in(top, o);
    free(top);
}

static void remove_empty_in(const char *holder, const char *incarnation)
{
    DIR *d = opendir(holder);
    struct dirent *de;
    while (d && (de = readdir(d))) {
        if (strncmp(de->d_name, incarnation, PREFIX_LEN) != 0 || de->d_name[PREFIX_LEN] != '-')
            continue;
        char *at = fs_join(holder, de->d_name);
        rmdir(at); /* fails if the cgroup contains a process or a cgroup */
        free(at);
    }
    if (d)
        closedir(d);
}

void cgroup_remove_empty(const struct cgroup_bases *b, const char *incarnation)
{
    for (size_t i = 0; i < b->n; i++) {
        char *holder = fs_join(b->dir[i], HOLDER);
        remove_empty_in(holder, incarnation);
        rmdir(holder);
        free(holder);
    }
}

void cgroup_remove_lost(const char *incarnation, const char *task_id, const char *path)
{
    struct cgroup_bases b = {.n = 0};
    const struct cgroup_owner o = {incarnation, task_id, NULL};
    if (path) {
        cgroup_remove(path);
        return;
    }
    cgroup_bases_find(&b);
    for (size_t i = 0; i < b.n; i++)
        remove_below(b.dir[i], &o);
    cgroup_bases_free(&b);
}
