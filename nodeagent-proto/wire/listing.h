/* SPDX-License-Identifier: MIT
 *
 * Lists and reads files below a directory, and nothing outside it. For a worker, because a dead
 * file system may hang.
 */
#ifndef NODEAGENT_PROTO_WIRE_LISTING_H
#define NODEAGENT_PROTO_WIRE_LISTING_H

#include <stdint.h>

#include "lib/err.h"
#include "nodeagent-proto/wire/task.h"

struct disk_listing {
    struct node_dir_entry *entries; /* sorted by name */
    size_t n;
    bool cut;         /* the directory has more than 100,000 entries: the list lacks the others */
    int64_t left_out; /* entries that no list can show, see below */
};

/* Lists regular files, directories, and links to regular files inside `base`. Links to directories
 * are not listed, because they could make a walk endless. Left out and counted: names that are not
 * UTF-8. An entry that cannot be looked at is listed by its kind, with size and time 0. */
int disk_list(const char *base, const char *path, struct disk_listing *out,
              struct err *e) MUST_CHECK;
void disk_list_free(struct disk_listing *l);

struct disk_part {
    char *bytes; /* n bytes, from the offset on */
    size_t n;
    int64_t size, mtime_us; /* of the whole file */
    int64_t mode;           /* st_mode */
    int64_t inode;          /* differs between files, made from inode number and time of birth */
};

/* Reads up to `max` bytes of a regular file. The caller frees out->bytes. */
int disk_read_file(const char *base, const char *path, int64_t offset, size_t max,
                   struct disk_part *out, struct err *e) MUST_CHECK;

#endif
