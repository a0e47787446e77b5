/* SPDX-License-Identifier: MIT
 *
 * Time spans in the format of .NET and Azure Batch: ISO 8601 durations with years of 365 and months
 * of 30 days, written with days as the largest unit (P3Y6M4DT12H -> P1279DT12H).
 */
#ifndef MODEL_SPAN_H
#define MODEL_SPAN_H

#include <stdint.h>

#define SPAN_SIZE 40
/* The maximum, P10675199DT2H48M5.4775807S. It means "no limit". */
#define SPAN_INFINITE_US (INT64_MAX / 10)

/* -1: invalid, negative, or longer than the maximum. */
int span_parse(const char *text, int64_t *us);
void span_text(int64_t us, char out[SPAN_SIZE]);

#endif
