/* SPDX-License-Identifier: MIT
 *
 * Tables, rows and checks that several resources share; private to the tables of model/.
 * model/schema_rows.h explains rows.
 */
#ifndef MODEL_SCHEMA_TABLES_H
#define MODEL_SCHEMA_TABLES_H

#include "model/schema_priv.h"
#include "model/schema_rows.h"
#include "model/spec.h"

/* The properties `id`, `name` and `type` of every resource. */
#define RESOURCE_ROWS TEXT("id", READONLY | ID), TEXT("name", READONLY), TEXT("type", READONLY)

#define V17 V_2017_09_01_PREVIEW
#define V03 V_2018_03_01
#define V05 V_2018_05_01

/* location and tags of clusters and file servers. The versions without workspaces have both. In
 * 2018-05-01, clients of early June 2018 still sent them, but replies did not contain them: the
 * daemon stores such tags and shows them in the versions without workspaces, and the location must
 * be the location of the workspace. api/arm/batchai/common.c compares locations as names of
 * regions, not as texts. */
/* clang-format off */
#define TRACKED_ROWS(bits)                                                                         \
    TEXT("location", REQUIRED | MUTABLE, 1, 128, .versions = V_FLAT, .check = check_location),     \
    TEXT("location", INPUT_ONLY, .versions = V05, .max = 128),                                     \
    MAP("tags", bits, .versions = V_FLAT, .max = MAX_TAGS),                                        \
    MAP("tags", (bits) | INPUT_ONLY, .versions = V05, .max = MAX_TAGS)
/* clang-format on */

enum {
    MAX_PATH_BYTES = 4096,
    MAX_URL_BYTES = 2048,
    MAX_ID_BYTES = 2048,
    MAX_ITEMS = 1000,       /* the most items of any array in a request */
    MAX_TAGS = 50,          /* the limit of Azure Resource Manager */
    MAX_ARG_BYTES = 128000, /* the kernel refuses an argument or NAME=VALUE of 128 KiB and more */
};

/* Defined in schema/common.c. */
extern const struct schema schema_resource_id, schema_secret_reference, schema_env_variable,
    schema_env_secret, schema_batchai_error, schema_user_account;
/* Defined in schema/mounts.c. */
extern const struct schema schema_mount_volumes;
/* Defined in schema/toolkits.c. */
extern const struct schema schema_cntk, schema_pytorch, schema_tensorflow, schema_caffe,
    schema_caffe2, schema_chainer, schema_custom_toolkit, schema_custom_mpi, schema_horovod;

/* Checks that a job has exactly one toolkit, and that the toolkit's counts match the number of
 * nodes. Sets toolType and missing counts. */
int check_toolkit(json_t *properties, const char *path, struct err *e);

/* Defined in schema/checks.c: checks of one value. */
int check_env_name(const json_t *value, const char *path, struct err *e);
int check_directory_id(const json_t *value, const char *path, struct err *e);
int check_output_id(const json_t *value, const char *path, struct err *e);
int check_relative_path(const json_t *value, const char *path, struct err *e);
int check_mount_path(const json_t *value, const char *path, struct err *e);
int check_clean_text(const json_t *value, const char *path, struct err *e);
int check_image(const json_t *value, const char *path, struct err *e);
int check_location(const json_t *value, const char *path, struct err *e);
int check_output_prefix(const json_t *value, const char *path, struct err *e);
int check_cluster_id(const json_t *value, const char *path, struct err *e);
int check_file_server_id(const json_t *value, const char *path, struct err *e);
int check_account_name(const json_t *value, const char *path, struct err *e);
int check_share_name(const json_t *value, const char *path, struct err *e);
int check_share_url(const json_t *value, const char *path, struct err *e);
int check_http_url(const json_t *value, const char *path, struct err *e);
int check_mode(const json_t *value, const char *path, struct err *e);
int check_user_name(const json_t *value, const char *path, struct err *e);
int check_ssh_key(const json_t *value, const char *path, struct err *e);
int check_shm_size(const json_t *value, const char *path, struct err *e);
int check_cntk_language(const json_t *value, const char *path, struct err *e);
int check_backend(const json_t *value, const char *path, struct err *e);

/* Fails if two items of the list obj[list] have the same value of `key`. Adds all values to `seen`
 * (borrowed), which several calls may share, so that values are unique in all their lists. */
int check_unique(const json_t *obj, const char *list, const char *key, json_t *seen,
                 const char *path, struct err *e);
/* Checks that no name occurs twice in environmentVariables and secrets of an object together. */
int check_env(json_t *obj, const char *path, struct err *e);

/* Whether the property is present and not an empty string. */
bool has(const json_t *obj, const char *name);

#endif
