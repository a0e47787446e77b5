/* SPDX-License-Identifier: MIT
 *
 * Checks the shape of values by the tables of settings: keys must be known, and values must be a
 * text, a list or a mapping as the setting's type requires. Errors list the known keys, or show an
 * example.
 */
#ifndef DAEMON_CONFIG_CONFIG_SHAPE_H
#define DAEMON_CONFIG_CONFIG_SHAPE_H

#include "daemon/config/config_places.h"
#include "daemon/config/config_table.h"

/* Accepts only a mapping whose keys are in the table, or are names of sections with keys in the
 * table. */
int config_shape_keys(const struct config_places *file, const struct settings *table,
                      const json_t *v, const char *path, struct err *e) MUST_CHECK;
/* Refuses a value of another type than the setting's, or a value longer than any setting needs. */
int config_shape_value(const struct config_places *file, const struct setting *s, const json_t *v,
                       const char *path, struct err *e) MUST_CHECK;

#endif
