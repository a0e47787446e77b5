/* SPDX-License-Identifier: MIT
 *
 * `batchaid demo`: starts a daemon for tests with some resources, and prints commands to try. The
 * daemon is a child in a separate process group, so that only the demo gets Ctrl-C and stops the
 * daemon. The daemon removes its state directory. If the demo is killed, the kernel stops the
 * daemon.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/cli/cli.h"
#include "daemon/cli/client.h"
#include "daemon/cli/demo.h"
#include "daemon/cli/progress.h"
#include "daemon/serve/ephemeral.h"
#include "lib/arena.h"
#include "lib/strbuf.h"

#define SETTLE_MS 10000 /* how long the demo waits for its tasks on fake nodes */
#define PAUSE_MS  20
#define TELL_MS   200

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_ENDING = sizeof ending / sizeof ending[0] };
#define US_PER_S 1000000
#define LISTEN   "localhost:0"

struct demo {
    const struct options *options;
    char *dir;
    bool made; /* the demo has made the directory */
    struct progress progress;
    pid_t pid; /* of the daemon; 0: there is none */
    sigset_t signals;
};

/* --- the directory ---------------------------------------------------------------------------- */

/* Makes a directory in the first of these places where that is possible. */
static int make_dir(struct demo *d, struct err *e)
{
    const char *const places[] = {ephemeral_place(), "/tmp", "/dev/shm"};
    struct strbuf tried = STRBUF_INIT;
    for (size_t i = 0; !d->dir && i < sizeof places / sizeof places[0]; i++) {
        struct strbuf path = STRBUF_INIT;
        strbuf_concat(&path, places[i], "/batchaid-demo-XXXXXX");
        if (mkdtemp(path.s)) {
            d->dir = strbuf_take(&path);
            d->made = true;
        } else {
            strbuf_concat(&tried, tried.len ? ", " : "", places[i], ": ", strerror(errno));
        }
        strbuf_free(&path);
    }
    int rc = d->dir ? 0
                    : err_set(e, ERR_IO, NULL,
                              "there is no place for the demo's files (%s); name a directory that "
                              "does not exist yet: batchaid demo --state-dir DIR",
                              tried.s);
    strbuf_free(&tried);
    return rc;
}

/* --- the daemon ------------------------------------------------------------------------------- */

static void become_daemon(const struct demo *d, int out)
{
    const struct options *o = d->options;
    const char *args[12 + 2 * CLI_LISTEN_MAX];
    size_t n = 0;
    const char *const fixed[] = {"batchaid",    "serve", "--ephemeral", "--testing",
                                 "--log-level", "error", "--state-dir", d->dir};
    for (; n < sizeof fixed / sizeof fixed[0]; n++)
        args[n] = fixed[n];
    for (size_t i = 0; i < (o->n_listen ? o->n_listen : 1); i++) {
        args[n++] = "--listen";
        args[n++] = o->n_listen ? o->listen[i] : LISTEN;
    }
    args[n] = NULL;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigprocmask(SIG_UNBLOCK, &d->signals, NULL);
    dup2(out, STDOUT_FILENO);
    execv("/proc/self/exe", (char *const *)args);
    fprintf(stderr, "batchaid: demo: cannot start the daemon: %s\n", strerror(errno));
    _exit(EXIT_FAILED);
}

/* Waits until the daemon has ended; returns its exit status in the form of waitpid(). */
static int reap(struct demo *d)
{
    int status = 0;
    while (d->pid > 0 && waitpid(d->pid, &status, 0) < 0 && errno == EINTR)
        ;
    d->pid = 0;
    return status;
}

/* Whether a signal that ends the demo is pending. stay() takes the signal. */
static bool is_to_end(const struct demo *d)
{
    sigset_t pending;
    sigpending(&pending);
    for (size_t i = 0; i < N_ENDING; i++)
        if (sigismember(&d->signals, ending[i]) && sigismember(&pending, ending[i]))
            return true;
    return false;
}

/* Waits until the daemon writes a line, or ends, or the demo is to end. */
static void wait_for_line(struct demo *d, int from)
{
    struct pollfd said = {.fd = from, .events = POLLIN};
    int n;
    while (!is_to_end(d) && ((n = poll(&said, 1, TELL_MS)) == 0 || (n < 0 && errno == EINTR)))
        progress_say(&d->progress, "starting a daemon for tests, %lld s",
                     (long long)(progress_us(&d->progress) / US_PER_S));
    progress_end(&d->progress);
}

/* Starts the daemon, and waits for its line "ready URL". The daemon writes its errors to standard
 * error. */
static int start(struct demo *d, struct err *e)
{
    char line[256];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_errno(e, ERR_IO, "cannot make a pipe");
    d->pid = fork();
    if (d->pid == 0)
        become_daemon(d, ends[1]);
    close(ends[1]);
    if (d->pid < 0) {
        d->pid = 0;
        close(ends[0]);
        return err_errno(e, ERR_IO, "cannot start the daemon");
    }
    wait_for_line(d, ends[0]);
    if (is_to_end(d)) {
        close(ends[0]);
        return 0;
    }
    FILE *out = fdopen(ends[0], "r");
    bool ready = out && fgets(line, sizeof line, out) && strncmp(line, "ready ", 6) == 0;
    if (out)
        fclose(out);
    if (ready)
        return 0;
    reap(d);
    return err_set(e, ERR_UNAVAILABLE, NULL,
                   "the demo's daemon did not start, for the reason above");
}

/* --- its content ------------------------------------------------------------------------------ */

static bool is_settled(const json_t *dump)
{
    const char *train = "", *report = "";
    (void)json_unpack((json_t *)dump, "{s:{s:{s:{s:{s:{s:{s:{s:{s:{s:s}}, s:{s:{s:s}}}}}}}}}}",
                      "groups", "demo", "batchAccounts", "demobatch", "jobs", "nightly", "tasks",
                      "train", "state", "state", &train, "report", "state", "state", &report);
    return strcmp(train, "completed") == 0 && strcmp(report, "running") == 0;
}

/* Waits until the tasks that end by themselves have ended, at most SETTLE_MS; *dump is the state
 * then. */
static int settle(struct demo *d, struct daemon_client *c, json_t **dump, struct err *e)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    for (int waited = 0;; waited += PAUSE_MS) {
        if (client_call(c, "GET", "/batchaid/testing/dump?resourceGroup=demo", NULL, dump, e) < 0)
            return -1;
        if (is_settled(*dump) || is_to_end(d) || waited >= SETTLE_MS)
            return 0;
        json_decref(*dump);
        *dump = NULL;
        progress_say(&d->progress, "waiting for the tasks of the demo, %lld s",
                     (long long)(progress_us(&d->progress) / US_PER_S));
        nanosleep(&pause, NULL);
    }
}

static int fill(struct daemon_client *c, struct err *e)
{
    json_t *reply = NULL;
    for (size_t i = 0; demo_rules[i]; i++) {
        if (client_send(c, "/batchaid/testing/rules", "application/json", demo_rules[i], &reply,
                        e) < 0)
            return -1;
        json_decref(reply);
        reply = NULL;
    }
    int rc = client_send(c, "/batchaid/testing/seed", "application/yaml", demo_seed, &reply, e);
    json_decref(reply);
    return rc;
}

static int fill_and_show(struct demo *d, struct err *e)
{
    struct state s;
    struct daemon_client *c = NULL;
    struct environment env;
    json_t *dump = NULL;
    if (state_locate(d->dir, NULL, &s, e) < 0)
        return -1;
    int rc = client_open_testing(&s, &c, e);
    if (rc == 0) {
        client_quiet(c, d->options->json);
        client_doing(c, "filling the demo");
        rc = fill(c, e);
    }
    if (rc == 0)
        rc = settle(d, c, &dump, e);
    progress_end(&d->progress);
    if (rc == 0 && (rc = environment_build(&s, &env, e)) == 0) {
        demo_show(&env, s.dir, dump, d->options->json);
        environment_free(&env);
    }
    json_decref(dump);
    client_close(c);
    state_free(&s);
    return rc;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Waits until a signal ends the demo, or the daemon ends by itself. */
static int stay(struct demo *d, struct err *e)
{
    int signo = 0, status;
    while (sigwait(&d->signals, &signo) != 0 ||
           (signo == SIGCHLD && waitpid(d->pid, &status, WNOHANG) == 0))
        ;
    if (signo != SIGCHLD)
        return 0;
    d->pid = 0;
    return err_set(e, ERR_UNAVAILABLE, NULL, "the demo's daemon has ended by itself");
}

static int stop(struct demo *d)
{
    if (d->pid > 0)
        kill(d->pid, SIGTERM);
    int status = reap(d);
    if (d->made)
        rmdir(d->dir); /* left by a daemon that could not start */
    free(d->dir);
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

/* A signal that is ignored, for example by nohup, stays ignored. A blocked signal would be taken
 * although it is ignored. */
static void block_signals(struct demo *d)
{
    struct sigaction is;
    sigemptyset(&d->signals);
    sigaddset(&d->signals, SIGCHLD);
    for (size_t i = 0; i < N_ENDING; i++)
        if (sigaction(ending[i], NULL, &is) == 0 && is.sa_handler != SIG_IGN)
            sigaddset(&d->signals, ending[i]);
    sigprocmask(SIG_BLOCK, &d->signals, NULL);
}

int cmd_demo(const struct options *o)
{
    struct demo d = {.options = o, .dir = o->state_dir ? xstrdup(o->state_dir) : NULL};
    struct err e;
    block_signals(&d);
    progress_begin_unless(&d.progress, o->json);
    int rc = d.dir ? 0 : make_dir(&d, &e);
    if (rc == 0)
        rc = start(&d, &e);
    if (rc == 0 && !is_to_end(&d))
        rc = fill_and_show(&d, &e);
    if (rc == 0)
        rc = stay(&d, &e);
    int code = stop(&d);
    return rc < 0 ? cli_fail(EXIT_FAILED, &e) : code;
}
