/* SPDX-License-Identifier: MIT
 *
 * What the files of this room share.
 */
#ifndef API_SEED_STEPS_H
#define API_SEED_STEPS_H

#include "api/seed/seed.h"
#include "api/seed/seed_doc.h"

/* In texts of a seed, the id of the subscription that it goes into. */
#define SEED_SUBSCRIPTION "{subscription}"

enum seed_kind_id {
    SEED_GROUP,
    SEED_WORKSPACE,
    SEED_FILE_SERVER,
    SEED_CLUSTER,
    SEED_EXPERIMENT,
    SEED_JOB,
    SEED_ACCOUNT,
    SEED_CONTAINER,
    SEED_SHARE,
    SEED_VAULT,
    SEED_SECRET,
    SEED_BATCH_ACCOUNT,
    SEED_BATCH_POOL,
    SEED_BATCH_JOB,
    SEED_BATCH_TASK,
    SEED_KINDS
};

/* Where requests for a kind go. */
enum seed_plane { SEED_ARM, SEED_AT_VAULT, SEED_AT_BATCH };

struct seed_step;

struct seed_kind {
    const char *collection; /* the member of what is above that holds resources by name */
    enum seed_kind_id above;
    enum seed_plane plane;
    const char *below;   /* appended to the path above, before the name */
    const char *version; /* api-version */
    bool by_post;        /* added to a collection, with the name as "id" in the body */
    bool late;           /* its folder is made behind the transaction */
    /* Members that are not of the request's body; NULL at the end. */
    const char *own[4];
};
extern const struct seed_kind seed_kinds[SEED_KINDS];

struct seed_step {
    const struct seed_kind *kind;
    const struct seed_step *above; /* NULL: a group */
    const char *name;
    const char *subscription;
    const json_t *given; /* borrowed from the tree */
    struct seed_path at;
};

struct seed_steps {
    struct seed_step *items; /* each behind what it is in; arena */
    size_t n;
    struct seed_path at; /* of what is wrong */
};

/* `subscription`: of groups at the top. */
int seed_steps_read(struct arena *a, const json_t *tree, const char *subscription,
                    struct seed_steps *out, struct err *e) MUST_CHECK;
/* The step of that kind which `s` is, or is in. */
const struct seed_step *seed_step_in(const struct seed_step *s, enum seed_kind_id kind);
bool seed_is_own(const struct seed_kind *kind, const char *member);

/* state.c */
int seed_job_then(const struct seed *seed, struct request *r, const struct seed_step *s,
                  struct err *e);
int seed_account_then(const struct seed *seed, struct request *r, const struct seed_step *s,
                      struct err *e);
int seed_batch_account_then(const struct seed *seed, struct request *r, const struct seed_step *s,
                            struct err *e);
int seed_batch_job_then(const struct seed *seed, struct request *r, const struct seed_step *s,
                        struct err *e);
int seed_batch_task_then(const struct seed *seed, struct request *r, const struct seed_step *s,
                         struct err *e);

/* files.c: what shares and containers hold, by path: a text, or {"base64": "..."}. */
int seed_files_check(struct arena *a, const json_t *files, struct err *e) MUST_CHECK;
/* For a thread of the lane. Both block. */
int seed_files_write(const char *folder, const json_t *files, struct err *e) MUST_CHECK;
/* New reference; *left is the number of bytes that may be read still. */
int seed_files_read(const char *folder, size_t *left, json_t **out, struct err *e) MUST_CHECK;

#endif
