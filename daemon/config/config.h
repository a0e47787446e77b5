/* SPDX-License-Identifier: MIT
 *
 * The configuration: one YAML file, and tables of settings (config_table.c, config_records.c). The
 * tables are the schema of the file, and contain the defaults, the ranges, and the text of
 * `batchaid help config`, docs/configuration.md, batchaid.yaml.5 and etc/batchaid.yaml.example.
 *
 * An unknown key is an error. Errors contain file, line, key, the value, and the valid values.
 */
#ifndef DAEMON_CONFIG_CONFIG_H
#define DAEMON_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/config/config_places.h"
#include "lib/err.h"
#include "lib/log.h"
#include "lib/strbuf.h"

struct config_list {
    char **items;
    size_t n;
};
void config_list_free(const struct config_list *l);
/* A copy of the texts in upper case; NULL ends it. Free it with config_texts_free(). */
char **config_list_upper(const struct config_list *l);
void config_texts_free(char **texts);

/* A list of structs; a comment at the member names their type. */
struct config_records {
    void *items;
    size_t n;
};

/* Texts are "" if the file lacks them and they have no default. */
struct config_group { /* an entry of `inventory` */
    struct config_list hosts;
    char *user;
    char *identity, *password_file, *agent_socket;
    char *become, *node_root, *job_user;
    struct config_list vm_sizes;
    char *priority;
    int64_t slots, fake_gpus;
    char *health_command;
    int64_t health_interval_s;
};

struct config_mount { /* an entry of `mounts` */
    char *match, *kind, *type;
    char *source, *options, *command, *unmount;
};

struct config_file_server { /* an entry of `file_servers` */
    char *name, *nfs, *machine, *directory, *options;
};

/* config_load() fills it; the caller frees it with config_free(). */
struct config {
    struct config_places places; /* where values are in the file, for errors that are found later */
    struct config_list listen;
    struct config_list tls_names;
    struct config_list storage_suffixes, vault_suffixes, batch_suffixes;
    struct config_list blob_listen, file_listen, queue_listen;
    char *tls_certificate, *tls_key;
    char *state_dir; /* "" if not in the file */
    char *log_level, *log_format;
    char *subscription_id, *subscription_name;
    int64_t token_lifetime_s;
    int64_t retry_after_s;
    int64_t watchdog_report_s, watchdog_end_s;
    bool strict, newer_versions, testing_strict, http_serve, http_expose;
    bool batch_windows_commands;
    bool batch_admin_is_root;
    bool batch_foreign_urls;
    char *batch_windows_programs;
    int64_t batch_transfer_timeout_s;
    int64_t resizing_s;
    int64_t nodes;
    bool local_shared_user;
    char *shares_address;
    int64_t shares_port;
    struct config_list vm_sizes;
    int64_t autoscale_idle_s;
    int64_t local_slots, local_cores, local_memory_mb, local_fake_gpus;
    int64_t kept_outputs;
    int64_t keep_job_days, keep_jobs, keep_event_days, keep_events, keep_operation_days,
        keep_operations, keep_output_days;
    char *shared_directory; /* "" if not in the file */
    struct config_list backfill;
    int64_t first_uid, n_uids;
    int64_t quota_clusters, quota_cores, quota_batch_jobs, quota_batch_pools;
    int64_t deleted_days;
    bool storage_strict, storage_sync;
    char *metrics_token_file; /* "" if not in the file */
    struct config_list metrics_networks;
    bool metrics_people;

    struct config_records inventory;    /* struct config_group */
    struct config_records mounts;       /* struct config_mount */
    struct config_records file_servers; /* struct config_file_server */
    struct config_list runtimes;
    const char *container_user;
    bool strict_host_keys;
    char *known_hosts;  /* "" if not in the file */
    char *gpu_jobs_dir; /* "" if not in the file */
    int64_t connect_limit, connect_timeout_s, keepalive_s, dead_after_s;
    bool reclaim, samples;
    int64_t unusable_after_s, health_interval_s, min_free_disk_mb, local_min_free_disk_mb,
        max_clock_skew_s;
    int64_t job_memory_mb, job_cpus, job_processes, job_open_files;
};

/* Fills *out from `path`, or with the defaults if `path` is NULL. ERR_CONFIG. */
int config_load(const char *path, struct config *out, struct err *e) MUST_CHECK;
/* The checks that need several settings; for use after config_load() and after the environment was
 * read. ERR_CONFIG. */
int config_check(const struct config *c, struct err *e) MUST_CHECK;
/* Reads "true" or "false". */
int config_parse_truth(const char *text, bool *out, struct err *e) MUST_CHECK;
/* Puts the environment variable of setting number `i` into `out`; false: there is no such
 * setting. */
bool config_variable(size_t i, struct strbuf *out);
/* Lets environment variables override the loaded values: $BATCHAID_LOCAL_NODES is local.nodes,
 * blanks separate the items of lists. Two exceptions: state_locate() reads the variable of
 * state_dir, and lists of records have no variable. Ends with config_check(). Errors name the
 * variable; the caller must call config_free() even then. */
int config_from_environment(struct config *c, struct err *e) MUST_CHECK;
void config_free(struct config *c);

/* Calls `found` for each setting whose value in `fresh` differs from the value in use. The values
 * in use are in two structs: `live` for settings that a reload changes, `start` for the other
 * settings. The inventory counts as one setting. */
typedef void config_change_fn(void *ctx, const char *name, bool live);
void config_changes(const struct config *live, const struct config *start,
                    const struct config *fresh, config_change_fn *found, void *ctx);
/* Whether two entries of the inventory are equal except for their hosts. */
bool config_same_group(const struct config_group *a, const struct config_group *b);

/* Converts texts like "info" and "text", which the table has checked. */
enum log_level config_log_level(const char *name);
enum log_format config_log_format(const char *name);

/* The checks of the table, for values from the command line. */
int config_check_listen(const char *value, struct err *e) MUST_CHECK;
int config_check_log_level(const char *value, struct err *e) MUST_CHECK;
int config_check_log_format(const char *value, struct err *e) MUST_CHECK;

/* "ADDR:PORT", "[ADDR]:PORT" or "localhost:PORT"; `host` holds at least 64 bytes. */
#define CONFIG_HOST_SIZE 64
int config_parse_listen(const char *value, char host[CONFIG_HOST_SIZE], int *port,
                        struct err *e) MUST_CHECK;

/* Prints the tables as text. `format`: "text", "yaml", "man" or "markdown"; false: another
 * format. */
bool config_describe(const char *format, struct strbuf *out);
/* The folder with the pages of the docs; caller frees. NULL: they are not installed. */
char *docs_path_find(void);

/* Reads a file whose only line is a secret, and that others cannot read. The caller wipes and frees
 * *out. ERR_CONFIG. */
int config_read_secret(const char *path, char **out, struct err *e) MUST_CHECK;

/* How many seconds, at least, a new cluster is shown as resizing, so that a client that polls at
 * the advised rate sees that state. */
int config_resizing_s(const struct config *cf);

#endif
