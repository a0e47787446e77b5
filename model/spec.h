/* SPDX-License-Identifier: MIT
 *
 * The parts of a cluster's or job's document that the scheduler needs, decoded into plain structs,
 * so that no JSON enters scheduler/. Everything is in the arena. It contains the secrets: call
 * run_spec_wipe() or node_setup_wipe() before arena_free().
 */
#ifndef MODEL_SPEC_H
#define MODEL_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/kv.h"
#include "model/enums.h"
#include "model/failure.h"
#include "model/front_words.h"
#include "model/resource.h"
#include "model/wishes.h"

enum mount_kind {
    MOUNT_FILE_SHARE,
    MOUNT_BLOBS,
    MOUNT_FILE_SERVER,
    MOUNT_UNMANAGED,
};

struct mount_volume {
    enum mount_kind kind;
    const char *account;    /* of a file share or a blob container */
    const char *share;      /* the name of the share or container */
    const char *host;       /* from azureFileUrl, without port; otherwise NULL */
    const char *key;        /* account key; secret; may be NULL */
    const char *secret_ref; /* Key Vault URL instead of a key, or NULL */
    const char *source;     /* file server resource id, or the unmanaged mount command */
    const char *source_directory;
    const char *relative_path; /* the mount point, relative to the mount root */
    const char *options, *file_mode, *directory_mode;
};

struct mount_list {
    struct mount_volume *items; /* in the order given */
    size_t n;
};

/* A program and its arguments, run without a shell. */
struct program_spec {
    const char *const *argv; /* n words, followed by a NULL */
    size_t n;
    const char *shown; /* the text that users see instead of the program */
};

/* A blob whose name no file can have. The daemon stores its file outside of the container's
 * folder. */
struct input_blob {
    const char *name;
    const char *share, *path; /* a folder, and the file's path in it */
    bool has_bytes;
};

/* An archived blob, whose bytes must not be read. If the file at its place has another inode, size
 * or time, a job has written it since, so it is not the archived blob. */
struct archived_blob {
    const char *name;
    uint64_t inode, size;
    int64_t mtime_ns;
};

/* An input that is copied to a node before the run begins: a file that the daemon stores, a file at
 * a foreign URL, or all files with a common prefix. */
struct input_file {
    const char *share, *path; /* a folder, and the file's path in it */
    const char *url;          /* a foreign URL instead of both; secret */
    const char *prefix; /* if set, `share` or `url` is a container, whose files with this prefix are
                           copied */
    const struct input_blob *aside; /* blobs of the container whose names no file can have */
    size_t n_aside;
    /* The archived blobs among the files, sorted by name. */
    const struct archived_blob *archived;
    size_t n_archived;
    const char *to; /* where it is copied, relative to the node's root; with a prefix a directory */
    const char *what; /* the name for messages */
    int mode;
    /* If not NULL, the file is an archive that is unpacked at `to` once, and this is the path of a
     * link to `to`, relative to the node's root. */
    const char *link;
    bool package; /* true: error messages name a package, not a file */
};
struct input_list {
    struct input_file *items;
    size_t n;
};

/* Files that are uploaded to a container after the run's processes have ended. */
struct output_file {
    /* A pattern of paths (model/glob.h), with variables: relative to the directory "wd", or
     * absolute. */
    const char *pattern;
    const char *url;            /* URL of the container; secret */
    bool own;                   /* true: the host of the URL is the daemon itself */
    const char *path;           /* path in the container; NULL: none */
    const char *const *headers; /* "Name: value" */
    size_t n_headers;
    bool after_success, after_failure; /* when it is uploaded */
    const char *what;                  /* the name for messages */
    const char *refused;               /* why the upload is not possible; NULL: it is possible */
    int refused_as;                    /* the kind of the error `refused` */
};
struct output_list {
    struct output_file *items;
    size_t n;
};

/* How the nodes of a run work together, if the front has its own directories. The first node uses
 * the directory place_spec.dir; each other node uses a directory inside it, named by the node's
 * rank. */
struct team_spec {
    /* This command runs on every node. The program of the place begins when all of them have ended
     * with exit code 0. Child processes of the command may continue until the run ends. */
    struct program_spec coordination;
    struct input_list files; /* copied to every node */
};

/* Where and how a run executes whose front has its own directories on nodes. The working directory
 * of its processes is "wd" in `dir`; their standard output and error are files beside "wd". */
struct place_spec {
    const char *dir;         /* relative to each node's root; it remains after the run */
    const char *account;     /* an account that several runs share; NULL: the run gets its own */
    const char *account_dir; /* the parent directory of shared accounts, below the node's root */
    const char *user; /* the name of that account if people can log in with it, as one of its pool's
                         users (struct node_setup_spec); NULL: none */
    int uid, gid;     /* the ids of `account`; both 0: the node chooses them */
    bool admin;       /* true: the run has the agent's rights, if the site permits that. Its command
                         `sudo` adds no rights */
    struct kv *rooted; /* variables whose values are paths relative to the node's root */
    size_t n_rooted;
    struct program_spec program;
    struct input_list files;    /* copied to its first node */
    struct output_list outputs; /* uploaded from its first node */
    const char *home;           /* relative to the node's root; only files inside it are uploaded */
    /* Files beside "wd": the log of uploads, and the log of their errors. */
    const char *output_log, *output_errors;
    const struct team_spec *team; /* NULL: only the program runs, on the first node */
    /* The failure that prevents the run, and its message; FAIL_NONE: nothing prevents it. */
    enum failure_code refused;
    const char *why_refused;
    bool held; /* true: no step is done on its nodes until the front permits the run to begin */
    bool unscheduled; /* true: disabling the scheduling of its node does not end the run */
};

struct setup_task_spec {
    const char *command_line;
    struct kv *env; /* environmentVariables then secrets */
    size_t n_env;
    const char *std_prefix;         /* stdOutErrPathPrefix, unexpanded */
    const char *std_suffix;         /* stdOutErrPathSuffix */
    const struct place_spec *place; /* if set, a program in a directory of the front runs, and most
                                       members above are ignored. NULL: command_line runs */
    int retries;                    /* how often a failing program is repeated; -1: without limit */
    bool beside; /* true: the node gets runs even while the program runs and after it failed */
    bool admin;  /* true: the program runs with the agent's account */
    struct container_spec *container; /* the program's container; NULL: it runs on the host */
};

struct admin_user_spec {
    const char *name;
    const char *ssh_public_key; /* one line, without a line end; or NULL */
    const char *password;       /* secret; or NULL */
    const char *private_key;    /* secret: the SSH key of the account; NULL: none */
    int uid, gid;               /* both 0: the node chooses them */
    /* Where people cannot log in by its name: the account that takes its place, and that account's
     * directory, as in struct place_spec. NULL: none. */
    const char *account, *account_dir;
};

struct container_spec {
    const char *image;          /* as given */
    const char *server;         /* the registry, without "https://"; NULL: the runtime's default */
    const char *user;           /* the user at the registry; NULL: no credentials */
    const char *password;       /* secret; NULL if secret_ref is set */
    const char *secret_ref;     /* Key Vault URL instead of the password, or NULL */
    const char *shm_size;       /* in docker's format; NULL: its default */
    const char *const *options; /* further arguments for starting the container; NULL: none */
    size_t n_options;
    const char *run_as;     /* the user that `options` give the processes; NULL: none */
    const char *entrypoint; /* the program that `options` set to run the command; NULL: none */
    bool in_image; /* processes start in the working directory of the image or of `options` */
    bool narrow;   /* true: only `binds` are mounted in it; false: the whole node root */
    struct container_bind {
        const char *path; /* relative to the node's root */
        bool read_only;
    } * binds;
    size_t n_binds;
};

struct node_setup_spec {
    struct admin_user_spec admin;
    struct mount_list mounts;
    struct setup_task_spec *setup_task; /* NULL: none */
    const char *const *dirs;            /* directories to make, relative to the node's root; */
    size_t n_dirs;                      /* they belong to `account` */
    const char *account;
    struct admin_user_spec *users; /* further accounts with which people log in, like `admin` */
    size_t n_users;
    struct input_list packages; /* packages for all runs on the node */
    enum failure_code refused;  /* why the node cannot be prepared; FAIL_NONE: it can */
    const char *why_refused;
    struct container_spec *images; /* images to pull in advance, if possible */
    size_t n_images;
};

struct cluster_spec {
    const char *vm_size; /* upper-case */
    enum vm_priority vm_priority;
    struct scale scale;
    struct node_setup_spec setup;
};

/* Settings of a job's one toolkit. Settings that the toolkit lacks are NULL or 0. */
struct toolkit_spec {
    const char *command_line; /* customToolkit, customMpi */
    const char *script, *interpreter, *args, *config_file;
    const char *language; /* of CNTK */
    const char *backend;  /* communicationBackend */
    const char *master_args, *worker_args, *parameter_server_args;
    int process_count, worker_count, parameter_server_count;
};

struct directory_spec {
    const char *id, *path, *suffix; /* path: input path or output pathPrefix; suffix may be NULL */
    bool as_is; /* an output with createNew false: the directory is path/suffix itself, without the
                   job's segment */
};

/* A member of "properties" in stored documents of jobs, which replies never contain: the
 * mountVolumes that the cluster had when the job was submitted. With it, output can be listed after
 * the cluster was deleted. */
#define JOB_DOC_CLUSTER_MOUNTS "clusterMountVolumes"
/* A member of "properties" in stored documents of clusters: true if the cluster was made through
 * 2017-09-01-preview, in which the path of the set-up task's output does not contain the cluster's
 * guid. */
#define CLUSTER_DOC_PLAIN_OUTPUT "setupOutputWithoutGuid"

struct run_spec {
    struct place_spec *place; /* NULL: the run has directories for each attempt and a toolkit;
                                 otherwise most members below are ignored */
    enum tool_type tool;
    struct toolkit_spec toolkit;
    const char *pool_ref; /* the resource id of its cluster */
    int priority, node_count;
    const char *prep_command_line;    /* NULL: none */
    struct container_spec *container; /* NULL: the run's processes run on the host */
    struct kv *env; /* environmentVariables, then secrets, without the reserved variables */
    size_t n_env;
    struct wishes wishes;
    struct mount_list mounts;
    struct mount_list pool_mounts; /* from JOB_DOC_CLUSTER_MOUNTS, without keys */
    const char *std_prefix;
    const char *segment; /* jobOutputDirectoryPathSegment */
    struct directory_spec *inputs, *outputs;
    size_t n_inputs, n_outputs;
    int64_t max_wall_us;
    /* The suffix of the names of its output files and log: the run's index in an array; NULL: no
     * suffix. */
    const char *file_suffix;
};

/* The value of AZ_BATCHAI_MOUNT_ROOT in the real service. At the beginning of a path it is treated
 * like the variable. */
#define PUBLISHED_MOUNTS "/mnt/batch/tasks/shared/LS_root/mounts"

/* `secrets` is the decrypted JSON text with the document's secrets, or NULL. */
int node_setup_decode(struct arena *a, const struct cluster *c, const char *secrets,
                      struct node_setup_spec *out, struct err *e) MUST_CHECK;
int job_spec_decode(struct arena *a, const struct job *j, const char *secrets, struct run_spec *out,
                    struct err *e) MUST_CHECK;

/* Return S/rg/workspaces/{ws}/experiments/{e}/jobs/{j}/G and S/rg/workspaces/{ws}/clusters/{c}/G
 * (S: subscription, rg: group, both lower-case; G: guid), in the arena. In the home workspace
 * (model/home.h) the segments are S/rg/jobs/{j}/G and S/rg/clusters/{c}/G in every api-version. */
const char *job_path_segment(struct arena *a, const struct job *j);
const char *cluster_path_segment(struct arena *a, const struct cluster *c);

/* The rules for names of storage accounts, and of file shares and containers. They become names of
 * folders, in lower case. Azure's rules are stricter, but its published examples violate them. */
#define ACCOUNT_NAME_MAX 64
#define SHARE_NAME_MAX   63
bool account_name_valid(const char *name);
/* The folder with the content of a share or container: <storage_dir>/<account>/files/<share> or
 * .../blobs/<container>, in lower case. In the arena. */
const char *share_folder(struct arena *a, const char *storage_dir, const char *account,
                         enum share_kind kind, const char *share);
/* The daemon's own folders for a share, in the account's folder <storage_dir>/<account>:
 * SHARE_ASIDE for blobs with names that no file can have, SHARE_BLOCKS for uncommitted blocks. */
#define SHARE_ASIDE  ".aside"
#define SHARE_BLOCKS ".blocks"
const char *share_hidden_folder(struct arena *a, const char *storage_dir, const char *account,
                                const char *which, int64_t share_id);
bool share_name_valid(const char *name);
/* True: a PUT may make a container or share of this name. Mounts also accept names that are not
 * valid by this rule, because folders may be older than the rule. */
bool container_name_valid(const char *name);
/* The rules as texts that follow "must be" in messages. */
extern const char account_name_rule[], share_name_rule[], container_name_rule[];

/* Splits the URL of a share ("http(s)://ACCOUNT.file.SUFFIX/SHARE" or
 * "http(s)://HOST/files/ACCOUNT/SHARE"). -1: the URL has neither form. */
int file_share_from_url(struct arena *a, const char *url, const char **account,
                        const char **share) MUST_CHECK;

/* The name of a container, which a mount of a pool may also give as "http(s)://HOST/CONTAINER", as
 * a test of azure-batch does; any other text is returned as it is. */
const char *container_from_text(struct arena *a, const char *text);

/* Finds the volume that contains a path such as "$AZ_BATCHAI_MOUNT_ROOT/external/logs". Returns
 * NULL if no volume does, or if the path contains "..". Such paths begin with a variable, as $NAME
 * or ${NAME}: the front's VAR_POOL_MOUNTS for `pool_mounts`, VAR_RUN_MOUNTS for `run_mounts`. *rest
 * is the path below the volume ("logs"; "" for its root), in the arena, without "." and empty
 * components. */
const struct mount_volume *mount_resolve(struct arena *a, const struct front_words *words,
                                         const struct mount_list *pool_mounts,
                                         const struct mount_list *run_mounts, const char *path,
                                         const char **rest);

/* Overwrites every secret value decoded into this spec. */
void run_spec_wipe(struct run_spec *s);
void node_setup_wipe(struct node_setup_spec *s);

/* The longest duration, about 100 years. Adding it to any valid instant cannot overflow. */
#define DURATION_MAX_S  (36500L * 24 * 3600)
#define DURATION_MAX_US (DURATION_MAX_S * INT64_C(1000000))
/* Parses an ISO 8601 duration (P7D, PT1H30M, P1DT2H) to microseconds. Months and years are refused;
 * a duration above DURATION_MAX_US becomes DURATION_MAX_US. */
int duration_parse(const char *text, int64_t *us);

#endif
