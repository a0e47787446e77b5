/* SPDX-License-Identifier: MIT */
#include "api/aad/errors.h"

#define AAD_ERRORS(X) HTTP_ERRORS(X) NO_CORE_ERRORS(X)
ERROR_TABLE(aad_words, AAD_ERRORS, AAD_OWN)
