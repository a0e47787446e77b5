/* SPDX-License-Identifier: MIT
 *
 * Whether roles allow the use of an account's data; most functions need no request.
 */
#ifndef API_PLANE_STORAGE_ROLES_H
#define API_PLANE_STORAGE_ROLES_H

#include "api/access/access.h"
#include "model/resource.h"

/* The place of data: a share or container of an account. */
struct data_place {
    const struct storage_account *account;
    enum share_kind kind;
    const char *share; /* its name; "": none */
};

/* 1: a role of the principal allows reading the contents of a share or container; 0: none does; -1:
 * error. */
int roles_read(const struct access *x, struct arena *a, const struct principal *who,
               const struct data_place *place, struct err *e) MUST_CHECK;
/* Like roles_read(), for reading, writing and deleting. */
int roles_change(const struct access *x, struct arena *a, const struct principal *who,
                 const struct data_place *place, struct err *e) MUST_CHECK;
/* Like roles_read(), for roles that have been loaded. */
bool roles_allow_reading(struct arena *a, const struct principal *who, const struct grants *held,
                         const struct data_place *place);
/* Sets ERR_FORBIDDEN: no role allows reading the place. Writes this to the log. Returns -1. */
int roles_refuse_reading(struct request *r, const struct data_place *place, struct err *e);

#endif
