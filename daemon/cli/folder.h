/* SPDX-License-Identifier: MIT
 *
 * Finds the files of a folder that `submit` copies: all files that git does not ignore, except
 * those that .batchaidignore files match.
 */
#ifndef DAEMON_CLI_FOLDER_H
#define DAEMON_CLI_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lib/arena.h"
#include "lib/err.h"

enum folder_kind { FOLDER_FILE, FOLDER_DIR, FOLDER_LINK };

struct folder_entry {
    const char *path; /* below the folder */
    enum folder_kind kind;
    bool executable;
    int64_t size;
    struct timespec changed; /* mtime */
    const char *target;      /* of a link */
};

struct folder_note {
    const char *path, *why;
};

struct folder_notes {
    struct folder_note *items;
    size_t n, cap;
};

struct folder {
    char *dir;
    struct arena arena;
    struct folder_entry *entries; /* a directory comes before its content */
    size_t n, cap;
    size_t files;                       /* how many entries are files */
    int64_t bytes;                      /* the bytes of all files */
    struct folder_notes left, warnings; /* left: not copied; warnings: copied, but with a problem */
};

/* Lists the folder without opening its files. ERR_CONFIG: the folder cannot be read, or its rules
 * cannot be applied. The caller frees *out even after an error. */
int folder_list(const char *dir, struct folder *out, struct err *e) MUST_CHECK;
void folder_note(struct folder *f, struct folder_notes *notes, const char *path, const char *why);
void folder_free(struct folder *f);

/* --- names that git takes (folder_git.c) --- */

struct folder_names {
    char *text;         /* all names, with NULs */
    const char **items; /* pointers into `text`, sorted */
    size_t n;
    bool all; /* no rules apply, so everything is taken */
};

int folder_names_read(const char *dir, struct folder_names *out, struct err *e) MUST_CHECK;
bool folder_names_have(const struct folder_names *names, const char *path);
/* Whether something below this directory is taken. */
bool folder_names_below(const struct folder_names *names, const char *path);
void folder_names_free(struct folder_names *names);

#endif
