/* SPDX-License-Identifier: MIT
 *
 * Declarations that the files of this directory share.
 */
#ifndef API_TESTING_SEED_STEPS_H
#define API_TESTING_SEED_STEPS_H

#include "api/http/subrequest.h"
#include "api/testing/seed/seed.h"
#include "api/testing/seed/seed_doc.h"

/* In texts of a seed, the id of the seed's subscription replaces this word. */
#define SEED_SUBSCRIPTION "{subscription}"

enum seed_kind_id {
    SEED_SUBSCRIPTION_ROLE,
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
    SEED_BATCH_CERTIFICATE,
    SEED_APPLICATION,
    SEED_PACKAGE,
    SEED_BATCH_POOL,
    SEED_BATCH_SCHEDULE,
    SEED_BATCH_JOB,
    SEED_BATCH_TASK,
    SEED_ROLE,
    SEED_KINDS
};

/* The service that gets the requests for a kind. */
enum seed_plane { SEED_ARM, SEED_AT_VAULT, SEED_AT_BATCH };

struct seed_step;

struct seed_kind {
    const char *collection; /* the member of the parent that contains the resources by name */
    enum seed_kind_id above;
    enum seed_plane plane;
    const char *below;   /* appended to the path above, before the name */
    const char *version; /* api-version */
    /* appended to the collection; the name is this member of the body. NULL: PUT */
    const char *posted;
    bool late;    /* its folder is made after the transaction */
    bool unasked; /* no request creates the resource; seed_ends does */
    /* Members that are not part of the request's body; NULL at the end. */
    const char *own[5];

    /* For a dump (dump.h): */
    /* the schema of a GET's body; NULL: a dump takes no member of the body */
    const struct schema *shown;
    unsigned shown_in; /* the bits of `version` in that table */
    const struct seed_state *state;
    bool unlisted; /* a dump reads rows, because the list of a GET leaves out some members */
};

/* Maps the members of "state" in a seed to their places in the body of a GET. The first entry is
 * the state itself; the last entry has no member. */
struct seed_state {
    const char *member;
    const char *place; /* "executionInfo.exitCode" */
    enum {
        STATE_ALWAYS,
        STATE_BEGUN,  /* left out while the resource is in its first state, in which it waits */
        STATE_BEHIND, /* the part of a path after its last / */
        STATE_NUMBER  /* the number at the end of a name, after its last - */
    } how;
};
extern const struct seed_kind seed_kinds[SEED_KINDS];

struct seed_step {
    const struct seed_kind *kind;
    const struct seed_step *above; /* the parent; NULL: at the top */
    const char *name;
    const char *subscription;
    const json_t *given; /* borrowed from the tree */
    struct seed_path at;
    const char *hash; /* the hash of a package's archive; NULL: it has none */
    int64_t size;
    int64_t id; /* the row id of a group that is "creating"; 0: no group, or not created yet */
};

struct seed_steps {
    struct seed_step *items; /* each parent before its children; in the arena */
    size_t n;
    struct seed_path at; /* the place of the error */
};

/* `subscription`: the subscription of the groups and roles at the top of the seed, outside of its
 * "subscriptions". */
int seed_steps_read(struct arena *a, const json_t *tree, const char *subscription,
                    struct seed_steps *out, struct err *e) MUST_CHECK;
/* Returns the step of kind `kind` among `s` and its parents. */
const struct seed_step *seed_step_in(const struct seed_step *s, enum seed_kind_id kind);
bool seed_is_own(const struct seed_kind *kind, const char *member);
/* Whether kind `of` contains resources of kind `child`. */
bool seed_is_child(enum seed_kind_id child, enum seed_kind_id of);
/* Whether kind `of` may contain a collection with the name `member`. */
bool seed_kind_named(enum seed_kind_id of, const char *member);

/* seed_error.c: prepends the place to the message: "line 12, column 7 (groups.lab.workspaces.ws):
 * ..." */
void seed_say_place(struct request *r, const struct seed_path *of, struct err *e);
/* Turns the error reply of a step's request into an error of the daemon. */
void seed_answer_read(struct arena *a, const struct request *inner, struct err *e);

/* seed_doc.c: the text with the subscription's id in the place of SEED_SUBSCRIPTION. */
const char *seed_filled(struct arena *a, const char *text, const char *subscription);
/* seed_doc.c: the state of a step (NULL: none), and its files, with the subscription's id in the
 * texts and paths. The results belong to the request. */
const json_t *seed_state_of(struct request *r, const struct seed_step *s);
const json_t *seed_files_of(struct request *r, const struct seed_step *s, const json_t *files);

/* request.c: the requests of a seed and a dump, sent by the daemon's own principal. */
enum { SEED_PLANES = 3 };
/* Fills the Authorization header of each plane. */
int seed_log_in(const struct seed *seed, struct request *r, struct named_value header[SEED_PLANES],
                struct err *e) MUST_CHECK;
/* The request that lists the resources of the kind and parent of `s`; ignores the name of `s`. */
struct inner_head seed_list_head(const struct request *r, struct arena *a,
                                 const struct seed_step *s);
/* "/subscriptions/..." path of the parent of `s`, or of `s` itself. */
const char *seed_path_above(struct arena *a, const struct seed_step *s);
/* The request that creates the resource of `s`, with the body from the seed. Arena-owned. */
struct inner_head seed_head(const struct request *r, struct arena *a, const struct seed_step *s,
                            const json_t *given);
bool seed_is_role(const struct seed_step *s);
/* Refuses a role whose scope is not below the role's place in the seed. */
int seed_role_check(struct arena *a, const struct seed_step *s, struct err *e) MUST_CHECK;

/* Set the state that no request can set: `then` runs after the resource is created, `last` after
 * the whole seed. */
typedef int seed_then(const struct seed *seed, struct request *r, const struct seed_step *s,
                      struct err *e);
struct seed_ends {
    seed_then *then, *last;
};

/* state.c */
seed_then seed_job_then, seed_account_then;
/* The state of a job or task that a seed contains; texts are borrowed. */
struct told_state {
    const char *name, *start, *end;
    /* start_us 0: the seed contains only an end, so the job never started */
    int64_t start_us, end_us;
    json_t *exit_code, *errors; /* NULL: none */
    const char *guid;
};
/* `state`, `errors`: how the kind names these members. */
int seed_state_read(const json_t *o, const char *state, const char *errors, int64_t now_us,
                    struct told_state *out, struct err *e) MUST_CHECK;
/* Without a text, *out is `fallback`. */
int seed_time_read(const char *text, const char *what, int64_t fallback, int64_t *out,
                   struct err *e) MUST_CHECK;
int seed_unknown(const char *what, const char *given, const char *right, struct err *e);
const char *seed_json(struct arena *a, const json_t *v);
int seed_keys_set(const struct seed *seed, struct request *r, const json_t *keys, int64_t id,
                  int (*set)(struct storage *st, int64_t id, int which, const unsigned char *key,
                             int64_t now_us, struct err *e),
                  struct err *e) MUST_CHECK;

/* state_batch.c */
seed_then seed_batch_account_then, seed_schedule_last, seed_batch_job_then, seed_batch_job_last,
    seed_batch_task_then;
/* The name with which a POST creates a schedule's job, because no request may create a job with its
 * real name. */
const char *seed_job_alias(struct arena *a, const char *name);
bool seed_job_of_schedule(const struct seed_step *s);
/* Whether the job itself creates this task, as its manager task. */
bool seed_is_manager(const struct seed_step *s);

/* state_vault.c */
seed_then seed_secret_then, seed_vault_last, seed_group_last;
/* Whether the seed describes this group or vault as deleted. */
bool seed_is_deleted(const struct seed_step *s);

/* archives.c: stores the archives of active packages before the packages' rows are written. Calls
 * `cb` once, on the loop, after the call has returned, with the first step that failed or NULL. */
struct seed_archives {
    const struct seed *seed;
    struct request *r;
    const struct seed_steps *steps;
    void (*cb)(void *ctx, const struct seed_step *s, const struct err *why);
    void *ctx;
    size_t under_way;
    const struct seed_step *failed;
    struct err why;
};
void seed_archives_keep(struct seed_archives *k);
seed_then seed_package_then, seed_application_last;

/* files.c: the contents of shares and containers by path: a text, {"text": TEXT} or {"base64":
 * TEXT}, with notes (notes.c). Files of tasks have no notes. */
enum seed_files { SEED_BLOBS, SEED_SHARE_FILES, SEED_TASK_FILES };
int seed_files_check(const json_t *files, enum seed_files what, struct err *e) MUST_CHECK;
/* The bytes of a file's value in a seed, from malloc; NULL: the value is no file. seed_file_value()
 * is the reverse; it returns a new reference. */
char *seed_file_bytes(const json_t *v, size_t *n);
json_t *seed_file_value(const char *bytes, size_t n);

/* Turns the texts of files that contain `word` into base64, so that a replacement of the word in
 * the text of a dump does not change the bytes of files. Does nothing if `word` is NULL. */
void seed_files_code(json_t *files, const char *word);
/* Sorts files by path: a folder has no order, but two dumps of one state must be equal. */
void seed_files_sort(json_t *files);

/* The state of a file after it was written. */
struct seed_written {
    int64_t inode, size, mtime_ns;
    /* where a blob is stored whose name cannot be a file's name; "": at the blob's own path */
    char aside[80];
};
/* A folder that is to be filled, or was filled. */
struct seed_folder {
    const char *path, *account; /* the share's path; the account's */
    int64_t share_id;
    enum seed_files what;
    bool sync;
    int64_t time_ns; /* the time that written files get: files_time_ns() */
    const json_t *files;
    struct seed_written *written; /* one for each of `files` */
    const struct seed_step *step;
};
/* A folder to read. */
struct seed_source {
    const char *path, *account;
    bool directories; /* lists empty directories too */
    /* notes of the folder's files; md5 becomes NULL if the file has other bytes */
    struct share_item *items;
    size_t n_items;
};
/* These functions block, so call them on a worker thread. */
int seed_files_write(const struct seed_folder *f, struct err *e) MUST_CHECK;
/* Removes the files that seed_files_write() wrote; directories stay. */
void seed_files_unwrite(const struct seed_folder *f);
/* Returns a new reference in *out. *left: the number of bytes that may still be read. */
int seed_files_read(const struct seed_source *f, size_t *left, json_t **out,
                    struct err *e) MUST_CHECK;

/* Adds the bytes of an archive as "base64" to `into`. */
int seed_archive_read(const char *path, size_t *left, json_t *into, struct err *e) MUST_CHECK;

/* subscriptions.c: subscriptions that a seed creates. */
int seed_subscription_make(struct storage *st, const char *guid, const char *by, int64_t now_us,
                           struct err *e) MUST_CHECK;
/* Ends the seed's work on a subscription. `whole`: the seed is complete, so the subscription is
 * kept; otherwise it is removed if it is empty. */
int seed_subscription_settle(struct storage *st, struct arena *a, const char *guid, bool whole,
                             struct err *e) MUST_CHECK;
/* Call at the start of the daemon, while no seed runs. */
int seed_subscriptions_begin(struct storage *st, struct arena *a, struct err *e) MUST_CHECK;

/* notes.c: notes of a file: "properties" (headers), "metadata", and for blobs "tags", "contentMD5"
 * and "type" (AppendBlob). */
int seed_note_check(const char *path, const json_t *v, enum seed_files what,
                    struct err *e) MUST_CHECK;
/* Writes a row for each file of a folder that has notes. */
int seed_notes_write(struct storage *st, struct arena *a, const struct seed_folder *f,
                     int64_t now_us, struct err *e) MUST_CHECK;
/* Adds the notes to the values of files. */
void seed_notes_add(json_t *files, const struct share_item *items, size_t n);

#endif
