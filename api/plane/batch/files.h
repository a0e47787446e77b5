/* SPDX-License-Identifier: MIT
 *
 * Files of tasks and nodes, over the links of their nodes. Paths are relative to the directory of
 * the task or to the node's Batch root; the node's agent refuses paths outside of it. A seeded task
 * was never on a node, so its files are rows.
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
    const char *path; /* the request's path relative to `at`; "": the directory itself */
    const char *url;  /* URL of the directory: ".../files" */
    int64_t seeded;   /* the seeded task whose files are rows; 0: files are on a node */
};

/* Find the directory of the task or node that the request's path names, and the file in it. */
typedef int find_files_place(struct request *r, struct files_place *out, struct err *e);
int batch_files_of_task(struct request *r, struct files_place *out, struct err *e) MUST_CHECK;
int batch_files_of_node(struct request *r, struct files_place *out, struct err *e) MUST_CHECK;
/* Like batch_files_of_task(), for a task that has been read already. */
int batch_files_of(struct request *r, const struct batch_task *t, struct files_place *out,
                   struct err *e) MUST_CHECK;

/* Turns a node's error about the file or directory `path` below `at` into the service's error. Its
 * message contains `path`, and not the path on the node. */
struct replied *batch_files_refuse(struct request *r, const struct output_dir *at, const char *path,
                                   const struct err *why);
/* Sets BATCH_FILE_NOT_FOUND for this path. Returns -1. */
int batch_no_file(const char *path, struct err *e);
/* The URL of a file; slashes of its path are not encoded. */
const char *batch_file_url(struct request *r, const struct files_place *p, const char *path);
const char *batch_file_type(const char *path);
/* The mode as text: "0o100644"; NULL: the mode is not known. */
const char *batch_file_mode(struct request *r, int64_t mode);

/* --- file_bytes.c --- */

/* Sends the file. `page_type` NULL: in the form of the data plane. Otherwise: with this
 * Content-Type, for the web page, and only the part that the header Range asks for. */
REPLIED batch_file_send(struct request *r, const struct files_place *p, const char *page_type);

#endif
