/* SPDX-License-Identifier: MIT
 *
 * The record of use in JSON form.
 */
#ifndef API_ADMIN_USAGE_JSON_H
#define API_ADMIN_USAGE_JSON_H

#include "api/admin/admin.h"
#include "model/usage.h"

/* Adds the sums as members to the object `to`. GPU time that nobody sampled is shown as unknown. */
void usage_show(json_t *to, const struct usage_sums *s);
/* One sentence of advice for the owner of a job, from what the job had and used in `rows`
 * allocations. In the request's arena. */
const char *usage_advice(struct request *r, const struct usage *rows, size_t n,
                         const struct usage_sums *s);

#endif
