/* SPDX-License-Identifier: MIT
 *
 * Parts that several resources are made of.
 */
#include <string.h>

#include "model/schema/tables.h"

static const struct field resource_id_rows[] = {
    {.name = "id",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = MAX_ID_BYTES,
     .check = check_clean_text},
};
SCHEMA(schema_resource_id, "ResourceId", resource_id_rows, NULL);

/* Decoded into a text: see INTO_REFERENCE. */
static const struct field secret_reference_rows[] = {
    {.name = "sourceVault",
     .kind = FIELD_OBJECT,
     .flags = FIELD_REQUIRED,
     .sub = &schema_resource_id},
    {.name = "secretUrl",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = MAX_URL_BYTES,
     .check = check_http_url,
     INTO_SAME},
};
SCHEMA_INTO(schema_secret_reference, "KeyVaultSecretReference", secret_reference_rows, NULL,
            const char *, NULL);

static const struct field env_variable_rows[] = {
    {.name = "name",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = 256,
     .check = check_env_name,
     INTO_TEXT(struct kv, name)},
    {.name = "value",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .versions = V03 | V05,
     .max = MAX_ARG_BYTES,
     INTO_TEXT(struct kv, value)},
    {.name = "value",
     .kind = FIELD_STRING,
     .versions = V17,
     .fallback = "\"\"",
     .max = MAX_ARG_BYTES},
};
SCHEMA_INTO(schema_env_variable, "EnvironmentVariable", env_variable_rows, NULL, struct kv, NULL);

/* An empty value counts as a value: the variable is set to "". */
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
    {.name = "name",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = 256,
     .check = check_env_name,
     INTO_TEXT(struct kv, name)},
    {.name = "value",
     .kind = FIELD_STRING,
     .flags = FIELD_SECRET | FIELD_KEEP_EMPTY,
     .max = MAX_ARG_BYTES,
     INTO_TEXT(struct kv, value)},
    {.name = "valueSecretReference",
     .kind = FIELD_OBJECT,
     .sub = &schema_secret_reference,
     INTO_REFERENCE(struct kv, secret_ref)},
};
SCHEMA_INTO(schema_env_secret, "EnvironmentVariableWithSecretValue", env_secret_rows,
            check_env_secret, struct kv, finish_env_secret);

static const struct field name_value_rows[] = {
    {.name = "name", .kind = FIELD_STRING, .flags = FIELD_READONLY},
    {.name = "value", .kind = FIELD_STRING, .flags = FIELD_READONLY},
};
static SCHEMA(schema_name_value, "NameValuePair", name_value_rows, NULL);

static const struct field batchai_error_rows[] = {
    {.name = "code", .kind = FIELD_STRING, .flags = FIELD_READONLY},
    {.name = "message", .kind = FIELD_STRING, .flags = FIELD_READONLY},
    {.name = "details", .kind = FIELD_ARRAY, .flags = FIELD_READONLY, .sub = &schema_name_value},
};
SCHEMA(schema_batchai_error, "BatchAIError", batchai_error_rows, NULL);

/* The schema requires neither, the service's documentation at least one. */
static int check_user_account(json_t *obj, const char *path, struct err *e)
{
    if (has(obj, "adminUserSshPublicKey") || has(obj, "adminUserPassword"))
        return 0;
    return err_set(e, ERR_MISSING_PROPERTY, path,
                   "%s gives no way to log in; it must have adminUserSshPublicKey, "
                   "adminUserPassword or both",
                   path);
}

#define SSH_KEY_ROW(label, bits, known)                                                            \
    {                                                                                              \
        .name = (label), .canon = "adminUserSshPublicKey", .kind = FIELD_STRING, .flags = (bits),  \
        .versions = (known), .min = 1, .max = 16384, .check = check_ssh_key,                       \
        INTO_TEXT(struct admin_user_spec, ssh_public_key)                                          \
    }

/* People paste the key from a file: the line end behind it is not part of the key. */
static void finish_user_account(struct arena *a, const json_t *obj, void *into)
{
    struct admin_user_spec *user = into;
    const char *key = user->ssh_public_key;
    (void)obj;
    if (key)
        user->ssh_public_key = arena_strndup(a, key, strcspn(key, "\r\n"));
}

/* The published documents of the old versions say Ssh; the service itself said SSH. */
static const struct field user_account_rows[] = {
    {.name = "adminUserName",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = 32,
     .check = check_user_name,
     INTO_TEXT(struct admin_user_spec, name)},
    SSH_KEY_ROW("adminUserSshPublicKey", 0, V05),
    SSH_KEY_ROW("adminUserSshPublicKey", FIELD_INPUT_ONLY, V_FLAT),
    SSH_KEY_ROW("adminUserSSHPublicKey", 0, V_FLAT),
    {.name = "adminUserPassword",
     .kind = FIELD_STRING,
     .flags = FIELD_SECRET,
     .max = 1024,
     INTO_TEXT(struct admin_user_spec, password)},
};
SCHEMA_INTO(schema_user_account, "UserAccountSettings", user_account_rows, check_user_account,
            struct admin_user_spec, finish_user_account);
