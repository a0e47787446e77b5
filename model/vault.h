/* SPDX-License-Identifier: MIT
 *
 * Access rules in a Key Vault's document, and URLs of secrets.
 */
#ifndef MODEL_VAULT_H
#define MODEL_VAULT_H

#include <jansson.h>
#include <stdbool.h>

#include "lib/arena.h"

/* True: role assignments decide on access to the vault; false: its access policies do.
 * `properties`: the member of the vault's document. */
bool vault_uses_roles(const json_t *properties);
/* True: an access policy gives this object id a permission on secrets ("get"). Policies with an
 * applicationId (for an application on behalf of a user) are ignored, because the daemon issues no
 * tokens to which they could apply. */
bool vault_policy_allows(const json_t *properties, const char *object_id, const char *permission);

struct secret_url {
    const char *vault, *name; /* in the arena */
    const char *version;      /* NULL: the newest */
};
/* Parses "https://VAULT.vault.azure.net/secrets/NAME[/VERSION]". Of the host, only the vault's name
 * matters. False: the text is not such a URL. */
bool secret_url_parse(struct arena *a, const char *url, struct secret_url *out);

#endif
