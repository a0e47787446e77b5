/* SPDX-License-Identifier: MIT
 *
 * Tables and checks that several resources share; private to model/schema/.
 *
 * How to read a row: name, kind, flags, then what the kind needs (values, sub), then default
 * (.fallback, JSON text), range and extra check. Rows stand in the order of replies.
 * A new property is a row; a property that only some versions know has .versions; one that they
 * call differently has .canon, the newest name.
 */
#ifndef MODEL_SCHEMA_TABLES_H
#define MODEL_SCHEMA_TABLES_H

#include "model/schema_priv.h"
#include "model/spec.h"

#define SCHEMA(symbol, label, rows, rule)                                                          \
    const struct schema symbol = {.name = (label),                                                 \
                                  .fields = (rows),                                                \
                                  .n_fields = sizeof(rows) / sizeof *(rows),                       \
                                  .check = (rule)}

/* A table that is decoded into a `type`: its rows name places in that struct. */
#define SCHEMA_INTO(symbol, label, rows, rule, type, last)                                         \
    const struct schema symbol = {.name = (label),                                                 \
                                  .fields = (rows),                                                \
                                  .n_fields = sizeof(rows) / sizeof *(rows),                       \
                                  .check = (rule),                                                 \
                                  .size = sizeof(type),                                            \
                                  .finish = (last)}

/* The place of a property: one macro for each type of member, so that a wrong one does not compile.
 */
#define INTO_(type, member, kind)                                                                  \
    .into = (unsigned short)(offsetof(type, member) + _Generic(((type *)0)->member, kind : 1))
#define INTO_TEXT(type, member) INTO_(type, member, const char *)
#define INTO_INT(type, member)  INTO_(type, member, int)
#define INTO_BOOL(type, member) INTO_(type, member, bool)
#define INTO_US(type, member)   INTO_(type, member, int64_t)
/* An enum or a struct: any member of the right size. */
#define INTO_SIZED(type, member, bytes)                                                            \
    .into = (unsigned short)(offsetof(type, member) +                                              \
                             sizeof(char[sizeof(((type *)0)->member) == (bytes) ? 1 : -1]))
#define INTO_ENUM(type, member)        INTO_SIZED(type, member, sizeof(int))
#define INTO_OBJECT(type, member, sub) INTO_SIZED(type, member, sizeof(sub))
#define INTO_POINTER(type, member)     INTO_SIZED(type, member, sizeof(void *))
/* The object's properties are members of the same struct as those beside it. */
#define INTO_SAME .into = 1
/* An object of which one text counts: the id that it refers to, or the URL of a secret. */
#define INTO_REFERENCE(type, member) INTO_TEXT(type, member)
#define INTO_LIST(type, member, count)                                                             \
    INTO_POINTER(type, member),                                                                    \
        .count_into =                                                                              \
            (unsigned short)(offsetof(type, count) + _Generic(((type *)0)->count, size_t : 1))

/* What `id`, `name` and `type` of every resource are. */
#define RESOURCE_ROWS                                                                              \
    {.name = "id", .kind = FIELD_STRING, .flags = FIELD_READONLY | FIELD_ID},                      \
        {.name = "name", .kind = FIELD_STRING, .flags = FIELD_READONLY},                           \
    {                                                                                              \
        .name = "type", .kind = FIELD_STRING, .flags = FIELD_READONLY                              \
    }

#define V17 V_2017_09_01_PREVIEW
#define V03 V_2018_03_01
#define V05 V_2018_05_01

/* location and tags of clusters and file servers. The versions without workspaces have them;
 * requests of early June 2018 still did, replies no longer. Locations are compared as names of
 * regions, which api/batchai/common.c does and not the engine. */
#define TRACKED_ROWS(bits)                                                                         \
    {.name = "location",                                                                           \
     .kind = FIELD_STRING,                                                                         \
     .flags = FIELD_REQUIRED | FIELD_MUTABLE,                                                      \
     .versions = V_FLAT,                                                                           \
     .min = 1,                                                                                     \
     .max = 128,                                                                                   \
     .check = check_location},                                                                     \
        {.name = "location",                                                                       \
         .kind = FIELD_STRING,                                                                     \
         .flags = FIELD_DISCARD,                                                                   \
         .versions = V05,                                                                          \
         .max = 128},                                                                              \
        {.name = "tags", .kind = FIELD_MAP, .flags = (bits), .versions = V_FLAT, .max = MAX_TAGS}, \
    {                                                                                              \
        .name = "tags", .kind = FIELD_MAP, .flags = FIELD_DISCARD, .versions = V05,                \
        .max = MAX_TAGS                                                                            \
    }

enum {
    MAX_PATH_BYTES = 4096,
    MAX_URL_BYTES = 2048,
    MAX_ID_BYTES = 2048,
    MAX_ITEMS = 1000,       /* of any array in a request */
    MAX_TAGS = 50,          /* as in Azure Resource Manager */
    MAX_ARG_BYTES = 128000, /* the kernel takes no argument or NAME=VALUE of 128 KiB and more */
};

/* schema/common.c */
extern const struct schema schema_resource_id, schema_secret_reference, schema_env_variable,
    schema_env_secret, schema_batchai_error, schema_user_account;
/* schema/mounts.c */
extern const struct schema schema_mount_volumes;
/* schema/toolkits.c */
extern const struct schema schema_cntk, schema_pytorch, schema_tensorflow, schema_caffe,
    schema_caffe2, schema_chainer, schema_custom_toolkit, schema_custom_mpi, schema_horovod;

/* The cross-field rule of a job's properties: exactly one toolkit, whose counts fit the number of
 * nodes. Sets toolType and counts that are missing. */
int check_toolkit(json_t *properties, const char *path, struct err *e);

/* schema/checks.c: checks of one value. */
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

/* Fails if two items of obj[list] have the same obj[list][i][key]; `seen` (borrowed, may be shared
 * between lists) collects the values. */
int check_unique(const json_t *obj, const char *list, const char *key, json_t *seen,
                 const char *path, struct err *e);
/* environmentVariables and secrets of one object share one name space. */
int check_env(json_t *obj, const char *path, struct err *e);

/* Whether the property is present and not an empty string. */
bool has(const json_t *obj, const char *name);

#endif
