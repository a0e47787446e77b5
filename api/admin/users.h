/* SPDX-License-Identifier: MIT
 *
 * Users and service principals in JSON form.
 */
#ifndef API_ADMIN_USERS_H
#define API_ADMIN_USERS_H

#include "api/admin/admin.h"
#include "model/resource.h"

/* A principal with its roles; NULL: err. `password` NULL: the object has no password. */
json_t *user_render(struct request *r, const struct identity *i, const char *password,
                    struct err *e);

#endif
