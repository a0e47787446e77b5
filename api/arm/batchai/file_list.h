/* SPDX-License-Identifier: MIT
 *
 * The list of files in the answer of listOutputFiles, found on a share (job_files.c) or on nodes
 * (node_files.c). Entries are added in any order, and shown in pages sorted by name.
 */
#ifndef API_ARM_BATCHAI_FILE_LIST_H
#define API_ARM_BATCHAI_FILE_LIST_H

#include "api/arm/batchai/batchai.h"
#include "api/http/page.h"
#include "api/plane/storage/link.h"
#include "model/resource.h"
#include "storage/folders/files.h"

struct file_list {
    struct request *r; /* the list lives in its memory */
    struct page *page;
    long expiry_minutes;
    const char *id;           /* of the output directory */
    const char *prefix;       /* its path in the job's document, for messages */
    const char *directory;    /* the requested directory in it */
    bool is_base;             /* this is the output directory itself, which may not exist yet */
    bool shows_directories;   /* false for 2017 */
    bool hides_log;           /* hides the service's own log; true for 2017 */
    struct file_ref dir;      /* the source of links; path: the listed directory */
    struct file_entry *entry; /* owned, with the names */
    size_t n;
};

void file_list_add(struct file_list *l, const char *name, bool is_dir, int64_t size,
                   int64_t mtime_us);
bool file_list_has(const struct file_list *l, const char *name);
REPLIED file_list_reply(struct file_list *l);
/* Frees its memory outside of the request's: for request_keep(). */
void file_list_release(void *list);

/* --- node_files.c --------------------------------------------------------------------------- */

/* Lists files on the local disks of the job's nodes. ERR_NOT_ON_MOUNT_ROOT: no node has them any
 * more. *out: the reply, which may be reply_later(). */
int node_files_list(struct file_list *l, const struct job *j, struct replied **out,
                    struct err *e) MUST_CHECK;
/* The same for a request that is answered later already. */
void node_files_finish(struct file_list *l, const struct job *j);

#endif
