/* SPDX-License-Identifier: MIT
 *
 * The common part of accounts whose names are unique in the whole cloud, such as accounts of
 * Microsoft.Storage and Microsoft.Batch.
 */
#ifndef API_ARM_ACCOUNT_H
#define API_ARM_ACCOUNT_H

#include "api/http/request.h"
#include "model/pace.h"
#include "model/resource.h"

/* Whether the name has 3 to 24 lower-case letters and digits. */
bool account_name_is_valid(const char *name);

/* The provisioningState, a constant text, of an account that was created at `created_us` and is not
 * being deleted. */
const char *account_provisioning(const struct request *r, const struct scope *at,
                                 enum pace_step step, int64_t created_us);

#endif
