/* SPDX-License-Identifier: MIT
 *
 * Migrations: migrations/NNNN_name.sql, embedded at build, applied in one transaction that also
 * sets user_version. They are never edited after their release. Foreign keys are off meanwhile, so
 * that a table can be rebuilt without deleting the rows that refer to the old one; the keys are
 * checked before the commit.
 *
 * SQLite takes tens of milliseconds to apply all migrations, so the build makes the database that
 * results, and a new database is written as that file.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "lib/fs.h"
#include "storage/storage_priv.h"

int st_schema_version(void)
{
    int n;
    const struct st_migration *list = st_migrations(&n);
    return list[n - 1].version;
}

static int apply(struct storage *st, const struct st_migration *m, struct err *e)
{
    char mark[120];
    snprintf(mark, sizeof mark, "PRAGMA user_version = %d; PRAGMA application_id = %d", m->version,
             ST_APPLICATION_ID);
    if (st_exec(st, m->sql, m->name, e) < 0 || st_exec(st, mark, m->name, e) < 0 ||
        st_check_foreign_keys(st, e) < 0)
        return err_prefix(e, "migration %s", m->name);
    return 0;
}

/* In one transaction: pages that many migrations change are written once, and a failed migration
 * leaves the database unchanged. */
static int apply_all(struct storage *st, const struct st_migration *list, int n, struct err *e)
{
    st_sql_say(st, "migrating the database");
    int rc = st_exec(st, "BEGIN IMMEDIATE", "migrations", e);
    for (int i = 0; i < n && rc == 0; i++) {
        assert(i == 0 || list[i].version > list[i - 1].version);
        rc = apply(st, &list[i], e);
    }
    if (rc == 0)
        rc = st_exec(st, "COMMIT", "migrations", e);
    st_sql_say(st, NULL);
    for (int i = 0; i < n && rc == 0; i++)
        LOG_INFO(st->log, "db.migrated", LF_STR("migration", list[i].name),
                 LF_INT("version", list[i].version));
    struct err ignored;
    if (rc < 0 && st_sql_in_transaction(st) && st_exec(st, "ROLLBACK", "migrations", &ignored) < 0)
        LOG_ERROR(st->log, "db.rollback_failed", LF_STR("why", ignored.msg));
    return rc;
}

int st_migrate_by(struct storage *st, const struct st_migration *list, int n, struct err *e)
{
    int64_t version = 0;
    int done = 0;
    assert(!st->in_turn && !st->in_read); /* foreign keys cannot be switched in a transaction */
    if (st_query_int(st, "PRAGMA user_version", "user_version", &version, e) < 0)
        return -1;
    while (done < n && list[done].version <= version)
        done++;
    if (done == n)
        return 0;
    if (st_exec(st, "PRAGMA foreign_keys = OFF", "foreign_keys", e) < 0)
        return -1;
    int rc = apply_all(st, list + done, n - done, e);
    struct err ignored;
    if (st_exec(st, "PRAGMA foreign_keys = ON", "foreign_keys", rc == 0 ? e : &ignored) < 0)
        rc = -1;
    return rc;
}

int st_migrate(struct storage *st, struct err *e)
{
    int n;
    const struct st_migration *list = st_migrations(&n);
    return st_migrate_by(st, list, n, e);
}

/* A part of the file; everything outside of the parts is zero. */
struct image_piece {
    unsigned at, n;
    const char *bytes;
};

#include "image.inc"

int st_image_write(const char *path, bool sync, struct err *e)
{
    struct stat s;
    /* An existing file, even an empty one, belongs to somebody: it gets the migrations, and is not
     * replaced. */
    if (lstat(path, &s) == 0 || errno != ENOENT)
        return 0;
    char *file = mmap(NULL, IMAGE_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (file == MAP_FAILED)
        return err_errno(e, ERR_STORAGE, "cannot create the database %s", path);
    for (size_t i = 0; i < sizeof image / sizeof image[0]; i++)
        memcpy(file + image[i].at, image[i].bytes, image[i].n);
    struct err why;
    int rc = fs_write_whole(path, file, IMAGE_BYTES, 0600, sync, &why);
    munmap(file, IMAGE_BYTES);
    return rc < 0 ? err_set(e, ERR_STORAGE, NULL, "%s", why.msg) : 1;
}
