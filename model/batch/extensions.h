/* SPDX-License-Identifier: MIT
 *
 * The extensions of virtual machines that pools may list.
 */
#ifndef MODEL_BATCH_EXTENSIONS_H
#define MODEL_BATCH_EXTENSIONS_H

#include <jansson.h>

#include "lib/err.h"

/* Checks of one extension and of its settings, for the tables of both planes. */
int batch_check_extension(json_t *extension, const char *path, struct err *e);
int batch_check_extension_settings(const json_t *settings, const char *path, struct err *e);

#endif
