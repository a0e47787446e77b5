/* SPDX-License-Identifier: MIT
 *
 * The keys of a Batch account, and the synchronization of its storage account's keys.
 */
#include <sodium.h>
#include <string.h>

#include "api/arm/batch/account.h"
#include "api/arm/batch/batchrm.h"
#include "api/arm/batch/errors.h"
#include "api/arm/batch/routes.h"
#include "api/arm/kind.h"
#include "api/http/accept.h"
#include "lib/jsontext.h"
#include "model/batch/rm.h"
#include "storage/storage.h"

#define KEY_TEXT sodium_base64_ENCODED_LEN(ACCOUNT_KEY_BYTES, sodium_base64_VARIANT_ORIGINAL)

static json_t *key_text(const unsigned char *bytes)
{
    char text[KEY_TEXT];
    sodium_bin2base64(text, sizeof text, bytes, ACCOUNT_KEY_BYTES, sodium_base64_VARIANT_ORIGINAL);
    json_t *v = json_string(text);
    sodium_memzero(text, sizeof text);
    return v;
}

static struct replied *reply_keys(struct request *r, const struct batch_account *b)
{
    struct err e;
    struct account_keys keys;
    int rc = st_batch_account_keys(arm_of(r)->storage, b->id, &keys, &e);
    if (rc == 0)
        rc = err_set(&e, ERR_RESOURCE_NOT_FOUND, NULL, "The Batch account %s is gone.", b->name);
    if (rc < 0)
        return reply_err(r, &e);
    json_t *body = json_pack("{s:s, s:o, s:o}", "accountName", b->name, "primary",
                             key_text(keys.key[0]), "secondary", key_text(keys.key[1]));
    st_account_forget_keys(&keys);
    return reply_json(r, 200, body);
}

/* Finds the account in the path; fails if the account does not permit the use of its keys. */
static int find_with_keys(struct request *r, struct batch_account *b, struct err *e)
{
    if (find_made_batch_account(r, b, e) < 0)
        return -1;
    if (batch_account_allows(b->doc, "SharedKey"))
        return 0;
    return err_set(e, BATCHRM_KEYS_OFF, NULL,
                   "The Batch account %s does not allow authentication by shared key: its "
                   "allowedAuthenticationModes do not have SharedKey.",
                   b->name);
}

struct replied *batch_keys_list(struct request *r)
{
    struct err e;
    struct batch_account b;
    return find_with_keys(r, &b, &e) < 0 ? reply_err(r, &e) : reply_keys(r, &b);
}

struct replied *batch_keys_regenerate(struct request *r)
{
    struct err e;
    struct batch_account b;
    struct account_keys fresh;
    struct accepted given;
    if (find_with_keys(r, &b, &e) < 0 ||
        request_accept(r, &schema_batch_key_name, 0, &given, &e) < 0)
        return reply_err(r, &e);
    const char *name = json_string_value(json_object_get(given.doc, "keyName"));
    int which = strcmp(name, "Secondary") == 0;
    st_account_new_keys(&fresh);
    int rc = st_batch_account_set_key(arm_of(r)->storage, b.id, which, fresh.key[which], &e);
    st_account_forget_keys(&fresh);
    if (rc < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "batch_account.key_regenerated", LF_STR("account", b.name),
             LF_STR("key", which ? "secondary" : "primary"), LF_STR("by", r->who->name));
    return reply_keys(r, &b);
}

/* The keys of storage accounts are read when they are used. So this operation only checks that the
 * Batch account has an auto-storage account, and records the time. */
struct replied *batch_auto_storage_sync(struct request *r)
{
    struct err e;
    struct batch_account b;
    struct storage_account s;
    if (find_made_batch_account(r, &b, &e) < 0)
        return reply_err(r, &e);
    json_t *doc = request_own(r, batch_account_doc(&b));
    if (find_auto_storage(r, doc, &s, &e) < 0 || take_auto_storage(r, doc, &e) < 0)
        return reply_err(r, &e);
    b.doc = request_own_text(r, jsontext(doc));
    return st_batch_account_update(arm_of(r)->storage, &b, &e) < 0 ? reply_err(r, &e)
                                                                   : reply_empty(r, 204);
}
