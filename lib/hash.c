/* SPDX-License-Identifier: MIT
 *
 * Hashes texts eight bytes at a time. That is quick, but gives no protection if an attacker chooses
 * the texts.
 */
#include "lib/hash.h"

#include <string.h>

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

uint64_t text_hash(const void *text, size_t len)
{
    uint64_t hash = len, word;
    for (size_t i = 0; i < len; i += sizeof word) {
        word = 0;
        memcpy(&word, (const char *)text + i, len - i < sizeof word ? len - i : sizeof word);
        hash = (hash ^ word) * GOLDEN;
        hash ^= hash >> 32;
    }
    return hash;
}

uint64_t number_hash(uint64_t n)
{
    n = (n ^ (n >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    n = (n ^ (n >> 27)) * UINT64_C(0x94d049bb133111eb);
    return n ^ (n >> 31);
}

uint64_t random_next(uint64_t *state)
{
    return number_hash(*state += GOLDEN);
}
