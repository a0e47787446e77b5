/* SPDX-License-Identifier: MIT */
#include "api/arm/batchai/errors.h"

#define ALL_OWN(X) ARM_OWN(X) BATCHAI_OWN(X)
ERROR_TABLE(batchai_words, ARM_ERRORS, ALL_OWN)
