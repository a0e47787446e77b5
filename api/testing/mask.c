/* SPDX-License-Identifier: MIT
 *
 * Bodies as the log shows them: without secrets, by the names of properties.
 */
#include <stdbool.h>
#include <string.h>

#include "api/testing/mask.h"

#define MASK "..."

/* Parts of names, in lower case. */
static const char *const secret_words[] = {"password",  "secret",          "accountkey",
                                           "accesskey", "privatekey",      "token",
                                           "signature", "connectionstring"};
/* Whole names. */
static const char *const secret_names[] = {"key", "primary", "secondary", "sas", "accountSasToken"};

static bool has_word(const char *name)
{
    for (size_t i = 0; i < sizeof secret_words / sizeof secret_words[0]; i++)
        if (strcasestr(name, secret_words[i]))
            return true;
    return false;
}

static bool is_secret(const json_t *in, const char *name)
{
    for (size_t i = 0; i < sizeof secret_names / sizeof secret_names[0]; i++)
        if (strcasecmp(name, secret_names[i]) == 0)
            return true;
    /* {"keyName", "value"}: a key; {"value", "id", "attributes"}: a secret of a vault. */
    bool holds = json_object_get(in, "keyName") || json_object_get(in, "attributes") ||
                 json_object_size(in) == 1;
    return has_word(name) || (strcmp(name, "value") == 0 && holds);
}

void mask_secrets(json_t *o)
{
    const char *name;
    size_t i;
    void *next;
    json_t *v;
    json_array_foreach(o, i, v)
        mask_secrets(v);
    json_object_foreach_safe(o, next, name, v) {
        if (json_is_string(v) && is_secret(o, name))
            json_object_set_new(o, name, json_string(MASK));
        else
            mask_secrets(v);
    }
}
