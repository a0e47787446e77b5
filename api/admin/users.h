/* SPDX-License-Identifier: MIT
 *
 * Users and service principals as replies show them.
 */
#ifndef API_ADMIN_USERS_H
#define API_ADMIN_USERS_H

#include "api/admin/admin.h"
#include "model/resource.h"

/* A principal with its roles; NULL: err. `password` NULL: not shown. */
json_t *user_render(struct request *r, const struct identity *i, const char *password,
                    struct err *e);

#endif
