/* SPDX-License-Identifier: MIT
 *
 * Prepares a configuration file for libcyaml, in one walk over libyaml's events, which
 *
 *  - remembers on which line each value stands, for errors (libcyaml tells only where it stopped);
 *  - writes it anew for libcyaml, which knows no "text, or list of such": a lone text that stands
 *    where such a list may is made a list of one.
 *
 * A value is named by its path: "listen", "log.level", "inventory[0].hosts[2]".
 */
#ifndef DAEMON_CONFIG_TEXT_H
#define DAEMON_CONFIG_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/err.h"
#include "lib/strbuf.h"

struct config_place {
    char *path;
    int line;
};

/* In the order of the file; a repeated key is listed again. Owned; config_places_free(). */
struct config_places {
    char *file; /* NULL: there is none, the values are defaults */
    struct config_place *items;
    size_t n;
};

/* `yaml` becomes the text for libcyaml; it stays empty if the file sets nothing. ERR_CONFIG: `text`
 * is not YAML, or more than one document. */
int config_text_read(const char *file, const char *text, size_t len, struct config_places *places,
                     struct strbuf *yaml, struct err *e) MUST_CHECK;
void config_places_free(struct config_places *p);

bool config_place_known(const struct config_places *p, const char *path);
/* The line of the nth occurrence of `path`, or of the mapping or list around it; 0: unknown. */
int config_place_line(const struct config_places *p, const char *path, int nth);

/* Puts "FILE:LINE: PATH" before the message; the path "" is the whole file. Returns -1. */
int config_place_blame(const struct config_places *p, const char *path, int nth, struct err *e);

#endif
