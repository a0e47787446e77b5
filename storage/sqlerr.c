/* SPDX-License-Identifier: MIT
 *
 * The boundary where SQLite's errors become ours. The extended code and SQLite's own text go to the
 * log, never into a message that a client may see.
 */
#include "storage/storage_priv.h"

static const struct {
    int rc; /* extended; or primary, which stands for all its extended codes */
    enum err_code code;
    const char *msg;
} sql_errors[] = {
    {SQLITE_CONSTRAINT_UNIQUE, ERR_CONFLICT, "There already is one of this name."},
    {SQLITE_CONSTRAINT_PRIMARYKEY, ERR_CONFLICT, "There already is one of this name."},
    {SQLITE_CONSTRAINT_FOREIGNKEY, ERR_CONFLICT,
     "It still holds something, or what it belongs to is gone."},
    {SQLITE_CONSTRAINT_TRIGGER, ERR_CONFLICT, "It still holds something."},
    {SQLITE_FULL, ERR_STORAGE,
     "The disk that holds the database is full; free some space and try again."},
    {SQLITE_IOERR, ERR_STORAGE,
     "The database could not be read or written; look at the disk and the daemon's log."},
    {SQLITE_CORRUPT, ERR_STORAGE, "The database is damaged; restore it from a backup."},
    {SQLITE_NOTADB, ERR_STORAGE, "The file is not a database; restore it from a backup."},
    {SQLITE_BUSY, ERR_STORAGE, "The database is in use by another program."},
    {SQLITE_READONLY, ERR_STORAGE, "The database may not be written; look at its permissions."},
    {SQLITE_PERM, ERR_STORAGE, "The database may not be opened; look at its permissions."},
    {SQLITE_CANTOPEN, ERR_STORAGE, "The database cannot be opened; look at its directory."},
};

static int translate(int rc, struct err *e)
{
    for (size_t i = 0; i < sizeof sql_errors / sizeof sql_errors[0]; i++) {
        if (sql_errors[i].rc == rc || sql_errors[i].rc == (rc & 0xff))
            return err_set(e, sql_errors[i].code, NULL, "%s", sql_errors[i].msg);
    }
    return err_set(e, ERR_STORAGE, NULL, "The database failed; the daemon's log says how.");
}

int st_err_from_sqlite(struct storage *st, int rc, const char *what, struct err *e)
{
    int ext = sqlite3_extended_errcode(st->db);
    if ((ext & 0xff) != (rc & 0xff))
        ext = rc;
    struct err local;
    translate(ext, &local);
    enum log_level level = local.code == ERR_CONFLICT ? LOG_LVL_DEBUG : LOG_LVL_ERROR;
    LOG_AT(st->log, level, "db.failed", LF_STR("what", what), LF_INT("sqlite", ext),
           LF_STR("error", sqlite3_errmsg(st->db)), LF_INT("errno", sqlite3_system_errno(st->db)));
    /* Full disk and I/O errors may end the whole transaction: then nothing of the turn is left,
     * and nothing more may be added to it as if it were. */
    if (st->in_turn && !st->turn_doomed && sqlite3_get_autocommit(st->db)) {
        st->turn_doomed = true;
        st->doom = local;
    }
    if (e)
        *e = local;
    return -1;
}

int st_exec(struct storage *st, const char *sql, const char *what, struct err *e)
{
    int rc = sqlite3_exec(st->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : st_err_from_sqlite(st, rc, what, e);
}
