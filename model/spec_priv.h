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

#endif
