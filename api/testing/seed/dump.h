/* SPDX-License-Identifier: MIT
 *
 * What the files of a dump share.
 */
#ifndef API_TESTING_SEED_DUMP_H
#define API_TESTING_SEED_DUMP_H

#include "api/testing/seed/steps.h"
#include "model/batch/job_rows.h"
#include "storage/storage.h"

#define DUMP_ROWS  1000000
#define DUMP_BYTES (256U * 1024 * 1024) /* of files */

struct dumped_folder {
    struct seed_source from;
    const char *member;
    json_t *into; /* borrowed from the tree */
    struct dumped_folder *next;
};

/* A document as this version has it, with its secrets back in it. */
struct dumped_doc {
    const struct schema *schema;
    unsigned version;
    const char *doc, *secrets; /* texts, in the arena; the second may be NULL */
    const char *but;           /* a member that is left out; NULL: none */
    json_t *into;              /* borrowed likewise */
    struct dumped_doc *next;
};

struct dumped_archive {
    const char *path;
    json_t *into; /* borrowed likewise; gets "base64" */
    struct dumped_archive *next;
};

struct dumping {
    struct request *r;
    const struct seed *seed;
    struct arena *a;
    json_t *tree;             /* owned */
    const char *subscription; /* the one that is dumped; NULL: all */
    struct dumped_doc *docs;
    struct dumped_folder *folders;
    struct dumped_archive *archives;
    struct dumped_task *tasks;
    char *text;  /* owned */
    size_t left; /* bytes of files that may be read still */
    struct err why;
};

/* Of a JSON object's text; an empty object, if it is none. New references, as all here. */
json_t *dump_json(const char *text);
/* An object that dump_docs() lays over a document; `what` without `into`. */
json_t *dump_doc(struct dumping *d, const struct dumped_doc *what);
/* On the lane. */
void dump_docs(struct dumping *d);
/* into[collection][name] = body, which is stolen. */
void dump_put(json_t *into, const char *collection, const char *name, json_t *body);
/* Unless it is 0. */
void dump_time(json_t *into, const char *name, int64_t us);
void dump_keys(json_t *into, const struct account_keys *keys);
void dump_tracked(json_t *into, const char *location, const char *tags);

/* dump_vaults.c */
int dump_vaults(struct dumping *d, const struct resource_group *g, json_t *into,
                struct err *e) MUST_CHECK;
/* Those that were deleted in the groups of a subscription, or in `only` one of them. */
int dump_deleted_vaults(struct dumping *d, const char *subscription, const char *only, json_t *into,
                        struct err *e) MUST_CHECK;
/* Those in the groups of the tree, and, if `whole`, at the subscription. */
int dump_roles(struct dumping *d, const char *subscription, bool whole, json_t *into,
               struct err *e) MUST_CHECK;
/* dump_tasks.c */
/* Its files are on a node; none, if nobody knows that node. */
int dump_task_add(struct dumping *d, const struct batch_task *t, json_t *body,
                  struct err *e) MUST_CHECK;
/* Reads them. `done` may be called at once. */
void dump_tasks(struct dumping *d, void (*done)(struct dumping *d));
/* dump_batch.c: the Batch accounts of a group. */
int dump_batch(struct dumping *d, const struct resource_group *g, json_t *into,
               struct err *e) MUST_CHECK;

#endif
