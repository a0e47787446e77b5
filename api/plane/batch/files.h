/* SPDX-License-Identifier: MIT
 *
 * Files of tasks and nodes, over the links of their nodes. Paths are below the directory of the
 * task or the node's Batch root; the node's agent refuses to leave it. A seeded task was never on a
 * node, so its files are rows.
 */
#ifndef API_PLANE_BATCH_FILES_H
#define API_PLANE_BATCH_FILES_H

#include "api/plane/batch/batch.h"
#include "scheduler/fleet/fleet.h"
#include "storage/batch_jobs.h"

#define BATCH_SEEDED_MODE 0100644

/* --- file_place.c --- */

/* The directory of a request's files. */
struct files_place {
    struct output_dir at;
    const char *path; /* the request's path below it; "": the directory itself */
    const char *url;  /* of the directory: ".../files" */
    int64_t seeded;   /* the seeded task whose files are rows; 0: files are on a node */
};

/* The directory of the task or node that the path names, and the file that it names there. */
typedef int find_files_place(struct request *r, struct files_place *out, struct err *e);
int batch_files_of_task(struct request *r, struct files_place *out, struct err *e) MUST_CHECK;
int batch_files_of_node(struct request *r, struct files_place *out, struct err *e) MUST_CHECK;
/* Like batch_files_task(), for a task that was found. */
int batch_files_of(struct request *r, const struct batch_task *t, struct files_place *out,
                   struct err *e) MUST_CHECK;

/* Turns a node's error about the file or directory `path` below `at` into the service's error,
 * which names it by this path, and not by its place on the node. */
struct replied *batch_files_refuse(struct request *r, const struct output_dir *at, const char *path,
                                   const struct err *why);
/* BATCH_FILE_NOT_FOUND. */
int batch_no_file(const char *path, struct err *e);
/* A file's URL: its path with its slashes. */
const char *batch_file_url(struct request *r, const struct files_place *p, const char *path);
const char *batch_file_type(const char *path);
/* "0o100644"; NULL: not known. */
const char *batch_file_mode(struct request *r, int64_t mode);

/* --- file_bytes.c --- */

/* Sends the file. `page_type` NULL: as the data plane sends files. Otherwise: the Content-Type for
 * the page, and the part in the header Range is sent. */
REPLIED batch_file_send(struct request *r, const struct files_place *p, const char *page_type);

/* --- task_files.c: handlers of actions.c --- */

/* A directory of the task, in the form of api/http/entries.h. */
REPLIED task_files_list(struct request *r);
/* GET and HEAD of a file of the task, by ranges. */
REPLIED task_files_get(struct request *r);

#endif
