/* SPDX-License-Identifier: MIT
 *
 * Shared by the decoders; private to model/.
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
/* Wipes the secrets and frees both. */
void spec_close(struct opened *o);

/* Overwrites an arena string; NULL is fine. */
void spec_wipe_string(const char *s);
void spec_wipe_env(struct kv *env, size_t n);
void spec_wipe_mounts(struct mount_list *mounts);

#endif
