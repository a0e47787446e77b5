/* SPDX-License-Identifier: MIT
 *
 * The agent is killed at each step of taking and of releasing a job's account: after each system
 * call that changes something, in the agent or in the worker that releases. Whatever was done by
 * then, the next agent goes on from there: nothing is given twice, nothing stays. Needs root and
 * ptrace(2).
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "test/unit/nodeagent-proto/link/task_fixture.h"

#define FIRST    2100000000
#define COUNT    40000000
#define REGISTRY "/var/lib/batchai-node/accounts"
/* A job has one number on all nodes of a machine: these are of no other run of this test. */
static char one_job[24], two_job[24];

#define STEPS_MAX 200 /* never reached: some 40 */

/* ---- who kills: a process of its own, as this one has the agent for a child ---- */

static bool changes_something(uint64_t nr, uint64_t open_flags)
{
    static const long calls[] = {
        SYS_mkdirat, SYS_symlinkat, SYS_unlinkat,  SYS_renameat2, SYS_write,    SYS_pwrite64,
        SYS_fchmod,  SYS_fchmodat,  SYS_fchown,    SYS_fchownat,  SYS_fsync,    SYS_fdatasync,
        SYS_shmctl,  SYS_clone,     SYS_setresuid, SYS_ftruncate, SYS_linkat,
#ifdef SYS_mkdir
        SYS_mkdir,   SYS_symlink,   SYS_unlink,    SYS_rename,    SYS_renameat, SYS_chmod,
        SYS_lchown,  SYS_chown,
#endif
        SYS_wait4};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if ((uint64_t)calls[i] == nr)
            return true;
    return nr == SYS_openat && (open_flags & O_CREAT);
}

#define PIDS 4096 /* so many apart no two of the agent's processes are */

struct killer {
    pid_t agent, traced[16];
    int n_traced, left;
    bool has_killed;
    bool changes[PIDS]; /* the call that is under way; by pid, as the way out does not say which */
};

/* What the agent has forked goes with it, as when the machine loses its power. */
static _Noreturn void kill_all(struct killer *k)
{
    for (int i = 0; i < k->n_traced; i++)
        kill(k->traced[i], SIGKILL);
    kill(k->agent, SIGKILL);
    _exit(1);
}

/* It is repeated until nobody is there: how often is nobody's to say. */
static bool is_first_kill(struct killer *k, uint64_t nr, uint64_t sig)
{
    bool first = nr == SYS_kill && sig == SIGKILL && !k->has_killed;
    k->has_killed = k->has_killed || first;
    return first;
}

static void on_stop(struct killer *k, pid_t pid, int status)
{
    struct __ptrace_syscall_info info;
    int event = status >> 16, sig = WSTOPSIG(status), deliver = 0;
    unsigned long child;
    if (sig == (SIGTRAP | 0x80)) {
        bool known = ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) > 0;
        bool *changes = &k->changes[pid % PIDS];
        if (known && info.op == PTRACE_SYSCALL_INFO_ENTRY)
            *changes = changes_something(info.entry.nr, info.entry.args[2]) ||
                       is_first_kill(k, info.entry.nr, info.entry.args[1]);
        else if (known && info.op == PTRACE_SYSCALL_INFO_EXIT && *changes && --k->left == 0)
            kill_all(k);
    } else if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_CLONE ||
               event == PTRACE_EVENT_VFORK) {
        if (ptrace(PTRACE_GETEVENTMSG, pid, 0, &child) == 0 && k->n_traced < 16)
            k->traced[k->n_traced++] = (pid_t)child;
    } else if (event == 0 && sig != SIGTRAP) {
        deliver = sig;
    }
    ptrace(PTRACE_SYSCALL, pid, 0, deliver);
}

/* Ends with 1 once it has killed. */
static _Noreturn void watch(pid_t agent, int nth, int ready_fd)
{
    struct killer k = {.agent = agent, .left = nth};
    int status;
    const long options =
        PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
    if (ptrace(PTRACE_SEIZE, agent, 0, options) < 0 || ptrace(PTRACE_INTERRUPT, agent, 0, 0) < 0 ||
        waitpid(agent, &status, __WALL) != agent || ptrace(PTRACE_SYSCALL, agent, 0, 0) < 0)
        _exit(2);
    close(ready_fd);
    for (pid_t pid; (pid = waitpid(-1, &status, __WALL)) > 0;) {
        if (WIFSTOPPED(status))
            on_stop(&k, pid, status);
        else if (pid == agent)
            break;
    }
    _exit(0);
}

/* The agent of the fixture's link dies after the nth step from here on. */
static pid_t arm(struct fixture *f, int nth)
{
    int fds[2];
    char nothing;
    pid_t agent = agent_pid(f);
    assert_true(agent > 1);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid_t killer = fork();
    if (killer == 0) {
        close(fds[0]);
        watch(agent, nth, fds[1]);
    }
    close(fds[1]);
    assert_int_equal(read(fds[0], &nothing, 1), 0);
    close(fds[0]);
    return killer;
}

/* True: it has killed the agent. What it traces goes on without it. */
static bool disarm(pid_t killer)
{
    int status = 0;
    if (waitpid(killer, &status, WNOHANG) == 0) {
        kill(killer, SIGKILL);
        waitpid(killer, &status, 0);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
        skip_because("ptrace is not allowed here");
    return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

/* ---- requests ---- */

static char *dir_of(struct fixture *f, const char *name)
{
    char *jobs = in_root(f, "jobs"), *dir = joined(f, jobs, name);
    return dir;
}

static void ask_to_take(struct fixture *f, const char *name)
{
    char *dir = dir_of(f, name);
    const struct request_account_take account = {
        .name = name, .dir = dir, .first = FIRST, .count = COUNT};
    node_ask(f->link, REQUEST_OF(account_take, account), on_done, f);
}

static void ask_to_release(struct fixture *f, const char *name)
{
    node_ask(f->link, REQUEST(account_release, .name = name), on_done, f);
}

/* True: it was done. False: the agent was killed meanwhile, and the next one is there. The answer
 * may be the last that the agent said, so it is asked once more. */
static bool survives(struct fixture *f, void (*ask)(struct fixture *, const char *),
                     const char *name, int nth)
{
    int answered = f->answers;
    pid_t killer = arm(f, nth);
    ask(f, name);
    WAIT(f, f->answers > answered || f->down > 0);
    if (!disarm(killer) && f->down == 0 && f->why.code == ERR_NONE) {
        ASK(f, node_ask(f->link, BARE_REQUEST(ping), on_done, f));
        if (f->why.code == ERR_NONE)
            return true;
    }
    WAIT(f, f->down > 0);
    close_link(f);
    open_ready(f);
    return false;
}

static void do_it(struct fixture *f, void (*ask)(struct fixture *, const char *), const char *name)
{
    int before = f->answers;
    ask(f, name);
    WAIT(f, f->answers > before);
    assert_string_equal(f->why.msg, "");
}

/* ---- what is there ---- */

static uid_t owner_of(struct fixture *f, const char *name)
{
    char *dir = dir_of(f, name);
    struct stat st;
    assert_int_equal(lstat(dir, &st), 0);
    return st.st_uid;
}

/* How many numbers are noted as this root's. */
static int noted(struct fixture *f)
{
    DIR *d = opendir(REGISTRY);
    struct dirent *de;
    int n = 0;
    while (d && (de = readdir(d))) {
        char *path = joined(f, REGISTRY, de->d_name), *text = slip_text(path);
        n += de->d_name[0] != '.' && strstr(text, f->root) != NULL;
        free(text);
    }
    if (d)
        closedir(d);
    return n;
}

static bool has_name(uid_t uid)
{
    char link[64], record[64];
    struct stat st;
    snprintf(link, sizeof link, "/run/userdb/%u.user", uid);
    snprintf(record, sizeof record, "/run/userdb/batchai-%u.user", uid);
    return lstat(link, &st) == 0 || lstat(record, &st) == 0;
}

/* What is dead and was not waited for yet is nothing any more. */
static bool is_alive(const char *pid)
{
    char path[64], *stat, *state;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    if (fs_read(path, 4096, &stat, NULL, NULL) < 0)
        return false;
    state = strrchr(stat, ')');
    bool alive = state && !strchr("ZX", state[2]);
    free(stat);
    return alive;
}

static bool runs_as(uid_t uid)
{
    DIR *d = opendir("/proc");
    struct dirent *de;
    bool found = false;
    while (!found && (de = readdir(d))) {
        struct stat st;
        found = de->d_name[0] >= '1' && de->d_name[0] <= '9' &&
                fstatat(dirfd(d), de->d_name, &st, 0) == 0 && st.st_uid == uid &&
                is_alive(de->d_name);
    }
    closedir(d);
    return found;
}

static void nothing_is_left(struct fixture *f, uid_t uid)
{
    assert_int_equal(noted(f), 0);
    assert_int_equal(uid_of(f, one_job), 0);
    assert_false(has_name(uid));
    assert_false(runs_as(uid));
    assert_int_equal(owner_of(f, one_job), 0);
}

static void need_root(void)
{
    if (geteuid() != 0)
        skip_because("needs root");
}

/* ---- the tests ---- */

OPEN_ROOT_TEST(test_the_agent_is_killed_at_each_step_of_taking)
{
    bool done = false;
    int n = 0;
    need_root();
    open_ready(f);
    while (!done && ++n < STEPS_MAX) {
        done = survives(f, ask_to_take, one_job, n);
        do_it(f, ask_to_take, two_job); /* it must get another, whatever came of the first */
        do_it(f, ask_to_take, one_job);
        uid_t one = uid_of(f, one_job), two = uid_of(f, two_job);
        assert_true(one > FIRST && two > FIRST && one != two);
        assert_int_equal(owner_of(f, one_job), one);
        assert_int_equal(owner_of(f, two_job), two);
        assert_int_equal(noted(f), 2);
        do_it(f, ask_to_release, two_job);
        do_it(f, ask_to_release, one_job);
        nothing_is_left(f, one);
        assert_false(has_name(two));
    }
    assert_true(done && n > 5);
    print_message("%d steps\n", n - 1);
}

/* The job is never begun: it is released, or its directory goes and the next agent sees it. */
OPEN_ROOT_TEST(test_what_was_taken_half_is_given_back)
{
    struct err e;
    bool done = false;
    int n = 0;
    char *dir = dir_of(f, one_job);
    need_root();
    open_ready(f);
    while (!done && ++n < STEPS_MAX) {
        done = survives(f, ask_to_take, one_job, n);
        uid_t uid = uid_of(f, one_job);
        if (n % 2 == 0) {
            do_it(f, ask_to_release, one_job);
        } else {
            assert_int_equal(fs_remove_tree(dir, &e), 0);
            close_link(f);
            open_ready(f);
        }
        assert_int_equal(noted(f), 0);
        assert_int_equal(uid_of(f, one_job), 0);
        assert_true(uid == 0 || !has_name(uid));
    }
    assert_true(done && n > 5);
}

/* Relative to the root; valid until the next call. */
static const char *in_job(const char *file)
{
    static char path[64];
    snprintf(path, sizeof path, "jobs/%s/%s", one_job, file);
    return path;
}

static void run_as(struct fixture *f, const char *id)
{
    char *dir = dir_of(f, one_job), *out = joined(f, dir, "out.txt"), user[32];
    snprintf(user, sizeof user, "+%s", one_job);
    const struct task_spec s = {.id = id,
                                .command_line =
                                    "echo x > mine; setsid sh -c 'trap \"\" TERM; while "
                                    ":; do sleep 100; done' & echo begun; sleep 1000",
                                .cwd = dir,
                                .stdout_path = out,
                                .stderr_path = out,
                                .step = "job",
                                .user = user};
    run_spec(f, &s);
    WAIT(f, file_has(f, in_job("out.txt"), "begun"));
}

OPEN_ROOT_TEST(test_the_agent_is_killed_at_each_step_of_releasing)
{
    struct err e;
    char *dir = dir_of(f, one_job);
    bool done = false;
    int n = 0;
    need_root();
    open_ready(f);
    while (!done && ++n < STEPS_MAX) {
        char id[16];
        snprintf(id, sizeof id, "t%d", n);
        do_it(f, ask_to_take, one_job);
        uid_t one = uid_of(f, one_job);
        run_as(f, id);
        done = survives(f, ask_to_release, one_job, n);
        do_it(f, ask_to_take, two_job); /* not the number of what may run yet */
        assert_int_not_equal(uid_of(f, two_job), one);
        do_it(f, ask_to_release, one_job);
        do_it(f, ask_to_release, two_job);
        nothing_is_left(f, one);
        assert_string_equal(slurp(f, in_job("mine")),
                            "x\n"); /* what it made stays, and is root's */
        assert_int_equal(fs_remove_tree(dir, &e), 0);
    }
    assert_true(done && n > 5);
    print_message("%d steps\n", n - 1);
}
int main(void)
{
    snprintf(one_job, sizeof one_job, "one-%d", (int)getpid());
    snprintf(two_job, sizeof two_job, "two-%d", (int)getpid());
    return run_all_tests(NULL, NULL);
}
