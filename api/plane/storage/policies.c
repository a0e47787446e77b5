/* SPDX-License-Identifier: MIT
 *
 * Stored access policies of shares and containers: <SignedIdentifiers>. A SAS names its policy in
 * si. The row has them as [{"id", "start", "expiry", "permissions"}, ...], without the members that
 * are not set.
 *
 * https://learn.microsoft.com/rest/api/storageservices/define-stored-access-policy
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/xml.h"
#include "api/plane/storage/data_plane.h"
#include "api/plane/storage/xml_write.h"
#include "lib/jsontext.h"

#define POLICIES_MAX  5
#define POLICY_ID_MAX 64

static const struct {
    const char *element, *member;
} parts[] = {{"Start", "start"}, {"Expiry", "expiry"}, {"Permission", "permissions"}};
#define PARTS (sizeof parts / sizeof parts[0])

static int bad_time(const char *name, const char *text, struct err *e)
{
    return err_set(e, ERR_INVALID_CONTENT, name,
                   "The access policy's %s is '%.60s'; it must be an instant such as "
                   "2019-05-09T01:19:19Z.",
                   name, text);
}

static int read_one(const struct xml *x, json_t *all, struct err *e)
{
    const char *id = xml_text(x, "Id");
    const struct xml *policy = xml_child(x, "AccessPolicy");
    if (!id || !*id || strlen(id) > POLICY_ID_MAX)
        return err_set(e, ERR_INVALID_CONTENT, "Id",
                       "A SignedIdentifier's Id is '%.80s'; it must have 1 to %d characters.",
                       id ? id : "", POLICY_ID_MAX);
    json_t *one = json_pack("{s:s}", "id", id);
    json_array_append_new(all, one);
    for (size_t i = 0; policy && i < PARTS; i++) {
        const char *text = xml_text(policy, parts[i].element);
        int64_t us;
        if (!text || !*text)
            continue;
        if (i < 2 && sas_time(text, &us) < 0)
            return bad_time(parts[i].element, text, e);
        json_object_set_new(one, parts[i].member, json_string(text));
    }
    return 0;
}

int policies_read(struct request *r, const char **out, struct err *e)
{
    json_auto_t *all = json_array();
    int rc = 0;
    const struct xml *x = r->xml ? r->xml->child : NULL;
    for (; x && rc == 0; x = x->next)
        rc = strcmp(x->name, "SignedIdentifier") == 0 ? read_one(x, all, e) : 0;
    if (rc == 0 && json_array_size(all) > POLICIES_MAX)
        rc = err_set(e, ERR_INVALID_CONTENT, NULL,
                     "There are %zu access policies; a %s may have %d.", json_array_size(all),
                     grant_of(r)->plane->share, POLICIES_MAX);
    *out = rc == 0 ? jsontext_filled_in(&r->arena, json_incref(all)) : NULL;
    return rc;
}

struct replied *reply_policies(struct request *r, const char *text)
{
    struct strbuf b = STRBUF_INIT;
    json_auto_t *all = text ? json_loads(text, 0, NULL) : NULL;
    json_t *one;
    size_t i;
    xml_begin_document(&b);
    xml_open(&b, "SignedIdentifiers");
    json_array_foreach(all, i, one) {
        xml_open(&b, "SignedIdentifier");
        xml_element(&b, "Id", json_string_value(json_object_get(one, "id")));
        xml_open(&b, "AccessPolicy");
        for (size_t k = 0; k < PARTS; k++) {
            const char *value = json_string_value(json_object_get(one, parts[k].member));
            if (value)
                xml_element(&b, parts[k].element, value);
        }
        xml_close(&b, "AccessPolicy");
        xml_close(&b, "SignedIdentifier");
    }
    xml_close(&b, "SignedIdentifiers");
    return reply_text(r, 200, "application/xml", strbuf_take(&b));
}
