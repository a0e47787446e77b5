/* SPDX-License-Identifier: MIT
 *
 * Hashes of texts and numbers, for tables in memory, and pseudo-random numbers. The results are the
 * same in each run, so an attacker can compute them: do not use the functions for tables whose keys
 * clients choose (lib/cache.h uses a random key), unless the length of chains is limited.
 */
#ifndef LIB_HASH_H
#define LIB_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t text_hash(const void *text, size_t len);
/* The hash of a number; neighbouring numbers do not get neighbouring hashes. */
uint64_t number_hash(uint64_t n);
/* The next number of splitmix64 (https://prng.di.unimi.it/splitmix64.c); any initial state is
 * valid. */
uint64_t random_next(uint64_t *state);

#endif
