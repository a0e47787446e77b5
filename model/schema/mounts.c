/* SPDX-License-Identifier: MIT
 *
 * mountVolumes: the same on a cluster and on a job.
 */
#include <string.h>
#include <strings.h>

#include "lib/arena.h"
#include "model/schema/tables.h"
#include "model/spec.h"

#define MOUNT_PATH_ROW                                                                             \
    {                                                                                              \
        .name = "relativeMountPath", .kind = FIELD_STRING, .flags = FIELD_REQUIRED, .min = 1,      \
        .max = 1024, .check = check_mount_path, INTO_TEXT(struct mount_volume, relative_path)      \
    }
#define ACCOUNT_ROW                                                                                \
    {                                                                                              \
        .name = "accountName", .kind = FIELD_STRING, .flags = FIELD_REQUIRED, .min = 1,            \
        .max = ACCOUNT_NAME_MAX, .check = check_account_name,                                      \
        INTO_TEXT(struct mount_volume, account)                                                    \
    }
/* Until October 2017 it was called credentialsInfo. */
#define CREDENTIALS_ROWS                                                                           \
    {.name = "credentialsInfo",                                                                    \
     .canon = "credentials",                                                                       \
     .kind = FIELD_OBJECT,                                                                         \
     .flags = FIELD_INPUT_ONLY | FIELD_KEEP_EMPTY,                                                 \
     .versions = V17,                                                                              \
     .sub = &schema_credentials},                                                                  \
    {                                                                                              \
        .name = "credentials", .kind = FIELD_OBJECT, .flags = FIELD_REQUIRED | FIELD_KEEP_EMPTY,   \
        .sub = &schema_credentials, INTO_SAME                                                      \
    }
#define OPTIONS_ROW                                                                                \
    {                                                                                              \
        .name = "mountOptions", .kind = FIELD_STRING, .max = 4096, .check = check_clean_text,      \
        INTO_TEXT(struct mount_volume, options)                                                    \
    }

/* Neither is required: shares of the embedded default are folders, which need no key. Both at once
 * would leave open which one counts. */
static int check_credentials(json_t *obj, const char *path, struct err *e)
{
    if (!has(obj, "accountKey") || !has(obj, "accountKeySecretReference"))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s has both accountKey and accountKeySecretReference; it may have one", path);
}

static const struct field credentials_rows[] = {
    {.name = "accountKey",
     .kind = FIELD_STRING,
     .flags = FIELD_SECRET,
     .max = 4096,
     INTO_TEXT(struct mount_volume, key)},
    {.name = "accountKeySecretReference",
     .kind = FIELD_OBJECT,
     .sub = &schema_secret_reference,
     INTO_REFERENCE(struct mount_volume, secret_ref)},
};
static SCHEMA_INTO(schema_credentials, "AzureStorageCredentialsInfo", credentials_rows,
                   check_credentials, struct mount_volume, NULL);

/* Sets the kind of a volume by the list that it stands in, and removes slashes from the end of its
 * path. */
static void finish_volume(struct arena *a, struct mount_volume *m, enum mount_kind kind)
{
    const char *path = m->relative_path ? m->relative_path : "";
    size_t n = strlen(path);
    while (n > 0 && path[n - 1] == '/')
        n--;
    m->kind = kind;
    m->relative_path = arena_strndup(a, path, n);
}

/* The host of "http[s]://HOST[:PORT]/..."; brackets of an IPv6 literal stay. */
static const char *url_host(struct arena *a, const char *url)
{
    const char *host = url ? strstr(url, "://") : NULL;
    if (!host)
        return NULL;
    host += 3;
    return arena_strndup(a, host, *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/"));
}

/* The URL was checked when it was accepted; the account is accountName, which agrees. */
static void finish_file_share(struct arena *a, const json_t *obj, void *into)
{
    struct mount_volume *m = into;
    const char *account, *url = json_string_value(json_object_get(obj, "azureFileUrl"));
    finish_volume(a, m, MOUNT_AZURE_FILE_SHARE);
    m->host = url_host(a, url);
    if (file_share_from_url(a, url, &account, &m->share) < 0)
        m->share = NULL;
}

static void finish_blob(struct arena *a, const json_t *obj, void *into)
{
    (void)obj;
    finish_volume(a, into, MOUNT_AZURE_BLOB);
}

static void finish_file_server(struct arena *a, const json_t *obj, void *into)
{
    (void)obj;
    finish_volume(a, into, MOUNT_FILE_SERVER);
}

static void finish_unmanaged(struct arena *a, const json_t *obj, void *into)
{
    (void)obj;
    finish_volume(a, into, MOUNT_UNMANAGED);
}

/* The folder behind a share is found by account and share; the two places must name one account. */
static int check_file_share(json_t *obj, const char *path, struct err *e)
{
    const char *name = json_string_value(json_object_get(obj, "accountName"));
    const char *url = json_string_value(json_object_get(obj, "azureFileUrl"));
    const char *account, *share;
    struct arena a;
    arena_init(&a);
    int rc = 0;
    if (file_share_from_url(&a, url, &account, &share) == 0 && strcasecmp(account, name) != 0) {
        char where[PLACE_SIZE];
        path_join(where, path, "azureFileUrl");
        rc = err_set(e, ERR_INVALID_PROPERTY, where,
                     "%s is on the account \"%.64s\" but accountName is \"%.64s\"; both must be "
                     "the same account",
                     where, account, name);
    }
    arena_free(&a);
    return rc;
}

static const struct field file_share_rows[] = {
    ACCOUNT_ROW,
    {.name = "azureFileUrl",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = MAX_URL_BYTES,
     .check = check_share_url},
    CREDENTIALS_ROWS,
    MOUNT_PATH_ROW,
    {.name = "fileMode",
     .kind = FIELD_STRING,
     .fallback = "\"0777\"",
     .check = check_mode,
     INTO_TEXT(struct mount_volume, file_mode)},
    {.name = "directoryMode",
     .kind = FIELD_STRING,
     .fallback = "\"0777\"",
     .check = check_mode,
     INTO_TEXT(struct mount_volume, directory_mode)},
};
static SCHEMA_INTO(schema_file_share, "AzureFileShareReference", file_share_rows, check_file_share,
                   struct mount_volume, finish_file_share);

static const struct field blob_rows[] = {
    ACCOUNT_ROW,
    {.name = "containerName",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = SHARE_NAME_MAX,
     .check = check_share_name,
     INTO_TEXT(struct mount_volume, share)},
    CREDENTIALS_ROWS,
    MOUNT_PATH_ROW,
    OPTIONS_ROW,
};
static SCHEMA_INTO(schema_blob, "AzureBlobFileSystemReference", blob_rows, NULL,
                   struct mount_volume, finish_blob);

/* Decoded into a text: see INTO_REFERENCE. */
static const struct field file_server_id_rows[] = {
    {.name = "id",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED | FIELD_ID,
     .min = 1,
     .max = MAX_ID_BYTES,
     .check = check_file_server_id,
     INTO_SAME},
};
static SCHEMA_INTO(schema_file_server_id, "ResourceId", file_server_id_rows, NULL, const char *,
                   NULL);

static const struct field file_server_mount_rows[] = {
    {.name = "fileServer",
     .kind = FIELD_OBJECT,
     .flags = FIELD_REQUIRED,
     .sub = &schema_file_server_id,
     INTO_REFERENCE(struct mount_volume, source)},
    {.name = "sourceDirectory",
     .kind = FIELD_STRING,
     .max = MAX_PATH_BYTES,
     .check = check_clean_text,
     INTO_TEXT(struct mount_volume, source_directory)},
    MOUNT_PATH_ROW,
    OPTIONS_ROW,
};
static SCHEMA_INTO(schema_file_server_mount, "FileServerReference", file_server_mount_rows, NULL,
                   struct mount_volume, finish_file_server);

static const struct field unmanaged_rows[] = {
    {.name = "mountCommand",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = MAX_ARG_BYTES,
     INTO_TEXT(struct mount_volume, source)},
    MOUNT_PATH_ROW,
};
static SCHEMA_INTO(schema_unmanaged, "UnmanagedFileSystemReference", unmanaged_rows, NULL,
                   struct mount_volume, finish_unmanaged);

#define VOLUMES_ROW(label, table)                                                                  \
    {                                                                                              \
        .name = (label), .kind = FIELD_ARRAY, .sub = &(table), .max = MAX_ITEMS,                   \
        INTO_LIST(struct mount_list, items, n)                                                     \
    }

static const struct field mount_volumes_rows[] = {
    VOLUMES_ROW("azureFileShares", schema_file_share),
    VOLUMES_ROW("azureBlobFileSystems", schema_blob),
    VOLUMES_ROW("fileServers", schema_file_server_mount),
    VOLUMES_ROW("unmanagedFileSystems", schema_unmanaged),
};

/* All volumes of one resource share one mount root. */
static int check_mount_volumes(json_t *obj, const char *path, struct err *e)
{
    json_t *seen = json_object();
    int rc = 0;
    for (size_t i = 0; i < sizeof mount_volumes_rows / sizeof *mount_volumes_rows && rc == 0; i++)
        rc = check_unique(obj, mount_volumes_rows[i].name, "relativeMountPath", seen, path, e);
    json_decref(seen);
    return rc;
}
SCHEMA_INTO(schema_mount_volumes, "MountVolumes", mount_volumes_rows, check_mount_volumes,
            struct mount_list, NULL);
