/* SPDX-License-Identifier: MIT
 *
 * Whether a value has the shape that the tables of settings want: known keys, and a text, a list or
 * a mapping where the setting takes it. Errors list what is known, or show an example.
 */
#ifndef DAEMON_CONFIG_CONFIG_SHAPE_H
#define DAEMON_CONFIG_CONFIG_SHAPE_H

#include "daemon/config/config_places.h"
#include "daemon/config/config_table.h"

/* Refuses what is not a mapping of keys of the table, or of its sections with their keys. */
int config_shape_keys(const struct config_places *file, const struct settings *table,
                      const json_t *v, const char *path, struct err *e) MUST_CHECK;
/* Refuses what is not of the setting's type, or is more than any setting needs. */
int config_shape_value(const struct config_places *file, const struct setting *s, const json_t *v,
                       const char *path, struct err *e) MUST_CHECK;

#endif
