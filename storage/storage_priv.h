/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of storage/. `struct storage` belongs to the loop thread; the two threads of
 * storage/ touch only wal_fd (sync), checkpointer (checkpoint) and, during close, the connections.
 */
#ifndef STORAGE_PRIV_H
#define STORAGE_PRIV_H

#include <sodium.h>

#include "storage/rows.h"
#include "storage/sql/private_priv.h"
#include "storage/storage.h"

enum stmt_id {
#include "statement_ids.inc"
    ST_COUNT,
    ST_CONTROL_LAST = ST_RELEASE, /* statements up to this one begin and end transactions */
};

/* A turn whose COMMIT failed; shared by its callbacks, freed with the last. */
struct failed_turn {
    struct err why;
    size_t refs;
};

struct durable_call {
    st_durable_cb cb;
    void *ctx;
    struct failed_turn *failed; /* NULL: the turn was committed */
};

struct cache;
struct usage_sums;
struct used;

struct durable_list {
    struct durable_call *items;
    size_t n, cap;
};

struct sqlite3;
struct sqlite3_backup;
struct sqlite3_stmt;

struct storage {
    struct sqlite3 *db;
    /* second connection, opened by its thread at the first checkpoint */
    struct sqlite3 *checkpointer;
    struct sqlite3_stmt *stmts[ST_COUNT]; /* NULL: not used yet */
    bool finalized;                       /* statements may not be used any more */
    bool at_instant;                      /* the statements are of a copy; see instant.c */
    char *path, *key_path;
    const struct log *log;
    const struct st_opening *told; /* NULL: nobody, or the opening is over */
    const char *doing;
    unsigned char key[crypto_secretbox_KEYBYTES];
    struct st_counters counters;
    struct used *used; /* counts for metrics (st_used.c), owned; NULL: not wanted */
    struct epoch epoch;
    int64_t opened_ms; /* the wall clock at st_open() */
    char random[9];    /* the random part of the epoch */
    char epoch_text[30];
    int open_queries; /* statements begun and not ended; 0 between calls */

    bool in_turn; /* BEGIN was done */
    bool in_read; /* the turn has only read so far, in a separate transaction; never with in_turn */
    bool turn_doomed; /* SQLite has rolled back the turn's transaction by itself; `doom` has the
                         reason */
    struct err doom;
    bool dirty; /* there are committed frames that the running sync does not cover */
    bool syncing, checkpointing, closing;
    struct durable_list turn;    /* registered in this turn */
    struct durable_list written; /* registered in this turn, called at its end */
    struct durable_list waiting; /* of turns that have ended; the next sync covers them */
    struct durable_list synced;  /* the running sync covers them */

    uint64_t places_changed;               /* how often tables of cached rows have changed */
    struct cache *known_rows, *known_keys; /* owned; see row_cache.c */

    st_job_changed_fn job_changed; /* NULL: nobody watches */
    void *job_changed_ctx;
    st_events_fn events_grown; /* NULL: nobody watches */
    void *events_grown_ctx;
    st_removal_fn removes; /* NULL: nobody watches */
    void *removes_ctx;
    bool events_added; /* events were added in this turn; before its commit this is called: */
    void (*events_note)(struct storage *st);
    int64_t events_on_disk; /* the number of the last event that is on disk */
    bool changes_muted;     /* true only within a call whose writes are not reported (changes.c) */
    bool changes_due;       /* the next write calls changes_begin first */
    bool changes_new;       /* this turn has called changes_begin */
    int (*changes_begin)(struct storage *st, struct err *e);

    int wal_fd;             /* our own, for fdatasync */
    int (*sync_fn)(int fd); /* fdatasync; tests put another function here */
    bool without_sync;      /* data need not survive: nothing is synced */
    int sync_errno;
    int wal_frames;                                    /* in the WAL after the last commit */
    void (*on_frames)(struct storage *st, int frames); /* see st_sql_watch() */
    int checkpoint_frames; /* how many frames the last checkpoint moved into the database */
    /* how many checkpoints in a row have left more than REST_FRAMES frames in the WAL */
    int checkpoint_rounds;
    int checkpoint_rc, checkpoint_log, checkpoint_done;
    bool finish_checkpoint; /* move the rest of the WAL at the end of the turn */
    bool disk_full;         /* a write of this turn found the disk full */
    bool sheds_wal;         /* a write found the disk full, and the WAL has not been cut since */
    /* Separate threads, so that a sync, for which replies wait, never waits for a checkpoint. */
    struct loop_lane *sync_lane, *checkpoint_lane;
    struct st_beside *beside; /* a running check (check_beside.c); NULL: none */
    int64_t large_bytes;      /* the size from which on a database is large; 0: the default */
    void (*close_step)(struct storage *st); /* continues a close when no work is pending */
    void (*close_cb)(void *ctx);
    void *close_ctx;
};

/* --- st_used.c --- */
void st_used_free(struct storage *st);
/* Adds to the counter of a group ("": none) or of an owner ("": none). */
void st_used_add(struct storage *st, const char *subscription, const char *group, const char *owner,
                 const struct usage_sums *sums);
/* How many additions the turn has made; st_used_undo() takes back all additions after the first n;
 * st_used_keep() keeps them all. */
size_t st_used_in_turn(const struct storage *st);
void st_used_undo(struct storage *st, size_t n);
void st_used_keep(struct storage *st);

/* --- peek.c: reads a database file without changing it or its WAL --- */
struct st_peek {
    bool exists; /* the file exists and is not empty */
    int64_t size;
    uint32_t application_id, user_version;
};
int st_peek(const char *path, struct st_peek *out, struct err *e) MUST_CHECK;

/* Refuses a database of another program, of a newer version, or of a version before 1.0.0. */
int st_refuse_foreign(const char *path, const struct st_peek *p, struct err *e) MUST_CHECK;

/* The values of meta.clean_close. Databases contain them, so never renumber them. */
enum close_mark {
    CLOSE_NONE = 0,     /* the database is in use, or the daemon died during use */
    CLOSE_IN_ORDER = 1, /* closed by st_close(); nothing was written since */
    CLOSE_UNCHECKED = 2 /* in use since a crash, and not completely checked since */
};

/* --- db.c ------------------------------------------------------------------------------------- */
/* Checks that the database at `path` is intact and sealed with the key in `key_path`. */
int st_check_copy(const char *path, const char *key_path, struct err *e) MUST_CHECK;

/* --- st_usage.c ------------------------------------------------------------------------------- */
/* Writes the record of use of an allocation that ends; `live` was read while it was live. */
int st_usage_write(struct storage *st, struct usage_live *live, const struct allocation_end *end,
                   struct err *e) MUST_CHECK;

/* --- st_event.c ------------------------------------------------------------------------------- */
/* The reason of an event: `given`, or the name of the failure, or NULL. */
const char *st_reason(const char *given, int failure);
/* Begins the count of events. Events from before this start are on disk. */
int st_events_begin(struct storage *st, struct err *e) MUST_CHECK;
/* Call before a row is removed, in the transaction: notes the removal, and calls the watcher. */
int st_removes(struct storage *st, enum resource_kind kind, int64_t id, struct err *e) MUST_CHECK;

/* --- migrate.c -------------------------------------------------------------------------------- */
#define ST_APPLICATION_ID 0x62616964 /* "baid" */
/* migrations/NNNN_*.sql makes schema ST_SCHEMA_BASE + NNNN. Versions before 1.0.0 had separate
 * migrations, with numbers up to 50. */
#define ST_SCHEMA_BASE 1000
int st_schema_version(void); /* the newest schema of this program */
int st_migrate(struct storage *st, struct err *e) MUST_CHECK;
struct st_migration {
    int version;
    const char *name, *sql;
};
/* Applies the migrations that are newer than the database, all in one transaction with foreign keys
 * off. If one of them leaves a row with a missing reference, all are undone. */
int st_migrate_by(struct storage *st, const struct st_migration *list, int n,
                  struct err *e) MUST_CHECK;

/* --- migrations.c and migrate.c --------------------------------------------------------------- */
/* The migrations of migrations/, in order; *n: how many. The program of test/api/test_upgrade.py
 * has one more. */
const struct st_migration *st_migrations(int *n);
/* Writes a database with all migrations if `path` does not exist: 1; 0: it exists. */
int st_image_write(const char *path, bool sync, struct err *e) MUST_CHECK;

/* --- check.c ---------------------------------------------------------------------------------- */
/* st_check_rows(): runs quick_check and the check of foreign keys. Their result rows show
 * damage. */
int st_set_clean(struct storage *st, enum close_mark mark, struct err *e) MUST_CHECK;
int st_check_rows(struct storage *st, struct err *e) MUST_CHECK;
/* Checks at once; or sets *beside, and then st_check_beside() must check. `beside` NULL: always at
 * once. */
int st_check(struct storage *st, const struct st_peek *file, bool *beside,
             struct err *e) MUST_CHECK;
/* Fails with ERR_STORAGE if rows have missing references; the message lists these rows. */
int st_check_foreign_keys(struct storage *st, struct err *e) MUST_CHECK;

/* --- sql.c: connections, statements, errors of SQLite ---------------------------------------- */
/* Fills `e` from the failed call's result, logs the extended code. Returns -1. `what`: for the log.
 * Also dooms the turn if SQLite rolled it back. */
int st_err_from_sqlite(struct storage *st, int rc, const char *what, struct err *e);
/* Runs SQL that has no parameters. */
int st_exec(struct storage *st, const char *sql, const char *what, struct err *e) MUST_CHECK;
/* Runs SQL for one use: `fn` gets the first column of each row, as text or blob (NULL: null).
 * Returns the number of rows. */
typedef void (*st_query_fn)(void *ctx, const void *cell, size_t n);
int st_query(struct storage *st, const char *sql, const char *what, st_query_fn fn, void *ctx,
             struct err *e) MUST_CHECK;
/* Reads one integer. *v stays unchanged if there is no row. */
int st_query_int(struct storage *st, const char *sql, const char *what, int64_t *v,
                 struct err *e) MUST_CHECK;
bool st_sql_in_transaction(const struct storage *st);
/* How many rows this connection has written so far. */
int64_t st_sql_changes(const struct storage *st);
/* Texts for SQLite's result codes (0 is success), and of the last failed call. */
const char *st_sql_text(int rc);
const char *st_sql_error(const struct storage *st);
/* *db must be closed even after a failure. May be called on a thread of the pool. Without `sync`
 * the operating system decides when writes reach the disk. */
int st_sql_open(const char *path, bool write, bool sync, struct sqlite3 **db);
void st_sql_close(struct sqlite3 *db); /* NULL: nothing */
/* Makes the connection's running call fail. May be called from any thread. */
void st_sql_interrupt(struct sqlite3 *db);
/* Calls `on_frames` with the length of the WAL after each commit. From here on changes of rows are
 * counted. */
void st_sql_watch(struct storage *st, void (*on_frames)(struct storage *st, int frames));
/* Defines a function of SQL: the wall clock of a loop. `loop` is borrowed. */
int st_sql_clock(struct storage *st, const char *name, struct loop *loop);
/* Defines a function of SQL without arguments: whether `flag` is off. `flag` is borrowed. */
int st_sql_is_off(struct storage *st, const char *name, const bool *flag);
/* Call when rows may have got old values back (a rollback). */
void st_rows_undone(struct storage *st);
/* Makes a checkpoint. May be called on a thread of the pool. */
int st_sql_checkpoint(struct sqlite3 *db, bool truncate, int *log, int *done);
/* Moves the rest of the WAL into the database, and cuts the WAL to nothing. Does not wait:
 * SQLITE_BUSY if others read it. */
int st_sql_cut_wal(struct sqlite3 *db);
/* Reports to st->told, from now on and as long as it lasts, that the storage is `doing` this. NULL:
 * nothing is reported any more. */
void st_sql_say(struct storage *st, const char *doing);
/* Whether a result of SQLite means that another connection holds a lock for a moment. */
bool st_sql_is_busy(int rc);
/* Copies a database to an empty file, as a reader of the database. */
int st_sql_copy(const char *from, const char *to, const struct st_copying *told,
                struct err *e) MUST_CHECK;
/* Begins to copy the database into one in memory, *db. A result code; on failure *copying is NULL,
 * and *db must still be closed. */
int st_sql_copy_begin(struct storage *st, struct sqlite3 **db, struct sqlite3_backup **copying);
/* 0: there are more pages; -1: that was all; else a result code. */
int st_sql_copy_some(struct sqlite3_backup *copying, int pages);
int st_sql_copy_end(struct sqlite3_backup *copying);
void st_sql_close_copy(struct sqlite3 *db, struct sqlite3_stmt **stmts, size_t n);
/* The term of a database that may be missing, damaged or older than terms; 0: none. */
int64_t st_sql_term(const char *path);
/* Raises the term of a database, if it has a lower one; durable. */
int st_sql_raise_term(const char *path, int64_t term, struct err *e) MUST_CHECK;
/* Ends the sessions of browsers that have begun until now. */
int st_sql_end_sessions(const char *path, int64_t now_us, struct err *e) MUST_CHECK;
/* Removes the unfinished changes of files and blobs (item_changes.h). */
int st_sql_forget_changes(const char *path, struct err *e) MUST_CHECK;

/* Prepares a statement at its first use. A result code; st->stmts[id] is the statement. */
int st_prepare(struct storage *st, enum stmt_id id);
/* A statement for one use, with SQL for its {?}. The caller finalizes *out. */
int st_prepare_filtered(struct storage *st, enum stmt_id id, const char *filter,
                        struct sqlite3_stmt **out);
const char *st_stmt_name(enum stmt_id id); /* for the log */
const char *st_stmt_sql(enum stmt_id id);  /* with its lists of columns in braces (rows.h) */
/* Prepares the statements that begin and end transactions, so that the end of a transaction cannot
 * fail because of preparing. */
int st_prepare_control(struct storage *st, struct err *e) MUST_CHECK;
void st_finalize_all(struct storage *st);
/* Runs transaction control. It has other rules than other statements: it neither reads nor writes
 * rows. */
int st_control(struct storage *st, enum stmt_id id, const char *what, struct err *e) MUST_CHECK;

/* --- row_cache.c ----------------------------------------------------------------------------- */
/* The one row of a statement whose parameters are these names (up to a NULL). */
struct known_row {
    enum stmt_id id;
    const char *const *names;
    const struct st_row *row;
};
/* Finds the row as q_one() does. The row is cached for later calls with the same names: its columns
 * must belong to tables whose changes sql.c counts (places_changed). */
int q_known(struct storage *st, const struct known_row *what, struct arena *a, void *out,
            struct err *e) MUST_CHECK;
void st_known_init(struct storage *st);
void st_known_new(struct cache **known_rows, struct cache **known_keys);
void st_known_free(struct storage *st);
/* The cached keys of an account; NULL: not cached. */
struct account_keys *st_known_keys(struct storage *st, enum resource_kind kind, int64_t id);
void st_keep_keys(struct storage *st, enum resource_kind kind, int64_t id,
                  const struct account_keys *k);

/* --- commit.c --------------------------------------------------------------------------------- */
/* Opens the turn's transaction if it is not open yet. */
int st_turn_begin(struct storage *st, struct err *e) MUST_CHECK;
/* Lets the reads of a turn share one transaction: SQLite takes and releases its locks once a turn
 * instead of once a query. If it fails, each read is simply a separate transaction. */
void st_turn_read(struct storage *st);
void st_commit_free(struct storage *st);

/* --- checkpoint.c ----------------------------------------------------------------------------- */
void st_checkpoint_frames(struct storage *st, int frames);
void st_checkpoint_maybe(struct storage *st);
void st_checkpoint_rest(struct storage *st);
/* Call if the disk is full: moves the WAL into the database and cuts it, so that its space is
 * free. */
void st_shed_wal(struct storage *st);

/* The threads of storage. */
void st_lanes_open(struct storage *st, struct loop *loop);
/* Starts work on a lane. The lane has room by construction: it gets one piece of work at a time. */
void st_lane_work(struct loop_lane *lane, loop_fn work, loop_work_done done, struct storage *st);

/* --- check_beside.c --------------------------------------------------------------------------- */
/* Begins a check beside the daemon's work; damage ends the process. */
int st_check_beside(struct storage *st, struct loop *loop, struct err *e) MUST_CHECK;
/* Makes the running check end soon, without a result. */
void st_check_beside_stop(struct storage *st);

/* --- key.c ------------------------------------------------------------------------------------ */
/* Reads the key file, or makes it, and verifies it with the database's key_check. */
int st_key_load(struct storage *st, struct err *e) MUST_CHECK;
/* Only verifies the key. Any key fits a database that was never sealed. */
int st_key_check(struct storage *st, struct err *e) MUST_CHECK;

/* --- seal.c ----------------------------------------------------------------------------------- */
/* How many bytes a sealed secret is longer than the secret. */
#define ST_SEAL_OVERHEAD (crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES)
/* `plain` NULL gives *blob NULL. Caller frees *blob. */
void st_seal(const struct storage *st, const char *plain, unsigned char **blob, size_t *len);
int st_unseal(const struct storage *st, struct arena *a, const void *blob, size_t len,
              const char **plain, struct err *e) MUST_CHECK;

/* --- query.c: one use of a statement, from q_read/q_write to its end --- */
struct q {
    struct storage *st;
    struct sqlite3_stmt *s;
    enum stmt_id id;
    struct sqlite3_stmt *own; /* prepared for this use alone; NULL: it is one of st->stmts */
    int rc;                   /* the result of preparing it */
    int bound, col;           /* parameters bound, columns read so far */
};

void q_read(struct q *q, struct storage *st, enum stmt_id id);
/* Joins the turn's transaction first. After a failure q_end() is not needed. */
int q_write(struct q *q, struct storage *st, enum stmt_id id, struct err *e) MUST_CHECK;

/* Like q_read() for the rows that match a filter: its comparisons replace {?} in the statement
 * (rows.h). `columns`: the SQL of each property, by its number; the filter must outlive the
 * statement. NULL: all rows. */
struct filter;
void q_read_filtered(struct q *q, struct storage *st, enum stmt_id id, const struct filter *f,
                     const char *const *columns);

/* Binds a literal of the filter to a parameter by number; for filtered.c. */
struct filter_literal;
void q_literal(struct q *q, int at, const struct filter_literal *l);

/* Bind the next parameter. Text is borrowed until the statement ends. */
void q_int(struct q *q, int64_t v);
void q_text(struct q *q, const char *s);                /* NULL: null */
void q_sealed(struct q *q, const char *secret);         /* NULL: null */
void q_id(struct q *q, int64_t id);                     /* 0: null */
void q_bytes(struct q *q, const void *bytes, size_t n); /* borrowed as text is */
void q_null(struct q *q);

/* Binds all parameters of an insert of the row. `secrets`: the text for its sealed column, or
 * NULL. */
void q_row(struct q *q, const struct st_row *row, const void *from, const char *secrets);

/* Read the next column. */
int64_t c_int(struct q *q);                       /* null: 0 */
const void *c_blob(struct q *q, size_t *n);       /* borrowed until the statement ends */
bool c_is_null(const struct q *q);                /* checks the next column; does not move on */
const char *c_text(struct q *q, struct arena *a); /* null: NULL */

/* 1: a row; 0: no more (ended); -1: failed (ended). */
int q_step(struct q *q, struct err *e) MUST_CHECK;
void q_end(struct q *q);

/* q_run() and the next functions end the statement. */
int q_run(struct q *q, struct err *e) MUST_CHECK;
int q_insert(struct q *q, int64_t *id, struct err *e) MUST_CHECK;
/* Exactly one row must change; otherwise ERR_RESOURCE_NOT_FOUND names `noun` `id`. */
int q_change(struct q *q, const char *noun, int64_t id, struct err *e) MUST_CHECK;
int q_one_int(struct q *q, int64_t *v, struct err *e) MUST_CHECK; /* as getters: 1, 0, -1 */
int q_ids(struct q *q, struct arena *a, int64_t **ids, size_t *n, struct err *e) MUST_CHECK;

int q_one(struct q *q, struct arena *a, const struct st_row *row, void *out,
          struct err *e) MUST_CHECK;
/* Reads all rows into an array of structs in the arena. */
int q_rows(struct q *q, struct arena *a, const struct st_row *row, void **rows, size_t *n,
           struct err *e) MUST_CHECK;
/* Unseals the one sealed column of one row. Returns like a getter. */
int q_secret(struct q *q, struct arena *a, const char **plain, struct err *e) MUST_CHECK;

/* How many rows the last write of this turn changed. */
int q_changed(const struct storage *st);

/* A kind of object that moves between states. */
struct moving {
    enum stmt_id now; /* finds the present state by id */
    const char *noun;
    const struct enum_name *names; /* of the states */
};
/* Call after a guarded move: 0 if it moved its one row; otherwise ERR_CONFLICT with the present
 * state. */
int q_moved(struct storage *st, const struct moving *m, int64_t id, int from, int to,
            struct err *e) MUST_CHECK;

#endif
