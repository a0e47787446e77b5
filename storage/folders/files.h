/* SPDX-License-Identifier: MIT
 *
 * The files room: folders that may hang. A share is a folder, on a network as likely as not; a call
 * on one of its files can take as long as its server likes. So the loop does none of it itself:
 *
 *   files_...() -> queue of the share -> one of its two workers -> callback on the loop
 *
 * Each share has at most two workers of its own. They start when there is work and end a while
 * after it, even if files are still open. A share that hangs holds its two workers and nobody
 * else's: when both have been in one call for FILES_HUNG_US, all waiting and new work for the share
 * fails with ERR_UNAVAILABLE (503 to a client) until a worker comes back. The calls that the two
 * workers are in are not given up: they are answered when the share goes on. Time in which the loop
 * itself stood still, as on a machine that was paused, does not count. Long work (a large
 * directory) is done in steps, and lets others go first after each.
 *
 * Folders in memory cannot hang (files_in_memory()); what is quick there is done on the loop.
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
#define FILES_HUNG_US 2000000 /* a call that takes longer counts as hung */

struct files;

struct files *files_create(struct loop *loop, const struct log *log);
/* If the file system of this folder is in memory, so are all folders below it on which nothing is
 * mounted: true. Before the first work. */
bool files_in_memory(struct files *f, const char *folder);
/* Fails with ERR_UNAVAILABLE whatever clients still wait for. */
void files_end_requests(struct files *f);
/* Takes no more work, ends what clients wait for and gives the rest some seconds. Work that hangs
 * even then is left behind, and its callbacks get ERR_UNAVAILABLE too. `stopped` runs after the
 * last callback; `f` is gone then. All files must have been closed. */
void files_stop(struct files *f, void (*stopped)(void *ctx, size_t left_behind), void *ctx);

struct files_counts {
    size_t shares, hung;  /* with workers now; of these, how many hang */
    size_t waiting, open; /* pieces of work without a worker; files */
    uint64_t done;        /* pieces of work, ever */
    uint64_t refused;     /* of clients' requests: share hung, queue full, too many shares busy */
    uint64_t bytes;       /* read */
};
void files_count(const struct files *f, struct files_counts *out);

/* A file or directory: `path` below the folder `share`; "" is the folder. */
struct file_place {
    const char *share, *path;
};

/* In every callback `why` is NULL on success. ERR_UNAVAILABLE: the share hangs or the daemon stops.
 * ERR_FILE_NOT_FOUND: not there. ERR_IO: anything else. Its message is a phrase for "..., because
 * ...", without the path. */

/* What went wrong, as far as a caller may want to tell it apart. */
enum file_fault {
    FILE_FINE,
    FILE_MISSING,
    FILE_PARENT_MISSING, /* not even the directory above is there, or that is a file */
    FILE_IS_FILE,
    FILE_IS_DIRECTORY,
    FILE_SPECIAL,   /* a FIFO, a device, a socket */
    FILE_LEADS_OUT, /* by links, or in circles */
    FILE_NOT_EMPTY,
    FILE_BAD_NAME,   /* that no file can have, or that is kept for ourselves */
    FILE_BEYOND_END, /* of the file */
    FILE_MD5_WRONG,
    FILE_CRC64_WRONG,
    FILE_TOO_LARGE, /* for the file system */
    FILE_FULL,      /* the file system, or what a quota allows */
    FILE_FORBIDDEN, /* to the daemon */
    FILE_UNAVAILABLE,
    FILE_BROKEN, /* anything else */
    FILE_FAULTS
};

/* --- reading ---------------------------------------------------------------------------------- */

struct file;

/* Inode, size and mtime_ns together say whether somebody else wrote since. */
struct file_facts {
    uint64_t size;
    int64_t mtime_us; /* to be shown */
    int64_t mtime_ns, ctime_ns, atime_ns;
    int64_t btime_ns; /* 0: the file system does not know it */
    uint64_t inode, device;
    bool is_directory;
};

struct file_range {
    uint64_t offset, len;
};

/* How much of a file is read at a time. It shrinks as more files are open, because the memory that
 * read but unsent bytes of all files take together is bounded, however slowly clients read. */
#define FILES_PIECE_MAX (256 * 1024)
#define FILES_PIECE_MIN (16 * 1024)
size_t files_piece(const struct files *f);
/* The same for bytes that are written. Larger, because for each piece two workers are waited for.
 */
#define FILES_WRITTEN_MAX (1024 * 1024)
size_t files_written_piece(const struct files *f);

#define FILES_MD5 16 /* bytes */

struct files_open {
    struct file_place at;
    /* Chooses the wanted bytes of a file of `size` bytes. Runs on a worker, so it may look at
     * nothing but `text` (a copy of the member below, which may be NULL). NULL: no bytes are
     * wanted. */
    struct file_range (*choose)(const char *text, uint64_t size);
    const char *text;
    size_t at_once; /* if no more than so many bytes are wanted, all are read on opening, unless
                       many files are open */
    bool wants_md5; /* of all wanted bytes, if all are read on opening */
};

/* What was found on opening: the file's facts and the first files_piece() of the bytes that are
 * wanted (fewer: the file has become shorter), which are read on the way, or all: at_once. */
struct file_start {
    enum file_fault fault; /* with a `why`, this alone is set */
    struct file_facts facts;
    struct file_range range;
    char *bytes; /* malloc; a callback that takes them leaves NULL */
    size_t n;
    bool is_all;            /* all wanted bytes are here: there will be no file_read() */
    uint8_t md5[FILES_MD5]; /* of `bytes`: with wants_md5 and is_all */
};

/* `file` is the callback's, to be closed when its bytes are sent. Regular files only. */
typedef void (*files_opened)(void *ctx, const struct err *why, struct file *file,
                             struct file_start *start);
void files_open(struct files *f, const struct files_open *what, files_opened cb, void *ctx);
/* The same of a share in memory, inside the call. False: nothing was done, and files_open() has to
 * be called. */
bool files_open_now(struct files *f, const struct files_open *what, files_opened cb, void *ctx);

/* `bytes` (malloc) become the callback's; `n` is less than `max` at the file's end only. */
typedef void (*files_read)(void *ctx, const struct err *why, char *bytes, size_t n);
/* One at a time for each file. It waits for a worker as long as it must: its reply has begun. */
void file_read(struct file *file, uint64_t offset, size_t max, files_read cb, void *ctx);
/* A read under way does not call back any more. */
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
    size_t left_out; /* how many more entries cannot be shown, or are beyond `max` */
};
/* Of two entries, for qsort(). */
int file_entry_by_name(const void *a, const void *b);

struct files_list {
    struct file_place at;
    const char *base; /* above at.path; see base_is_missing */
    size_t max;       /* entries */
    bool files_only;
};
/* What is in a directory: regular files, links to such inside the share, and directories. `found`
 * (NULL with a `why`) may be emptied by the callback; what it leaves is freed. base_is_missing:
 * the directory is not there, because not even `base` is. */
typedef void (*files_listed)(void *ctx, const struct err *why, struct file_entries *found,
                             bool base_is_missing);
void files_list(struct files *f, const struct files_list *what, files_listed cb, void *ctx);

/* --- the daemon's own work: never refused for a share that hangs, waits as long as it must --- */

typedef void (*files_done)(void *ctx, const struct err *why);
/* Whether there is anything at `path`: ERR_FILE_NOT_FOUND if not. `share` says whose workers look.
 */
void files_look(struct files *f, const char *share, const char *path, files_done cb, void *ctx);
/* rm -rf of a folder, see fs_remove_tree(). */
void files_remove_tree(struct files *f, const char *share, const char *path, files_done cb,
                       void *ctx);
/* Appends `text` to a file, which is made if it is missing, as are the directories above it: both
 * open to all, because jobs may run as somebody else. */
void files_append(struct files *f, const struct file_place *at, const char *text, files_done cb,
                  void *ctx);
/* The names in a directory, which is a share of its own. */
void files_names(struct files *f, const char *folder, files_listed cb, void *ctx);

/* Work that is not one of these, on what is in `folder`. */
struct files_task {
    void (*work)(void *ctx); /* on a worker; touches what `ctx` is and nothing else */
    /* Without a `why` the work was done, and the caller owns `ctx` again. With one it was not done,
     * or `work` has not ended yet. */
    files_done done;
    /* Frees a `ctx` that was not given back; never while `work` runs. Not called for work that is
     * left behind. */
    void (*destroy)(void *ctx);
};
struct files_work;
/* The result is valid until `done` has run, or files_forget(). */
struct files_work *files_run(struct files *f, const char *folder, const struct files_task *task,
                             void *ctx);
/* `done` does not run any more; work that has not begun is not done. */
void files_forget(struct files_work *work);

#endif
