/* SPDX-License-Identifier: MIT
 *
 * Access to folders that may hang. A share is a folder, often on a network; a call on one of its
 * files can take as long as its server likes. So the loop makes no such call itself:
 *
 * files_...() -> queue of the share -> one of its two workers -> callback on the loop
 *
 * Each share has at most two workers of its own. They start when there is work and end a while
 * after it, even if files are still open. A share that hangs blocks only its two workers: when both
 * have been in one call for FILES_HUNG_US, all waiting and new work for the share fails with
 * ERR_UNAVAILABLE (503 to a client) until a worker returns. The calls of the two workers are not
 * abandoned: they are answered when the share continues. Time in which the loop itself stood still,
 * as on a paused machine, does not count. Long work (a large directory) is done in steps, and lets
 * other work run after each.
 *
 * Folders in memory cannot hang (files_in_memory()); quick work there is done on the loop.
 *
 * Callbacks run on the loop, once, never inside the call. Texts are copied. Symbolic links are
 * followed as long as they stay below the share's folder (openat2 with RESOLVE_BENEATH).
 *
 * This header reads and lists; change.h makes, writes and removes.
 */
#ifndef STORAGE_FOLDERS_FILES_H
#define STORAGE_FOLDERS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"
#include "lib/log.h"
#include "lib/loop.h"

#define FILES_WORKERS 2       /* of one share */
#define FILES_HUNG_US 2000000 /* us; a call that takes longer counts as hanging */

struct files;

struct files *files_create(struct loop *loop, const struct log *log);
/* Whether the file system of this folder is in memory. If so, all folders below it without a mount
 * are treated as in memory. Call before the first work. */
bool files_in_memory(struct files *f, const char *folder);
/* Fails the pending work of clients with ERR_UNAVAILABLE. */
void files_end_requests(struct files *f);
/* Accepts no more work, ends clients' work and gives the rest some seconds. Work that hangs even
 * then is abandoned, and its callbacks get ERR_UNAVAILABLE too. `stopped` runs after the last
 * callback; then `f` is freed. All files must have been closed before. */
void files_stop(struct files *f, void (*stopped)(void *ctx, size_t left_behind), void *ctx);

struct files_counts {
    size_t shares, hung;  /* shares with workers now; shares that hang */
    size_t waiting, open; /* pieces of work without a worker; open files */
    uint64_t done;        /* pieces of work, ever */
    /* requests of clients that failed: share hung, queue full, too many shares busy */
    uint64_t refused;
    uint64_t bytes; /* bytes that were read */
};
void files_count(const struct files *f, struct files_counts *out);

/* A file or directory: `path` below the folder `share`; "" is the folder itself. */
struct file_place {
    const char *share, *path;
};

/* In every callback `why` is NULL on success. ERR_UNAVAILABLE: the share hangs or the daemon stops.
 * ERR_FILE_NOT_FOUND: missing. ERR_IO: other failures. The message of `why` is a phrase that fits
 * after "because", without the path. */

/* The kind of a failure, for callers that treat kinds differently. */
enum file_fault {
    FILE_FINE,
    FILE_MISSING,
    FILE_PARENT_MISSING, /* the parent directory does not exist, or is a file */
    FILE_IS_FILE,
    FILE_IS_DIRECTORY,
    FILE_SPECIAL,   /* a FIFO, a device, a socket */
    FILE_LEADS_OUT, /* the path leads out of the share by links, or its links form a circle */
    FILE_NOT_EMPTY,
    FILE_BAD_NAME,   /* not possible as a file name, or reserved for the daemon */
    FILE_BEYOND_END, /* the bytes lie beyond the file's end */
    FILE_MD5_WRONG,
    FILE_CRC64_WRONG,
    FILE_TOO_LARGE, /* too large for the file system */
    FILE_FULL,      /* the file system is full, or a quota is used up */
    FILE_FORBIDDEN, /* the daemon may not access it */
    FILE_UNAVAILABLE,
    FILE_BROKEN, /* anything else */
    FILE_FAULTS
};

/* --- reading ---------------------------------------------------------------------------------- */

struct file;

/* Inode, size and mtime_ns together show whether another process has written since. */
struct file_facts {
    uint64_t size;
    int64_t mtime_us; /* to be shown */
    int64_t mtime_ns, ctime_ns, atime_ns;
    int64_t btime_ns; /* 0: unknown to the file system */
    uint64_t inode, device;
    bool is_directory;
};

struct file_range {
    uint64_t offset, len;
};

/* The most bytes of one read of a file. Fewer if many files are open, because the memory for bytes
 * of all files that are read but not sent yet is bounded, however slowly clients read. */
#define FILES_PIECE_MAX (256 * 1024)
#define FILES_PIECE_MIN (16 * 1024)
size_t files_piece(const struct files *f);
/* The most bytes of one write. Larger than a read, because each piece waits for two workers. */
#define FILES_WRITTEN_MAX (1024 * 1024)
size_t files_written_piece(const struct files *f);

#define FILES_MD5 16 /* bytes */

struct files_open {
    struct file_place at;
    /* Chooses the wanted bytes of a file of `size` bytes. Runs on a worker, so it may read only
     * `text`: a copy of the member below, or NULL. NULL: no bytes are wanted. */
    struct file_range (*choose)(const char *text, uint64_t size);
    const char *text;
    size_t at_once; /* up to this many wanted bytes are all read on opening, unless many files are
                       open */
    bool wants_md5; /* compute the MD5 of all wanted bytes, if all are read on opening */
};

/* The result of opening: the file's facts and the first files_piece() of the wanted bytes (fewer:
 * the file has become shorter). at_once: these are all wanted bytes. */
struct file_start {
    enum file_fault fault; /* if `why` is set, only this member is valid */
    struct file_facts facts;
    struct file_range range;
    char *bytes; /* malloc'ed; a callback that keeps them sets NULL */
    size_t n;
    bool is_all;            /* these are all wanted bytes: file_read() will not be called */
    uint8_t md5[FILES_MD5]; /* of `bytes`: with wants_md5 and is_all */
};

/* The callback owns `file` and closes it when its bytes are sent. Regular files only. */
typedef void (*files_opened)(void *ctx, const struct err *why, struct file *file,
                             struct file_start *start);
void files_open(struct files *f, const struct files_open *what, files_opened cb, void *ctx);
/* Like files_open(), but opens the file inside the call if the share is in memory. False: not done;
 * call files_open(). */
bool files_open_now(struct files *f, const struct files_open *what, files_opened cb, void *ctx);

/* The callback owns `bytes` (malloc'ed); `n` is less than `max` only at the file's end. */
typedef void (*files_read)(void *ctx, const struct err *why, char *bytes, size_t n);
/* Reads a file; one call at a time for each file. Waits for a worker without limit, because the
 * reply has begun. */
void file_read(struct file *file, uint64_t offset, size_t max, files_read cb, void *ctx);
/* Closes the file; a pending read does not call back any more. */
void file_close(struct file *file);

/* --- listing ---------------------------------------------------------------------------------- */

struct file_entry {
    char *name; /* owned */
    bool is_dir;
    int64_t size, mtime_us;
};

struct file_entries {
    struct file_entry *entry; /* owned; ordered by name */
    size_t n;
    size_t left_out; /* how many more entries are not shown, or exceed `max` */
};
/* Compares two entries, for qsort(). */
int file_entry_by_name(const void *a, const void *b);

struct files_list {
    struct file_place at;
    const char *base; /* above at.path; see base_is_missing */
    size_t max;       /* the most entries */
    bool files_only;
};
/* Lists a directory: regular files, links to regular files inside the share, and directories. The
 * callback may take the items out of `found` (NULL if `why` is set); the rest is freed.
 * base_is_missing: not even `base` exists. */
typedef void (*files_listed)(void *ctx, const struct err *why, struct file_entries *found,
                             bool base_is_missing);
void files_list(struct files *f, const struct files_list *what, files_listed cb, void *ctx);

/* --- the daemon's own work: does not fail because a share hangs, waits without limit --- */

typedef void (*files_done)(void *ctx, const struct err *why);
/* Checks whether `path` exists: ERR_FILE_NOT_FOUND if not. The workers of `share` do this. */
void files_look(struct files *f, const char *share, const char *path, files_done cb, void *ctx);
/* rm -rf of a folder, see fs_remove_tree(). */
void files_remove_tree(struct files *f, const char *share, const char *path, files_done cb,
                       void *ctx);
/* Appends `text` to a file; makes the file and its parent directories if they are missing, both
 * open to all, because jobs may run as other accounts. */
void files_append(struct files *f, const struct file_place *at, const char *text, files_done cb,
                  void *ctx);
/* The names in a directory, which is handled like a share: it has separate workers. */
void files_names(struct files *f, const char *folder, files_listed cb, void *ctx);

/* Other work on the content of `folder`. */
struct files_task {
    void (*work)(void *ctx); /* on a worker; touches only `ctx` */
    /* `why` NULL: the work was done, and the caller owns `ctx` again. `why` set: the work was not
     * done, or `work` has not returned yet. */
    files_done done;
    /* Frees a `ctx` that was not returned to the caller; never called while `work` runs, nor for
     * abandoned work. */
    void (*destroy)(void *ctx);
};
struct files_work;
/* Runs a task on a worker. The result is valid until `done` has run, or until files_forget(). */
struct files_work *files_run(struct files *f, const char *folder, const struct files_task *task,
                             void *ctx);
/* After this `done` is not called any more, and work that has not begun is not done. */
void files_forget(struct files_work *work);

#endif
