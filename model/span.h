/* SPDX-License-Identifier: MIT
 *
 * Time spans in the format of .NET and Azure Batch: ISO 8601 durations. A year counts as 365 days
 * and a month as 30 days; texts are written with days as the largest unit, so P3Y6M4DT12H becomes
 * P1279DT12H.
 */
#ifndef MODEL_SPAN_H
#define MODEL_SPAN_H

#include <stdint.h>

#define SPAN_SIZE 40
/* The longest duration, P10675199DT2H48M5.4775807S. It means "no limit". */
#define SPAN_INFINITE_US (INT64_MAX / 10)

/* Parses a duration. -1: it is invalid, negative, or longer than SPAN_INFINITE_US. */
int span_parse(const char *text, int64_t *us);
void span_text(int64_t us, char out[SPAN_SIZE]);

#endif
