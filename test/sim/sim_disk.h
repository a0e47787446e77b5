/* SPDX-License-Identifier: MIT
 *
 * A disk that can lose what was not synced, and be full: a SQLite VFS over the system's. Files are
 * real, in a directory of their own (in memory, where there is /dev/shm); what each held before the
 * writes since its last sync is remembered, and a crash takes back all but the first few of them.
 */
#ifndef TEST_SIM_DISK_H
#define TEST_SIM_DISK_H

#include <stdbool.h>

#include "test/sim/sim_loop.h"

struct sim_disk;

/* Becomes SQLite's default VFS. Call once. `dir` is made, and is the caller's to remove. */
void sim_disk_begin(const char *dir);
/* What a new disk holds: the files of the first one, as they are. */
void sim_disk_keep_template(const struct sim_disk *d);
void sim_disk_free_template(void);

/* An empty disk, or one that holds the template. Files opened from now on are on it. */
struct sim_disk *sim_disk_new(void);
/* What is left of `d` after a crash. Whoever has files of `d` open still may go on, to no effect.
 */
struct sim_disk *sim_disk_crash(struct sim_disk *d, struct sim_time *t);
/* Its files are closed. */
void sim_disk_free(struct sim_disk *d);

const char *sim_disk_path(const struct sim_disk *d, const char *name, char *buf, int size);
/* fdatasync() of a descriptor of the WAL, which the storage has beside SQLite's. */
int sim_disk_sync(int fd);
/* No file can grow. */
void sim_disk_set_full(struct sim_disk *d, bool full);
/* Since the disk came to be: how many writes were made, how many of them were synced. */
void sim_disk_counts(const struct sim_disk *d, long *writes, long *syncs);

#endif
