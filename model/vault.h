/* SPDX-License-Identifier: MIT
 *
 * Access rules in a Key Vault's document, and URLs of secrets.
 */
#ifndef MODEL_VAULT_H
#define MODEL_VAULT_H

#include <jansson.h>
#include <stdbool.h>

#include "lib/arena.h"

/* Whether roles decide about the vault, and not its access policies. `properties`: of its
 * document. */
bool vault_uses_roles(const json_t *properties);
/* Whether an access policy gives a permission on secrets ("get") to this object id. A policy for an
 * application on behalf of a user (applicationId) applies only to tokens of that application; there
 * are no such tokens here. */
bool vault_policy_allows(const json_t *properties, const char *object_id, const char *permission);

struct secret_url {
    const char *vault, *name; /* arena */
    const char *version;      /* NULL: the newest */
};
/* "https://VAULT.vault.azure.net/secrets/NAME[/VERSION]": the vault is found by its name, whatever
 * the rest of the host is. False: not such a URL. */
bool secret_url_parse(struct arena *a, const char *url, struct secret_url *out);

#endif
