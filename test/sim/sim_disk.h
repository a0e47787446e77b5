/* SPDX-License-Identifier: MIT
 *
 * A disk that can lose what was not synced, and be full: a SQLite VFS in memory. What each file
 * held before the writes since its last sync is remembered, and a crash takes back all but the
 * first few of them. The few things that the storage does to files beside SQLite (it looks whether
 * there is a database, keeps its key, syncs the WAL by a descriptor of its own) it does to real
 * files that stand for those of every disk: `db` is the template, `db-wal` is empty.
 */
#ifndef TEST_SIM_DISK_H
#define TEST_SIM_DISK_H

#include <stdbool.h>

#include "test/sim/sim_loop.h"

struct sim_disk;

/* Becomes SQLite's default VFS. Call once, before SQLite is used. `dir` exists, and is the caller's
 * to remove. */
void sim_disk_begin(const char *dir);
/* What a new disk holds: the database of the first one, as it is after it was closed. */
void sim_disk_keep_template(const struct sim_disk *d);
void sim_disk_free_template(void);

/* An empty disk, or one that holds the template. */
struct sim_disk *sim_disk_new(void);
/* Files opened from now on are on it, and what is synced is there. */
void sim_disk_use(struct sim_disk *d);
/* What is left of `d` after a crash. Whoever has files of `d` open still may go on, to no effect.
 */
struct sim_disk *sim_disk_crash(struct sim_disk *d, struct sim_time *t);
/* Another disk with what a reader finds on `d` now, all of it synced. */
struct sim_disk *sim_disk_copy(const struct sim_disk *d);
/* Its files are closed, or will be. NULL: nothing. */
void sim_disk_free(struct sim_disk *d);

struct sqlite3;
/* A connection that is in no transaction goes to the disk that is used now, or leaves its own. */
void sim_disk_attach(struct sqlite3 *db);
void sim_disk_detach(struct sqlite3 *db);
/* From now on connections are kept, with their statements (sim_sql.c). */
void sim_sql_keep(void);

/* The path of a file of every disk: "db" or "key". */
const char *sim_disk_path(const char *name, char *buf, int size);
/* fdatasync() of a descriptor of the WAL, which the storage has beside SQLite's. */
int sim_disk_sync(int fd);
/* No file can grow. */
void sim_disk_set_full(struct sim_disk *d, bool full);

#endif
