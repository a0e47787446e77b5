/* SPDX-License-Identifier: MIT
 *
 * Secrets that are references to a Key Vault cannot be read yet. A job or node that has one is
 * refused before anything is started, here and nowhere else.
 */
#ifndef SCHEDULER_FLEET_SECRET_REFS_H
#define SCHEDULER_FLEET_SECRET_REFS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/arena.h"
#include "model/failure.h"
#include "model/spec.h"

/* True, with *why (arena-owned texts): `what` refers to the secret at `url`. */
bool refuse_secret_ref(struct arena *a, const char *what, const char *url, struct failure *why);
/* True if one of the variables, or of the volumes, has a reference. */
bool refuse_env_secret_refs(struct arena *a, const struct front_words *words, const struct kv *env,
                            size_t n, struct failure *why);
bool refuse_mount_secret_refs(struct arena *a, const struct front_words *words,
                              const struct mount_list *mounts, struct failure *why);

#endif
