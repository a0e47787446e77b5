/* SPDX-License-Identifier: MIT
 *
 * What a Key Vault's document says about access, and URLs of secrets.
 */
#ifndef MODEL_VAULT_H
#define MODEL_VAULT_H

#include <jansson.h>
#include <stdbool.h>

#include "lib/arena.h"

/* Whether roles count for the vault, and not its access policies. `properties`: of its document. */
bool vault_uses_roles(const json_t *properties);
/* Whether an access policy gives a permission on secrets ("get") to this object id. A policy for an
 * application on behalf of somebody (applicationId) counts for that application's tokens alone,
 * which there are none of. */
bool vault_policy_allows(const json_t *properties, const char *object_id, const char *permission);

struct secret_url {
    const char *vault, *name; /* arena */
    const char *version;      /* NULL: the newest */
};
/* "https://VAULT.vault.azure.net/secrets/NAME[/VERSION]": the vault is known by its name, whatever
 * the rest of the host is. False: it is no such URL. */
bool secret_url_parse(struct arena *a, const char *url, struct secret_url *out);

#endif
