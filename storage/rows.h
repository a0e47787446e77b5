/* SPDX-License-Identifier: MIT
 *
 * The rows of storage/ as lists of columns. One list serves the columns of SELECT and INSERT, and
 * the reading and binding of the row's struct. In the text of a statement (storage/sql/) "{job}"
 * stands for the columns of a job in a SELECT, "{+job}" for "job (COLUMNS) VALUES (?1, ...)", and
 * "{?}" for the comparisons of a filter (q_read_filtered()), or for 1 without a filter.
 *
 * To add a column: a migration, a member of the struct, a line in the list of its row (rows*.c),
 * with its domain if it is a number.
 */
#ifndef STORAGE_ROWS_H
#define STORAGE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/enums.h"

struct strbuf;

/* Nodes of a pool in one state, with or without a run. */
struct node_tally {
    enum node_state state;
    bool runs;
    int n;
};

enum st_column_kind {
    COLUMN_INT64, /* int64_t */
    COLUMN_INT,   /* int, or an enum */
    COLUMN_BOOL,
    COLUMN_TEXT,  /* const char *; NULL: null */
    COLUMN_ID,    /* int64_t; 0: null */
    COLUMN_MAYBE, /* int, with a bool that tells whether there is a value; false: null */
    COLUMN_BLOB,  /* const void *, with a size_t */
    COLUMN_SECRET /* sealed text that no struct contains: only inserted */
};

/* The numbers that a column may hold. A disk or a person can damage the database file: a row with
 * another number is an error (query.c). Written numbers are valid: model/ has accepted them, or the
 * daemon computes them. */
struct st_domain {
    int64_t least, most;
    uint32_t holes; /* bits of unused numbers in between; then `most` is below 32 */
};

struct st_column {
    const char *name;
    /* SQL of the value; NULL: the column `name` of the table with the list's alias */
    const char *is;
    enum st_column_kind kind;
    bool read_only; /* not inserted: the row's id, or a column of another table */
    size_t at, has; /* offsets in the struct; has: COLUMN_MAYBE's bool, COLUMN_BLOB's size */
    const struct st_domain *domain; /* for columns that are read as numbers; otherwise NULL */
};

struct st_row {
    const char *name, *table, *alias; /* table NULL: never inserted */
    size_t size;                      /* of the struct */
    const struct st_column *columns;
    size_t n;
};

extern const struct st_row group_row, workspace_row, experiment_row, file_server_row, pool_row,
    cluster_row, run_row, job_row, node_row, allocation_row, node_use_row, node_brief_row,
    pool_place_row, kept_dir_row, held_part_row, dependency_row, doomed_job_row, job_shown_row,
    machine_row_row, operation_row, event_row, epoch_row, account_row, share_row, item_row,
    snapshot_row, vault_row, secret_row, secret_version_row, run_secret_row, identity_row,
    credential_row, role_assignment_row, id_row, batch_account_row, batch_job_row, batch_task_row,
    batch_count_row, batch_cleanup_row, batch_chore_row, batch_pool_row, batch_sample_row,
    batch_pool_tasks_row, batch_schedule_row, batch_certificate_row, node_setup_row,
    batch_node_user_row, batch_user_gone_row, batch_subtask_row;
extern const struct st_row batch_wait_row, batch_seeded_file_row, batch_file_shown_row,
    kept_put_row, uncommitted_row, node_tally_row, pool_tally_row, owner_tally_row;
extern const struct st_row change_row, item_change_row, batch_application_row, batch_package_row,
    subscription_row;

extern const struct st_row usage_row, usage_ended_row, usage_live_row, usage_total_row;

/* Totals over the tasks of a node; jobs to which nodes are barred. */
extern const struct st_row batch_node_total_row, batch_barred_row;

/* The table of a column, and its name there. */
struct st_column_name {
    const char *table, *column;
};
struct st_column_name st_column_name(const struct st_row *row, const struct st_column *c);

/* Appends the text of a statement with its lists of columns expanded. `filter`: SQL for {?}; NULL:
 * none. */
void st_sql_expand(struct strbuf *out, const char *text, const char *filter);

#endif
