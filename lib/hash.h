/* SPDX-License-Identifier: MIT
 *
 * Numbers for texts and numbers, for tables in memory, and numbers that look random. All are the
 * same in each run and no secret: nothing for tables that strangers may fill (lib/cache.h has a
 * key), unless each chain has a bound.
 */
#ifndef LIB_HASH_H
#define LIB_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t text_hash(const void *text, size_t len);
/* Neighbouring numbers do not get neighbouring hashes. */
uint64_t number_hash(uint64_t n);
/* The next number of splitmix64 (https://prng.di.unimi.it/splitmix64.c), whose state may begin with
 * any number. */
uint64_t random_next(uint64_t *state);

#endif
