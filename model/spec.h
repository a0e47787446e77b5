/* SPDX-License-Identifier: MIT
 *
 * The parts of a cluster's or job's document that the scheduler needs, decoded into plain structs,
 * so that no JSON enters scheduler/. Everything is arena-owned. Secrets are merged in: call
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
    const char *host;       /* of azureFileUrl, without port; else NULL */
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
    const char *shown; /* what people are told instead */
};

/* A blob of a container whose file is not in the container's folder, because no file there can have
 * its name. */
struct input_blob {
    const char *name;
    const char *share, *path; /* a folder, and the file's path in it */
    bool has_bytes;
};

/* What is put onto a node before the run begins: a file of the daemon's, or of others, or all such
 * files whose names begin alike. */
struct input_file {
    const char *share, *path; /* a folder, and the file's path in it */
    const char *url;          /* instead of both: of others; secret */
    const char *prefix;       /* share or url is of a container, of which those files are meant */
    const struct input_blob *aside; /* more of those; of a share alone */
    size_t n_aside;
    const char *to;   /* below the node's root; with a prefix a directory */
    const char *what; /* what people are told of it */
    int mode;
    const char *link; /* it is an archive, which is unpacked at `to`, once, and this, below the
                       * node's root too, leads there; NULL: it is not */
    bool package;     /* what fails with it is a package, not a file */
};
struct input_list {
    struct input_file *items;
    size_t n;
};

/* What is taken off a node once the run's processes have ended, and put into a container. */
struct output_file {
    const char *pattern; /* of paths below "wd" (model/glob.h), with variables; or absolute */
    const char *url;     /* of the container; secret */
    bool own;            /* its host is the daemon itself */
    const char *path;    /* in the container; NULL: none */
    const char *const *headers; /* "Name: value" */
    size_t n_headers;
    bool after_success, after_failure; /* when */
    const char *what;                  /* what people are told of it */
    const char *refused;               /* why it cannot be; NULL: it can */
    int refused_as;                    /* the kind of that error */
};
struct output_list {
    struct output_file *items;
    size_t n;
};

/* How the nodes of a run work together whose front has directories of its own. The first node's is
 * that of the place, another's is in it and called by the node's rank. */
struct team_spec {
    struct program_spec coordination; /* runs on every node; the program of the place begins when
                                         all have ended with 0. What it leaves behind goes on until
                                         the run ends */
    struct input_list files;          /* put onto every node */
};

/* The place of a run whose front has directories of its own on nodes. Its processes run in "wd" of
 * the directory, beside which their standard output and error are. */
struct place_spec {
    const char *dir;         /* below each node's root; it outlives the run */
    const char *account;     /* that several runs share; NULL: one of the run's own */
    const char *account_dir; /* where all of these are, below the node's root */
    const char *user;        /* that account has this name where people can log in by it, as one of
                                its pool's users (struct node_setup_spec); NULL: it has none */
    int uid, gid;            /* of `account`; both 0: the node chooses */
    bool admin;              /* may do what the agent may, where the site allows that; its `sudo`
                                runs what it is given with the rights that it has anyway */
    struct kv *rooted;       /* variables whose values are paths below the node's root */
    size_t n_rooted;
    struct program_spec program;
    struct input_list files;                /* put onto its first node */
    struct output_list outputs;             /* taken off it */
    const char *home;                       /* below the node's root: nothing outside is taken */
    const char *output_log, *output_errors; /* beside "wd": what was taken, and what could not be */
    const struct team_spec *team;           /* NULL: the program is all that runs */
    enum failure_code refused; /* why it cannot run, and that in words; FAIL_NONE: it can */
    const char *why_refused;
    bool held; /* nothing is done on its nodes until its front lets it begin */
};

struct setup_task_spec {
    const char *command_line;
    struct kv *env; /* environmentVariables then secrets */
    size_t n_env;
    const char *std_prefix;           /* stdOutErrPathPrefix, unexpanded */
    const char *std_suffix;           /* stdOutErrPathSuffix */
    const struct place_spec *place;   /* a program in a directory of the front's; then most of the
                                         above is not looked at. NULL: the command line */
    int retries;                      /* of a program that fails; -1: for ever */
    bool beside;                      /* the node is used while it runs, and however it ends */
    bool admin;                       /* the program runs as the agent */
    struct container_spec *container; /* of the program; NULL: it runs on the host */
};

struct admin_user_spec {
    const char *name;
    const char *ssh_public_key; /* one line, without its end; or NULL */
    const char *password;       /* secret; or NULL */
    const char *private_key;    /* secret, of SSH: the account's own pair; NULL: none */
    int uid, gid;               /* both 0: the node chooses */
    /* What it is where people cannot log in by its name, as of struct place_spec; NULL: nothing. */
    const char *account, *account_dir;
};

struct container_spec {
    const char *image;          /* as given */
    const char *server;         /* registry, without a scheme; NULL: the runtime's default */
    const char *user;           /* of the registry; NULL: no credentials */
    const char *password;       /* secret; NULL with a reference */
    const char *secret_ref;     /* Key Vault URL instead of the password, or NULL */
    const char *shm_size;       /* as docker has it; NULL: its default */
    const char *const *options; /* more arguments for its start; NULL: none */
    size_t n_options;
    const char *run_as;     /* of these, whom its processes are to be; NULL: not said */
    const char *entrypoint; /* of these, what programs with words of their own are given to */
    bool in_image; /* processes begin in the image's working directory, or that of the options */
    bool narrow;   /* of the node it sees `binds` alone, else all below its root */
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
    struct admin_user_spec *users; /* more accounts for people, as `admin` */
    size_t n_users;
    struct input_list packages; /* of all that runs there */
    enum failure_code refused;  /* as of struct place_spec: it cannot be prepared */
    const char *why_refused;
    struct container_spec *images; /* to be had before they are asked for, if that can be */
    size_t n_images;
};

struct cluster_spec {
    const char *vm_size; /* upper-case */
    enum vm_priority vm_priority;
    struct scale scale;
    struct node_setup_spec setup;
};

/* Settings of the one toolkit that a job names. Settings that the toolkit does not have are NULL or
 * 0. */
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
    bool as_is; /* an output with createNew false: it is path/suffix itself, not below the job's
                   segment */
};

/* Member of "properties" in a stored job document that no api-version renders: the mountVolumes of
 * its cluster at submission, because output stays listable after the cluster is gone. */
#define JOB_DOC_CLUSTER_MOUNTS "clusterMountVolumes"
/* Member of "properties" in a stored cluster document: true if the cluster was made through
 * 2017-09-01-preview, where a set-up task's output directory has no guid of the cluster in its
 * path. */
#define CLUSTER_DOC_PLAIN_OUTPUT "setupOutputWithoutGuid"

struct run_spec {
    struct place_spec *place; /* NULL: directories of each attempt's own, and a toolkit; else most
                                 of what follows is not looked at */
    enum tool_type tool;
    struct toolkit_spec toolkit;
    const char *pool_ref; /* the resource id of its cluster */
    int priority, node_count;
    const char *prep_command_line;    /* NULL: none */
    struct container_spec *container; /* NULL: runs on the host */
    struct kv *env; /* environmentVariables then secrets; without those that are reserved: */
    size_t n_env;
    struct wishes wishes;
    struct mount_list mounts;
    struct mount_list pool_mounts; /* from JOB_DOC_CLUSTER_MOUNTS; without keys */
    const char *std_prefix;
    const char *segment; /* jobOutputDirectoryPathSegment */
    struct directory_spec *inputs, *outputs;
    size_t n_inputs, n_outputs;
    int64_t max_wall_us;
    const char *file_suffix; /* of its std files and log: of an index of an array; NULL: none */
};

/* What AZ_BATCHAI_MOUNT_ROOT was in the service. In paths of directories it stands for that. */
#define PUBLISHED_MOUNTS "/mnt/batch/tasks/shared/LS_root/mounts"

/* `secrets` is the unsealed JSON text, or NULL. */
int node_setup_decode(struct arena *a, const struct cluster *c, const char *secrets,
                      struct node_setup_spec *out, struct err *e) MUST_CHECK;
int job_spec_decode(struct arena *a, const struct job *j, const char *secrets, struct run_spec *out,
                    struct err *e) MUST_CHECK;

/* S/rg/workspaces/{ws}/experiments/{e}/jobs/{j}/G and S/rg/workspaces/{ws}/clusters/{c}/G, with
 * subscription and group lower-case; S/rg/jobs/{j}/G and S/rg/clusters/{c}/G in the home workspace
 * (model/home.h), whichever version asks. Arena-owned. */
const char *job_path_segment(struct arena *a, const struct job *j);
const char *cluster_path_segment(struct arena *a, const struct cluster *c);

/* Names of storage accounts, and of file shares and containers. They become names of folders,
 * without regard to case. Azure's own rules are narrower; its published examples break them. */
#define ACCOUNT_NAME_MAX 64
#define SHARE_NAME_MAX   63
bool account_name_valid(const char *name);
/* The folder of a share or container, whose contents are those of the folder:
 * <storage_dir>/<account>/files/<share> or .../blobs/<container>, in lower case. Arena-owned. */
const char *share_folder(struct arena *a, const char *storage_dir, const char *account,
                         enum share_kind kind, const char *share);
/* Folders of ours beside it: of blobs that no file can be called, and of blocks that wait. Below
 * the account's folder, <storage_dir>/<account>. */
#define SHARE_ASIDE  ".aside"
#define SHARE_BLOCKS ".blocks"
const char *share_hidden_folder(struct arena *a, const char *storage_dir, const char *account,
                                const char *which, int64_t share_id);
bool share_name_valid(const char *name);
/* The rules in words, to follow "must be" in messages. */
/* Whether a container or share of that name can be made by a PUT of it. Mounts may name others,
 * which folders had before there was one. */
bool container_name_valid(const char *name);
extern const char account_name_rule[], share_name_rule[], container_name_rule[];

/* Splits "[http(s)://ACCOUNT.file.SUFFIX/SHARE]" or path-style URLs. -1 if it names no share. */
int file_share_from_url(struct arena *a, const char *url, const char **account,
                        const char **share) MUST_CHECK;

/* Finds the volume that a path such as "$AZ_BATCHAI_MOUNT_ROOT/external/logs" is on, and the rest
 * of the path below the volume ("logs"; "" for its root); NULL: it is on none of them. Such paths
 * begin with a variable: the front's VAR_POOL_MOUNTS for `pool_mounts`, VAR_RUN_MOUNTS for
 * `run_mounts`;
 * ${NAME} is understood too. *rest is arena-owned, free of "." and empty components. A path that
 * uses ".." is on none. */
const struct mount_volume *mount_resolve(struct arena *a, const struct front_words *words,
                                         const struct mount_list *pool_mounts,
                                         const struct mount_list *run_mounts, const char *path,
                                         const char **rest);

/* Overwrites every secret value decoded into this spec. */
void run_spec_wipe(struct run_spec *s);
void node_setup_wipe(struct node_setup_spec *s);

/* The longest duration, a century; adding it to any of our instants cannot overflow. */
#define DURATION_MAX_US (INT64_C(36500) * 24 * 3600 * 1000000)
/* ISO 8601 duration (P7D, PT1H30M, P1DT2H) <-> microseconds. Months and years are refused, and what
 * is longer than the longest becomes that. */
int duration_parse(const char *text, int64_t *us);

#endif
