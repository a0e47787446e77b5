/* SPDX-License-Identifier: MIT
 *
 * Variables of processes on nodes: a growing list, and paths that refer to its entries. Pure; all
 * texts are in the arena.
 */
#ifndef SCHEDULER_FLEET_SCRIPT_ENV_H
#define SCHEDULER_FLEET_SCRIPT_ENV_H

#include <stddef.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "model/front_words.h"
#include "model/spec.h"

/* A growing list of variables. A later entry of a name hides an earlier one. */
struct env {
    struct arena *a; /* borrowed */
    struct kv *items;
    size_t n, cap;
};

void env_init(struct env *v, struct arena *a);
void env_set(struct env *v, const char *name, const char *value);
/* Sets the variable under every name that the front gives it; `id` (NULL: none) is appended to the
 * name. */
void env_set_var(struct env *v, const struct front_words *w, enum front_var var, const char *id,
                 const char *value);
/* Copies entries unchanged, including secrets. */
void env_add(struct env *v, const struct kv *items, size_t n);
const char *env_get(const struct env *v, const char *name); /* NULL: not set */
const char *env_get_var(const struct env *v, const struct front_words *w, enum front_var var,
                        const char *id);

/* Replaces $NAME and ${NAME}; "$$" and a "$" before other characters stay. Returns NULL on error:
 * *e contains the name of an unknown variable. */
const char *env_expand(const struct env *v, const char *text, struct err *e) MUST_CHECK;

/* The directory below `node_root` in which the pool's volumes are mounted. */
const char *node_mount_root(struct arena *a, const struct front_words *w, const char *node_root);

#endif
