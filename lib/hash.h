/* SPDX-License-Identifier: MIT
 *
 * Hashes of texts and numbers, for tables in memory, and pseudo-random numbers. Their results do
 * not change from run to run and are not secret: do not use them for tables that strangers may fill
 * (lib/cache.h has a key), unless each chain is bounded.
 */
#ifndef LIB_HASH_H
#define LIB_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t text_hash(const void *text, size_t len);
/* Neighbouring numbers do not get neighbouring hashes. */
uint64_t number_hash(uint64_t n);
/* The next number of splitmix64 (https://prng.di.unimi.it/splitmix64.c); any initial state is
 * valid. */
uint64_t random_next(uint64_t *state);

#endif
