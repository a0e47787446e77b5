/* SPDX-License-Identifier: MIT */
#include "api/arm/errors.h"

ERROR_TABLE(arm_words, ARM_ERRORS, ARM_OWN)
