/* SPDX-License-Identifier: MIT */
#include "lib/texthash.h"

#include <string.h>

uint64_t text_hash(const char *text, size_t len)
{
    uint64_t hash = len, word;
    for (size_t i = 0; i < len; i += sizeof word) {
        word = 0;
        memcpy(&word, text + i, len - i < sizeof word ? len - i : sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}
