/* SPDX-License-Identifier: MIT
 *
 * What the files of this room share.
 */
#ifndef API_TESTING_SEED_STEPS_H
#define API_TESTING_SEED_STEPS_H

#include "api/http/subrequest.h"
#include "api/testing/seed/seed.h"
#include "api/testing/seed/seed_doc.h"

/* In texts of a seed, the id of the subscription that it goes into. */
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

/* Where requests for a kind go. */
enum seed_plane { SEED_ARM, SEED_AT_VAULT, SEED_AT_BATCH };

struct seed_step;

struct seed_kind {
    const char *collection; /* the member of what is above that holds resources by name */
    enum seed_kind_id above;
    enum seed_plane plane;
    const char *below;   /* appended to the path above, before the name */
    const char *version; /* api-version */
    const char *posted;  /* added to a collection, with the name as this member; NULL: PUT */
    bool late;           /* its folder is made behind the transaction */
    bool unasked;        /* no request makes it, but seed_ends */
    /* Members that are not of the request's body; NULL at the end. */
    const char *own[5];

    /* In a dump (dump.h). */
    const struct schema *shown; /* of a GET; NULL: nothing of it is in the body */
    unsigned shown_in;          /* the bit of `version` in that table */
    const struct seed_state *state;
    bool unlisted; /* no GET lists them with what they have */
};

/* Where members of "state" stand in what a GET shows; the first is the state, the last has no
 * member. */
struct seed_state {
    const char *member;
    const char *place; /* "executionInfo.exitCode" */
    enum {
        STATE_ALWAYS,
        STATE_BEGUN,  /* not in the first state, in which it waits */
        STATE_BEHIND, /* of a path what is behind its last / */
        STATE_NUMBER  /* of a name the number behind its last - */
    } how;
};
extern const struct seed_kind seed_kinds[SEED_KINDS];

struct seed_step {
    const struct seed_kind *kind;
    const struct seed_step *above; /* NULL: at the top */
    const char *name;
    const char *subscription;
    const json_t *given; /* borrowed from the tree */
    struct seed_path at;
    const char *hash; /* of a package's archive; NULL: it has none */
    int64_t size;
    int64_t id; /* of a group that is "creating"; 0: it is none, or is not there yet */
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
/* Whether resources of the first kind are in those of the second. */
bool seed_is_child(enum seed_kind_id child, enum seed_kind_id of);
/* Whether resources of this kind have others in that member. */
bool seed_kind_named(enum seed_kind_id of, const char *member);

/* seed_error.c: "line 12, column 7 (groups.lab.workspaces.ws): WHAT" */
void seed_say_place(struct request *r, const struct seed_path *of, struct err *e);
/* What the request of a step was answered, as an error of ours. */
void seed_answer_read(struct arena *a, const struct request *inner, struct err *e);

/* request.c: the requests of a seed and a dump, in the name of the daemon's own principal. */
enum { SEED_PLANES = 3 };
/* Authorization, by plane. */
int seed_log_in(const struct seed *seed, struct request *r, struct named_value header[SEED_PLANES],
                struct err *e) MUST_CHECK;
/* Lists what is of the kind of `s` beside it, whatever the name of `s` is. */
struct inner_head seed_list_head(const struct request *r, struct arena *a,
                                 const struct seed_step *s);
/* "/subscriptions/..." of what `s` is in, or its own. */
const char *seed_path_above(struct arena *a, const struct seed_step *s);
/* Makes a resource, with a body of what is given. Arena-owned. */
struct inner_head seed_head(const struct request *r, struct arena *a, const struct seed_step *s,
                            const json_t *given);
bool seed_is_role(const struct seed_step *s);
/* Its scope must not be elsewhere. */
int seed_role_check(struct arena *a, const struct seed_step *s, struct err *e) MUST_CHECK;

/* What no request gives: `then` once it is made, `last` once all is. */
typedef int seed_then(const struct seed *seed, struct request *r, const struct seed_step *s,
                      struct err *e);
struct seed_ends {
    seed_then *then, *last;
};

/* state.c */
seed_then seed_job_then, seed_account_then;
/* What a job or task ended with; texts are borrowed. */
struct told_state {
    const char *name, *start, *end;
    int64_t start_us, end_us;
    json_t *exit_code, *errors; /* NULL: none */
    const char *guid;
};
/* `state`, `errors`: what they are called there. */
int seed_state_read(const json_t *o, const char *state, const char *errors, int64_t now_us,
                    struct told_state *out, struct err *e) MUST_CHECK;
/* No text: fallback. */
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
/* The name that a job of a schedule is posted with, as no request makes one. */
const char *seed_job_alias(struct arena *a, const char *name);
bool seed_job_of_schedule(const struct seed_step *s);

/* state_vault.c */
seed_then seed_secret_then, seed_vault_last, seed_group_last;
/* Whether a group or vault of a seed is one that was deleted. */
bool seed_is_deleted(const struct seed_step *s);

/* archives.c: what active packages hold, kept before their rows are written. `cb` is called once,
 * on the loop, never inside the call: with the first that cannot be kept, or NULL. */
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

/* files.c: what shares and containers hold, by path: a text, {"text": TEXT} or {"base64": TEXT},
 * with what is noted beside it (notes.c). Tasks have no notes. */
enum seed_files { SEED_BLOBS, SEED_SHARE_FILES, SEED_TASK_FILES };
int seed_files_check(const json_t *files, enum seed_files what, struct err *e) MUST_CHECK;
/* The bytes of a value; malloc. NULL: it is none. And back: a new reference. */
char *seed_file_bytes(const json_t *v, size_t *n);
json_t *seed_file_value(const char *bytes, size_t n);

/* A folder has no order of its own, but a dump that is made again is to be the same. */
void seed_files_sort(json_t *files);

/* A file as it was left. */
struct seed_written {
    int64_t inode, size, mtime_ns;
    char aside[80]; /* where a blob is that no file can be called; "": it is in its place */
};
/* A folder that is to be filled, or was. */
struct seed_folder {
    const char *path, *account; /* the share's, and the account's */
    int64_t share_id;
    enum seed_files what;
    bool sync;
    int64_t time_ns; /* files_time_ns() */
    const json_t *files;
    struct seed_written *written; /* one for each */
    const struct seed_step *step;
};
/* One that is read. */
struct seed_source {
    const char *path, *account;
    bool directories;         /* empty ones are told too */
    struct share_item *items; /* what is noted in it; md5 becomes NULL where it is of other bytes */
    size_t n_items;
};
/* For a thread of the lane. Both block. */
int seed_files_write(const struct seed_folder *f, struct err *e) MUST_CHECK;
/* Removes what it has written; directories stay. */
void seed_files_unwrite(const struct seed_folder *f);
/* New reference; *left is the number of bytes that may be read still. */
int seed_files_read(const struct seed_source *f, size_t *left, json_t **out,
                    struct err *e) MUST_CHECK;

/* The bytes of an archive, as "base64" of `into`. */
int seed_archive_read(const char *path, size_t *left, json_t *into, struct err *e) MUST_CHECK;

/* subscriptions.c: those that a seed makes. */
int seed_subscription_make(struct storage *st, const char *guid, const char *by, int64_t now_us,
                           struct err *e) MUST_CHECK;
/* The seed is whole, or else is undone: one that it made goes again, if nothing is in it. */
int seed_subscription_settle(struct storage *st, struct arena *a, const char *guid, bool whole,
                             struct err *e) MUST_CHECK;
/* At the start of the daemon, when no seed goes on. */
int seed_subscriptions_begin(struct storage *st, struct arena *a, struct err *e) MUST_CHECK;

/* notes.c: what is noted beside a file: "properties" by headers, "metadata", and of blobs "tags",
 * "contentMD5" and "type" (AppendBlob). */
int seed_note_check(const char *path, const json_t *v, enum seed_files what,
                    struct err *e) MUST_CHECK;
/* Writes rows for those of a folder that have notes. */
int seed_notes_write(struct storage *st, struct arena *a, const struct seed_folder *f,
                     int64_t now_us, struct err *e) MUST_CHECK;
/* Adds what is noted to the values of files. */
void seed_notes_add(json_t *files, const struct share_item *items, size_t n);

#endif
