/* SPDX-License-Identifier: MIT
 *
 * Functions that the decoders share; private to model/.
 */
#ifndef MODEL_SPEC_PRIV_H
#define MODEL_SPEC_PRIV_H

#include <jansson.h>

#include "model/spec.h"

/* A document with its secrets back in place. */
struct opened {
    json_t *doc, *secrets;
};

int spec_open(const char *doc, const char *secrets, struct opened *out, struct err *e) MUST_CHECK;
/* Overwrites the secrets and frees both members. */
void spec_close(struct opened *o);

/* Overwrites a string in the arena; does nothing if s is NULL. */
void spec_wipe_string(const char *s);
void spec_wipe_env(struct kv *env, size_t n);
void spec_wipe_mounts(struct mount_list *mounts);

#endif
