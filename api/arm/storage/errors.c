/* SPDX-License-Identifier: MIT */
#include "api/arm/storage/errors.h"

#define ALL_OWN(X) ARM_OWN(X) STORAGE_RM_OWN(X)
ERROR_TABLE(storage_rm_words, ARM_ERRORS, ALL_OWN)
