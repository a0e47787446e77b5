/* SPDX-License-Identifier: MIT
 *
 * The parts of a cluster's or job's document that the scheduler needs, decoded into plain structs,
 * so that no JSON enters scheduler/. Everything is in the arena. Secrets are merged in: call
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
    const char *account;    /* file share, blob */
    const char *share;      /* share or container name */
    const char *host;       /* from azureFileUrl, without port; otherwise NULL */
    const char *key;        /* account key; secret; may be NULL */
    const char *secret_ref; /* Key Vault URL instead of a key, or NULL */
    const char *source;     /* file server resource id, or the unmanaged mount command */
    const char *source_directory;
    const char *relative_path; /* below the mount root */
    const char *options, *file_mode, *directory_mode;
};

struct mount_list {
    struct mount_volume *items; /* in the order given */
    size_t n;
};

/* A program and its arguments, run without a shell. */
struct program_spec {
    const char *const *argv; /* n, and a NULL */
    size_t n;
    const char *shown; /* shown instead of the program */
};

/* A blob whose name no file can have, so that its file is not in the container's folder. */
struct input_blob {
    const char *name;
    const char *share, *path; /* a folder, and the file's path in it */
    bool has_bytes;
};

/* An archived blob: nobody reads its bytes. A file with other facts was written since by a job. */
struct archived_blob {
    const char *name;
    uint64_t inode, size;
    int64_t mtime_ns;
};

/* An input for a node before the run begins: a file of the daemon, a foreign file, or all files
 * with a common prefix. */
struct input_file {
    const char *share, *path; /* a folder, and the file's path in it */
    const char *url;          /* a foreign URL instead of both; secret */
    const char *prefix; /* share or url is a container, and its files with this prefix are copied */
    const struct input_blob *aside; /* further blobs of a share whose names are not file names */
    size_t n_aside;
    /* the archived blobs among the files, in the order of names */
    const struct archived_blob *archived;
    size_t n_archived;
    const char *to;   /* below the node's root; with a prefix a directory */
    const char *what; /* the name for messages */
    int mode;
    /* the file is an archive, unpacked at `to` once; this link leads there (below the node's root,
     * too). NULL: not an archive */
    const char *link;
    bool package; /* failures concern a package, not a file */
};
struct input_list {
    struct input_file *items;
    size_t n;
};

/* An upload to a container after the run's processes have ended. */
struct output_file {
    /* pattern of paths below "wd" (model/glob.h), with variables; or absolute */
    const char *pattern;
    const char *url;            /* URL of the container; secret */
    bool own;                   /* its host is the daemon itself */
    const char *path;           /* path in the container; NULL: none */
    const char *const *headers; /* "Name: value" */
    size_t n_headers;
    bool after_success, after_failure; /* when */
    const char *what;                  /* the name for messages */
    const char *refused;               /* why it is not possible; NULL: possible */
    int refused_as;                    /* the kind of that error */
};
struct output_list {
    struct output_file *items;
    size_t n;
};

/* The cooperation of a run's nodes, if the front has its own directories. The first node's
 * directory is the place's; another node's directory is inside it, with the node's rank as its
 * name. */
struct team_spec {
    /* runs on every node; the program of the place begins when all have ended with 0. Its child
     * processes continue until the run ends */
    struct program_spec coordination;
    struct input_list files; /* put onto every node */
};

/* The place of a run whose front has its own directories on nodes. Its processes run in "wd" of the
 * directory, beside their standard output and error. */
struct place_spec {
    const char *dir;         /* below each node's root; it outlives the run */
    const char *account;     /* an account that several runs share; NULL: the run gets an account */
    const char *account_dir; /* the parent directory of shared accounts, below the node's root */
    const char *user; /* the name of that account if people can log in with it, as one of its pool's
                         users (struct node_setup_spec); NULL: none */
    int uid, gid;     /* ids of `account`; both 0: the node chooses */
    bool admin; /* has the agent's rights, if the site permits that; its `sudo` runs commands with
                   the rights that it has anyway */
    struct kv *rooted; /* variables whose values are paths below the node's root */
    size_t n_rooted;
    struct program_spec program;
    struct input_list files;    /* copied to its first node */
    struct output_list outputs; /* taken off it */
    const char *home;           /* below the node's root: only files inside are uploaded */
    /* beside "wd": the log of uploads, and of their errors */
    const char *output_log, *output_errors;
    const struct team_spec *team; /* NULL: only the program runs */
    /* the failure that prevents the run, with its message; FAIL_NONE: none */
    enum failure_code refused;
    const char *why_refused;
    bool held; /* no step is done on its nodes until its front lets it begin */
};

struct setup_task_spec {
    const char *command_line;
    struct kv *env; /* environmentVariables then secrets */
    size_t n_env;
    const char *std_prefix;         /* stdOutErrPathPrefix, unexpanded */
    const char *std_suffix;         /* stdOutErrPathSuffix */
    const struct place_spec *place; /* a program in a directory of the front; then most of the
                                       members above are ignored. NULL: the command line */
    int retries;                    /* of a failing program; -1: unlimited */
    bool beside; /* the node gets runs while the program runs, and whatever its result is */
    bool admin;  /* the program runs as the agent */
    struct container_spec *container; /* of the program; NULL: it runs on the host */
};

struct admin_user_spec {
    const char *name;
    const char *ssh_public_key; /* one line, without its end; or NULL */
    const char *password;       /* secret; or NULL */
    const char *private_key;    /* secret: the SSH key of the account; NULL: none */
    int uid, gid;               /* both 0: the node chooses */
    /* The account and its directory if people cannot log in by its name, as in struct place_spec;
     * otherwise NULL. */
    const char *account, *account_dir;
};

struct container_spec {
    const char *image;          /* as given */
    const char *server;         /* registry, without a scheme; NULL: the runtime's default */
    const char *user;           /* of the registry; NULL: no credentials */
    const char *password;       /* secret; NULL with a reference */
    const char *secret_ref;     /* Key Vault URL instead of the password, or NULL */
    const char *shm_size;       /* in docker's format; NULL: its default */
    const char *const *options; /* further arguments for its start; NULL: none */
    size_t n_options;
    const char *run_as;     /* from these options, the user of its processes; NULL: not given */
    const char *entrypoint; /* from these options, the program that gets the words of a command */
    bool in_image; /* processes begin in the image's working directory, or the one in the options */
    bool narrow;   /* it sees only `binds` of the node, otherwise the whole node root */
    struct container_bind {
        const char *path; /* below the node's root */
        bool read_only;
    } * binds;
    size_t n_binds;
};

struct node_setup_spec {
    struct admin_user_spec admin;
    struct mount_list mounts;
    struct setup_task_spec *setup_task; /* NULL: none */
    const char *const *dirs; /* below the node's root, to be made in the front's own directory; */
    size_t n_dirs;           /* they belong to `account` */
    const char *account;
    struct admin_user_spec *users; /* further accounts for people, like `admin` */
    size_t n_users;
    struct input_list packages; /* for all runs there */
    enum failure_code refused;  /* as in struct place_spec: the node cannot be prepared */
    const char *why_refused;
    struct container_spec *images; /* to be pulled in advance, if possible */
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
    bool as_is; /* an output with createNew false: the directory is path/suffix itself, not below
                   the job's segment */
};

/* Member of "properties" in a stored job document that no api-version renders: the mountVolumes of
 * its cluster at submission, because output stays listable after the cluster is deleted. */
#define JOB_DOC_CLUSTER_MOUNTS "clusterMountVolumes"
/* Member of "properties" in a stored cluster document: true if the cluster was made through
 * 2017-09-01-preview, where a set-up task's output directory has no guid of the cluster in its
 * path. */
#define CLUSTER_DOC_PLAIN_OUTPUT "setupOutputWithoutGuid"

struct run_spec {
    struct place_spec *place; /* NULL: separate directories for each attempt, and a toolkit;
                                 otherwise most of the members below are ignored */
    enum tool_type tool;
    struct toolkit_spec toolkit;
    const char *pool_ref; /* the resource id of its cluster */
    int priority, node_count;
    const char *prep_command_line;    /* NULL: none */
    struct container_spec *container; /* NULL: runs on the host */
    struct kv *env; /* environmentVariables, then secrets; without reserved variables: */
    size_t n_env;
    struct wishes wishes;
    struct mount_list mounts;
    struct mount_list pool_mounts; /* from JOB_DOC_CLUSTER_MOUNTS; without keys */
    const char *std_prefix;
    const char *segment; /* jobOutputDirectoryPathSegment */
    struct directory_spec *inputs, *outputs;
    size_t n_inputs, n_outputs;
    int64_t max_wall_us;
    /* suffix of its std files and log: the index of an array; NULL: none */
    const char *file_suffix;
};

/* The value of AZ_BATCHAI_MOUNT_ROOT in the real service. In paths of directories it has the
 * meaning of the variable. */
#define PUBLISHED_MOUNTS "/mnt/batch/tasks/shared/LS_root/mounts"

/* `secrets` is the unsealed JSON text, or NULL. */
int node_setup_decode(struct arena *a, const struct cluster *c, const char *secrets,
                      struct node_setup_spec *out, struct err *e) MUST_CHECK;
int job_spec_decode(struct arena *a, const struct job *j, const char *secrets, struct run_spec *out,
                    struct err *e) MUST_CHECK;

/* S/rg/workspaces/{ws}/experiments/{e}/jobs/{j}/G and S/rg/workspaces/{ws}/clusters/{c}/G, with
 * subscription and group lower-case; S/rg/jobs/{j}/G and S/rg/clusters/{c}/G in the home workspace
 * (model/home.h), for any api-version. In the arena. */
const char *job_path_segment(struct arena *a, const struct job *j);
const char *cluster_path_segment(struct arena *a, const struct cluster *c);

/* Names of storage accounts, and of file shares and containers. They become names of folders,
 * without regard to case. Azure's rules are narrower; its published examples break them. */
#define ACCOUNT_NAME_MAX 64
#define SHARE_NAME_MAX   63
bool account_name_valid(const char *name);
/* The folder with the content of a share or container: <storage_dir>/<account>/files/<share> or
 * .../blobs/<container>, in lower case. In the arena. */
const char *share_folder(struct arena *a, const char *storage_dir, const char *account,
                         enum share_kind kind, const char *share);
/* The daemon's folders beside it: for blobs with names that no file can have, and for uncommitted
 * blocks. Below the account's folder, <storage_dir>/<account>. */
#define SHARE_ASIDE  ".aside"
#define SHARE_BLOCKS ".blocks"
const char *share_hidden_folder(struct arena *a, const char *storage_dir, const char *account,
                                const char *which, int64_t share_id);
bool share_name_valid(const char *name);
/* The rules in words, after "must be" in messages. */
/* Whether a PUT can make a container or share of that name. Mounts accept further names, of folders
 * from before this rule. */
bool container_name_valid(const char *name);
extern const char account_name_rule[], share_name_rule[], container_name_rule[];

/* Splits "[http(s)://ACCOUNT.file.SUFFIX/SHARE]" or path-style URLs. -1: not the URL of a share. */
int file_share_from_url(struct arena *a, const char *url, const char **account,
                        const char **share) MUST_CHECK;

/* Finds the volume of a path such as "$AZ_BATCHAI_MOUNT_ROOT/external/logs", and the rest of the
 * path below the volume ("logs"; "" for its root); NULL: the path is on none of them. Such paths
 * begin with a variable: the front's VAR_POOL_MOUNTS for `pool_mounts`, VAR_RUN_MOUNTS for
 * `run_mounts`; ${NAME} is accepted too. *rest is in the arena, without "." and empty components. A
 * path with ".." is on none. */
const struct mount_volume *mount_resolve(struct arena *a, const struct front_words *words,
                                         const struct mount_list *pool_mounts,
                                         const struct mount_list *run_mounts, const char *path,
                                         const char **rest);

/* Overwrites every secret value decoded into this spec. */
void run_spec_wipe(struct run_spec *s);
void node_setup_wipe(struct node_setup_spec *s);

/* The longest duration, a century; adding it to any valid instant cannot overflow. */
#define DURATION_MAX_S  (36500L * 24 * 3600)
#define DURATION_MAX_US (DURATION_MAX_S * INT64_C(1000000))
/* ISO 8601 duration (P7D, PT1H30M, P1DT2H) <-> microseconds. Months and years are refused, and a
 * longer duration becomes the maximum. */
int duration_parse(const char *text, int64_t *us);

#endif
