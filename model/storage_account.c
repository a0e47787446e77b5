/* SPDX-License-Identifier: MIT
 *
 * Restrictions of a storage account, from its stored document. Any thread.
 */
#include <jansson.h>
#include <string.h>

#include "model/resource.h"

bool account_forbids(const struct storage_account *account, const char *way)
{
    if (!strstr(account->doc, way))
        return false; /* nearly all */
    json_t *doc = json_loads(account->doc, 0, NULL);
    bool off = json_is_false(json_object_get(doc, way));
    json_decref(doc);
    return off;
}
