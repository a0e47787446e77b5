/* SPDX-License-Identifier: MIT
 *
 * mountVolumes of a cluster and of a job: the tables of its rows and their checks. Constant and
 * pure.
 */
#include <string.h>
#include <strings.h>

#include "lib/arena.h"
#include "model/schema/tables.h"
#include "model/spec.h"

#define MOUNT_PATH_ROW                                                                             \
    TEXT("relativeMountPath", REQUIRED, 1, 1024, .check = check_mount_path,                        \
         INTO(mount_volume, relative_path))
#define ACCOUNT_ROW                                                                                \
    TEXT("accountName", REQUIRED, 1, ACCOUNT_NAME_MAX, .check = check_account_name,                \
         INTO(mount_volume, account))
/* Until October 2017 the name of credentials was credentialsInfo. */
/* clang-format off */
#define CREDENTIALS_ROWS                                                                           \
    OBJECT("credentialsInfo", INPUT_ONLY | KEEP_EMPTY, schema_credentials,                         \
           .canon = "credentials", .versions = V17),                                               \
    OBJECT("credentials", REQUIRED | KEEP_EMPTY, schema_credentials, INTO_SAME)
/* clang-format on */
#define OPTIONS_ROW                                                                                \
    TEXT("mountOptions", .max = 4096, .check = check_clean_text, INTO(mount_volume, options))

/* Neither property is required, because shares that the daemon itself stores are folders, which
 * need no key. Both together are refused, because they would be ambiguous. */
static int check_credentials(json_t *obj, const char *path, struct err *e)
{
    if (!has(obj, "accountKey") || !has(obj, "accountKeySecretReference"))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s has both accountKey and accountKeySecretReference; it may have one", path);
}

static const struct field credentials_rows[] = {
    TEXT("accountKey", SECRET, .max = 4096, INTO(mount_volume, key)),
    OBJECT("accountKeySecretReference", 0, schema_secret_reference, INTO(mount_volume, secret_ref)),
};
static SCHEMA(schema_credentials, credentials_rows, "AzureStorageCredentialsInfo",
              .check = check_credentials, FILLS(mount_volume));

/* Sets the kind of a volume, which follows from the list that contains it, and removes slashes from
 * the end of its path. */
static void finish_volume(struct arena *a, struct mount_volume *m, enum mount_kind kind)
{
    const char *path = m->relative_path ? m->relative_path : "";
    size_t n = strlen(path);
    while (n > 0 && path[n - 1] == '/')
        n--;
    m->kind = kind;
    m->relative_path = arena_strndup(a, path, n);
}

/* Returns the host of "http[s]://HOST[:PORT]/...", with the brackets of an IPv6 address; NULL: the
 * URL has no "://". */
static const char *url_host(struct arena *a, const char *url)
{
    const char *host = url ? strstr(url, "://") : NULL;
    if (!host)
        return NULL;
    host += 3;
    return arena_strndup(a, host, *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/"));
}

/* check_file_share() has checked the URL before: its account is accountName, so the account is not
 * taken from it here. */
static void finish_file_share(struct arena *a, const json_t *obj, void *into)
{
    struct mount_volume *m = into;
    const char *account, *url = json_string_value(json_object_get(obj, "azureFileUrl"));
    finish_volume(a, m, MOUNT_FILE_SHARE);
    m->host = url_host(a, url);
    if (file_share_from_url(a, url, &account, &m->share) < 0)
        m->share = NULL;
}

static void finish_blob(struct arena *a, const json_t *obj, void *into)
{
    (void)obj;
    finish_volume(a, into, MOUNT_BLOBS);
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

/* Refuses a URL of another account than accountName, because the account and the share together
 * determine the share's folder. */
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
    TEXT("azureFileUrl", REQUIRED, 1, MAX_URL_BYTES, .check = check_share_url),
    CREDENTIALS_ROWS,
    MOUNT_PATH_ROW,
    TEXT("fileMode", .fallback = "\"0777\"", .check = check_mode, INTO(mount_volume, file_mode)),
    TEXT("directoryMode", .fallback = "\"0777\"", .check = check_mode,
         INTO(mount_volume, directory_mode)),
};
static SCHEMA(schema_file_share, file_share_rows, "AzureFileShareReference",
              .check = check_file_share, FILLS(mount_volume), .finish = finish_file_share);

static const struct field blob_rows[] = {
    ACCOUNT_ROW,
    TEXT("containerName", REQUIRED, 1, SHARE_NAME_MAX, .check = check_share_name,
         INTO(mount_volume, share)),
    CREDENTIALS_ROWS,
    MOUNT_PATH_ROW,
    OPTIONS_ROW,
};
static SCHEMA(schema_blob, blob_rows, "AzureBlobFileSystemReference", FILLS(mount_volume),
              .finish = finish_blob);

/* The object is decoded into a text, the file server's id (see INTO() in model/schema_rows.h). */
static const struct field file_server_id_rows[] = {
    TEXT("id", REQUIRED | ID, 1, MAX_ID_BYTES, .check = check_file_server_id, INTO_SAME),
};
static SCHEMA(schema_file_server_id, file_server_id_rows, "ResourceId",
              .size = sizeof(const char *));

static const struct field file_server_mount_rows[] = {
    OBJECT("fileServer", REQUIRED, schema_file_server_id, INTO(mount_volume, source)),
    TEXT("sourceDirectory", .max = MAX_PATH_BYTES, .check = check_clean_text,
         INTO(mount_volume, source_directory)),
    MOUNT_PATH_ROW,
    OPTIONS_ROW,
};
static SCHEMA(schema_file_server_mount, file_server_mount_rows, "FileServerReference",
              FILLS(mount_volume), .finish = finish_file_server);

static const struct field unmanaged_rows[] = {
    TEXT("mountCommand", REQUIRED, 1, MAX_ARG_BYTES, INTO(mount_volume, source)),
    MOUNT_PATH_ROW,
};
static SCHEMA(schema_unmanaged, unmanaged_rows, "UnmanagedFileSystemReference", FILLS(mount_volume),
              .finish = finish_unmanaged);

static const struct field mount_volumes_rows[] = {
    LIST("azureFileShares", 0, schema_file_share, .max = MAX_ITEMS,
         INTO_LIST(mount_list, items, n)),
    LIST("azureBlobFileSystems", 0, schema_blob, .max = MAX_ITEMS, INTO_LIST(mount_list, items, n)),
    LIST("fileServers", 0, schema_file_server_mount, .max = MAX_ITEMS,
         INTO_LIST(mount_list, items, n)),
    LIST("unmanagedFileSystems", 0, schema_unmanaged, .max = MAX_ITEMS,
         INTO_LIST(mount_list, items, n)),
};

/* Refuses two volumes with the same relativeMountPath, because all volumes of a resource are below
 * the same mount root. */
static int check_mount_volumes(json_t *obj, const char *path, struct err *e)
{
    json_t *seen = json_object();
    int rc = 0;
    for (size_t i = 0; i < sizeof mount_volumes_rows / sizeof *mount_volumes_rows && rc == 0; i++)
        rc = check_unique(obj, mount_volumes_rows[i].name, "relativeMountPath", seen, path, e);
    json_decref(seen);
    return rc;
}
SCHEMA(schema_mount_volumes, mount_volumes_rows, "MountVolumes", .check = check_mount_volumes,
       FILLS(mount_list));
