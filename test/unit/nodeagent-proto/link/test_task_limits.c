/* SPDX-License-Identifier: MIT
 *
 * What a task may use, by the real agent: limits of its cgroup where the machine has cgroups of
 * version 2 with the controllers, those of setrlimit(2) elsewhere; and that a cgroup holds a task's
 * processes together whatever they do. What this machine cannot show is skipped, by name.
 */
#include "test/unit/nodeagent-proto/link/task_fixture.h"

#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/statfs.h>

#define MIB (1024 * 1024)

static bool have_account; /* set once, by main() */

/* The task's cgroup as its record has it; NULL: none. */
static char *cgroup_of(struct fixture *f, const char *record)
{
    char *text = slurp(f, record), *at = strstr(text, "\"cgroup\":\""), *path = NULL;
    if (at) {
        at += strlen("\"cgroup\":\"");
        path = arena_strndup(&f->texts, at, strcspn(at, "\""));
    }
    return path;
}

static bool limits_file_has(const char *dir, const char *name, const char *text)
{
    char *path = fs_join(dir, name), *now = NULL;
    struct err e;
    bool same = fs_read(path, 4096, &now, NULL, &e) == 0 && strcmp(now, text) == 0;
    free(now);
    free(path);
    return same;
}

/* Runs a task that stays until it is killed, with all limits, and tells where it is held. */
static char *try_cgroup(struct fixture *f, const char *id)
{
    char record[64];
    struct task_spec s = usual_spec(f, id, "echo $$; exec sleep 1000");
    s.limits = (struct task_limits){
        .memory_bytes = (int64_t)512 * MIB, .cpus = 2, .processes = 50, .open_files = 64};
    run_spec(f, &s);
    snprintf(record, sizeof record, "tasks/%s.start", id);
    return cgroup_of(f, record);
}

OPEN_ROOT_TEST(test_open_files)
{
    open_ready(f);
    struct task_spec s = usual_spec(f, "files", "ulimit -Hn; ulimit -Sn");
    s.limits.open_files = 64;
    run_spec(f, &s);
    assert_int_equal(nth_end(f, 1)->s.exit_code, 0);
    assert_string_equal(slurp(f, "out/stdout.txt"), "64\n64\n");
}

OPEN_ROOT_TEST(test_the_agent_has_many_files_and_its_tasks_the_usual_number)
{
    struct rlimit was, few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    few = (struct rlimit){.rlim_cur = 300, .rlim_max = was.rlim_max};
    if (was.rlim_max < 1000)
        skip_because("needs a hard limit of 1,000 open files");
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    open_ready(f);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
    struct task_spec s = usual_spec(f, "files", "ulimit -Sn; cat /proc/$PPID/limits >&2");
    run_spec(f, &s);
    assert_int_equal(nth_end(f, 1)->s.exit_code, 0);
    assert_string_equal(slurp(f, "out/stdout.txt"), "300\n");
    const char *files = strstr(slurp(f, "out/stderr.txt"), "Max open files");
    assert_non_null(files);
    assert_true(atoi(files + strlen("Max open files")) >= 1000);
}

OPEN_ROOT_TEST(test_processes)
{
    if (!have_account)
        skip_because("needs root and mount namespaces");
    open_ready(f);
    struct task_spec s =
        usual_spec(f, "bomb", "for i in $(seq 30); do sleep 1000 & done; echo all; wait");
    s.user = TEST_USER;
    s.limits.processes = 10;
    run_spec(f, &s);
    WAIT(f, file_has(f, "out/stderr.txt", "Resource temporarily unavailable") || f->n_ended);
    ASKED(f, signal, .task = "bomb", .signal = SIGKILL);
    WAIT(f, f->n_ended == 1);
    assert_true(file_has(f, "out/stderr.txt", "Resource temporarily unavailable"));
    assert_false(file_has(f, "out/stdout.txt", "all"));
}

/* Takes memory until there is no more, in a child of the command. */
#define EAT "sh -c 'head -c 400000000 /dev/zero | tail -c 399999999 | wc -c'; echo went on; exit 5"

static void run_eater(struct fixture *f)
{
    struct task_spec s = usual_spec(f, "eater", EAT);
    s.limits.memory_bytes = (int64_t)64 * MIB;
    run_spec(f, &s);
    (void)nth_end(f, 1);
}

static bool memory_is_limited_by_cgroups(struct fixture *f)
{
    char *path = try_cgroup(f, "probe");
    bool limited = path && limits_file_has(path, "memory.max", "536870912\n");
    ASKED(f, signal, .task = "probe", .signal = SIGKILL);
    WAIT(f, f->n_ended == 1);
    f->n_ended = 0;
    return limited;
}

OPEN_ROOT_TEST(test_memory_limit_of_a_cgroup_kills_and_says_so)
{
    open_ready(f);
    if (!memory_is_limited_by_cgroups(f))
        skip_because("no memory controller of cgroup v2 that may be used");
    run_eater(f);
    assert_int_equal(f->ended[0].s.signal, SIGKILL);
    assert_string_equal(f->ended[0].why, "it exceeded its memory limit of 64 MiB and was "
                                         "killed (out of memory)");
    assert_false(file_has(f, "out/stdout.txt", "went on"));
}

OPEN_ROOT_TEST(test_memory_limit_of_each_process_elsewhere)
{
    open_ready(f);
    if (memory_is_limited_by_cgroups(f))
        skip_because("a cgroup limits memory here");
    run_eater(f);
    assert_int_equal(f->ended[0].s.exit_code, 5);
    assert_says(f->ended[0].tail, "memory exhausted");
}

OPEN_ROOT_TEST(test_limits_of_a_cgroup)
{
    open_ready(f);
    if (!memory_is_limited_by_cgroups(f))
        skip_because("no controllers of cgroup v2 that may be used");
    char *path = try_cgroup(f, "limited");
    assert_true(limits_file_has(path, "memory.max", "536870912\n"));
    assert_true(limits_file_has(path, "cpu.max", "200000 100000\n"));
    assert_true(limits_file_has(path, "pids.max", "50\n"));
    ASKED(f, signal, .task = "limited", .signal = SIGKILL);
    WAIT(f, f->n_ended == 1);
}

OPEN_ROOT_TEST(test_cgroup_goes_with_the_task)
{
    open_ready(f);
    char *path = try_cgroup(f, "held");
    if (!path)
        skip_because("no cgroup v2 that may be written to");
    assert_int_equal(access(path, F_OK), 0);
    ASKED(f, signal, .task = "held", .signal = SIGKILL);
    assert_int_equal(nth_end(f, 1)->s.signal, SIGKILL);
    assert_true(access(path, F_OK) < 0);
    *strrchr(path, '/') = '\0';
    assert_true(access(path, F_OK) < 0 || rmdir(path) < 0); /* unless others have tasks in it */
}

/* Each alone would have enough. */
OPEN_ROOT_TEST(test_memory_of_a_group_is_used_up_together)
{
    open_ready(f);
    if (!memory_is_limited_by_cgroups(f))
        skip_because("no memory controller of cgroup v2 that may be used");
    for (int i = 0; i < 2; i++) {
        struct task_spec s = usual_spec(f, i == 0 ? "first" : "second",
                                        "x=$(head -c 40000000 /dev/zero | tr '\\0' x); sleep 1000");
        s.limits = (struct task_limits){.memory_bytes = (int64_t)96 * MIB, .group = "hungry"};
        run_spec(f, &s);
    }
    WAIT(f, f->n_ended == 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(f->ended[i].s.signal, SIGKILL);
        assert_says(f->ended[i].why, "it exceeded its memory limit of 96 MiB");
    }
}

/* A group's cgroup is there as long as one of its tasks. */
OPEN_ROOT_TEST(test_tasks_of_a_group_share_a_cgroup)
{
    char *path[2];
    open_ready(f);
    for (int i = 0; i < 2; i++) {
        char id[16], record[64];
        snprintf(id, sizeof id, "of-%d", i);
        struct task_spec s = usual_spec(f, id, "exec sleep 1000");
        s.limits = (struct task_limits){.cpus = 2, .group = "both"};
        run_spec(f, &s);
        snprintf(record, sizeof record, "tasks/%s.start", id);
        path[i] = cgroup_of(f, record);
    }
    bool had = path[0] && path[1];
    if (had) {
        char *group = strndup(path[0], (size_t)(strrchr(path[0], '/') - path[0]));
        assert_says(group, "-both");
        assert_int_equal(strncmp(path[1], group, strlen(group)), 0);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(access(group, F_OK), 0);
            ASKED(f, signal, .task = i == 0 ? "of-0" : "of-1", .signal = SIGKILL);
            WAIT(f, f->n_ended == i + 1);
            assert_true(access(path[i], F_OK) < 0);
        }
        assert_true(access(group, F_OK) < 0);
        free(group);
    }
    if (!had)
        skip_because("no cgroup v2 that may be written to");
}

/* ---- what its cgroup counts ---- */

/* Whether the kernel counts this in cgroups of tasks: in one that is there. */
static bool counts(struct fixture *f, const char *name, bool *anew)
{
    struct task_spec s = usual_spec(f, "probe", "exec sleep 1000");
    s.stdout_path = s.stderr_path = "/dev/null"; /* files that the account may not write to */
    run_spec(f, &s);
    char *dir = cgroup_of(f, "tasks/probe.start"), *path = dir ? fs_join(dir, name) : NULL;
    bool counts = path && access(path, F_OK) == 0;
    int fd = counts ? open(path, O_RDWR | O_CLOEXEC) : -1;
    *anew = fd >= 0 && write(fd, "reset", 5) == 5; /* of memory.peak, since Linux 6.12 */
    if (fd >= 0)
        close(fd);
    free(path);
    ASKED(f, signal, .task = "probe", .signal = SIGKILL);
    WAIT(f, f->n_ended == 1);
    f->n_ended = 0;
    return counts;
}

/* Has 40 MB for a moment, which ends before the first sample. */
#define SWELL "head -c 40000000 /dev/zero | tail -c 39999999 | wc -c"

OPEN_ROOT_TEST(test_the_peak_of_a_task_is_not_missed_by_samples)
{
    bool anew;
    open_ready(f);
    if (!counts(f, "memory.peak", &anew))
        skip_because("no memory.peak (Linux 5.19) in a cgroup v2 that may be written to");
    struct task_spec s = usual_spec(f, "swelling", SWELL);
    run_spec(f, &s);
    const struct task_status *t = &nth_end(f, 1)->s;
    assert_true(t->measured && t->memory_peak >= 39999999);
    assert_true(t->memory_used < t->memory_peak);
    assert_true(access(cgroup_of(f, "tasks/swelling.start"), F_OK) < 0);
}

OPEN_ROOT_TEST(test_transfers_of_a_task_are_counted)
{
    struct statfs disk;
    bool anew;
    open_ready(f);
    assert_int_equal(statfs(f->root, &disk), 0);
    if (!counts(f, "io.stat", &anew) || disk.f_type == TMPFS_MAGIC)
        skip_because("no io.stat in a cgroup v2 that may be written to, or no disk below /tmp");
    struct task_spec s =
        usual_spec(f, "writing", "dd if=/dev/zero of=written bs=1M count=8 oflag=direct");
    run_spec(f, &s);
    const struct task_status *t = &nth_end(f, 1)->s;
    assert_int_equal(t->exit_code, 0);
    assert_true(t->write_bytes >= (int64_t)8 * MIB && t->write_ops >= 8);
}

/* What the start of a container writes: the note that names its cgroups, and the file of the use
 * that was told. */
static void write_note(struct fixture *f, const char *note, const char *cgroup)
{
    const char *lines = arena_printf(&f->texts, "root\n0::%s\n3:memory:%s\n", cgroup, cgroup);
    const char *counted = arena_concat(&f->texts, note, ".counted");
    struct err e;
    assert_int_equal(fs_write_atomic(note, lines, strlen(lines), 0600, &e), 0);
    assert_int_equal(fs_write_atomic(counted, " ", 1, 0600, &e), 0);
}

/* In place of a container's runtime: a cgroup that tasks go into, and the file that names it. */
static char *make_container(struct fixture *f, const char *note)
{
    static const char *const tops[] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
    for (size_t i = 0; i < 2; i++) {
        char *dir = arena_printf(&f->texts, "%s/batchai-test-%d", tops[i], (int)getpid());
        if (mkdir(dir, 0755) < 0)
            continue;
        if (access(arena_printf(&f->texts, "%s/cgroup.procs", dir), W_OK) < 0) {
            rmdir(dir);
            continue;
        }
        write_note(f, note, strrchr(dir, '/'));
        return dir;
    }
    return NULL;
}

/* Processor time that the tasks were told. */
static int64_t told_time(struct fixture *f, int n)
{
    int64_t us = 0;
    for (int i = 0; i < n; i++) {
        assert_true(f->ended[i].s.measured);
        us += f->ended[i].s.user_us + f->ended[i].s.kernel_us;
    }
    return us;
}

static int64_t counted_time(const char *dir)
{
    char *path = fs_join(dir, "cpu.stat"), *text;
    struct err e;
    assert_int_equal(fs_read(path, 4096, &text, NULL, &e), 0);
    const char *user = strstr(text, "user_usec "), *kernel = strstr(text, "system_usec ");
    assert_true(user && kernel);
    int64_t us = atoll(user + strlen("user_usec ")) + atoll(kernel + strlen("system_usec "));
    free(text);
    free(path);
    return us;
}

/* Together they are told what the kernel counted. */
OPEN_ROOT_TEST(test_tasks_of_a_container_are_told_its_use_once)
{
    static const char *const ids[] = {"first", "second", "third"};
    open_ready(f);
    char *note = in_root(f, "container"), *dir = make_container(f, note);
    if (!dir)
        skip_because("no cgroup v2 that may be written to");
    const char *work =
        arena_printf(&f->texts, "echo $$ >%s/cgroup.procs; for i in $(seq 20000); do :; done", dir);
    for (int i = 0; i < 3; i++) {
        struct task_spec s = usual_spec(f, ids[i], work);
        s.signal_command = "true";
        s.cgroups_path = note;
        run_spec(f, &s);
        if (i > 0) /* the first two at the same time */
            WAIT(f, f->n_ended == i + 1);
    }
    assert_true(told_time(f, 3) > 0);
    assert_int_equal(told_time(f, 3), counted_time(dir));
    assert_int_equal(rmdir(dir), 0);
}

OPEN_ROOT_TEST(test_of_a_container_without_a_cgroup_nothing_is_known)
{
    open_ready(f);
    struct task_spec s = usual_spec(f, "apart", "true");
    s.signal_command = "true";
    s.cgroups_path = in_root(f, "no-container");
    run_spec(f, &s);
    assert_false(nth_end(f, 1)->s.measured);
}

/* Users of a container may be able to write its note. */
OPEN_ROOT_TEST(test_a_note_that_leads_out_of_the_cgroups_is_not_followed)
{
    open_ready(f);
    struct task_spec s = usual_spec(f, "led", "sleep 1"); /* a sample is due meanwhile */
    s.signal_command = "true";
    s.cgroups_path = in_root(f, "container");
    const char *dir = in_root(f, "evil");
    assert_int_equal(mkdir(dir, 0755), 0);
    assert_int_equal(mkfifo(arena_concat(&f->texts, dir, "/memory.stat"), 0600), 0);
    write_note(f, s.cgroups_path, arena_concat(&f->texts, "/../../../..", dir));
    run_spec(f, &s);
    assert_false(nth_end(f, 1)->s.measured);
    struct task_spec of_fifo = s;
    of_fifo.id = "fifo";
    assert_int_equal(unlink(s.cgroups_path), 0);
    assert_int_equal(mkfifo(s.cgroups_path, 0600), 0);
    run_spec(f, &of_fifo);
    assert_false(nth_end(f, 2)->s.measured);
}

OPEN_ROOT_TEST(test_use_that_cannot_be_noted_is_unknown)
{
    open_ready(f);
    char *note = in_root(f, "container"), *dir = make_container(f, note);
    if (!dir)
        skip_because("no cgroup v2 that may be written to");
    assert_int_equal(unlink(arena_concat(&f->texts, note, ".counted")), 0);
    struct task_spec s = usual_spec(f, "unnoted", "true");
    s.signal_command = "true";
    s.cgroups_path = note;
    run_spec(f, &s);
    assert_false(nth_end(f, 1)->s.measured);
    assert_int_equal(rmdir(dir), 0);
}

static bool put_in(const char *dir, const char *name, const char *text)
{
    char *path = fs_join(dir, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool put = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    free(path);
    return put;
}

/* Whoever limits the service or session of the agent means its tasks, too. */
OPEN_ROOT_TEST(test_a_task_stays_in_the_agents_cgroup_if_that_is_limited)
{
    static const char top[] = "/sys/fs/cgroup", dir[] = "/sys/fs/cgroup/batchai-test-limited";
    bool limited = mkdir(dir, 0755) == 0 && put_in(dir, "memory.max", "4G") &&
                   put_in(dir, "cgroup.procs", "0");
    if (limited)
        open_ready(f);
    (void)(limited && put_in(top, "cgroup.procs", "0"));
    if (limited) {
        struct task_spec s = usual_spec(f, "within", "exec sleep 1000");
        run_spec(f, &s);
        assert_says(cgroup_of(f, "tasks/within.start"), "/batchai-test-limited/batchai/");
        ASKED(f, signal, .task = "within", .signal = SIGKILL);
        WAIT(f, f->n_ended == 1);
        close_link(f);
        WAIT(f, rmdir(dir) == 0 || errno == ENOENT);
    } else {
        (void)rmdir(dir);
        skip_because("no memory controller of cgroup v2 that may be used");
    }
}

/* Supervisor and agent gone, a session of its own, no marker: only the cgroup still has it. */
OPEN_ROOT_TEST(test_nothing_escapes_a_cgroup)
{
    open_ready(f);
    struct task_spec s = usual_spec(f, "stray",
                                    "(setsid env -i sh -c 'echo $$ > ../stray; exec sleep 1000' "
                                    "&); until [ -s ../stray ]; do sleep 0.01; done; sleep 1000");
    s.limits.cpus = 1;
    run_spec(f, &s);
    char *path = cgroup_of(f, "tasks/stray.start");
    WAIT(f, read_pid(f, "work/stray") > 1);
    long stray = read_pid(f, "work/stray");
    if (path) {
        pid_t agent = agent_pid(f),
              supervisor = (pid_t)number_in(f, "tasks/stray.start", "supervisor");
        assert_int_equal(kill(agent, SIGSTOP), 0);
        assert_int_equal(kill(supervisor, SIGKILL), 0);
        assert_int_equal(kill(agent, SIGKILL), 0);
        WAIT(f, f->down == 1);
        close_link(f);
        assert_false(gone(stray));
        open_ready(f);
        assert_int_equal(nth_end(f, 1)->s.state, TASK_LOST);
        WAIT(f, gone(stray));
        assert_true(access(path, F_OK) < 0);
    } else {
        ASKED(f, signal, .task = "stray", .signal = SIGKILL);
        WAIT(f, f->n_ended == 1);
    }
    if (!path)
        skip_because("no cgroup v2 that may be written to");
}

/* Kept children stay in their cgroup, which goes with the last of them. */
OPEN_ROOT_TEST(test_kept_children_keep_their_cgroup)
{
    open_ready(f);
    struct task_spec s = usual_spec(f, "kept",
                                    "(setsid sh -c 'echo $$ > ../kept; exec sleep 1000' &); "
                                    "until [ -s ../kept ]; do sleep 0.01; done");
    s.limits.cpus = 1;
    s.keep_children = true;
    run_spec(f, &s);
    assert_int_equal(nth_end(f, 1)->s.exit_code, 0);
    char *path = cgroup_of(f, "tasks/kept.start");
    long kept = read_pid(f, "work/kept"), keeper = number_in(f, "tasks/kept.start", "supervisor");
    assert_false(gone(kept));
    assert_true(!path || access(path, F_OK) == 0);
    assert_int_equal(kill((pid_t)kept, SIGKILL), 0);
    WAIT(f, gone(keeper));
    assert_true(!path || access(path, F_OK) < 0);
}

/* Of the task that a cgroup is named after. */
static long supervisor_of(struct fixture *f, const char *cgroup)
{
    char record[64];
    snprintf(record, sizeof record, "tasks/%s.start", strrchr(cgroup, '-') + 1);
    return number_in(f, record, "supervisor");
}

#define ANYBODY 0

/* Runs tasks of the account until `supervisor` has one (it needs a moment before it takes the
 * next), and tells where that was held (caller frees) and how it ended. */
static char *held_by(struct fixture *f, long supervisor, const char *line, int signo,
                     struct link_seen *end)
{
    static int number; /* ids serve once */
    char *path = NULL;
    for (bool mine = false; !mine;) {
        char id[16], record[64];
        snprintf(id, sizeof id, "t%d", number++);
        struct task_spec s = usual_spec(f, id, line);
        s.user = TEST_USER;
        s.limits.gpus = "0,1,2,3,4,5,6,7"; /* all that there are, so none is denied */
        run_spec(f, &s);
        snprintf(record, sizeof record, "tasks/%s.start", id);
        path = cgroup_of(f, record);
        mine = supervisor == ANYBODY || number_in(f, record, "supervisor") == supervisor;
        if (signo)
            ASKED(f, signal, .task = id, .signal = signo);
        *end = *nth_end(f, 1);
        f->n_ended = 0;
    }
    return path;
}

/* One that nobody was killed in; and it goes with the supervisor. */
OPEN_ROOT_TEST(test_a_cgroup_serves_one_task_after_another)
{
    struct link_seen end;
    bool anew;
    if (!have_account)
        skip_because("test accounts need root");
    open_ready(f);
    if (counts(f, "memory.peak", &anew) && !anew)
        skip_because("the kernel cannot count a cgroup's memory anew (Linux 6.12)");
    char *one = held_by(f, ANYBODY, "id -u", 0, &end);
    if (!one)
        skip_because("no cgroup v2 that may be written to");
    assert_int_equal(access(one, F_OK), 0);
    long supervisor = supervisor_of(f, one);
    assert_string_equal(held_by(f, supervisor, "id -u", 0, &end), one);
    assert_string_equal(held_by(f, supervisor, "sleep 1000", SIGKILL, &end), one);
    assert_int_equal(end.s.signal, SIGKILL);
    assert_true(access(one, F_OK) < 0);
    char *after = held_by(f, supervisor, "id -u", 0, &end);
    assert_string_not_equal(after, one);
    assert_int_equal(end.s.exit_code, 0);
    assert_int_equal(access(after, F_OK), 0);
    close_link(f);
    WAIT(f, gone(supervisor) && access(after, F_OK) < 0);
}

/* Whether the account's next task has the same cgroup or another. */
OPEN_ROOT_TEST(test_no_task_is_told_the_peak_of_an_earlier_task)
{
    struct link_seen end;
    bool anew;
    if (!have_account)
        skip_because("test accounts need root");
    open_ready(f);
    if (!counts(f, "memory.peak", &anew))
        skip_because("no memory.peak (Linux 5.19) in a cgroup v2 that may be written to");
    char *one = held_by(f, ANYBODY, SWELL, 0, &end);
    assert_true(end.s.memory_peak >= 39999999);
    char *next = held_by(f, supervisor_of(f, one), "id -u", 0, &end);
    assert_true(end.s.memory_peak > 0 && end.s.memory_peak < (int64_t)20 * MIB);
    assert_int_equal(strcmp(one, next) == 0, anew);
}

/* The supervisor was killed while it waited: the next agent removes what it left. */
OPEN_ROOT_TEST(test_no_empty_cgroup_stays)
{
    struct link_seen end;
    bool anew;
    if (!have_account)
        skip_because("test accounts need root");
    open_ready(f);
    if (counts(f, "memory.peak", &anew) && !anew)
        skip_because("the kernel cannot count a cgroup's memory anew (Linux 6.12)");
    char *path = held_by(f, ANYBODY, "id -u", 0, &end);
    if (!path)
        skip_because("no cgroup v2 that may be written to");
    assert_int_equal(kill((pid_t)supervisor_of(f, path), SIGKILL), 0);
    close_link(f);
    assert_int_equal(access(path, F_OK), 0);
    open_ready(f);
    WAIT(f, f->n_ended == 2); /* told again, with the probe */
    f->n_ended = 0;
    held_by(f, ANYBODY, "id -u", 0, &end);
    assert_true(access(path, F_OK) < 0);
}
int main(void)
{
    have_account = make_test_account();
    return run_all_tests(NULL, NULL);
}
