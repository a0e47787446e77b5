/* SPDX-License-Identifier: MIT
 *
 * What the kinds of steps (script_steps.c) and the running of a script (script.c) share.
 */
#ifndef SCHEDULER_FLEET_SCRIPT_PRIV_H
#define SCHEDULER_FLEET_SCRIPT_PRIV_H

#include "scheduler/fleet/script.h"

/* Each kind of step uses some of these fields; the others are unset. */
struct step {
    void (*send)(struct script *sc, struct step *st);
    struct script *sc;
    struct step *next;
    struct script_label label;
    const char *as, *path, *text; /* text: content, source of a mount, task id */
    const char *const *paths;
    size_t n;
    struct node_user user;
    int number;            /* mode of a file, signal */
    struct task_spec task; /* commands */
    bool is_command, keep_record;
    const char **said; /* what a command says goes there; NULL: nobody listens */
    bool waits;        /* the next step has to wait until this one is over */
    bool forget, exact, *found;
    struct victim *victims; /* of script_kill_tasks(): killed, not ended yet */
    bool is_mark;
    const bool *skip;
    bool shared; /* a folder that every job may write in */
    struct node_account account;
    struct script_work work; /* halt NULL: it is none */
};

struct victim {
    struct victim *next;
    const char *id;
};

struct script {
    struct arena *a;
    const struct log *log;
    const char *node;
    struct step *first, **end, *last;
    struct step *next;    /* to be sent */
    struct step *waiting; /* a command, kill or unmount under way */
    struct node_link *link;
    void (*changed)(void *ctx);
    void *ctx;
    int pending; /* requests without a reply */
    bool started, halted, failed, nodes_fault;
    struct failure why;
};

/* Adds a step. */
struct step *script_step(struct script *sc, const struct script_label *label,
                         void (*send)(struct script *, struct step *));
/* For node_...(): the request of a step was answered; `ctx` is the step. */
void script_step_done(void *ctx, const struct err *why);

#endif
