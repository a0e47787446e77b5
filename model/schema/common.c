/* SPDX-License-Identifier: MIT
 *
 * The tables of parts that several resources contain: references to secrets, environment variables,
 * errors and user accounts. Constant and pure.
 */
#include <string.h>

#include "model/schema/tables.h"

static const struct field resource_id_rows[] = {
    TEXT("id", REQUIRED, 1, MAX_ID_BYTES, .check = check_clean_text),
};
SCHEMA(schema_resource_id, resource_id_rows, "ResourceId");

/* The object is decoded into a text, its secretUrl (see INTO() in model/schema_rows.h). */
static const struct field secret_reference_rows[] = {
    OBJECT("sourceVault", REQUIRED, schema_resource_id),
    TEXT("secretUrl", REQUIRED, 1, MAX_URL_BYTES, .check = check_http_url, INTO_SAME),
};
SCHEMA(schema_secret_reference, secret_reference_rows, "KeyVaultSecretReference",
       .size = sizeof(const char *));

static const struct field env_variable_rows[] = {
    TEXT("name", REQUIRED, 1, 256, .check = check_env_name, INTO(kv, name)),
    TEXT("value", REQUIRED, .versions = V03 | V05, .max = MAX_ARG_BYTES, INTO(kv, value)),
    TEXT("value", .versions = V17, .max = MAX_ARG_BYTES, .fallback = "\"\""),
};
SCHEMA(schema_env_variable, env_variable_rows, "EnvironmentVariable", FILLS(kv));

/* Requires exactly one of value and valueSecretReference. An empty value counts as given: it sets
 * the variable to "". */
static int check_env_secret(json_t *obj, const char *path, struct err *e)
{
    bool value = json_object_get(obj, "value"), reference = has(obj, "valueSecretReference");
    if (value != reference)
        return 0;
    return err_set(e, value ? ERR_INVALID_PROPERTY : ERR_MISSING_PROPERTY, path,
                   "%s has %s; it must have exactly one of value and valueSecretReference", path,
                   value ? "both" : "neither");
}

static void finish_env_secret(struct arena *a, const json_t *obj, void *into)
{
    (void)a;
    (void)obj;
    ((struct kv *)into)->is_secret = true;
}

static const struct field env_secret_rows[] = {
    TEXT("name", REQUIRED, 1, 256, .check = check_env_name, INTO(kv, name)),
    TEXT("value", SECRET | KEEP_EMPTY, .max = MAX_ARG_BYTES, INTO(kv, value)),
    OBJECT("valueSecretReference", 0, schema_secret_reference, INTO(kv, secret_ref)),
};
SCHEMA(schema_env_secret, env_secret_rows, "EnvironmentVariableWithSecretValue",
       .check = check_env_secret, FILLS(kv), .finish = finish_env_secret);

static const struct field name_value_rows[] = {TEXT("name", READONLY), TEXT("value", READONLY)};
static SCHEMA(schema_name_value, name_value_rows, "NameValuePair");

static const struct field batchai_error_rows[] = {
    TEXT("code", READONLY),
    TEXT("message", READONLY),
    LIST("details", READONLY, schema_name_value),
};
SCHEMA(schema_batchai_error, batchai_error_rows, "BatchAIError");

/* Requires a key or a password. The published schema requires neither, but the documentation
 * requires at least one. */
static int check_user_account(json_t *obj, const char *path, struct err *e)
{
    if (has(obj, "adminUserSshPublicKey") || has(obj, "adminUserPassword"))
        return 0;
    return err_set(e, ERR_MISSING_PROPERTY, path,
                   "%s gives no way to log in; it must have adminUserSshPublicKey, "
                   "adminUserPassword or both",
                   path);
}

/* Removes a line end after the key, because people paste the key from a file. */
static void finish_user_account(struct arena *a, const json_t *obj, void *into)
{
    struct admin_user_spec *user = into;
    const char *key = user->ssh_public_key;
    (void)obj;
    if (key)
        user->ssh_public_key = arena_strndup(a, key, strcspn(key, "\r\n"));
}

/* In the published documents of the old versions the name is adminUserSshPublicKey, but the real
 * service used adminUserSSHPublicKey. */
static const struct field user_account_rows[] = {
    TEXT("adminUserName", REQUIRED, 1, 32, .check = check_user_name, INTO(admin_user_spec, name)),
    TEXT("adminUserSshPublicKey", 0, 1, 16384, .canon = "adminUserSshPublicKey", .versions = V05,
         .check = check_ssh_key, INTO(admin_user_spec, ssh_public_key)),
    TEXT("adminUserSshPublicKey", INPUT_ONLY, 1, 16384, .canon = "adminUserSshPublicKey",
         .versions = V_FLAT, .check = check_ssh_key, INTO(admin_user_spec, ssh_public_key)),
    TEXT("adminUserSSHPublicKey", 0, 1, 16384, .canon = "adminUserSshPublicKey", .versions = V_FLAT,
         .check = check_ssh_key, INTO(admin_user_spec, ssh_public_key)),
    TEXT("adminUserPassword", SECRET, .max = 1024, INTO(admin_user_spec, password)),
};
SCHEMA(schema_user_account, user_account_rows, "UserAccountSettings", .check = check_user_account,
       FILLS(admin_user_spec), .finish = finish_user_account);
