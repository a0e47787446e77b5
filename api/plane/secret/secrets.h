/* SPDX-License-Identifier: MIT
 *
 * A vault's own host: its secrets. What the handlers share: who may, which secret, how it is shown.
 */
#ifndef API_PLANE_SECRET_SECRETS_H
#define API_PLANE_SECRET_SECRETS_H

#include "api/arm/keyvault/keyvault.h"
#include "api/plane/secret/routes.h"
#include "model/resource.h"

/* What a principal may do with secrets, as access policies name it. */
enum secret_permission {
    MAY_GET,
    MAY_LIST,
    MAY_SET,
    MAY_DELETE,
    MAY_BACKUP,
    MAY_RESTORE,
    MAY_RECOVER,
    MAY_PURGE
};

/* The vault of the host as far as these handlers need it. */
struct open_vault {
    struct vault row;
    bool purge_protected;
};

/* Fails unless the vault is there and who asks may do this with its secrets. */
int open_vault(struct request *r, enum secret_permission what, struct open_vault *out,
               struct err *e) MUST_CHECK;

/* Fails unless the path's {name} is one of a secret. */
int check_secret_name(struct request *r, struct err *e) MUST_CHECK;
/* The version that the path names (without {version}: the newest) of a secret that is soft-deleted,
 * or is not, as `deleted` says. */
int find_version(struct request *r, const struct open_vault *v, const char *version, bool deleted,
                 struct secret_version *out, struct err *e) MUST_CHECK;

/* Fails if the secret is soft-deleted, which keeps its name taken. */
int check_deleted(const struct secret *s, struct err *e) MUST_CHECK;

/* How a secret is shown. */
enum shown_as {
    SHOWN_BUNDLE,  /* one version */
    SHOWN_ITEM,    /* in a list of secrets: without version */
    SHOWN_VERSION, /* in a list of versions */
    SHOWN_DELETED, /* with what is known of its deletion; without a value */
    SHOWN_DELETED_ITEM
};
/* `value` NULL: not shown. */
json_t *render_secret(struct request *r, const struct open_vault *v, const struct secret_version *x,
                      enum shown_as as, const char *value);

/* Takes attributes, contentType and tags of a body into *x; those that are absent stay. Texts are
 * the arena's. */
int accept_attributes(struct request *r, const json_t *body, struct secret_version *x,
                      struct err *e) MUST_CHECK;

#endif
