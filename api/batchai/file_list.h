/* SPDX-License-Identifier: MIT
 *
 * The list of files that listOutputFiles answers with, wherever they were found: on a share
 * (job_files.c) or on nodes (node_files.c). Entries are added in any order, shown by name and page.
 */
#ifndef API_BATCHAI_FILE_LIST_H
#define API_BATCHAI_FILE_LIST_H

#include "api/azstorage/link.h"
#include "api/batchai/batchai.h"
#include "api/http/paging.h"
#include "files/files.h"
#include "model/resource.h"

struct file_list {
    struct request *r; /* whose memory it lives in */
    struct page page;
    long expiry_minutes;
    const char *id;           /* of the output directory */
    const char *prefix;       /* its path, as the job has it; for messages */
    const char *directory;    /* in it, as asked for */
    bool is_base;             /* that is the output directory itself: may not be there yet */
    bool shows_directories;   /* 2017 does not */
    bool hides_log;           /* nor the service's own log */
    struct file_ref dir;      /* what links are made of; path: the directory that is listed */
    struct file_entry *entry; /* owned, as are the names */
    size_t n;
};

void file_list_add(struct file_list *l, const char *name, bool is_dir, int64_t size,
                   int64_t mtime_us);
bool file_list_has(const struct file_list *l, const char *name);
REPLIED file_list_reply(struct file_list *l);
/* What it holds beside the request's memory: for request_keep(). */
void file_list_release(void *list);

/* --- node_files.c --------------------------------------------------------------------------- */

/* Lists what is on the own disks of the job's nodes. ERR_NOT_ON_MOUNT_ROOT: there is nothing to be
 * looked at any more. *out: the reply, which may be reply_later(). */
int node_files_list(struct file_list *l, const struct job *j, struct replied **out,
                    struct err *e) MUST_CHECK;
/* The same for a request that is answered later already. */
void node_files_finish(struct file_list *l, const struct job *j);

#endif
