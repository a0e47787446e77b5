/* SPDX-License-Identifier: MIT
 *
 * CRC-64/NVME, which Azure storage calls CRC64: reflected, polynomial 0x9a6c9329ac4bc9b5, all bits
 * set before and turned over after. "123456789" has ae8b14860a799888.
 */
#ifndef LIB_CRC64_H
#define LIB_CRC64_H

#include <stddef.h>
#include <stdint.h>

/* Of what `crc` is of (0: nothing), and these bytes behind it. */
uint64_t crc64_add(uint64_t crc, const void *bytes, size_t n);
/* The same, as a processor does it that multiplies no polynomials, some ten times slower. */
uint64_t crc64_add_by_table(uint64_t crc, const void *bytes, size_t n);

#endif
