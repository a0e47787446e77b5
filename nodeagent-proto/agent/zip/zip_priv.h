/* SPDX-License-Identifier: MIT */
#ifndef NODEAGENT_PROTO_AGENT_ZIP_ZIP_PRIV_H
#define NODEAGENT_PROTO_AGENT_ZIP_ZIP_PRIV_H

#include <minizip/unzip.h>

#include "lib/arena.h"
#include "nodeagent-proto/agent/zip/zip.h"

struct zip {
    int fd; /* borrowed */
    uint64_t file_size, at;
    bool failed; /* the file could not be read */
    unzFile unz;
    struct arena a; /* entries and their names */
    struct zip_entry *entries;
    size_t n;
};

/* names.c: fills entry->path and is_directory from a name in the archive. */
int zip_name(struct zip *z, const char *name, size_t n, struct zip_entry *entry,
             struct err *e) MUST_CHECK;
/* Refuses a path that occurs twice, or is below a file. */
int zip_check_paths(struct zip *z, struct err *e) MUST_CHECK;

#endif
