/* SPDX-License-Identifier: MIT
 *
 * The served api-versions of Azure Batch's data plane, as bits for rows of routes and of properties
 * (the bits of Batch AI's versions are enum api_version of model/schema.h; no table uses both). A
 * bit is named after the last part of its version: BATCH_16_0 is 2022-10-01.16.0. Since 2025 a
 * version consists of a date only.
 */
#ifndef MODEL_BATCH_VERSIONS_H
#define MODEL_BATCH_VERSIONS_H

#include <stddef.h>

#define BATCH_VERSIONS(X)                                                                          \
    X(BATCH_6_0, "2017-09-01.6.0")                                                                 \
    X(BATCH_6_1, "2018-03-01.6.1")                                                                 \
    X(BATCH_7_0, "2018-08-01.7.0")                                                                 \
    X(BATCH_8_0, "2018-12-01.8.0")                                                                 \
    X(BATCH_9_0, "2019-06-01.9.0")                                                                 \
    X(BATCH_10_0, "2019-08-01.10.0")                                                               \
    X(BATCH_11_0, "2020-03-01.11.0")                                                               \
    X(BATCH_12_0, "2020-09-01.12.0")                                                               \
    X(BATCH_14_0, "2021-06-01.14.0")                                                               \
    X(BATCH_15_0, "2022-01-01.15.0")                                                               \
    X(BATCH_16_0, "2022-10-01.16.0")                                                               \
    X(BATCH_17_0, "2023-05-01.17.0")                                                               \
    X(BATCH_18_0, "2023-11-01.18.0")                                                               \
    X(BATCH_19_0, "2024-02-01.19.0")                                                               \
    X(BATCH_20_0, "2024-07-01.20.0")                                                               \
    X(BATCH_2025_06, "2025-06-01")

#define BATCH_VERSION_INDEX(bit, name) bit##_INDEX,
#define BATCH_VERSION_BIT(bit, name)   bit = 1 << bit##_INDEX,
enum { BATCH_VERSIONS(BATCH_VERSION_INDEX) BATCH_VERSION_COUNT };
enum batch_version { BATCH_VERSIONS(BATCH_VERSION_BIT) };
#undef BATCH_VERSION_INDEX
#undef BATCH_VERSION_BIT

/* Sets of versions for rows: all versions from one on, all up to one (inclusive), and all between
 * two (inclusive). */
#define BATCH_ALL              ((1U << BATCH_VERSION_COUNT) - 1)
#define BATCH_SINCE(bit)       (BATCH_ALL & ~((unsigned)(bit)-1))
#define BATCH_UNTIL(bit)       (2 * (unsigned)(bit)-1)
#define BATCH_WITHIN(from, to) (BATCH_SINCE(from) & BATCH_UNTIL(to))

/* Not a version: marks rows of properties that exist only in bodies of the resource manager. */
#define BATCH_MANAGED (1U << BATCH_VERSION_COUNT)

/* Not a version: marks rows for seeds and dumps, whose bodies contain the properties of the newest
 * version and also those that only older versions have. */
#define BATCH_SEEDED (1U << (BATCH_VERSION_COUNT + 1))

/* Converts "2022-10-01.16.0" to BATCH_16_0 (0: the version is not served), and back (a static
 * string). */
unsigned batch_version_from_name(const char *name);
const char *batch_version_name(unsigned version);

#endif
