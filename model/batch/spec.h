/* SPDX-License-Identifier: MIT
 *
 * The documents of Azure Batch's jobs, tasks and job schedules as plain structs. Everything is in
 * the arena. Absent texts are NULL; absent numbers are 0 unless a comment gives another value.
 */
#ifndef MODEL_BATCH_SPEC_H
#define MODEL_BATCH_SPEC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/kv.h"
#include "model/enums.h"

struct kept_docs;

enum batch_elevation { BATCH_NONADMIN = 1, BATCH_ADMIN = 2 };
enum batch_user_scope { BATCH_SCOPE_TASK = 1, BATCH_SCOPE_POOL = 2 };
enum batch_upload_when {
    BATCH_UPLOAD_ON_SUCCESS = 1,
    BATCH_UPLOAD_ON_FAILURE = 2,
    BATCH_UPLOAD_ALWAYS = 3
};
enum batch_job_action {
    BATCH_JOB_ACT_NONE = 1,
    BATCH_JOB_ACT_DISABLE = 2,
    BATCH_JOB_ACT_TERMINATE = 3
};
enum batch_dependency_action { BATCH_SATISFY = 1, BATCH_BLOCK = 2 };
enum batch_work_dir { BATCH_DIR_OF_TASK = 1, BATCH_DIR_OF_IMAGE = 2 };

extern const struct enum_name batch_elevation_names[], batch_user_scope_names[],
    batch_upload_when_names[], batch_job_action_names[], batch_dependency_action_names[],
    batch_work_dir_names[];

/* Exactly one of http_url, container_url and auto_container is set: the source of the file. */
struct batch_resource_file {
    const char *http_url, *container_url, *auto_container;
    const char *prefix; /* prefix of the names of a container's blobs */
    const char *path, *mode;
    const char *identity; /* the identity with the right to read; NULL: the URL suffices */
};

struct batch_header {
    const char *name, *value;
};

struct batch_output_file {
    const char *pattern, *container_url, *path;
    const char *identity; /* the identity with the right to write; NULL: the URL suffices */
    enum batch_upload_when when;
    struct batch_header *headers;
    size_t n_headers;
};

struct batch_package_ref {
    const char *application, *version; /* version NULL: the default version */
};

struct batch_user {
    const char *name; /* a user account of the pool; NULL: an account that the node makes */
    enum batch_user_scope scope;
    enum batch_elevation elevation;
};

/* The effects of a task's end on its job and on dependent tasks. 0: the user gave none. */
struct batch_exit_options {
    enum batch_job_action job;
    enum batch_dependency_action dependency;
};
struct batch_exit_rule {
    int low, high; /* exit codes */
    struct batch_exit_options options;
};
struct batch_exit_conditions {
    struct batch_exit_rule *codes, *ranges;
    size_t n_codes, n_ranges;
    struct batch_exit_options *pre_processing, *upload, *fallback; /* NULL: the user gave none */
};

/* The directories of a node that can be mounted in a container. */
enum batch_host_path {
    BATCH_PATH_SHARED = 1,
    BATCH_PATH_STARTUP,
    BATCH_PATH_MOUNTS,
    BATCH_PATH_TASK,
    BATCH_PATH_PREPARATION,
    BATCH_PATH_APPLICATIONS
};
struct batch_bind {
    enum batch_host_path source;
    bool read_only;
};

struct batch_container {
    const char *image, *options;
    const char *server, *user, *password; /* of the image's registry; the password is secret */
    enum batch_work_dir work_dir;
    bool narrow; /* true: of the node's directories, only `binds` are mounted in the container */
    struct batch_bind *binds;
    size_t n_binds;
};

struct batch_multi_instance {
    int instances;
    const char *coordination;
    struct batch_resource_file *common;
    size_t n_common;
};

struct batch_constraints {
    int64_t max_wall_us;  /* 0: no limit */
    int64_t retention_us; /* without a limit: 100 years */
    int retries;          /* -1: for ever */
};

/* A task, or a job's manager, preparation or release task. */
struct batch_task_spec {
    const char *id, *command_line;
    struct batch_container *container;
    struct batch_multi_instance *multi;
    struct batch_resource_file *resources;
    struct batch_output_file *outputs;
    struct kv *env;
    struct batch_package_ref *packages;
    size_t n_resources, n_outputs, n_env, n_packages;
    struct batch_user user;
    struct batch_exit_conditions exits;
    struct batch_constraints limits;
    int slots;
    const char *affinity;
    bool has_token; /* the task gets a token with which it may call the service for its own job */
    /* The next members are only for some kinds of tasks: */
    bool kills_job; /* manager task: the job ends when this task ends */
    bool exclusive;
    bool any_node; /* manager task: it may run on low-priority nodes */
    bool awaited;  /* preparation task: the job's tasks begin only after its success */
    bool again;    /* preparation task: it is repeated after a reboot of the node */
};

struct batch_job_spec {
    const char *pool_id; /* NULL: an automatic pool, described by the next members */
    int auto_life;       /* enum batch_auto_life */
    bool auto_keep;      /* the pool is kept after the end of its lifetime */
    const char *auto_prefix;
    int priority, max_parallel;
    bool depends, preemptible;
    struct batch_constraints limits;
    int on_all, on_failure; /* enum batch_on_all, batch_on_failure */
    struct kv *env;         /* environment variables of all its tasks */
    size_t n_env;
    struct batch_task_spec *manager, *preparation, *release; /* NULL: none */
};

/* Makes a failureInfo or schedulingError as JSON text, without the details whose value is missing.
 * In the arena. */
const char *batch_failure_text(struct arena *a, const char *category, const char *code,
                               const char *message, const struct kv *details, size_t n);

/* `secrets` is the decrypted JSON text with the document's secrets, or NULL. */
int batch_task_decode(struct arena *a, const char *doc, const char *secrets,
                      struct batch_task_spec *out, struct err *e) MUST_CHECK;
int batch_job_decode(struct arena *a, const char *doc, const char *secrets,
                     struct batch_job_spec *out, struct err *e) MUST_CHECK;
/* Like the functions above, without secrets, and with the parsed documents taken from the cache
 * `k`. */
int batch_task_decode_kept(struct kept_docs *k, struct arena *a, const char *doc,
                           struct batch_task_spec *out, struct err *e) MUST_CHECK;
int batch_job_decode_kept(struct kept_docs *k, struct arena *a, const char *doc,
                          struct batch_job_spec *out, struct err *e) MUST_CHECK;

/* Some parts of a stored document become separate documents: the job of a schedule, the manager
 * task of a job, an automatic pool. A path consists of names separated by dots. */

/* Returns the part at the path, borrowed from `doc`; NULL: there is none. */
json_t *batch_part(const json_t *doc, const char *path);
/* Returns the secrets of the part at the path, with their paths relative to the part; NULL:
 * none. */
const char *batch_part_secrets(struct arena *a, const char *secrets, const char *path);

/* The times of a job schedule. */
struct batch_times {
    int64_t until_us, after_us; /* doNotRunUntil, doNotRunAfter; 0: not given */
    int64_t window_us;          /* startWindow */
    int64_t interval_us;        /* recurrenceInterval; 0: it makes one job */
};
void batch_times_read(const char *doc, struct batch_times *out);

/* Makes the document of a job that the schedule creates under this name; in the arena. */
const char *batch_schedule_job_doc(struct arena *a, const char *doc, const char *name);
/* Returns the secrets of a job: those secrets of the schedule (NULL: none) whose paths begin with
 * the job specification. NULL: the job has none. */
const char *batch_schedule_job_secrets(struct arena *a, const char *secrets);

#endif
