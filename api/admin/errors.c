/* SPDX-License-Identifier: MIT
 *
 * Our own operations call errors what Azure Resource Manager does: their clients are the same.
 */
#include "api/arm/errors.h"
#include "api/admin/admin.h"

ERROR_TABLE(admin_words, ARM_ERRORS, NO_OWN_ERRORS)
