/* SPDX-License-Identifier: MIT
 *
 * Checks that the agent is alive: sends a ping when no byte has arrived for a third of `dead_ms`,
 * and breaks the link when no byte has arrived for `dead_ms`. A hanging agent keeps its socket
 * open, so there is no other sign.
 */
#include <stdlib.h>

#include "lib/arena.h"
#include "nodeagent-proto/link/link_priv.h"

#define LOOKS 3 /* checks within dead_ms */

struct link_watch {
    struct node_link *link;
    struct loop_timer *timer;
    int dead_ms;
    int silent; /* checks in a row without a byte */
};

static void look_again(struct link_watch *w)
{
    int64_t every_us = (w->dead_ms / LOOKS + 1) * INT64_C(1000);
    loop_timer_start(w->timer, loop_mono_us(w->link->loop) + every_us);
}

static void on_pong(void *ctx, const struct err *why)
{
    (void)ctx; /* the bytes of the answer were counted when they came */
    (void)why;
}

static void on_look(void *ctx)
{
    struct link_watch *w = ctx;
    struct err why;
    if (w->silent++ < LOOKS) {
        if (w->silent == 1)
            node_ask(w->link, BARE_REQUEST(ping), on_pong, NULL);
        look_again(w);
        return;
    }
    err_set(&why, ERR_NODE_LOST, NULL,
            "the node agent on %s has not answered for %d s: it was stopped or it hangs",
            w->link->name, w->dead_ms / 1000);
    w->link->silent = true;
    link_fail(w->link, &why);
}

struct link_watch *link_watch_start(struct node_link *link, int dead_ms)
{
    struct link_watch *w = xcalloc(1, sizeof *w);
    w->link = link;
    w->dead_ms = dead_ms;
    w->timer = loop_timer_create(link->loop, on_look, w);
    look_again(w);
    return w;
}

void link_watch_heard(struct link_watch *w)
{
    w->silent = 0;
}

void link_watch_close(struct link_watch *w)
{
    w->link->watch = NULL;
    loop_timer_destroy(w->timer);
    free(w);
}
