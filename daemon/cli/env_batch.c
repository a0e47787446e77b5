/* SPDX-License-Identifier: MIT
 *
 * Searches for the account in all subscriptions, because the command names no group, and no two
 * accounts have the same name. Reads a key only if the account permits keys.
 */
#include "daemon/cli/env_batch.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/cli/client.h"
#include "daemon/cli/everywhere.h"
#include "lib/strbuf.h"

#define VERSION "?api-version=2022-10-01"
#define SCHEME  "https://"

static const char *text_of(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

/* Finds a Batch account; *out is a new reference. */
static int find(struct daemon_client *c, const char *name, json_t **out, struct err *e)
{
    json_t *rows = json_array(), *one;
    size_t i;
    int rc = everywhere_list(c, "/providers/Microsoft.Batch/batchAccounts" VERSION, rows, e);
    json_array_foreach(rows, i, one)
        if (!*out && strcasecmp(text_of(one, "name"), name) == 0)
            *out = json_incref(one);
    json_decref(rows);
    if (rc == 0 && !*out)
        return err_set(
            e, ERR_CONFIG, NULL,
            "there is no Batch account '%.60s'; make one with: batchaid az batch account "
            "create",
            name);
    return rc;
}

/* Adds the account's URL, NAME.REGION.batch.HOST, with the host of `endpoint` if there is one. */
static void add_endpoint(const json_t *account, const char *endpoint, struct environment *out)
{
    const char *own = text_of(json_object_get(account, "properties"), "accountEndpoint");
    const char *site = strstr(own, ".batch.") + strlen(".batch.");
    struct strbuf url = STRBUF_INIT;
    strbuf_puts(&url, SCHEME);
    if (endpoint) {
        strbuf_add(&url, own, (size_t)(site - own));
        strbuf_puts(&url, endpoint + strlen(SCHEME));
    } else {
        strbuf_puts(&url, own);
    }
    while (url.s[url.len - 1] == '/')
        url.s[--url.len] = '\0';
    environment_add(out, "AZURE_BATCH_ENDPOINT", url.s);
    strbuf_free(&url);
}

static bool has_keys(const json_t *account)
{
    size_t i;
    json_t *mode;
    const json_t *p = json_object_get(account, "properties");
    json_array_foreach(json_object_get(p, "allowedAuthenticationModes"), i, mode)
        if (strcmp(json_string_value(mode), "SharedKey") == 0)
            return true;
    return false;
}

static int add_key(struct daemon_client *c, const json_t *account, struct environment *out,
                   struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    json_t *keys = NULL;
    strbuf_printf(&path, "%s/listKeys" VERSION, text_of(account, "id"));
    int rc = client_call(c, "POST", path.s, NULL, &keys, e);
    if (rc == 0)
        environment_add(out, "AZURE_BATCH_ACCESS_KEY", text_of(keys, "primary"));
    json_decref(keys);
    strbuf_free(&path);
    return rc;
}

int env_batch_add(const struct state *s, const char *account, const char *endpoint, bool keys,
                  struct environment *out, struct err *e)
{
    struct daemon_client *c = NULL;
    json_t *found = NULL;
    int rc = client_open(s, &c, e);
    if (rc == 0)
        rc = find(c, account, &found, e);
    if (rc == 0) {
        environment_add(out, "AZURE_BATCH_ACCOUNT", text_of(found, "name"));
        add_endpoint(found, endpoint, out);
        if (keys && has_keys(found))
            rc = add_key(c, found, out, e);
    }
    json_decref(found);
    client_close(c);
    return rc;
}
