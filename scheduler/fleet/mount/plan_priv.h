/* SPDX-License-Identifier: MIT
 *
 * The state of planning one volume's mount, shared by the files that implement plan.h.
 */
#ifndef SCHEDULER_FLEET_MOUNT_PLAN_PRIV_H
#define SCHEDULER_FLEET_MOUNT_PLAN_PRIV_H

#include "scheduler/fleet/mount/plan.h"

/* The start of the remedy for a volume that no rule fits; the caller appends the rule's text. */
#define PLAN_ADD_RULE                                                                              \
    "add a rule to batchaid's configuration and run `batchaid reload`; then undrain the machine, " \
    "or try again. Such a rule"

struct planning {
    struct arena *a;
    const struct mount_node *node;
    const struct mount_volume *m;
    const struct site_mount_rule *rule; /* shares and containers on machines */
    const char *options; /* the rule's options with placeholders replaced; "" if none */
    struct mount_words words;
    size_t i;
    struct mount_plan *out;
    struct failure *why;
};

/* --- parts.c --------------------------------------------------------------------------- */
/* Records why the volume cannot be mounted; returns false. */
bool plan_refuse(struct planning *p, enum failure_code code, const char *message,
                 const char *remedy);
bool plan_refuse_without_root(struct planning *p, const char *way);
/* Makes this command the plan's command, wrapped so that running it twice is safe. */
void plan_set_command(struct planning *p, const char *command);
/* Joins the parts that are not NULL: "a,b". */
const char *plan_joined(struct arena *a, const char *const *parts, size_t n);
/* "-o OPTIONS ", quoted, from the parts that are not NULL; "" without parts. */
const char *plan_options(struct planning *p, const char *const *parts, size_t n);
/* The volume's own options, if they are options of mount(8); otherwise NULL. */
const char *plan_own_options(const struct planning *p);
bool plan_matches(const char *pattern, const char *text);

/* types.c: plans the mount of a share or container by p->rule. False: refused, see *p->why. */
bool plan_by_type(struct planning *p);
/* own.c: plans the mount of a share or container that the daemon serves, if no rule fits. */
bool plan_own(struct planning *p);
/* server.c: plans the mount of a file server; `f` NULL: the file server does not exist. */
bool plan_file_server(struct planning *p, const struct file_server *f);

#endif
