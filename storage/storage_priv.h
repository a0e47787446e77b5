/* SPDX-License-Identifier: MIT
 *
 * What the files of storage/ share. `struct storage` belongs to the loop thread; the pool touches
 * only wal_fd (sync), checkpointer (checkpoint) and, during close, the connections.
 */
#ifndef STORAGE_PRIV_H
#define STORAGE_PRIV_H

#include <sodium.h>
#include <sqlite3.h>

#include "storage/statements.h"
#include "storage/storage.h"

#define ST_ENUM(id, text) id,
enum stmt_id { STATEMENTS(ST_ENUM) ST_COUNT };
#undef ST_ENUM

/* A turn whose COMMIT failed; shared by its callbacks, freed with the last. */
struct failed_turn {
    struct err why;
    size_t refs;
};

struct durable {
    st_durable_cb cb;
    void *ctx;
    struct failed_turn *failed; /* NULL: the turn was committed */
};

struct durable_list {
    struct durable *items;
    size_t n, cap;
};

struct storage {
    sqlite3 *db;
    sqlite3 *checkpointer; /* second connection, opened by the pool at the first checkpoint */
    sqlite3_stmt *stmts[ST_COUNT];
    char *path, *key_path;
    uv_loop_t *loop;
    const struct log *log;
    unsigned char key[crypto_secretbox_KEYBYTES];
    int open_queries; /* statements begun and not ended; 0 between calls */

    bool in_turn; /* BEGIN was done */
    bool in_read; /* the turn only reads so far, in a transaction of its own; never with in_turn */
    bool turn_doomed; /* SQLite rolled the turn's transaction back by itself; see doom */
    struct err doom;
    bool dirty; /* committed frames that no sync under way covers */
    bool syncing, checkpointing, closing;
    struct durable_list turn;    /* registered in this turn */
    struct durable_list waiting; /* turn is over; the next sync covers them */
    struct durable_list synced;  /* the sync under way covers them */

    int wal_fd;             /* our own, for fdatasync */
    int (*sync_fn)(int fd); /* fdatasync; tests put a gate here */
    int sync_errno;
    int wal_frames;        /* in the WAL after the last commit */
    int checkpoint_frames; /* of those, moved into the database by the last checkpoint */
    int checkpoint_rc, checkpoint_log, checkpoint_done;
    bool finish_checkpoint; /* the WAL is long: take the rest at the end of the turn */
    uv_work_t sync_work, checkpoint_work, close_work;
    void (*close_cb)(void *ctx);
    void *close_ctx;
};

/* --- peek.c: a look at a database file that touches nothing, WAL included --------------------- */
struct st_peek {
    bool exists; /* and is not empty */
    int64_t size;
    uint32_t application_id, user_version;
};
int st_peek(const char *path, struct st_peek *out, struct err *e) MUST_CHECK;

/* --- migrate.c -------------------------------------------------------------------------------- */
#define ST_APPLICATION_ID 0x62616964 /* "baid" */
int st_schema_version(void);         /* the newest this program knows */
int st_migrate(struct storage *st, struct err *e) MUST_CHECK;

/* --- check.c ---------------------------------------------------------------------------------- */
/* quick_check and foreign_key_check, by their rows. */
int st_check(struct storage *st, const struct st_peek *file, struct err *e) MUST_CHECK;

/* --- sqlerr.c: SQLite's errors become ours, here only ----------------------------------------- */
/* Fills `e` from the failed call's result, logs the extended code. Returns -1. `what`: for the
 * log. Also dooms the turn if SQLite rolled it back. */
int st_err_from_sqlite(struct storage *st, int rc, const char *what, struct err *e);
/* Runs SQL that has no parameters. */
int st_exec(struct storage *st, const char *sql, const char *what, struct err *e) MUST_CHECK;

/* --- commit.c --------------------------------------------------------------------------------- */
/* Opens the turn's transaction if it is not open yet. */
int st_turn_begin(struct storage *st, struct err *e) MUST_CHECK;
/* Lets the reads of a turn share one transaction: SQLite takes and gives back its locks once a turn
 * instead of once a query. Cannot fail: without it each read is a transaction of its own. */
void st_turn_read(struct storage *st);
void st_commit_free(struct storage *st);

/* --- checkpoint.c ----------------------------------------------------------------------------- */
void st_checkpoint_watch(struct storage *st); /* wal_frames from now on */
void st_checkpoint_maybe(struct storage *st);
void st_checkpoint_rest(struct storage *st);
void st_close_step(struct storage *st); /* db.c: goes on with a close when nothing is under way */

/* --- seal.c ----------------------------------------------------------------------------------- */
/* Reads the key file, or makes it, and proves it with the database's key_check. */
int st_key_load(struct storage *st, struct err *e) MUST_CHECK;
/* `plain` NULL gives *blob NULL. Caller frees *blob. */
void st_seal(const struct storage *st, const char *plain, unsigned char **blob, size_t *len);
int st_unseal(const struct storage *st, struct arena *a, const void *blob, size_t len,
              const char **plain, struct err *e) MUST_CHECK;

/* --- stmt.c: one statement's use, from q_read/q_write to its end ------------------------------ */
struct q {
    struct storage *st;
    sqlite3_stmt *s;
    enum stmt_id id;
    int bound, col; /* parameters bound, columns read so far */
};

int st_prepare_all(struct storage *st, struct err *e) MUST_CHECK;
void st_finalize_all(struct storage *st);

void q_read(struct q *q, struct storage *st, enum stmt_id id);
/* Joins the turn's transaction first. On failure there is nothing to end. */
int q_write(struct q *q, struct storage *st, enum stmt_id id, struct err *e) MUST_CHECK;

/* In the order of the parameters. Text is borrowed until the statement ends. */
void q_int(struct q *q, int64_t v);
void q_text(struct q *q, const char *s);        /* NULL: null */
void q_sealed(struct q *q, const char *secret); /* NULL: null */
void q_id(struct q *q, int64_t id);             /* 0: null */
void q_null(struct q *q);

/* In the order of the columns. */
int64_t c_int(struct q *q);                       /* null: 0 */
bool c_is_null(const struct q *q);                /* of the next column; does not move on */
const char *c_text(struct q *q, struct arena *a); /* null: NULL */

/* 1: a row; 0: no more (ended); -1: failed (ended). */
int q_step(struct q *q, struct err *e) MUST_CHECK;
void q_end(struct q *q);

/* Each of these ends the statement. */
int q_run(struct q *q, struct err *e) MUST_CHECK;
int q_insert(struct q *q, int64_t *id, struct err *e) MUST_CHECK;
/* Exactly one row must change, or ERR_RESOURCE_NOT_FOUND speaks of `noun` `id`. */
int q_change(struct q *q, const char *noun, int64_t id, struct err *e) MUST_CHECK;
int q_one_int(struct q *q, int64_t *v, struct err *e) MUST_CHECK; /* as getters: 1, 0, -1 */
int q_ids(struct q *q, struct arena *a, int64_t **ids, size_t *n, struct err *e) MUST_CHECK;

typedef void (*row_reader)(struct q *q, struct arena *a, void *row);
int q_one(struct q *q, struct arena *a, row_reader read, void *row, struct err *e) MUST_CHECK;
/* An array of rows of `size` bytes in the arena. */
int q_rows(struct q *q, struct arena *a, row_reader read, size_t size, void **rows, size_t *n,
           struct err *e) MUST_CHECK;
/* One sealed column of one row, unsealed. As getters. */
int q_secret(struct q *q, struct arena *a, const char **plain, struct err *e) MUST_CHECK;

/* subscription, group, location, then workspace and experiment as far as `depth` goes. */
enum scope_depth { SCOPE_GROUP, SCOPE_WORKSPACE, SCOPE_EXPERIMENT };
void c_scope(struct q *q, struct arena *a, enum scope_depth depth, struct scope *out);

/* After a guarded move: 0 if it moved its one row, else ERR_CONFLICT naming the state that `now`
 * (a statement by id) finds. */
int q_moved(struct storage *st, enum stmt_id now, const char *noun, const struct enum_name *names,
            int64_t id, int from, int to, struct err *e) MUST_CHECK;

/* Binds a list's owner, the narrowest the filter names, to the statement for it. */
struct filter_statements {
    enum stmt_id subscription, group, workspace, named;
};
void q_filter(struct q *q, struct storage *st, const struct st_filter *f,
              const struct filter_statements *by);

#endif
