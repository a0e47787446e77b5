/* SPDX-License-Identifier: MIT
 *
 * Reads the file with libcyaml by the schema of the tables: one slot for each setting.
 */
#ifndef DAEMON_CONFIG_PARSE_H
#define DAEMON_CONFIG_PARSE_H

#include <stdint.h>

#include "daemon/config_table.h"
#include "daemon/config_text.h"
#include "lib/arena.h"

/* The value that libcyaml allocated for a setting; NULL if the file does not have it, or has an
 * empty list, which means the default too. */
struct config_slot {
    void *value;    /* char[], bool, char *[], or the slots of each record one after the other */
    uint64_t count; /* lists only */
};

/* An array of config_settings.n slots; owned, with the values. libcyaml needs `schema` again to
 * free it. */
struct config_raw {
    struct arena schema;
    struct config_slot *slots; /* NULL: the file sets nothing */
};

/* `yaml` as config_text_read() wrote it. */
int config_parse(const struct strbuf *yaml, const struct config_places *places,
                 struct config_raw *out, struct err *e) MUST_CHECK;
void config_raw_free(struct config_raw *raw);

#endif
