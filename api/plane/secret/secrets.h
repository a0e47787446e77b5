/* SPDX-License-Identifier: MIT
 *
 * The secrets of a vault at its own host: access checks, lookup and rendering, for the handlers.
 */
#ifndef API_PLANE_SECRET_SECRETS_H
#define API_PLANE_SECRET_SECRETS_H

#include "api/arm/keyvault/keyvault.h"
#include "api/plane/secret/routes.h"
#include "model/resource.h"

/* A right of a principal on secrets, as access policies name it. */
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

/* The members of the host's vault that these handlers need. */
struct open_vault {
    struct vault row;
    bool purge_protected;
};

/* Fails unless the vault exists and the principal may do this with its secrets. */
int open_vault(struct request *r, enum secret_permission what, struct open_vault *out,
               struct err *e) MUST_CHECK;

/* Fails unless the path's {name} is a valid name of a secret. */
int check_secret_name(struct request *r, struct err *e) MUST_CHECK;
/* Finds a version of a secret: the one in the path, or without {version} the newest. `deleted`:
 * true: the secret must be soft-deleted; false: it must not be. */
int find_version(struct request *r, const struct open_vault *v, const char *version, bool deleted,
                 struct secret_version *out, struct err *e) MUST_CHECK;

/* Fails if the secret is soft-deleted, because such a secret still has its name. */
int check_deleted(const struct secret *s, struct err *e) MUST_CHECK;

/* How a secret is shown. */
enum shown_as {
    SHOWN_BUNDLE,  /* a single version */
    SHOWN_ITEM,    /* in a list of secrets: without version */
    SHOWN_VERSION, /* in a list of versions */
    SHOWN_DELETED, /* with the data of its deletion; without a value */
    SHOWN_DELETED_ITEM
};
/* Renders a version of a secret. `value` NULL: the value is not shown. */
json_t *render_secret(struct request *r, const struct open_vault *v, const struct secret_version *x,
                      enum shown_as as, const char *value);

/* Copies attributes, contentType and tags of a body into *x; missing ones keep their values. The
 * texts are in the arena. */
int accept_attributes(struct request *r, const json_t *body, struct secret_version *x,
                      struct err *e) MUST_CHECK;

#endif
