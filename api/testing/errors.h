/* SPDX-License-Identifier: MIT */
#ifndef API_TESTING_ERRORS_H
#define API_TESTING_ERRORS_H

#include "api/arm/errors.h"

#define TESTING_KINDS(X)                                                                           \
    X(TESTING_OFF, 404, "TestingIsOff", 0)                                                         \
    X(TESTING_NO_KEY, 401, "TestingKeyNeeded", 0)                                                  \
    X(TESTING_NOT_SEEN, 408, "RequestNotSeen", 0)                                                  \
    X(TESTING_RESTLESS, 503, "ClockHasNotArrived", 0)
enum { TESTING_FIRST = ARM_KINDS_END - 1, TESTING_KINDS(ERROR_KIND) };
#define TESTING_OWN(X) ARM_OWN(X) TESTING_KINDS(X)

#endif
