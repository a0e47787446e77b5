/* SPDX-License-Identifier: MIT
 *
 * The error codes of Batch AI: the codes that all providers behind Azure Resource Manager have, and
 * some of its own.
 */
#ifndef API_ARM_BATCHAI_ERRORS_H
#define API_ARM_BATCHAI_ERRORS_H

#include "api/arm/errors.h"

#define BATCHAI_OWN(X)                                                                             \
    X(BATCHAI_CLUSTER_QUOTA, 409, "ClusterQuotaReached", 0)                                        \
    X(BATCHAI_IMMUTABLE_PROPERTY, 409, "PropertyChangeNotAllowed", 0)
enum { BATCHAI_KINDS = ARM_KINDS_END - 1, BATCHAI_OWN(ERROR_KIND) };

struct error_words batchai_words(int kind);

#endif
