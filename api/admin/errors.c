/* SPDX-License-Identifier: MIT
 *
 * Our own operations use the error codes of Azure Resource Manager, because they have the same
 * clients.
 */
#include "api/arm/errors.h"
#include "api/admin/admin.h"

ERROR_TABLE(admin_words, ARM_ERRORS, NO_OWN_ERRORS)
