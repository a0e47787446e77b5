/* SPDX-License-Identifier: MIT
 *
 * How long a test waits for what must come: a limit that only something broken reaches, times
 * BATCHAID_TEST_PATIENCE, for machines that do much else at the same time.
 */
#ifndef TEST_UNIT_SUPPORT_PATIENCE_H
#define TEST_UNIT_SUPPORT_PATIENCE_H

#include <stdint.h>
#include <stdlib.h>

static inline uint64_t patient_ms(uint64_t limit_ms)
{
    const char *factor = getenv("BATCHAID_TEST_PATIENCE");
    double times = factor ? strtod(factor, NULL) : 1;
    return times > 1 ? (uint64_t)((double)limit_ms * times) : limit_ms;
}

#endif
