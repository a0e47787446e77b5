/* SPDX-License-Identifier: MIT */
#include "daemon/cli/interrupt.h"

#include <signal.h>
#include <stddef.h>

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_ENDING = sizeof ending / sizeof ending[0] };

static volatile sig_atomic_t seen; /* the signal that was noted; 0: none */
static struct sigaction before[N_ENDING];

static void on_end(int signo)
{
    seen = signo;
}

/* A signal that is ignored, for example by nohup, stays ignored. */
void interrupt_catch(void)
{
    struct sigaction on = {.sa_handler = on_end, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&on.sa_mask);
    seen = 0;
    for (size_t i = 0; i < N_ENDING; i++) {
        sigaction(ending[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(ending[i], &on, NULL);
    }
}

bool interrupt_seen(void)
{
    return seen != 0;
}

bool interrupt_take(void)
{
    for (size_t i = 0; i < N_ENDING; i++)
        sigaction(ending[i], &before[i], NULL);
    return seen != 0;
}

void interrupt_release(void)
{
    if (interrupt_take())
        (void)raise(seen);
}
