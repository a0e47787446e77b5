/* SPDX-License-Identifier: MIT
 *
 * The accounts on the nodes of Azure Batch's pools.
 */
#include <string.h>

#include "model/batch/pool_spec.h"
#include "model/batch/ssh_key.h"
#include "model/batch/tables.h"
#include "model/batch/tables_pool.h"
#include "model/schema/tables.h"

#define MAX_PASSWORD 511 /* bytes; the limit of crypt(3) */

static const struct enum_name login_names[] = {{1, "batch"}, {2, "interactive"}, {0, NULL}};

/* Checks a private key. Error messages never contain the key's text. */
static int check_private_key(const json_t *value, const char *path, struct err *e)
{
    const char *text = json_string_value(value), *fault = ssh_private_key_fault(text);
    return !fault || !*text ? 0 : err_set(e, ERR_INVALID_PROPERTY, path, "%s %s", path, fault);
}

/* The least uid and gid is 1, because 0 belongs to root. */
static const struct field linux_user_rows[] = {
    INT("uid", .min = 1, INTO(batch_user_account, uid)),
    INT("gid", .min = 1, INTO(batch_user_account, gid)),
    TEXT("sshPrivateKey", SECRET, .max = 16384, .check = check_private_key,
         INTO(batch_user_account, ssh_private_key)),
};

static int check_linux_user(json_t *obj, const char *path, struct err *e)
{
    if ((json_object_get(obj, "uid") == NULL) == (json_object_get(obj, "gid") == NULL))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s has one of uid and gid; it must have both or neither", path);
}

static SCHEMA(schema_linux_user, linux_user_rows, "LinuxUserConfiguration",
              .check = check_linux_user, FILLS(batch_user_account));

static const struct field windows_user_rows[] = {ENUM("loginMode", 0, login_names)};
static SCHEMA(schema_windows_user, windows_user_rows, "WindowsUserConfiguration");

/* Refuses line ends, because the password becomes a part of a line for chpasswd(8). */
static int check_password(const json_t *value, const char *path, struct err *e)
{
    const char *text = json_string_value(value);
    if (strlen(text) <= MAX_PASSWORD && text[strcspn(text, "\r\n")] == '\0')
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s must be one line of up to %d bytes (its value is not shown)", path,
                   MAX_PASSWORD);
}

static const struct field account_rows[] = {
    TEXT("name", REQUIRED, 1, 20, .check = check_user_name, INTO(batch_user_account, name)),
    TEXT("password", REQUIRED | SECRET, .max = 4096, .check = check_password,
         INTO(batch_user_account, password)),
    ENUM("elevationLevel", 0, batch_elevation_names, .fallback = "\"nonadmin\"",
         INTO(batch_user_account, elevation)),
    OBJECT("linuxUserConfiguration", 0, schema_linux_user, INTO_SAME),
    OBJECT("windowsUserConfiguration", 0, schema_windows_user, .versions = BATCH_SINCE(BATCH_8_0)),
};
SCHEMA(schema_batch_user_account, account_rows, "UserAccount", FILLS(batch_user_account));

static bool is_same_name(const json_t *a, const json_t *b)
{
    return strcmp(json_string_value(json_object_get(a, "name")),
                  json_string_value(json_object_get(b, "name"))) == 0;
}

static json_int_t uid_of(const json_t *account)
{
    return json_integer_value(
        json_object_get(json_object_get(account, "linuxUserConfiguration"), "uid"));
}

/* Refuses two entries with the same name or uid, because each must be a different account on the
 * nodes. */
int batch_check_accounts(const json_t *list, const char *path, struct err *e)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        for (size_t k = 0; k < i; k++) {
            const json_t *a = json_array_get(list, i), *b = json_array_get(list, k);
            const char *name = json_string_value(json_object_get(a, "name"));
            if (is_same_name(a, b))
                return err_set(e, ERR_INVALID_PROPERTY, path,
                               "%s has two accounts named %s; names must differ", path, name);
            if (uid_of(a) != 0 && uid_of(a) == uid_of(b))
                return err_set(e, ERR_INVALID_PROPERTY, path,
                               "%s has two accounts with the uid %lld, %s and %s; uids must differ",
                               path, (long long)uid_of(a),
                               json_string_value(json_object_get(b, "name")), name);
        }
    return 0;
}
