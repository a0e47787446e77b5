/* SPDX-License-Identifier: MIT
 *
 * Up to RELAY_MAX commands that pass signals on, one process each, oldest first, with their
 * deadlines. The supervisor that owns them reaps them. If there are too many, the oldest command is
 * killed; a command that misses its deadline is killed as well; each with all its descendants.
 */
#include "nodeagent-proto/agent/relay.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "lib/arena.h"
#include "nodeagent-proto/agent/command.h"
#include "nodeagent-proto/agent/monotonic.h"
#include "nodeagent-proto/agent/procs.h"

#define LIMIT_MS 10000

/* Runs in a child and executes the command. The child has the supervisor's descriptors 0 to 2,
 * which are /dev/null, and its working directory, "/". */
static _Noreturn void become(const struct relay *r, int signo)
{
    char number[32];
    struct arena a;
    struct err e;
    size_t n = 0;
    arena_init(&a);
    while (r->env[n])
        n++;
    char **env = xcalloc(n + 2, sizeof *env);
    memcpy(env, r->env, n * sizeof *env);
    snprintf(number, sizeof number, "BATCHAI_SIGNAL=%d", signo);
    env[n] = number;
    setsid();
    command_default_signals();
    if (!r->account || account_become(r->account, &e) == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        command_exec_shell(r->command, env, &a, &e);
    }
    _exit(127);
}

static void give_up(struct relay *r, size_t i)
{
    if (r->pid[i] <= 0)
        return;
    procs_signal_below(r->pid[i], SIGKILL, NULL, 0);
    kill(r->pid[i], SIGKILL);
}

static void drop(struct relay *r, size_t i)
{
    if (r->kill == r->pid[i])
        r->kill = 0;
    for (; i + 1 < RELAY_MAX; i++) {
        r->pid[i] = r->pid[i + 1];
        r->limit_ms[i] = r->limit_ms[i + 1];
    }
    r->pid[RELAY_MAX - 1] = 0;
}

void relay_send(struct relay *r, int signo)
{
    size_t i = 0;
    if (signo == SIGKILL && r->kill)
        return;
    while (i < RELAY_MAX && r->pid[i])
        i++;
    if (i == RELAY_MAX) {
        give_up(r, 0);
        drop(r, 0);
        i--;
    }
    r->kill_sent = r->kill_sent || signo == SIGKILL;
    pid_t pid = fork();
    if (pid == 0)
        become(r, signo);
    if (pid < 0)
        return;
    if (signo == SIGKILL)
        r->kill = pid;
    r->pid[i] = pid;
    r->limit_ms[i] = monotonic_ms() + LIMIT_MS;
}

bool relay_reaped(struct relay *r, pid_t pid)
{
    for (size_t i = 0; i < RELAY_MAX; i++)
        if (r->pid[i] == pid) {
            drop(r, i);
            return true;
        }
    return false;
}

bool relay_is_busy(const struct relay *r)
{
    return r->pid[0] != 0;
}

int64_t relay_tick(struct relay *r)
{
    int64_t now = monotonic_ms(), next = 0;
    for (size_t i = 0; i < RELAY_MAX && r->pid[i]; i++) {
        if (r->limit_ms[i] <= now)
            give_up(r, i);
        else if (!next || r->limit_ms[i] < next)
            next = r->limit_ms[i];
    }
    return next;
}
