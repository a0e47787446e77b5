/* SPDX-License-Identifier: MIT
 *
 * The simulation: random histories, each from a seed that repeats it exactly.
 *
 *     sim [--histories N] [--seed FIRST] [--steps N] [--jobs N] [--hash] [--text]
 *
 * Seeds are FIRST, FIRST + 1, ... Ends with 1 at the first history in which something did not
 * hold, and says how to run it again. --hash prints what identifies each history; --text: all
 * frames are text, not those of every eighth history only. SIM_LOG=1 in the
 * environment tells everything that happens.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/fs.h"
#include "test/sim/sim.h"

struct sim_options {
    long histories, steps, jobs;
    uint64_t seed;
    bool hash, text;
};

/* Written by the processes that run histories, read when one of them dies. */
struct sim_progress {
    uint64_t seed;
    long done, events, crashes;
};

static int usage(void)
{
    fprintf(stderr,
            "usage: sim [--histories N] [--seed FIRST] [--steps N] [--jobs N] [--hash] [--text]\n");
    return 2;
}

static int read_options(int argc, char **argv, struct sim_options *o)
{
    static const struct option names[] = {{"histories", required_argument, NULL, 'n'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"steps", required_argument, NULL, 'k'},
                                          {"jobs", required_argument, NULL, 'j'},
                                          {"hash", no_argument, NULL, 'h'},
                                          {"text", no_argument, NULL, 't'},
                                          {NULL, 0, NULL, 0}};
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    *o = (struct sim_options){.histories = 1, .steps = 50, .jobs = cpus > 0 ? cpus : 1, .seed = 1};
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        char *end = NULL;
        unsigned long long v = optarg ? strtoull(optarg, &end, 10) : 0;
        if (c == '?' || (end && *end != '\0'))
            return usage();
        switch (c) {
        case 'n':
            o->histories = (long)v;
            break;
        case 's':
            o->seed = v;
            break;
        case 'k':
            o->steps = (long)v;
            break;
        case 'j':
            o->jobs = (long)v;
            break;
        case 'h':
            o->hash = true;
            break;
        case 't':
            o->text = true;
            break;
        default:
            return usage();
        }
    }
    return o->jobs > 0 && optind == argc ? 0 : usage();
}

static void say_again(const struct sim_options *o, uint64_t seed, const char *why)
{
    printf("sim: seed %llu: %s\n     again: SIM_LOG=1 make sim HISTORIES=1 SEED=%llu STEPS=%ld\n",
           (unsigned long long)seed, why, (unsigned long long)seed, o->steps);
    fflush(stdout);
}

/* Every jobs-th history, beginning with the k-th. */
static int run_share(const struct sim_options *o, long k, const char *dir, struct sim_progress *p)
{
    char mine[128];
    struct sim *m = xcalloc(1, sizeof *m);
    int rc = 0;
    snprintf(mine, sizeof mine, "%s/%ld", dir, k);
    struct err e;
    if (fs_mkdirs(mine, 0700, &e) < 0) {
        fprintf(stderr, "sim: %s\n", e.msg);
        return 2;
    }
    sim_disk_begin(mine);
    sim_prepare();
    for (long i = k; i < o->histories && rc == 0; i += o->jobs) {
        p->seed = o->seed + (uint64_t)i;
        bool held = sim_history(m, p->seed, (int)o->steps, o->text);
        p->done++;
        p->events += m->events;
        p->crashes += m->crashes;
        if (o->hash)
            printf("%llu %016llx\n", (unsigned long long)p->seed, (unsigned long long)m->trace);
        if (!held) {
            say_again(o, p->seed, m->failure);
            rc = 1;
        }
    }
    sim_disk_free_template();
    free(m);
    return rc;
}

static const char *directory(void)
{
    static char dir[64];
    snprintf(dir, sizeof dir, "%s/batchaid-sim-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(dir)) {
        perror(dir);
        exit(2);
    }
    return dir;
}

/* How the process ended; one that was killed by an assert has said why. */
static int judge(const struct sim_options *o, const struct sim_progress *p, int status)
{
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    char why[64];
    snprintf(why, sizeof why, "killed by signal %d (%s)", WTERMSIG(status),
             strsignal(WTERMSIG(status)));
    say_again(o, p->seed, why);
    return 1;
}

int main(int argc, char **argv)
{
    struct sim_options o;
    if (read_options(argc, argv, &o) != 0)
        return 2;
    if (o.jobs > o.histories)
        o.jobs = o.histories > 0 ? o.histories : 1;
    const char *dir = directory();
    size_t size = (size_t)o.jobs * sizeof(struct sim_progress);
    struct sim_progress *p =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t *pids = xcalloc((size_t)o.jobs, sizeof *pids);
    struct timespec begun, ended;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (long k = 0; k < o.jobs; k++)
        if ((pids[k] = fork()) == 0)
            exit(run_share(&o, k, dir, &p[k]));
    int rc = 0;
    struct sim_progress sum = {0};
    for (long k = 0; k < o.jobs; k++) {
        int status;
        waitpid(pids[k], &status, 0);
        int one = judge(&o, &p[k], status);
        rc = one > rc ? one : rc;
        sum.done += p[k].done;
        sum.events += p[k].events;
        sum.crashes += p[k].crashes;
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    struct err e;
    if (fs_remove_tree(dir, &e) < 0)
        fprintf(stderr, "sim: %s\n", e.msg);
    printf("sim: %ld histories, %ld events, %ld crashes in %.1f s: %s\n", sum.done, sum.events,
           sum.crashes,
           (double)(ended.tv_sec - begun.tv_sec) + (double)(ended.tv_nsec - begun.tv_nsec) / 1e9,
           rc == 0 ? "all held" : "FAILED");
    munmap(p, size);
    free(pids);
    return rc;
}
