/* SPDX-License-Identifier: MIT
 *
 * CRC-64/NVME, called CRC64 by Azure storage: reflected, polynomial 0x9a6c9329ac4bc9b5, all bits
 * set at the start and inverted at the end. The CRC of "123456789" is ae8b14860a799888.
 */
#ifndef LIB_CRC64_H
#define LIB_CRC64_H

#include <stddef.h>
#include <stdint.h>

/* Extends `crc` by these bytes. The crc of no bytes is 0. */
uint64_t crc64_add(uint64_t crc, const void *bytes, size_t n);
/* Like crc64_add(), without carry-less multiplication: some ten times slower. */
uint64_t crc64_add_by_table(uint64_t crc, const void *bytes, size_t n);

#endif
