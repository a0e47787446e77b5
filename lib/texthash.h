/* SPDX-License-Identifier: MIT
 *
 * A number for a text, for tables in memory: the same in each run, so nothing for what strangers
 * may fill.
 */
#ifndef LIB_TEXTHASH_H
#define LIB_TEXTHASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t text_hash(const char *text, size_t len);

#endif
