/* SPDX-License-Identifier: MIT */
#ifndef API_TESTING_MASK_H
#define API_TESTING_MASK_H

#include <jansson.h>

/* Replaces the texts of properties that may be secrets. */
void mask_secrets(json_t *o);

#endif
