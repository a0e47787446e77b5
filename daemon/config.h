/* SPDX-License-Identifier: MIT
 *
 * Configuration: one YAML file, one table of settings (config_table.c). The table is the schema
 * that libcyaml checks the file against, the source of the defaults and ranges, and the text of
 * `batchaid help config`, docs/configuration.md, batchaid.yaml.5 and etc/batchaid.yaml.example.
 *
 * An unknown key is an error. Errors name file, line and key, the value, and what would be right.
 */
#ifndef DAEMON_CONFIG_H
#define DAEMON_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"
#include "lib/log.h"
#include "lib/strbuf.h"

struct config_list {
    char **items;
    size_t n;
};

/* Owned by whoever called config_load(); config_free() releases what it holds. */
struct config {
    struct config_list listen;
    char *state_dir; /* "" if the file does not say */
    char *log_level, *log_format;
    char *subscription_id, *subscription_name;
    int64_t token_lifetime_s;
    int64_t retry_after_s;
    bool strict;
    int64_t nodes;
    struct config_list vm_sizes;
    int64_t autoscale_idle_s;
    int64_t quota_clusters, quota_cores;
};

enum setting_type { SETTING_INT, SETTING_BOOL, SETTING_STR, SETTING_LIST };

struct setting {
    const char *section; /* "" for the top level */
    const char *key;
    enum setting_type type;
    size_t offset;       /* of the value in struct config */
    const char *initial; /* as written in the file; lists: items separated by a blank */
    int64_t min, max;    /* SETTING_INT only */
    /* What a string or list item must be; NULL: anything. Fills `e` with the reason and returns -1.
     */
    int (*check)(const char *value, struct err *e);
    const char *help;
};

extern const struct setting config_settings[];
extern const size_t config_n_settings;

/* Whether `dotted` ("log.level", "listen") names this setting. */
bool config_is_named(const struct setting *s, const char *dotted);
/* "number" and such; a value as it may stand in the file. */
const char *config_type_name(enum setting_type type);
const char *config_example(enum setting_type type);

/* Fills *out from `path`, or with the defaults if `path` is NULL. ERR_CONFIG. */
int config_load(const char *path, struct config *out, struct err *e) MUST_CHECK;
void config_free(struct config *c);

/* "info" and "text" as checked by the table. */
enum log_level config_log_level(const char *name);
enum log_format config_log_format(const char *name);

/* The checks of the table, for the same values on the command line. */
int config_check_listen(const char *value, struct err *e) MUST_CHECK;
int config_check_log_level(const char *value, struct err *e) MUST_CHECK;
int config_check_log_format(const char *value, struct err *e) MUST_CHECK;

/* "ADDR:PORT", "[ADDR]:PORT" or "localhost:PORT"; `host` holds at least 64 bytes. */
#define CONFIG_HOST_SIZE 64
int config_parse_listen(const char *value, char host[CONFIG_HOST_SIZE], int *port,
                        struct err *e) MUST_CHECK;

/* The table as text. False if there is no such format: "text", "yaml", "man", "markdown". */
bool config_describe(const char *format, struct strbuf *out);

#endif
