/* SPDX-License-Identifier: MIT */
#include "lib/crc64.h"
#include "test/unit/support/tests.h"

#define POLYNOMIAL UINT64_C(0x9a6c9329ac4bc9b5)

TEST(known_values)
{
    assert_true(crc64_add(0, "", 0) == 0);
    assert_true(crc64_add(0, "123456789", 9) == UINT64_C(0xae8b14860a799888));
}

/* Bit by bit, as it is defined. */
static uint64_t slowly(const unsigned char *p, size_t n)
{
    uint64_t crc = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & 1) != 0 ? (crc >> 1) ^ POLYNOMIAL : crc >> 1;
    }
    return ~crc;
}

TEST(every_byte_counts)
{
    unsigned char bytes[512];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 256);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        assert_true(crc64_add(0, bytes, n) == slowly(bytes, n));
        assert_true(crc64_add_by_table(0, bytes, n) == slowly(bytes, n));
    }
}

/* 64, 16 or 8 bytes are taken at a time, wherever they begin. */
TEST(it_matters_not_where_bytes_lie)
{
    unsigned char bytes[256];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 41 + 3);
    for (size_t at = 0; at < 80; at++)
        assert_true(crc64_add(0, bytes + at, sizeof bytes - at) ==
                    slowly(bytes + at, sizeof bytes - at));
}

TEST(pieces_are_as_good_as_the_whole)
{
    unsigned char bytes[300];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 13 + i / 7);
    for (size_t n = 0; n <= sizeof bytes; n++)
        assert_true(crc64_add(crc64_add(0, bytes, n), bytes + n, sizeof bytes - n) ==
                    slowly(bytes, sizeof bytes));
}
