/* SPDX-License-Identifier: MIT
 *
 * The files of a job's output directories, on a share (job_files.c) or on nodes (node_files.c):
 * their lists, for listOutputFiles and for web pages (api/browse/), and their bytes (job_bytes.c).
 * Entries are added in any order, and shown in pages sorted by name.
 */
#ifndef API_ARM_BATCHAI_FILE_LIST_H
#define API_ARM_BATCHAI_FILE_LIST_H

#include "api/arm/batchai/batchai.h"
#include "api/http/page.h"
#include "api/plane/storage/link.h"
#include "model/resource.h"
#include "storage/folders/files.h"

/* The parts of the daemon that list and read the files. */
struct output_source {
    struct runs *runs;
    struct fleet *fleet;
    struct files *files;
    const char *storage_dir;
};

/* The names of a request's parameters, for errors. */
struct output_names {
    const char *id, *directory;
};

/* An output directory. */
struct output_place {
    const char *id;
    const char *prefix;                /* its path in the job's document */
    const struct mount_volume *volume; /* NULL: it is on the nodes' own disks */
    const char *base;                  /* its path on that share or container */
};

struct file_list {
    struct request *r; /* its memory contains this struct */
    struct output_source of;
    const struct output_names *names;
    /* Adds an entry to the page; the place of an entry in the list is its name. NULL: adds it like
     * listOutputFiles, where the place of an entry is its position. */
    void (*show)(struct file_list *l, const struct file_entry *en);
    struct page *page;
    long expiry_minutes;
    const char *id;           /* of the output directory */
    const char *prefix;       /* its path in the job's document, for messages */
    const char *directory;    /* the requested directory, below the output directory */
    bool is_base;             /* lists the output directory itself, which may be missing */
    bool shows_directories;   /* false for 2017 */
    bool hides_log;           /* hides the service's own log; true for 2017 */
    struct file_ref dir;      /* for download links; path: the listed directory */
    struct file_entry *entry; /* owned, with the names */
    size_t n;
    size_t *left_out; /* gets the number of omitted entries; or NULL */
};

/* Finds the job's output directory with this id. Error: ERR_OUTPUT_DIRECTORY_NOT_FOUND. */
int output_find(struct request *r, const struct job *j, const char *id,
                const struct output_names *names, struct output_place *out,
                struct err *e) MUST_CHECK;
/* Lists l->directory of the output directory l->id. */
REPLIED job_files_list(struct file_list *l, const struct job *j);
/* Sets l->directory and l->is_base from a parameter (NULL: the output directory itself).
 * ERR_INVALID_PATH: the path is outside of the output directory. */
int file_list_set_directory(struct file_list *l, const char *directory, struct err *e) MUST_CHECK;

void file_list_add(struct file_list *l, const char *name, bool is_dir, int64_t size,
                   int64_t mtime_us);
bool file_list_has(const struct file_list *l, const char *name);
REPLIED file_list_reply(struct file_list *l);
/* Frees the list's entries, which are not in the request's memory: for request_keep(). */
void file_list_release(void *list);

/* --- node_files.c --------------------------------------------------------------------------- */

/* Lists files on the local disks of the job's nodes. ERR_NOT_ON_MOUNT_ROOT: no node has the files
 * any more. *out: the reply, or reply_later() if nodes must be asked. */
int node_files_list(struct file_list *l, const struct job *j, struct replied **out,
                    struct err *e) MUST_CHECK;
/* Like node_files_list(), for a request that has returned reply_later() already. */
void node_files_finish(struct file_list *l, const struct job *j);
/* The node that has the file `path` of an output directory; *there is the path on that node. Files
 * of the first node are listed by their own paths, files of another node below the node's name.
 * NULL: the file would be on the first node, which was deleted. */
const struct output_dir *node_files_choose(const struct output_dir *at, size_t n, const char *path,
                                           const char **there);

/* --- job_bytes.c ---------------------------------------------------------------------------- */

/* Replies to GET or HEAD of a file, also with byte ranges, from a share or a node. */
struct job_bytes {
    struct output_source of;
    const struct output_names *names;
    const char *id;   /* of the output directory */
    const char *path; /* the path below the output directory */
    const char *type; /* Content-Type */
};
REPLIED job_bytes_send(struct request *r, const struct job *j, const struct job_bytes *what);

#endif
