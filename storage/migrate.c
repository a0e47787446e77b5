/* SPDX-License-Identifier: MIT
 *
 * Migrations: migrations/NNNN_name.sql, embedded at build, each applied in one transaction that
 * also sets user_version. Never edited once landed.
 */
#include <stdio.h>

#include "storage/storage_priv.h"

static const struct migration {
    int version;
    const char *name, *sql;
} migrations[] = {
#include "migrations.inc"
};

enum { N_MIGRATIONS = sizeof migrations / sizeof migrations[0] };

int st_schema_version(void)
{
    return migrations[N_MIGRATIONS - 1].version;
}

static int user_version(struct storage *st, int *v, struct err *e)
{
    sqlite3_stmt *s;
    int rc = sqlite3_prepare_v2(st->db, "PRAGMA user_version", -1, &s, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
        *v = sqlite3_column_int(s, 0);
        rc = SQLITE_OK;
    }
    sqlite3_finalize(s);
    return rc == SQLITE_OK ? 0 : st_err_from_sqlite(st, rc, "user_version", e);
}

static int apply(struct storage *st, const struct migration *m, struct err *e)
{
    char mark[120];
    snprintf(mark, sizeof mark, "PRAGMA user_version = %d; PRAGMA application_id = %d; COMMIT",
             m->version, ST_APPLICATION_ID);
    if (st_exec(st, "BEGIN IMMEDIATE", m->name, e) < 0)
        return -1;
    if (st_exec(st, m->sql, m->name, e) < 0 || st_exec(st, mark, m->name, e) < 0) {
        if (!sqlite3_get_autocommit(st->db))
            sqlite3_exec(st->db, "ROLLBACK", NULL, NULL, NULL);
        return err_prefix(e, "migration %s", m->name);
    }
    LOG_INFO(st->log, "db.migrated", LF_STR("migration", m->name), LF_INT("version", m->version));
    return 0;
}

int st_migrate(struct storage *st, struct err *e)
{
    int version = 0;
    if (user_version(st, &version, e) < 0)
        return -1;
    for (int i = 0; i < N_MIGRATIONS; i++) {
        if (migrations[i].version > version && apply(st, &migrations[i], e) < 0)
            return -1;
    }
    return 0;
}
