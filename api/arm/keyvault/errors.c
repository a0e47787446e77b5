/* SPDX-License-Identifier: MIT */
#include "api/arm/keyvault/errors.h"

#define ALL_OWN(X) ARM_OWN(X) KEYVAULT_OWN(X)
ERROR_TABLE(keyvault_words, ARM_ERRORS, ALL_OWN)
