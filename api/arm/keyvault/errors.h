/* SPDX-License-Identifier: MIT
 *
 * The error codes of Microsoft.KeyVault: the codes that all providers behind Azure Resource Manager
 * have, and some of its own.
 */
#ifndef API_ARM_KEYVAULT_ERRORS_H
#define API_ARM_KEYVAULT_ERRORS_H

#include "api/arm/errors.h"

#define KEYVAULT_OWN(X)                                                                            \
    X(KEYVAULT_INVALID_NAME, 400, "VaultNameNotValid", 0)                                          \
    X(KEYVAULT_NAME_TAKEN, 409, "VaultAlreadyExists", 0)                                           \
    X(KEYVAULT_IN_DELETED_STATE, 409, "ConflictError", 0)                                          \
    X(KEYVAULT_OTHER_LOCATION, 409, "InvalidResourceLocation", 0)                                  \
    X(KEYVAULT_DELETED_NOT_FOUND, 404, "DeletedVaultNotFound", 0)                                  \
    X(KEYVAULT_PURGE_PROTECTED, 405, "MethodNotAllowed", 0)
enum { KEYVAULT_KINDS = ARM_KINDS_END - 1, KEYVAULT_OWN(ERROR_KIND) };

struct error_words keyvault_words(int kind);

#endif
