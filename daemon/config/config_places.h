/* SPDX-License-Identifier: MIT
 *
 * The configuration file as a tree of texts, and the line of each of its settings. A value is named
 * by its path: "listen", "log.level", "inventory[0].hosts[2]".
 */
#ifndef DAEMON_CONFIG_CONFIG_PLACES_H
#define DAEMON_CONFIG_CONFIG_PLACES_H

#include "lib/err.h"
#include "lib/yaml.h"

/* Free it with config_places_free(). All zero: there is no file, and all values are defaults. */
struct config_places {
    char *file;
    struct yaml_doc doc; /* scalars are JSON strings; empty values are null */
};

/* Long enough for each path, because all names in paths come from the tables. */
#define CONFIG_PATH_SIZE 200
void config_path(char out[CONFIG_PATH_SIZE], const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* ERR_CONFIG: the file cannot be read, or is not one YAML document. */
int config_places_read(const char *file, struct config_places *out, struct err *e) MUST_CHECK;
void config_places_free(struct config_places *p);

/* The line of `path`, or of the enclosing mapping or list; 0: unknown. */
int config_place_line(const struct config_places *p, const char *path);

/* Adds "FILE:LINE: PATH" before the message; the path "" means the whole file. Returns -1. */
int config_place_blame(const struct config_places *p, const char *path, struct err *e);
/* Like config_place_blame(), but with the line of a key in the mapping at `path`. */
int config_place_blame_key(const struct config_places *p, const char *path, const char *key,
                           struct err *e);

#endif
