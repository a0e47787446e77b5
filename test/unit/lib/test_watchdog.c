/* SPDX-License-Identifier: MIT
 *
 * A thread that stands still is noticed, named and ended; one that goes on, or cannot, is not. The
 * thread of each test is the one that is watched.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/watchdog.h"
#include "lib/work.h"
#include "test/unit/support/patience.h"
#include "test/unit/support/says.h"
#include "test/unit/support/skip.h"
#include "test/unit/support/tests.h"

/* A healthy thread of a busy machine may wait for its turn, though not for PATIENT ticks. */
enum { TICK_MS = 20, REPORT = 5, PATIENT = 25, END = 15, LIMIT_MS = 20000 };

struct watchdog_fixture {
    struct log log; /* into memory */
    char said[16384];
    atomic_int ended;
    struct watchdog *dog;
};

static void on_end(void *ctx)
{
    atomic_fetch_add(&((struct watchdog_fixture *)ctx)->ended, 1);
}

static void begin(struct watchdog_fixture *f, int report_ticks, int end_ticks)
{
    int fd = memfd_create("log", MFD_CLOEXEC);
    assert_true(fd >= 0);
    *f = (struct watchdog_fixture){.log = {.fd = fd, .level = LOG_LVL_DEBUG}};
    const struct watchdog_config c = {.log = &f->log,
                                      .tick_ms = TICK_MS,
                                      .report_ticks = report_ticks,
                                      .end_ticks = end_ticks,
                                      .end = on_end,
                                      .ctx = f};
    f->dog = watchdog_create(&c);
    assert_non_null(f->dog);
}

/* All that it has logged so far. */
static const char *read_log(struct watchdog_fixture *f)
{
    ssize_t n = syscall(SYS_pread64, f->log.fd, f->said, sizeof f->said - 1, 0L);
    f->said[n > 0 ? n : 0] = '\0';
    return f->said;
}

static const char *finish(struct watchdog_fixture *f)
{
    watchdog_destroy(f->dog);
    read_log(f);
    close(f->log.fd);
    return f->said;
}

/* Also in a child that libraries know nothing of, as read_log(). */
static void sleep_ms(int ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000L};
    while (syscall(SYS_nanosleep, &left, &left) < 0)
        ;
}

static const char *nth(const char *text, const char *line, int n)
{
    for (text = strstr(text, line); text && n > 1; n--)
        text = strstr(text + 1, line);
    return text;
}

/* However long the ticks of the watchdog take on a busy machine: the test looks for it at its end.
 */
static void wait_for(struct watchdog_fixture *f, const char *line, int n)
{
    for (uint64_t ms = 0; ms < patient_ms(LIMIT_MS) && !nth(read_log(f), line, n); ms += TICK_MS)
        sleep_ms(TICK_MS);
}

static void spin_until_ended(const struct watchdog_fixture *f)
{
    while (atomic_load(&f->ended) == 0)
        ;
}

TEST(a_thread_that_stands_still_is_named_and_ended_once)
{
    struct watchdog_fixture f;
    const struct work_item w = {.kind = "request", .who = "alice", .verb = "PUT", .what = "/a/b"};
    begin(&f, REPORT, END);
    const struct work_item *before = work_enter(&w);
    spin_until_ended(&f);
    sleep_ms(END * TICK_MS);
    work_leave(before);
    const char *said = finish(&f);
    assert_int_equal(atomic_load(&f.ended), 1);
    assert_says(said, "error loop.stuck seconds=5 work=\"request PUT by alice /a/b\"",
                "test_watchdog+0x", "error loop.aborted seconds=15");
}

TEST(a_thread_that_goes_on_is_left_alone)
{
    struct watchdog_fixture f;
    begin(&f, PATIENT, PATIENT);
    for (int i = 0; i < 2 * PATIENT; i++) {
        watchdog_turn(f.dog);
        sleep_ms(TICK_MS);
    }
    assert_string_equal(finish(&f), "");
    assert_int_equal(atomic_load(&f.ended), 0);
}

TEST(what_was_noticed_and_goes_on_is_said_and_counts_anew)
{
    struct watchdog_fixture f;
    begin(&f, REPORT, 0);
    for (int i = 1; i <= 2; i++) {
        wait_for(&f, "loop.stuck", i);
        watchdog_turn(f.dog);
        wait_for(&f, "loop.resumed", i);
    }
    const char *said = finish(&f), *first = strstr(said, "loop.resumed");
    assert_non_null(first);
    assert_says(first, "loop.stuck");
    assert_int_equal(atomic_load(&f.ended), 0);
}

/* The whole process stands still, the watchdog with it: its own ticks are all that counts. */
TEST(a_stopped_process_counts_nothing)
{
    struct watchdog_fixture f;
    begin(&f, PATIENT, PATIENT);
    pid_t self = getpid(), other = fork();
    assert_true(other >= 0);
    if (other == 0) {
        kill(self, SIGSTOP);
        sleep_ms(2 * PATIENT * TICK_MS);
        kill(self, SIGCONT);
        _exit(0);
    }
    int how;
    while (waitpid(other, &how, WNOHANG) == 0) {
        watchdog_turn(f.dog);
        sleep_ms(TICK_MS);
    }
    assert_string_equal(finish(&f), "");
    assert_int_equal(atomic_load(&f.ended), 0);
}

/* A parent of CLONE_VFORK waits in the kernel, as for a disk: until the watchdog has said so. */
static void wait_in_kernel(struct watchdog_fixture *f)
{
    pid_t child = (pid_t)syscall(SYS_clone, CLONE_VFORK | SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        wait_for(f, "loop.blocked_in_kernel", 1);
        syscall(SYS_exit_group, 0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

TEST(a_call_that_cannot_be_interrupted_is_waited_for)
{
    struct watchdog_fixture f;
    if (getenv("BATCHAID_SLOW_TOOL"))
        skip_because("valgrind's parents of CLONE_VFORK go on");
    begin(&f, PATIENT, PATIENT);
    wait_in_kernel(&f);
    watchdog_turn(f.dog);
    const char *said = finish(&f);
    assert_int_equal(atomic_load(&f.ended), 0);
    assert_says(said, "state=D", "error loop.blocked_in_kernel");
}

/* It may have much to do before it has its next turn. */
TEST(who_comes_out_of_the_kernel_has_the_whole_time_to_go_on)
{
    struct watchdog_fixture f;
    if (getenv("BATCHAID_SLOW_TOOL"))
        skip_because("valgrind's parents of CLONE_VFORK go on");
    begin(&f, REPORT, 2 * PATIENT);
    wait_in_kernel(&f);
    sleep_ms(PATIENT * TICK_MS);
    assert_int_equal(atomic_load(&f.ended), 0);
    spin_until_ended(&f);
    finish(&f);
    assert_int_equal(atomic_load(&f.ended), 1);
}

TEST(works_have_keys_and_texts)
{
    const struct work_item put = {.kind = "request", .who = "alice", .verb = "PUT", .what = "/a"};
    struct work_item other = put, run = {.kind = "run", .id = 1207};
    char text[WORK_TEXT_SIZE], path[2 * WORK_TEXT_SIZE];
    assert_true(work_key(&put) == work_key(&other));
    other.body = 1;
    assert_true(work_key(&put) != work_key(&other));
    other = put;
    other.who = "bob";
    assert_true(work_key(&put) != work_key(&other));
    work_text(&run, text);
    assert_string_equal(text, "run 1207");
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    other.what = path;
    work_text(&other, text);
    assert_int_equal(strlen(text), WORK_TEXT_SIZE - 1);
    assert_memory_equal(text, "request PUT by bob xxx", 22);
}

TEST(open_works_are_listed_until_they_are_closed)
{
    struct work_item w[3] = {{.kind = "a"}, {.kind = "b"}, {.kind = "c"}};
    for (int i = 0; i < 3; i++)
        work_open(&w[i]);
    work_close(&w[1]);
    work_close(&w[1]);
    assert_ptr_equal(work_first_open(), &w[2]);
    assert_ptr_equal(w[2].next, &w[0]);
    work_close(&w[2]);
    assert_ptr_equal(work_first_open(), &w[0]);
    work_close(&w[0]);
    assert_null(work_first_open());
}
